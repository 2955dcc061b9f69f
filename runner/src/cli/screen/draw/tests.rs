//! What is on the screen, as a terminal of some size has it.

use outwatch::{
    ErrorKind, Failure, IpInfo, Kind, Measurement, Reason, Report, State as Known, Stats, Update,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Color;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).expect("a time")
}

fn ok(tag: &str, delay: u32) -> Report {
    let mut report = Report::untested(tag, Kind::Outbound, "socks");
    report.state = Known::Ok;
    report.delay_ms = Some(delay);
    report.tested_at = Some(at(0));
    report.reason = Some(Reason::Cycle);
    report.attempts = 1;
    report.ip = Some(IpInfo {
        ip: "203.0.113.7".to_owned(),
        country_code: Some("DE".to_owned()),
        region: None,
        city: Some("Berlin".to_owned()),
        asn: Some(64500),
        org: Some("Example Transit".to_owned()),
        service: "ipwho.is".to_owned(),
        tls: true,
    });
    report
}

fn failed(tag: &str) -> Report {
    let mut report = Report::untested(tag, Kind::Outbound, "trojan");
    report.state = Known::Failed;
    report.tested_at = Some(at(-60));
    report.reason = Some(Reason::Asked);
    report.error = Some(Failure {
        kind: ErrorKind::TlsCert,
        text: "nobody vouches for it".to_owned(),
    });
    report
}

fn state(reports: Vec<Report>) -> State {
    let mut state = State::default();
    state.learn(Update {
        reports,
        removed: Vec::new(),
        urgent: false,
    });
    state
}

fn drawn(state: &mut State, paint: Paint, width: u16, height: u16) -> TestBackend {
    let log = ["2027-01-15T08:00:05.5Z  INFO MONITORING event=started".to_owned()];
    let scene = Scene {
        name: "mine.json",
        log: &log,
        now: at(12),
        paint,
    };
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal
        .draw(|frame| draw(frame, state, &scene))
        .expect("it is drawn");
    terminal.backend().clone()
}

#[test]
fn a_wide_terminal_shows_what_is_known_and_why_it_was_tested() {
    let mut group = ok("auto", 40);
    group.kind = Kind::Group;
    group.type_name = "urltest".to_owned();
    group.via = Some("Berlin".to_owned());
    let mut state = state(vec![failed("Rome"), ok("Berlin", 40), group]);
    insta::assert_snapshot!(drawn(&mut state, Paint::Coloured, 140, 18), @"");
}

#[test]
fn a_narrow_terminal_shows_the_most_needed() {
    let mut state = state(vec![
        failed("Rome"),
        ok("A name that is far too long for this", 40),
    ]);
    insta::assert_snapshot!(drawn(&mut state, Paint::Coloured, 40, 8), @"");
}

#[test]
fn details_show_the_last_measurements_as_signs_and_in_figures() {
    let mut report = ok("Berlin", 40);
    report.stats = Stats {
        count: 4,
        failed: 1,
        mean_ms: Some(60),
        jitter_ms: Some(20),
    };
    report.url = Some("https://example.org/generate_204".to_owned());
    let mut state = state(vec![report]);
    state.key(KeyCode::Enter.into());
    let (tag, revision) = state.history_wanted().expect("nothing is known yet");
    let delays = [Some(40), Some(100), None, Some(40)];
    let measured = delays
        .into_iter()
        .zip(0..)
        .map(|(delay_ms, nth)| Measurement {
            at: at(nth * 300),
            delay_ms,
            error: delay_ms.is_none().then_some(ErrorKind::Timeout),
        });
    state.remember(tag, revision, measured.collect());
    insta::assert_snapshot!(drawn(&mut state, Paint::Coloured, 110, 20), @"");
}

#[test]
fn nothing_that_is_shown_can_move_the_cursor_or_turn_its_row() {
    let mut hostile = failed("\u{1b}[2J\u{202e}evil\n");
    hostile.error = Some(Failure {
        kind: ErrorKind::Other,
        text: "\u{7}\u{9b}31m".to_owned(),
    });
    hostile.type_name = "\u{1b}]0;x".to_owned();
    let mut state = state(vec![ok("سرور", 40), ok("🇩🇪 東京 👨‍👩‍👧", 50), hostile]);
    state.filter = "\u{1b}".to_owned();
    state.say("\u{1b}[2J");
    for width in [40, 80, 200] {
        let screen = drawn(&mut state, Paint::Coloured, width, 20);
        let cells = screen.buffer().content();
        let unsafe_chars = |cell: &ratatui::buffer::Cell| {
            cell.symbol()
                .contains(|c: char| c.is_control() || c == '\u{202e}')
        };
        assert!(!cells.iter().any(unsafe_chars), "{screen}");
        let turned = cells.iter().any(|cell| cell.symbol() == "\u{200e} ");
        assert!(
            turned,
            "what follows right-to-left letters keeps its place: {screen}"
        );
    }
}

#[test]
fn without_colours_nothing_is_lost() {
    let coloured = |paint| {
        let mut state = state(vec![failed("Rome"), ok("Berlin", 40)]);
        let screen = drawn(&mut state, paint, 100, 20);
        let cells = screen.buffer().content().to_vec();
        let colours = cells
            .iter()
            .filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        (colours.count(), screen.to_string())
    };
    let (colours, text) = coloured(Paint::Coloured);
    let (none, plain) = coloured(Paint::Plain);
    assert!(colours > 0);
    assert_eq!((none, plain), (0, text));
}

#[test]
fn every_size_of_terminal_is_drawn_on() {
    let reports = (0..50)
        .map(|nth| ok(&format!("outbound {nth}"), nth + 1))
        .collect();
    let mut state = state(reports);
    for keys in ["", "d", "?", "/x"] {
        for key in keys.chars() {
            state.key(KeyCode::Char(key).into());
        }
        for (width, height) in [(1, 1), (2, 3), (10, 5), (300, 4), (20, 100)] {
            drawn(&mut state, Paint::Plain, width, height);
        }
    }
}

#[test]
fn thousands_of_rows_cost_no_more_to_draw_than_those_that_are_seen() {
    let reports = (0..20_000)
        .map(|nth| ok(&format!("outbound {nth}"), nth + 1))
        .collect();
    let mut state = state(reports);
    state.key(KeyCode::End.into());
    let screen = drawn(&mut state, Paint::Plain, 100, 30).to_string();
    assert!(screen.contains("outbound 19999"), "{screen}");
    assert!(screen.contains("20000 outbounds"), "{screen}");
}
