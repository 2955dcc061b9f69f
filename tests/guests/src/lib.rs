//! An engine that does one wrong thing: which one stands in the tag of the core's first
//! outbound, after `guest: `. Without such a tag it does nothing wrong, and nothing else.
//! It must not be of use to anybody but tests.

use std::cell::{Cell, RefCell};
use std::task::{Poll, Waker};

use bindings::exports::outwatch::guest::novelty;
use bindings::exports::outwatch::monitor::{control, handover, hooks};
use bindings::outwatch::monitor::{cache, log, outbounds, types};
use bindings::wasi::clocks::monotonic_clock;
use bindings::wasi::http::types::Method;
use bindings::wit_stream;

/// The contract, and one interface more than any host knows.
mod bindings {
    wit_bindgen::generate!({
        inline: "
            package outwatch:guest@0.1.0;
            interface novelty { answer: func() -> u32; }
            world guest {
                include outwatch:monitor/monitor@0.1.0;
                export novelty;
            }
        ",
        path: "../../wit",
        world: "outwatch:guest/guest",
        generate_all,
    });

    use super::Guest;
    export!(Guest);
}

struct Guest;

thread_local! {
    static TAGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static WRONG: RefCell<String> = const { RefCell::new(String::new()) };
    static STOPPED: Cell<bool> = const { Cell::new(false) };
    static RUN: RefCell<Option<Waker>> = const { RefCell::new(None) };
    /// Fetches that have come back.
    static FETCHED: Cell<u32> = const { Cell::new(0) };
}

/// Whether this is the wrong thing to do.
fn does(what: &str) -> bool {
    WRONG.with_borrow(|wrong| wrong == what)
}

fn traps_in(export: &str) {
    if does(&format!("traps in {export}")) {
        panic!("the guest traps in {export}");
    }
}

fn seconds(seconds: u64) -> impl Future<Output = ()> {
    monotonic_clock::wait_for(seconds * 1_000_000_000)
}

/// Waits for `stop`.
async fn stopped() {
    std::future::poll_fn(|context| {
        if STOPPED.get() {
            return Poll::Ready(());
        }
        RUN.set(Some(context.waker().clone()));
        Poll::Pending
    })
    .await;
}

fn spin() -> ! {
    let mut count = 0u64;
    loop {
        count = std::hint::black_box(count + 1);
    }
}

fn eat() -> ! {
    let mut eaten = Vec::new();
    loop {
        eaten.push(vec![1u8; 1 << 20]);
        std::hint::black_box(&eaten);
    }
}

async fn fetch(tag: String, body_limit: u32) {
    let request = outbounds::Request {
        url: "http://guest.test/".to_owned(),
        method: Method::Get,
        headers: Vec::new(),
        deadline: 600_000_000_000,
        body_limit,
        response_headers: Vec::new(),
        repeat: false,
        family: None,
    };
    let _ = outbounds::fetch(tag, request).await;
    FETCHED.set(FETCHED.get() + 1);
}

impl control::Guest for Guest {
    fn start(_: String) -> Result<Vec<types::Problem>, Vec<types::Problem>> {
        std::panic::set_hook(Box::new(|info| {
            log::log(log::Level::Critical, "panic", &info.to_string());
        }));
        let tags: Vec<String> = outbounds::list().into_iter().map(|one| one.tag).collect();
        let wrong = tags.first().and_then(|tag| tag.strip_prefix("guest: "));
        WRONG.set(wrong.unwrap_or_default().to_owned());
        TAGS.set(tags);
        traps_in("start");
        if does("spins in start") {
            spin();
        }
        if does("refuses every option") {
            return Err(vec![types::Problem {
                path: "workers".to_owned(),
                message: "the guest likes no workers".to_owned(),
                hint: None,
            }]);
        }
        Ok(Vec::new())
    }

    async fn run() -> Result<(), String> {
        let wrong = WRONG.with_borrow(Clone::clone);
        match wrong.as_str() {
            "traps in run" => traps_in("run"),
            "spins" => spin(),
            "eats memory" => eat(),
            "ends by itself" => return Ok(()),
            "fails" => return Err("the guest has had enough".to_owned()),
            "traps after 50 s" | "spoils the cache and traps" => {
                if does("spoils the cache and traps") {
                    let keys = cache::keys().unwrap_or_default();
                    let _ = cache::update(&keys, &[("result/spoilt".to_owned(), vec![0])]);
                }
                seconds(50).await;
                panic!("the guest traps after 50 s");
            }
            "traps after 90 s, again and again" => {
                seconds(90).await;
                panic!("the guest traps after 90 s");
            }
            "floods the log" => {
                for line in 0..300_000 {
                    log::log(log::Level::Info, "monitoring", &format!("line {line}"));
                }
            }
            "fetches without end" => {
                for tag in vec!["guest: fetches without end".to_owned(); 5_000] {
                    wit_bindgen::spawn_local(fetch(tag, u32::MAX));
                }
            }
            "never ends" => std::future::pending().await,
            _ => {}
        }
        stopped().await;
        Ok(())
    }

    fn stop() {
        traps_in("stop");
        STOPPED.set(true);
        if let Some(run) = RUN.take() {
            run.wake();
        }
    }

    async fn test(tag: String) -> Result<types::Report, control::TestError> {
        traps_in("test");
        if does("never answers") {
            std::future::pending::<()>().await;
        }
        Self::report_of(tag, types::View::Confirmed).ok_or(control::TestError::UnknownTag)
    }

    async fn subscribe(_: control::Filter) -> wit_bindgen::StreamReader<control::Update> {
        traps_in("subscribe");
        let (mut writer, reader) = wit_stream::new::<control::Update>();
        wit_bindgen::spawn_local(async move {
            let update = |revision| control::Update {
                reports: vec![report(
                    TAGS.with_borrow(|tags| tags.first().cloned())
                        .unwrap_or_default(),
                    revision,
                )],
                removed: Vec::new(),
                urgent: true,
            };
            let endless = does("publishes without end");
            let mut revision = 1;
            while writer.write_all(vec![update(revision)]).await.is_empty() && endless {
                revision += 1;
            }
            stopped().await;
        });
        reader
    }

    fn report_of(tag: String, _: types::View) -> Option<types::Report> {
        traps_in("report-of");
        let known = TAGS.with_borrow(|tags| tags.contains(&tag));
        known.then(|| report(tag, 1))
    }

    fn reports(_: types::View) -> Vec<types::Report> {
        traps_in("reports");
        TAGS.with_borrow(Clone::clone)
            .into_iter()
            .map(|tag| report(tag, 1))
            .collect()
    }

    fn measurements(tags: Vec<String>) -> Vec<Vec<types::Measurement>> {
        traps_in("measurements");
        vec![Vec::new(); tags.len()]
    }

    fn options() -> String {
        traps_in("options");
        if does("spins in options") {
            spin();
        }
        "{}".to_owned()
    }

    fn service_hosts() -> Vec<String> {
        traps_in("service-hosts");
        Vec::new()
    }
}

impl hooks::Guest for Guest {
    fn activity() {
        traps_in("activity");
    }

    fn network_changed() {
        traps_in("network-changed");
    }

    fn connection_failed(_: String, _: Option<String>, _: hooks::Cause) {
        traps_in("connection-failed");
    }

    fn selection_changed(_: String) {
        traps_in("selection-changed");
    }

    fn outbound_ready(_: String) {
        traps_in("outbound-ready");
    }

    fn outbounds_changed() {
        traps_in("outbounds-changed");
    }

    fn pause() {
        traps_in("pause");
    }

    fn resume() {
        traps_in("resume");
    }
}

impl handover::Guest for Guest {
    fn give() -> Vec<u8> {
        traps_in("give");
        b"what the guest gives".to_vec()
    }

    fn take(_: Vec<u8>) -> Result<(), String> {
        traps_in("take");
        Err("the guest takes nothing".to_owned())
    }
}

impl novelty::Guest for Guest {
    fn answer() -> u32 {
        42
    }
}

/// What it says of an outbound: it works, in as many milliseconds as fetches came back.
fn report(tag: String, revision: u64) -> types::Report {
    types::Report {
        tag,
        kind: types::OutboundKind::Outbound,
        type_name: "guest".to_owned(),
        state: types::State::Ok,
        testing: false,
        delay_ms: Some(FETCHED.get()),
        delay_source: None,
        warm: false,
        url: None,
        tested_at: None,
        last_ok_at: None,
        age_ms: None,
        from_cache: false,
        miss: false,
        error: None,
        ip: None,
        ip_from_cache: false,
        ip_pending: false,
        ipv6: types::Ipv6Support::Unknown,
        ipv6_source: None,
        status_text: None,
        reason: None,
        attempts: 0,
        via: None,
        stats: types::Stats {
            count: 0,
            failed: 0,
            mean_ms: None,
            jitter_ms: None,
        },
        revision,
        extra: vec![("loss".to_owned(), "0.5".to_owned())],
    }
}
