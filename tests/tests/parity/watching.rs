//! What subscribers get: views, scopes, windows, slow readers, ends.

use outwatch::{Fault, Scope, View};
use outwatch_tests::parity::{Event, Lane, Line, Pace, Reply, Script, check};

fn updates(trace: &[Line], reader: usize) -> usize {
    let of = |line: &&Line| line.lane == Lane::Reader(reader);
    trace.iter().filter(of).count()
}

fn core(options: &str) -> Script {
    Script::new(options)
        .outbound("a", [Reply::ok(120), Reply::refused(50), Reply::ok(80)])
        .outbound("b", [Reply::ok(230)])
        .outbound("c", [Reply::Silent, Reply::ok(60)])
        .outbound("alone", [Reply::ok(70)])
        .group("inner", &["a", "b"], Some("b"))
        .group("outer", &["inner", "c"], Some("inner"))
}

#[test]
fn r4_every_scope_and_view_gets_the_same() {
    let tag = |tag: &str| Scope::Tag(tag.into());
    let group = |tag: &str| Scope::Group(tag.into());
    let script = core(r#"{"ip_lookup": false, "interval": "20s", "debounce_window": "300ms"}"#)
        .watched()
        .at(
            3,
            Event::Subscribe(tag("outer"), View::Confirmed, Pace::Eager),
        )
        .at(4, Event::Subscribe(tag("a"), View::Display, Pace::Eager))
        .at(
            5,
            Event::Subscribe(group("outer"), View::Confirmed, Pace::Eager),
        )
        .at(
            6,
            Event::Subscribe(group("inner"), View::Display, Pace::Eager),
        )
        .at(7, Event::Subscribe(group("a"), View::Display, Pace::Eager))
        .at(
            8,
            Event::Subscribe(tag("nobody"), View::Display, Pace::Eager),
        )
        .at(30_000, Event::Failed("a".into(), Fault::Outbound, 2))
        .at(31_000, Event::Select("inner".into(), "a".into()))
        .at(45_000, Event::Ask("outer".into()))
        .at(60_000, Event::Reports(View::Display))
        .stop(90_000);
    let trace = check(&script);
    assert!(updates(&trace, 0) > 4 && updates(&trace, 6) > 4);
}

#[test]
fn r4_slow_readers_get_the_last_state_and_quick_ones_every_window() {
    let options = r#"{"ip_lookup": false, "interval": "2s", "debounce_window": "100ms"}"#;
    let script = core(options)
        .at(1, Event::Subscribe(Scope::All, View::Display, Pace::Slow))
        .at(2, Event::Subscribe(Scope::All, View::Confirmed, Pace::Slow))
        .at(
            3,
            Event::Subscribe(Scope::All, View::Confirmed, Pace::Eager),
        )
        .at(10_000, Event::Read(0))
        .at(15_000, Event::Read(0))
        .at(15_500, Event::Read(1))
        .at(15_600, Event::Read(1))
        .at(15_700, Event::Read(1))
        .at(15_800, Event::Read(1))
        .at(40_000, Event::Read(0))
        .at(50_000, Event::Read(0))
        .stop(60_000);
    let trace = check(&script);
    assert!(updates(&trace, 0) < 12 && updates(&trace, 2) > 20);
}

#[test]
fn r4_readers_that_leave_are_no_loss_to_those_who_stay() {
    let options = r#"{"ip_lookup": false, "interval": "2s", "debounce_window": "100ms"}"#;
    let script = core(options)
        .watched()
        .at(3, Event::Subscribe(Scope::All, View::Confirmed, Pace::Slow))
        .at(4, Event::Subscribe(Scope::All, View::Display, Pace::Eager))
        .at(5_000, Event::Leave(2))
        .at(7_000, Event::Leave(3))
        .at(
            8_000,
            Event::Subscribe(Scope::Tag("b".into()), View::Confirmed, Pace::Eager),
        )
        .at(9_000, Event::Leave(0))
        .stop(20_000);
    assert!(updates(&check(&script), 1) > 10);
}

#[test]
fn stopping_in_the_middle_of_everything_ends_all_alike() {
    let script = core(r#"{"workers": 1}"#)
        .watched()
        .at(50, Event::Ask("a".into()))
        .at(60, Event::Ask("outer".into()))
        .at(70, Event::Failed("b".into(), Fault::Outbound, 1))
        .stop(80)
        .at(1_000, Event::Start)
        .at(1_100, Event::Ask("c".into()))
        .at(
            1_110,
            Event::Subscribe(Scope::All, View::Display, Pace::Slow),
        )
        .stop(1_200);
    let trace = check(&script);
    assert!(trace.iter().any(|line| line.lane == Lane::Dropped));
    assert!(
        trace
            .iter()
            .any(|line| line.text.ends_with("stopped first"))
    );
}
