//! The component in its runtime, on tokio's paused clock, at the times that the native
//! side settled. It must not know what is due when for any other reason.

mod log;

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use outwatch::store::{Cache, CacheError, MemoryCache};
use outwatch::{
    Cause, Dialed, FetchError, Monitor, Network, Outbound, Phase, ProxyCore, Readiness, Report,
    Request, Response, Target, Update, Updates,
};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::native::{ALL, permits};
use super::script::{Event, Script};
use super::trace::{Lane, Line, Trace, saved_text, update_text};
use super::world::{self, World};
use super::{FetchKey, Times};

pub(super) fn play(script: &Script, times: Times) -> Vec<Line> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let stage = Stage {
            began: Instant::now(),
            world: Arc::new(Mutex::new(script.world.clone())),
            ends: Arc::new(times.fetches),
            trace: Trace::default(),
        };
        let _log = log::record(stage.clone());
        let mut play = Play {
            script,
            cache: Arc::default(),
            monitor: None,
            readers: Vec::new(),
            asks: Vec::new(),
            stage,
        };
        play.start().await;
        for ((_, event), at) in script.events.iter().zip(times.events) {
            tokio::time::sleep_until(play.stage.began + Duration::from_millis(at)).await;
            play.perform(event).await;
        }
        play.stage.trace.lines()
    })
}

/// What the core, the cache and the log share.
#[derive(Clone)]
struct Stage {
    began: Instant,
    world: Arc<Mutex<World>>,
    ends: Arc<BTreeMap<FetchKey, u64>>,
    trace: Trace,
}

impl Stage {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).expect("short")
    }

    fn note(&self, lane: Lane, text: impl Into<String>) {
        self.trace.note(self.now(), lane, text);
    }
}

struct Play<'a> {
    script: &'a Script,
    stage: Stage,
    cache: Arc<MemoryCache>,
    monitor: Option<Monitor>,
    /// All of the script, in order.
    readers: Vec<(Arc<Semaphore>, JoinHandle<()>)>,
    asks: Vec<JoinHandle<()>>,
}

impl Play<'_> {
    async fn start(&mut self) {
        let stage = self.stage.clone();
        let wall = move || {
            let ms = stage.world().wall_ms(stage.now());
            SystemTime::UNIX_EPOCH + Duration::from_millis(ms)
        };
        let cache = Recorded {
            pairs: self.cache.clone(),
            stage: self.stage.clone(),
        };
        let mut builder = Monitor::builder(Core(self.stage.clone()))
            .options(&self.script.options)
            .cache(cache)
            .wall_clock(wall)
            .random_seed(self.script.seed);
        if self.script.paused {
            builder = builder.paused();
        }
        self.monitor = Some(builder.start().await.expect("a monitor"));
    }

    async fn perform(&mut self, event: &Event) {
        event.change(&mut self.stage.world());
        if let Event::Start = event {
            return self.start().await;
        }
        let Some(monitor) = self.monitor.clone() else {
            return;
        };
        match event {
            Event::Ask(tag) => self.ask(monitor, tag.clone()),
            Event::Activity => monitor.activity(),
            Event::NetworkChanged => monitor.network_changed(),
            Event::Failed(tag, fault, times) => {
                for _ in 0..*times {
                    monitor.connection_failed(tag, None, *fault);
                }
            }
            Event::Select(group, _) => monitor.selection_changed(group),
            Event::Ready(tag) => monitor.outbound_ready(tag),
            Event::Outbounds(_) => monitor.outbounds_changed(),
            Event::Pause => monitor.pause(),
            Event::Resume => monitor.resume(),
            Event::Subscribe(scope, view, pace) => {
                let updates = monitor.subscribe(scope.clone(), *view);
                self.read(updates, permits(*pace));
            }
            Event::Read(nth) => self.readers[*nth].0.add_permits(1),
            Event::ReadAll => {
                for (permits, _) in &self.readers {
                    permits.add_permits(ALL);
                }
            }
            Event::Leave(nth) => self.readers[*nth].1.abort(),
            Event::Reports(view) => {
                for report in monitor.reports(*view).await {
                    let text = report_json(&report).to_string();
                    self.stage.note(Lane::Reports, text);
                }
            }
            Event::Stop => {
                self.monitor = None;
                monitor.stop().await.expect("a good end");
                let readers = self.readers.iter().map(|(_, reader)| reader);
                for waiting in self.asks.iter().chain(readers) {
                    while !waiting.is_finished() {
                        tokio::task::yield_now().await;
                    }
                }
            }
            Event::Start | Event::Status(..) | Event::Rule(_) | Event::WallJump(_) => {}
        }
    }

    fn ask(&mut self, monitor: Monitor, tag: String) {
        let (stage, nth) = (self.stage.clone(), self.asks.len());
        self.asks.push(tokio::spawn(async move {
            let text = match monitor.test(tag).await {
                Ok(report) => report_json(&report).to_string(),
                Err(error) => error.to_string(),
            };
            stage.note(Lane::Answer(nth), text);
        }));
    }

    fn read(&mut self, mut updates: Updates, permits: usize) {
        let (stage, nth) = (self.stage.clone(), self.readers.len());
        let permits = Arc::new(Semaphore::new(permits));
        let permitted = permits.clone();
        let reader = tokio::spawn(async move {
            while let Ok(permit) = permitted.acquire().await {
                permit.forget();
                let Some(update) = updates.next().await else {
                    return stage.note(Lane::Reader(nth), "the end");
                };
                stage.note(Lane::Reader(nth), shown(&update));
            }
        });
        self.readers.push((permits, reader));
    }
}

fn report_json(report: &Report) -> Value {
    serde_json::to_value(report).expect("JSON")
}

fn shown(update: &Update) -> String {
    let reports = update.reports.iter().map(report_json).collect();
    update_text(reports, &update.removed, update.urgent)
}

/// The script's core.
struct Core(Stage);

#[async_trait]
impl ProxyCore for Core {
    fn list(&self) -> Vec<Outbound> {
        self.0.world().outbounds.clone()
    }

    fn selected(&self, group: &str, _: Network) -> Option<String> {
        self.0.world().selected.get(group).cloned()
    }

    fn status(&self, tag: &str) -> Readiness {
        self.0.world().status(tag)
    }

    async fn dial(&self, _: &str, _: &Target, _: Instant) -> Result<Dialed, FetchError> {
        let text = "a script dials nothing";
        Err(FetchError::new(Phase::Dial, Cause::Unsupported, text))
    }

    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        let stage = &self.0;
        stage.note(Lane::Fetch, world::shown(tag, request));
        let fetch = stage.world().fetch(tag, request);
        let mut running = Running {
            stage: stage.clone(),
            tag: tag.to_owned(),
            ended: false,
        };
        let Some(after) = fetch.after else {
            return pending().await;
        };
        let end = stage.ends.get(&fetch.key).copied();
        let end = end.unwrap_or_else(|| stage.now() + after);
        tokio::time::sleep_until(stage.began + Duration::from_millis(end)).await;
        running.ended = true;
        fetch.end
    }
}

/// Notes a fetch that is dropped before its end.
struct Running {
    stage: Stage,
    tag: String,
    ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.stage.note(Lane::Dropped, self.tag.as_str());
        }
    }
}

/// A cache that notes every change.
struct Recorded {
    pairs: Arc<MemoryCache>,
    stage: Stage,
}

impl Cache for Recorded {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError> {
        self.pairs.get(key)
    }

    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        self.pairs.get_prefix(prefix)
    }

    fn keys(&self) -> Result<Vec<String>, CacheError> {
        self.pairs.keys()
    }

    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        self.stage.note(Lane::Saved, saved_text(delete, set));
        self.pairs.update(delete, set)
    }
}
