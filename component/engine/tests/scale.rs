//! What the engine costs with many outbounds: its memory (R-7), and that an event
//! about one outbound does not cost more because there are others.

#![allow(
    unsafe_code,
    reason = "an allocator that counts can only be written this way"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use outwatch_engine::{
    Action, Answer, Filter, Input, Instant, Kind, Monitor, Now, Options, Outbound, Probe,
    ProbeOutcome, Scope, Selection, Setup, SubscriberId, View,
};

thread_local! {
    /// Bytes in use, and allocations made, by this thread.
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: it hands every call on to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size().cast_signed());
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size().cast_signed());
        // SAFETY: the caller keeps to the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A world in which everything answers at once.
struct World {
    monitor: Monitor,
    now_ms: u64,
    wake_at: Option<Instant>,
}

impl World {
    fn new(outbounds: u32) -> Self {
        let setup = Setup {
            options: Options {
                idle_timeout: Duration::from_secs(1_000_000),
                ipinfo_url: Some("https://own.test/".into()),
                ..Options::default()
            },
            outbounds: (0..outbounds)
                .map(outbound)
                .chain([group(outbounds)])
                .collect(),
            selections: vec![Selection {
                group: "all".into(),
                tcp: Some("outbound-0".into()),
                udp: None,
            }],
            ..Setup::default()
        };
        let now = Now {
            mono: Instant(1),
            wall_ms: 1_800_000_000_000,
        };
        Self {
            monitor: Monitor::new(setup, now),
            now_ms: 0,
            wake_at: None,
        }
    }

    fn now(&self) -> Now {
        Now {
            mono: Instant(self.now_ms * 1_000_000),
            wall_ms: 1_800_000_000_000 + self.now_ms,
        }
    }

    /// Steps until nothing more comes of it.
    fn step(&mut self, mut inputs: Vec<Input>) {
        loop {
            let outcome = self.monitor.step(self.now(), inputs);
            self.wake_at = outcome.wake_at;
            inputs = outcome
                .actions
                .into_iter()
                .filter_map(consequence)
                .collect();
            if inputs.is_empty() {
                return;
            }
        }
    }

    fn run_for(&mut self, ms: u64) {
        let end = self.now_ms + ms;
        while let Some(wake) = self
            .wake_at
            .map(|at| at.0.div_ceil(1_000_000))
            .filter(|&at| at <= end)
        {
            self.now_ms = self.now_ms.max(wake);
            self.step(Vec::new());
        }
        self.now_ms = end;
    }
}

fn consequence(action: Action) -> Option<Input> {
    match action {
        Action::Probe(Probe { id, request, .. }) => {
            let body = r#"{"ip":"8.8.8.8","country_code":"US","region":"California","city":"Mountain View","asn":"AS15169","org":"Google LLC"}"#;
            let answer = Answer {
                status: if request.head { 204 } else { 200 },
                body: body.into(),
                first_byte: Duration::from_millis(40),
                ..Answer::default()
            };
            Some(Input::ProbeEnded {
                probe: id,
                outcome: ProbeOutcome::Answered(answer),
            })
        }
        Action::Publish { subscriber, .. } => Some(Input::Taken(subscriber)),
        _ => None,
    }
}

fn outbound(nth: u32) -> Outbound {
    Outbound {
        tag: format!("outbound-{nth}"),
        type_name: "shadowsocks".into(),
        kind: Kind::Outbound,
        detour: None,
        members: Vec::new(),
        fingerprint: format!("server-{nth}.example.com:8388 aes-256-gcm"),
        exit_follows_host: false,
    }
}

fn group(members: u32) -> Outbound {
    let members = (0..members).map(|nth| format!("outbound-{nth}")).collect();
    Outbound {
        tag: "all".into(),
        kind: Kind::Group,
        members,
        ..outbound(0)
    }
}

/// The budget is 24 MiB for 10 000 outbounds; a tenth of both is measured.
#[test]
fn r7_the_memory_of_outbounds_with_full_rings_stays_under_24_mib_for_10_000() {
    let before = BYTES.get();
    let mut world = World::new(1_000);
    let filter = Filter {
        scope: Scope::All,
        view: View::Display,
    };
    world.step(vec![Input::Subscribe {
        subscriber: SubscriberId(1),
        filter,
    }]);
    for _ in 0..33 {
        world.run_for(300_000);
    }
    let report = world
        .monitor
        .report("outbound-999", View::Display, world.now());
    let report = report.expect("a report");
    assert_eq!(report.stats.count, 32);
    assert!(report.ip.is_some());
    let used = BYTES.get() - before;
    assert!(used < (24 << 20) / 10, "{} KiB are used", used >> 10);
}

#[test]
fn an_event_about_one_outbound_costs_the_same_among_many() {
    let cost = |outbounds: u32| {
        let mut world = World::new(outbounds);
        world.step(Vec::new());
        world.run_for(1_000);
        let before = ALLOCATIONS.get();
        let cause = outwatch_engine::Cause::Member;
        world.step(vec![Input::ConnectionFailed {
            tag: "outbound-7".into(),
            group: None,
            cause,
        }]);
        ALLOCATIONS.get() - before
    };
    let (few, many) = (cost(100), cost(3_000));
    assert!(
        many <= few + few / 2,
        "{few} allocations among 100, {many} among 3 000"
    );
}
