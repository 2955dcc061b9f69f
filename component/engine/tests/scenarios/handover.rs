//! An engine takes the place of another in a host that lives on. Nobody outside is to
//! notice.

use outwatch_engine::{Cause, ErrorKind, Input, Outbound, Scope, State, View};

use crate::world::{
    World, address, body, not_ready, ok, outbound, refused, seconds, selection, silent,
};

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;

/// Every report in both views, without what time alone changes.
fn all(world: &World) -> Vec<outwatch_engine::Report> {
    let views = [View::Confirmed, View::Display];
    let reports = |view| world.monitor().reports(view, world.now());
    views.into_iter().flat_map(reports).collect()
}

fn mixed() -> World {
    let mut world = World::new()
        .options(|options| options.ip_lookup = true)
        .outbound("works", [body(10, &address("9.9.9.9"))])
        .url_reply("works", "generate_204", [ok(80), ok(90)])
        .outbound("fails", [refused(10)])
        .outbound("waits", [not_ready("handshake")])
        .group("choice", &["works", "fails"], Some("fails"))
        .group("best", &["fails", "works"], None);
    for service in ["ip-api", "ipwho"] {
        let answer = r#"{"ip":"9.9.9.9","query":"9.9.9.9","status":"success","success":true}"#;
        world.replies_for("works", service, [body(100, answer)]);
    }
    world.start()
}

#[test]
fn r1_every_report_is_after_a_replacement_what_it_was_before() {
    let mut world = mixed();
    world.run_to(6 * MINUTE);
    world.input([Input::Stop]);
    let before = all(&world);
    assert!(before.iter().any(|report| report.state == State::Failed));
    assert!(
        before
            .iter()
            .any(|report| report.stats.count == 2 && report.ip.is_some())
    );
    world.replace();
    assert_eq!(all(&world), before);
    world.input([]);
    let confirmed = world.monitor().reports(View::Confirmed, world.now());
    assert_eq!(
        confirmed,
        before[..before.len() / 2],
        "nor by its first step"
    );
}

#[test]
fn r7_the_last_measurements_go_on() {
    let mut world = World::new()
        .options(|options| options.idle_timeout = seconds(3600))
        .outbound("a", [ok(10), refused(5), ok(30)])
        .start();
    world.run_to(6 * MINUTE);
    world.replace();
    world.input([]);
    world.run_to(11 * MINUTE);
    let measured = world.measurements("a");
    let first = measured[0].wall_ms;
    let after: Vec<_> = measured.iter().map(|one| one.wall_ms - first).collect();
    assert_eq!(after, [0, 5 * MINUTE, 10 * MINUTE]);
    assert_eq!(measured[1].outcome, Err(ErrorKind::DialRefused));
}

#[test]
fn c2_what_is_fresh_is_not_tested_again_and_the_next_cycle_comes_when_it_would_have() {
    let mut world = World::new()
        .options(|options| options.idle_timeout = seconds(3600))
        .outbound("a", [ok(10)])
        .start();
    world.run_to(2 * MINUTE);
    world.replace();
    world.input([]);
    world.run_to(12 * MINUTE);
    assert_eq!(world.tests("a"), [0, 5 * MINUTE, 10 * MINUTE]);
}

#[test]
fn c2_a_cycle_that_was_broken_off_goes_on_with_those_it_had_not_tested() {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("a", [ok(100)])
        .outbound("b", [ok(100)])
        .outbound("c", [ok(100)])
        .start();
    world.run_to(150);
    world.replace();
    world.input([]);
    world.run_to(MINUTE);
    assert_eq!(world.tests("a"), [0]);
    assert_eq!(
        world.tests("b"),
        [100, 150],
        "its test was in flight and runs again"
    );
    assert_eq!(world.tests("c").len(), 1);
}

#[test]
fn c4_the_test_address_that_works_stays_in_use() {
    let urls = [
        "http://one.test/generate_204",
        "http://two.test/generate_204",
    ];
    let mut world = World::new()
        .options(|options| options.urls = urls.map(String::from).into())
        .outbound("a", [ok(10)])
        .url_reply("a", "one.test", [refused(1)])
        .start();
    world.run_to(MINUTE);
    world.replace();
    world.input([]);
    world.run_to(6 * MINUTE);
    let last = world
        .url_tests()
        .last()
        .map(|sent| sent.probe.request.url.clone());
    assert_eq!(last.as_deref(), Some(urls[1]));
}

#[test]
fn s10_one_who_asks_again_is_answered_and_an_outbound_that_worked_shows_no_early_miss() {
    let mut world = World::new()
        .outbound("a", [ok(10), silent(), ok(20)])
        .start();
    world.run_to(MINUTE);
    world.ask("a");
    world.run_to(MINUTE + 500);
    world.replace();
    // S-4: it worked in this run.
    let ticket = world.ask("a");
    assert!(world.shown("a").testing);
    world.run_to(2 * MINUTE);
    assert_eq!(world.verdict(ticket), Some((MINUTE + 520, Ok(20))));
}

#[test]
fn t8_a_lookup_that_was_on_its_way_is_made_again() {
    let mut world = World::new()
        .options(|options| options.ip_lookup = true)
        .outbound("a", [silent()])
        .url_reply("a", "generate_204", [ok(10)])
        .start();
    world.run_to(100);
    let before = world.lookups("a").len();
    world.replace();
    assert!(world.shown("a").ip_pending);
    world.input([]);
    assert_eq!((before, world.lookups("a").len()), (1, 2));
}

#[test]
fn n1_an_idle_monitor_stays_idle_and_an_active_one_falls_idle_when_it_would_have() {
    let mut world = World::new().outbound("a", [ok(10)]).start();
    world.run_to(9 * MINUTE);
    world.replace();
    world.input([]);
    world.run_to(60 * MINUTE);
    assert_eq!(world.tests("a"), [0, 5 * MINUTE]);
    world.replace();
    world.input([]);
    assert_eq!(world.wake_at_ms(), None);
    world.run_to(90 * MINUTE);
    assert_eq!(world.tests("a").len(), 2);
    world.input([Input::Activity]);
    assert_eq!(world.tests("a").len(), 3);
}

#[test]
fn e4_a_network_that_had_not_settled_is_still_waited_for() {
    let mut world = World::new().outbound("a", [ok(10)]).start();
    world.run_to(MINUTE);
    world.input([Input::NetworkChanged]);
    world.replace();
    world.input([]);
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0, MINUTE + 2 * SECOND]);
}

#[test]
fn e1_a_group_that_selected_another_meanwhile_has_it_tested_at_once() {
    let mut world = World::new()
        .outbound("a", [ok(10)])
        .outbound("b", [ok(20)])
        .group("g", &["a", "b"], Some("a"))
        .start();
    world.run_to(MINUTE);
    world.setup.selections = vec![selection("g", Some("b"))];
    world.replace();
    world.input([]);
    assert_eq!(world.tests("b").last(), Some(&MINUTE));
    assert_eq!(world.confirmed("g").via.as_deref(), Some("b"));
}

#[test]
fn e1_what_happened_in_the_last_step_is_not_forgotten() {
    let mut world = World::new().outbound("a", [ok(10)]).start();
    world.run_to(MINUTE);
    let failed = Input::ConnectionFailed {
        tag: "a".into(),
        group: None,
        cause: Cause::Member,
    };
    world.input([failed, Input::Stop]);
    world.replace();
    world.input([]);
    assert_eq!(world.tests("a"), [0, MINUTE]);
}

#[test]
fn v1_v2_knowledge_about_ipv6_is_kept_and_not_asked_for_again() {
    let mut world = World::new()
        .options(|options| options.verify_ipv6 = true)
        .outbound("a", [ok(10)])
        .start();
    world.run_to(MINUTE);
    let before = world.confirmed("a");
    assert!(before.ipv6_source.is_some());
    world.replace();
    assert_eq!(world.confirmed("a").ipv6, before.ipv6);
    world.input([]);
    world.run_to(6 * MINUTE);
    assert_eq!(world.ipv6_checks(), 1);
}

#[test]
fn p2_a_tag_that_leads_to_another_server_meanwhile_inherits_nothing_and_is_tested() {
    let mut world = World::new()
        .outbound("a", [ok(10)])
        .outbound("b", [ok(10)])
        .start();
    world.run_to(MINUTE);
    let revision = world.confirmed("a").revision;
    world.setup.outbounds[0] = Outbound {
        fingerprint: "elsewhere.example:1".into(),
        ..outbound("a")
    };
    world.replace();
    let report = world.confirmed("a");
    assert_eq!(report.state, State::Untested);
    assert!(report.revision > revision, "revisions never go back");
    world.input([]);
    world.run_to(2 * MINUTE);
    assert_eq!((world.tests("a").len(), world.tests("b").len()), (2, 1));
}

#[test]
fn r4_updates_go_on_with_what_changes_after() {
    let mut world = World::new().outbound("a", [ok(10), ok(20)]).start();
    world.run_to(MINUTE);
    world.replace();
    let subscriber = world.subscribe(Scope::All, View::Confirmed);
    world.run_to(6 * MINUTE);
    let updates = world.updates_of(subscriber);
    let delays: Vec<_> = updates
        .iter()
        .map(|(_, update)| update.reports[0].delay_ms)
        .collect();
    assert_eq!(delays, [Some(10), Some(20)]);
    let revisions: Vec<_> = updates
        .iter()
        .map(|(_, update)| update.reports[0].revision)
        .collect();
    assert!(revisions.is_sorted_by(|a, b| a < b));
}

#[test]
fn what_an_engine_cannot_read_changes_nothing() {
    for left in [&b""[..], b"\xff", b"{}", br#"{"v":2}"#] {
        let mut world = World::new().outbound("a", [ok(10)]);
        world.make();
        let now = world.now();
        assert!(world.monitor_mut().take_over(left, now).is_err());
        world.input([]);
        assert_eq!(world.tests("a"), [0], "it starts as ever");
    }
}
