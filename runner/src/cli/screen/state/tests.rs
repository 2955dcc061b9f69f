//! What keys do to what is looked at.

use outwatch::{ErrorKind, Failure, State as Known};

use super::*;

fn ok(tag: &str, delay: u32) -> Report {
    let mut report = Report::untested(tag, Kind::Outbound, "socks");
    report.state = Known::Ok;
    report.delay_ms = Some(delay);
    report
}

fn failed(tag: &str) -> Report {
    let mut report = Report::untested(tag, Kind::Outbound, "trojan");
    report.state = Known::Failed;
    report.error = Some(Failure {
        kind: ErrorKind::TlsCert,
        text: "not to be trusted".to_owned(),
    });
    report
}

fn update(reports: Vec<Report>) -> Update {
    Update {
        reports,
        removed: Vec::new(),
        urgent: false,
    }
}

fn state(reports: Vec<Report>) -> State {
    let mut state = State::default();
    state.learn(update(reports));
    state.fit(10);
    state
}

fn three() -> State {
    let group = Report::untested("choice", Kind::Group, "selector");
    state(vec![
        ok("Oslo", 90),
        failed("Rome"),
        ok("Berlin", 40),
        group,
    ])
}

fn press(state: &mut State, keys: &str) -> Option<Wish> {
    let mut wish = None;
    for key in keys.chars() {
        let code = match key {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '⌫' => KeyCode::Backspace,
            typed => KeyCode::Char(typed),
        };
        wish = state.key(code.into());
    }
    wish
}

fn shown(state: &State) -> Vec<&str> {
    let rows = (0..state.rows.len()).filter_map(|nth| state.rows.nth(nth));
    rows.map(|report| report.tag.as_str()).collect()
}

fn current(state: &State) -> &str {
    state.current().map_or("", |report| report.tag.as_str())
}

#[test]
fn rows_stand_fastest_first_and_can_be_sorted_otherwise() {
    let mut state = three();
    assert_eq!(shown(&state), ["Berlin", "Oslo", "choice", "Rome"]);
    press(&mut state, "s");
    assert_eq!(shown(&state), ["Berlin", "choice", "Oslo", "Rome"], "tag");
    press(&mut state, "r");
    assert_eq!(
        shown(&state),
        ["Rome", "Oslo", "choice", "Berlin"],
        "tag, reversed"
    );
    press(&mut state, "rssss");
    assert_eq!(
        shown(&state),
        ["Oslo", "Rome", "Berlin", "choice"],
        "config"
    );
    press(&mut state, "s");
    assert_eq!(
        shown(&state),
        ["Berlin", "Oslo", "choice", "Rome"],
        "round again"
    );
}

#[test]
fn the_row_that_keys_mean_stays_the_same_wherever_it_goes() {
    let mut state = three();
    press(&mut state, "↓");
    assert_eq!(current(&state), "Oslo");
    state.learn(update(vec![ok("Oslo", 10)]));
    assert_eq!((current(&state), state.nth()), ("Oslo", 0));
    let gone = Update {
        removed: vec!["Oslo".to_owned()],
        ..update(Vec::new())
    };
    state.learn(gone);
    assert_eq!(current(&state), "Berlin");
    assert_eq!(
        press(&mut state, "t"),
        Some(Wish::Test(vec!["Berlin".to_owned()]))
    );
}

#[test]
fn a_filter_looks_at_all_that_is_shown_and_tests_only_what_it_leaves() {
    let mut state = three();
    press(&mut state, "/TLS_c");
    assert_eq!(shown(&state), ["Rome"]);
    // While it is typed, keys are letters.
    press(&mut state, "q⌫⏎");
    assert_eq!(
        press(&mut state, "T"),
        Some(Wish::Test(vec!["Rome".to_owned()]))
    );
    press(&mut state, "⎋");
    assert_eq!(shown(&state).len(), 4);
    press(&mut state, "/no such⎋");
    assert_eq!(shown(&state).len(), 4, "given up");
    press(&mut state, "/no such⏎");
    assert_eq!((shown(&state).len(), current(&state)), (0, ""));
    assert_eq!(press(&mut state, "t"), None);
}

#[test]
fn a_group_is_gone_into_and_a_member_chosen_there() {
    let mut state = three();
    press(&mut state, " ");
    assert!(state.notice.is_some(), "not here");
    press(&mut state, "/choice⏎");
    assert_eq!(
        press(&mut state, "⏎"),
        Some(Wish::Open("choice".to_owned()))
    );
    let group = Group {
        tag: "choice".to_owned(),
        members: vec!["Rome".to_owned(), "Oslo".to_owned()],
        selected: Some("Rome".to_owned()),
        selectable: true,
        why: None,
    };
    state.enter(group.clone());
    assert_eq!(
        (shown(&state), current(&state)),
        (vec!["Oslo", "Rome"], "Rome")
    );
    press(&mut state, "k");
    let wish = Wish::Select {
        group: "choice".to_owned(),
        member: "Oslo".to_owned(),
    };
    assert_eq!(press(&mut state, " "), Some(wish));
    state.enter(Group {
        selectable: false,
        ..group
    });
    assert_eq!(press(&mut state, " "), None);
    assert_eq!(state.notice.as_deref(), Some("`choice` chooses by itself"));
    press(&mut state, "⎋");
    assert_eq!(current(&state), "choice");
}

#[test]
fn the_history_is_asked_for_once_for_each_report() {
    let mut state = three();
    assert_eq!(state.history_wanted(), None, "nobody looks");
    press(&mut state, "⏎");
    assert_eq!(state.history_wanted(), Some(("Berlin".to_owned(), 0)));
    state.remember("Berlin".to_owned(), 0, Vec::new());
    assert_eq!(state.history_wanted(), None);
    let mut newer = ok("Berlin", 41);
    newer.revision = 7;
    state.learn(update(vec![newer]));
    assert_eq!(state.history_wanted(), Some(("Berlin".to_owned(), 7)));
    press(&mut state, "⎋");
    assert_eq!(state.history_wanted(), None);
}

#[test]
fn scrolling_follows_the_row_and_leaves_no_room_empty() {
    let many = (0..100)
        .map(|nth| ok(&format!("{nth:02}"), nth + 1))
        .collect();
    let mut state = state(many);
    state.fit(10);
    assert_eq!(state.top, 0);
    press(&mut state, "G");
    state.fit(10);
    assert_eq!((state.nth(), state.top), (99, 90));
    press(&mut state, "kkk");
    state.fit(10);
    assert_eq!((state.nth(), state.top), (96, 90));
    state.fit(50);
    assert_eq!(state.top, 50);
    press(&mut state, "/07⏎");
    state.fit(10);
    assert_eq!((state.nth(), state.top, current(&state)), (0, 0, "07"));
}

#[test]
fn every_way_to_end_ends() {
    let mut state = three();
    assert_eq!(press(&mut state, "q"), Some(Wish::End));
    let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    press(&mut state, "/");
    assert_eq!(state.key(ctrl_c), Some(Wish::End));
    press(&mut state, "⎋?q");
    assert_eq!(state.focus, Focus::Table, "any key leaves the help");
}
