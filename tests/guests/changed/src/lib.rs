//! An engine of a contract with other shapes: it tests what it is asked for, and knows
//! the last outcome. It must not be of use to anybody but tests.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::task::{Poll, Waker};

use bindings::exports::outwatch::monitor::engine::{Guest, Report};
use bindings::outwatch::monitor::core;

mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "outwatch:monitor/monitor" });

    use super::Engine;
    export!(Engine);
}

struct Engine;

thread_local! {
    static REPORTS: RefCell<BTreeMap<String, Report>> = const { RefCell::new(BTreeMap::new()) };
    static REVISION: Cell<u64> = const { Cell::new(0) };
    static STOPPED: Cell<bool> = const { Cell::new(false) };
    static RUN: RefCell<Option<Waker>> = const { RefCell::new(None) };
}

fn put(tag: String, outcome: Option<Result<u32, String>>) -> Report {
    REVISION.set(REVISION.get() + 1);
    let report = Report {
        tag: tag.clone(),
        outcome,
        revision: REVISION.get(),
    };
    REPORTS.with_borrow_mut(|reports| reports.insert(tag, report.clone()));
    report
}

impl Guest for Engine {
    fn start(_: String) -> Result<(), String> {
        for outbound in core::list()
            .into_iter()
            .filter(|outbound| outbound.testable)
        {
            put(outbound.tag, None);
        }
        Ok(())
    }

    async fn run() {
        std::future::poll_fn(|context| {
            if STOPPED.get() {
                return Poll::Ready(());
            }
            RUN.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    fn stop() -> Vec<u8> {
        STOPPED.set(true);
        if let Some(run) = RUN.take() {
            run.wake();
        }
        b"of contract 0.2".to_vec()
    }

    async fn test(tag: String) -> Option<Report> {
        if !REPORTS.with_borrow(|reports| reports.contains_key(&tag)) {
            return None;
        }
        let outcome = core::fetch(tag.clone(), "http://test.test/".to_owned(), 5_000).await;
        Some(put(tag, Some(outcome)))
    }

    fn reports() -> Vec<Report> {
        REPORTS.with_borrow(|reports| reports.values().cloned().collect())
    }
}
