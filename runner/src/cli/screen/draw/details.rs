//! All that is known of one outbound or group, with its last measurements. It must not know
//! how these came.

use outwatch::{DelaySource, Ipv6, Kind, Measurement, Report, State as Known};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::{Scene, edge, span};
use crate::cli::output::cells::{self, Shown, Tone};
use crate::cli::output::text;
use crate::cli::screen::state::State;

/// Signs for delays, the shortest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws them.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, scene: &Scene<'_>) {
    let Some(report) = state.current() else {
        frame.render_widget(edge(" details "), area);
        return;
    };
    let title = format!(
        " {} ({}) ",
        text::line(&report.tag),
        text::line(&report.type_name)
    );
    let mut lines = vec![result(report, scene)];
    lines.extend(exit(report, scene));
    if report.kind == Kind::Group {
        lines.extend(led(report, state));
    } else {
        let known = &state.history;
        let measurements = match known.tag == report.tag {
            true => known.measurements.as_slice(),
            false => &[],
        };
        lines.extend(history(report, measurements, scene));
    }
    let text = Paragraph::new(lines).wrap(Wrap { trim: false });
    frame.render_widget(text.block(edge(&title)), area);
}

/// What the last test found, and why it ran.
fn result(report: &Report, scene: &Scene<'_>) -> Line<'static> {
    let mut line = vec![span(scene, cells::delay(report))];
    let mut say = |words: String| line.push(Span::raw(words));
    if report.warm {
        say(" on an open connection".to_owned());
    }
    if report.delay_source == Some(DelaySource::IpInfo) {
        say(" by its IP lookup, which was faster".to_owned());
    }
    if report.testing {
        say(", being tested".to_owned());
    }
    if let (Some(reason), Known::Ok | Known::Failed) = (report.reason, report.state) {
        let s = if report.attempts == 1 { "" } else { "s" };
        say(format!(
            "; tested because: {reason}, in {} attempt{s}",
            report.attempts
        ));
    }
    if let Some(url) = &report.url {
        say(format!("; {}", text::line(url)));
    }
    if let Some(error) = &report.error {
        let error = format!("  {}: {}", error.kind, text::line(&error.text));
        line.push(span(scene, Shown::new(error, Tone::Bad)));
    }
    if let Some(status) = &report.status_text {
        line.push(span(
            scene,
            Shown::new(format!("  {}", text::line(status)), Tone::Fair),
        ));
    }
    line.into()
}

/// Where its traffic comes out.
fn exit(report: &Report, scene: &Scene<'_>) -> Option<Line<'static>> {
    let ip = report.ip.as_ref()?;
    let parts = [
        cells::exit_ip(report),
        cells::place(report),
        cells::network(report),
    ];
    let mut line = vec![Span::raw("exit ")];
    for part in parts {
        line.push(span(scene, part));
        line.push(Span::raw(" "));
    }
    let over = if ip.tls { "" } else { ", unencrypted" };
    line.push(Span::raw(format!(
        "(says {}{over})",
        text::line(&ip.service)
    )));
    match report.ipv6 {
        Ipv6::Unknown => {}
        known => {
            let how = report.ipv6_source.map_or("", outwatch::Ipv6Source::as_str);
            line.push(Span::raw(format!("  IPv6 {known}, {how}")));
        }
    }
    Some(line.into())
}

/// Where a group leads and why.
fn led(report: &Report, state: &State) -> Option<Line<'static>> {
    let via = report
        .via
        .as_ref()
        .map(|via| format!("shows {}", text::line(via)));
    let group = state.groups.iter().find(|group| group.tag == report.tag);
    let why = group.and_then(|group| group.why.as_deref()).map(text::line);
    let words: Vec<String> = [via, why].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join("; ").into())
}

/// The last measurements, oldest first: as signs, in figures, and the newest one by one.
fn history(report: &Report, measurements: &[Measurement], scene: &Scene<'_>) -> Vec<Line<'static>> {
    if measurements.is_empty() {
        return vec![Line::raw("not measured in this run")];
    }
    let delays = measurements.iter().filter_map(|one| one.delay_ms);
    let (least, most) = (delays.clone().min().unwrap_or(0), delays.max().unwrap_or(0));
    let signs = measurements.iter().map(|one| {
        let shown = match one.delay_ms {
            Some(ms) => Shown::new(bar(ms, least, most), cells::speed(ms)),
            None => Shown::new("×", Tone::Bad),
        };
        span(scene, shown)
    });
    let stats = report.stats;
    let figure =
        |name: &str, ms: Option<u32>| ms.map_or(String::new(), |ms| format!(", {name} {ms} ms"));
    let figures = format!(
        "  {} measured, {} failed{}{}",
        stats.count,
        stats.failed,
        figure("mean", stats.mean_ms),
        figure("jitter", stats.jitter_ms),
    );
    let newest = measurements.iter().rev().map(|one| {
        let what = match (one.delay_ms, one.error) {
            (Some(ms), _) => format!("{ms} ms"),
            (None, Some(kind)) => kind.to_string(),
            (None, None) => "failed".to_owned(),
        };
        format!("{} {what}", one.at.strftime("%H:%M:%S"))
    });
    let newest: Vec<String> = newest.collect();
    vec![
        signs.chain([Span::raw(figures)]).collect(),
        Line::raw(format!("newest first (UTC): {}", newest.join(", "))),
    ]
}

fn bar(ms: u32, least: u32, most: u32) -> String {
    let of = u64::from(most.saturating_sub(least)).max(1);
    let height = u64::from(ms.saturating_sub(least)) * (BARS.len() as u64 - 1) / of;
    let height = usize::try_from(height).unwrap_or(usize::MAX);
    BARS.get(height).unwrap_or(&'█').to_string()
}
