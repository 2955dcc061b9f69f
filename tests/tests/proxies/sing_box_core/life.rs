//! The life of the sing-box process: it is started again when it ends, and leaves nothing
//! behind.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use outwatch::{CoreEvent, Monitor, ProxyCore as _, Readiness, State, View};
use outwatch_tests::peers::{Manners, Microsocks, Nginx, Rude, socks};
use serde_json::json;
use tokio::time::timeout;

use super::world::{PATIENCE, answer, arguments, core, kill, runs, until, with_argument};
use crate::proxies::world::head;

#[tokio::test(flavor = "multi_thread")]
async fn d4_one_that_is_killed_is_not_ready_and_then_ready_again() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let core = core([proxy.outbound("good")]).await;
    let mut events = core.events();
    let first = core.process_id().expect("it is up");
    kill(first);
    let event = timeout(PATIENCE, events.next()).await.expect("an event");
    let Some(CoreEvent::NotReady(why)) = event else {
        panic!("{event:?}")
    };
    assert_eq!(
        why,
        "sing-box ended: killed by signal 9; starting it again in 1 s"
    );
    assert_eq!(core.status("good"), Readiness::NotReady(why));
    let event = timeout(PATIENCE, events.next()).await.expect("an event");
    assert_eq!(event, Some(CoreEvent::Ready(vec!["good".to_owned()])));
    assert_eq!(core.status("good"), Readiness::Ready);
    assert_ne!(core.process_id(), Some(first));
    assert_eq!(
        answer(&core, "good", &web.url("/generate_204"))
            .await
            .status,
        204
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_a_fetch_that_sing_box_breaks_by_ending_is_done_again_with_the_next_one() {
    let web = Nginx::plain();
    let hangs = Rude::start(Manners::Hangs);
    let proxy = Microsocks::start();
    let core = Arc::new(core([proxy.outbound("good"), socks("hangs", hangs.port())]).await);
    // It asks a server that never answers, until sing-box is gone.
    let asking = tokio::spawn({
        let (core, url) = (core.clone(), format!("http://127.0.0.1:{}/", hangs.port()));
        async move {
            core.fetch(
                "good",
                &outwatch::Request {
                    deadline: Duration::from_secs(4),
                    ..head(&url)
                },
            )
            .await
        }
    });
    let mut events = core.events();
    kill(core.process_id().expect("it is up"));
    // While it is down.
    let url = web.url("/generate_204");
    assert_eq!(answer(&core, "good", &url).await.status, 204);
    let ready = async { while !matches!(events.next().await, Some(CoreEvent::Ready(_)) | None) {} };
    timeout(PATIENCE, ready).await.expect("it is up again");
    let error = asking.await.expect("no panic").unwrap_err();
    assert_eq!(error.cause, outwatch::Cause::Timeout, "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_the_monitor_shows_not_ready_never_failed_and_tests_once_it_is_back() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let core = Arc::new(core([proxy.outbound("good")]).await);
    let options = json!({ "urls": [web.url("/generate_204")], "ip_lookup": false }).to_string();
    let monitor = Monitor::builder(core.clone())
        .options(options)
        .start()
        .await
        .unwrap();
    assert_eq!(monitor.test("good").await.unwrap().state, State::Ok);
    let mut events = core.events();
    kill(core.process_id().expect("it is up"));
    let event = timeout(PATIENCE, events.next()).await.expect("an event");
    assert!(matches!(event, Some(CoreEvent::NotReady(_))), "{event:?}");
    let asked = monitor.test("good").await;
    // It may be back before the question is answered, but never has it failed.
    assert!(
        matches!(&asked, Err(outwatch::TestError::NotReady(why)) if why.contains("sing-box ended"))
            || matches!(&asked, Ok(report) if report.state == State::Ok),
        "{asked:?}"
    );
    let Some(Some(CoreEvent::Ready(ready))) = timeout(PATIENCE, events.next()).await.ok() else {
        panic!("it is never back")
    };
    for tag in ready {
        monitor.outbound_ready(tag);
    }
    let report = monitor.test("good").await.unwrap();
    assert_eq!(report.state, State::Ok, "{report:#?}");
    let shown = monitor.report("good", View::Display).await.unwrap();
    assert_eq!(shown.stats.failed, 0, "{shown:#?}");
    monitor.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_is_left_when_the_core_is_stopped_or_dropped() {
    for stops in [true, false] {
        let core = core([json!({ "type": "direct", "tag": "direct" })]).await;
        let id = core.process_id().expect("it is up");
        let guards = with_argument("outwatch-guard");
        let guard = guards.iter().find(|guard| {
            arguments(Path::new(&format!("/proc/{guard}"))).contains(&id.to_string())
        });
        let guard = *guard.expect("a guard beside it");
        assert!(runs(id) && runs(guard));
        if stops {
            core.stop().await;
            assert!(!runs(id) && !runs(guard));
            assert_eq!(core.process_id(), None);
            assert!(matches!(core.status("direct"), Readiness::NotReady(_)));
        } else {
            drop(core);
            until("both have ended", || !runs(id) && !runs(guard)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_its_arguments_or_in_a_file_that_it_has_open() {
    let proxy = Microsocks::with_account("ann", "open-sesame");
    let core = core([proxy.outbound("good")]).await;
    let process = format!("/proc/{}", core.process_id().expect("it is up"));
    let arguments = arguments(Path::new(&process));
    assert!(arguments.contains(&"stdin".to_owned()), "{arguments:?}");
    assert!(
        !arguments.iter().any(|word| word.contains("open-sesame")),
        "{arguments:?}"
    );
    let open = std::fs::read_dir(format!("{process}/fd")).unwrap();
    let files: Vec<_> = open
        .flatten()
        .filter_map(|file| std::fs::read_link(file.path()).ok())
        .filter(|file| file.is_file() && !file.starts_with("/sys") && !file.starts_with("/proc"))
        .collect();
    assert!(files.is_empty(), "{files:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_each_get_their_own_answer() {
    let web = Nginx::plain();
    let proxies: Vec<Microsocks> = (0..3).map(|_| Microsocks::start()).collect();
    let outbounds = (0..300).map(|n| proxies[n % 3].outbound(&format!("out {n}")));
    let core = core(outbounds).await;
    let url = web.url("/generate_204");
    let fetches = (0..300).map(|n| {
        let (core, url) = (&core, &url);
        async move { answer(core, &format!("out {n}"), url).await.status }
    });
    let answers = futures::future::join_all(fetches).await;
    assert_eq!(answers, vec![204; 300]);
}
