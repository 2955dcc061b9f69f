//! One test as people read it: the way, the steps, the result, what to do. It must not test
//! anything, nor know what a program wants to know.

use std::fmt::Write as _;
use std::time::Duration;

use outwatch::{ErrorKind, Family, Phase, Readiness, Report, State, Timing};
use serde_json::Value;
use url::Url;

use super::recording::{Outcome, Step};
use super::{Explained, advice, chain};
use crate::cli::output::{cells, text};
use crate::cli::terminal;

/// What a fetch is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// T-2.
    UrlTest,
    /// I-1.
    IpLookup,
    /// V-2.
    Ipv6,
}

impl Purpose {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::UrlTest => "url_test",
            Self::IpLookup => "ip_lookup",
            Self::Ipv6 => "ipv6",
        }
    }
}

/// What a fetch is for, as it can be told from what is asked.
pub(super) fn purpose(step: &Step) -> Purpose {
    match (step.request.family, step.request.method.as_str()) {
        (Some(Family::V6), _) => Purpose::Ipv6,
        (_, "HEAD") => Purpose::UrlTest,
        _ => Purpose::IpLookup,
    }
}

/// What people call a phase.
pub(super) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Dial => "dial",
        Phase::Proxy => "proxy",
        Phase::Tls => "tls",
        Phase::Http => "http",
    }
}

/// All of it.
pub(super) fn tell(explained: &Explained) -> String {
    let mut told = String::new();
    // Writing to a string cannot fail.
    let _ = tell_chain(&mut told, &explained.chain);
    let _ = tell_rules(&mut told, &explained.options);
    let _ = tell_steps(&mut told, explained);
    let _ = tell_result(&mut told, explained);
    told
}

fn tell_chain(out: &mut String, chain: &[chain::Link]) -> std::fmt::Result {
    heading(out, "way")?;
    for (nth, link) in chain.iter().enumerate() {
        let tag = text::line(&link.tag);
        let type_name = link
            .type_name
            .as_deref()
            .map_or("there is no such outbound".to_owned(), text::line);
        let joined = match (nth, chain.get(nth.wrapping_sub(1))) {
            (0, _) => "",
            (_, Some(before)) if before.is_group => "which leads to ",
            _ => "dialed through ",
        };
        let ready = match &link.readiness {
            Readiness::Ready => "ready".to_owned(),
            Readiness::NotReady(why) => format!("not ready: {}", text::line(why)),
            Readiness::Unsupported(why) => format!("cannot be dialed: {}", text::line(why)),
        };
        writeln!(out, "  {joined}{tag} ({type_name}), {ready}")?;
    }
    if chain.len() > 1 {
        writeln!(
            out,
            "  It is tested once its detour has a result of this run, so that goes first."
        )?;
    }
    Ok(())
}

/// By what the test goes.
fn tell_rules(out: &mut String, options: &Value) -> std::fmt::Result {
    let marks = options["on_demand_timeouts"].as_array();
    let marks: Vec<&str> = marks
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let expected = options["expected_status"].as_str().unwrap_or_default();
    heading(out, "rules")?;
    if let Some((last, others)) = marks.split_last() {
        match others {
            [] => writeln!(out, "  one attempt, until {last}")?,
            _ => writeln!(
                out,
                "  a failed attempt is tried again at {}; all is over at {last}",
                others.join(", ")
            )?,
        }
    }
    let meaning = match expected {
        "auto" => " (204 alone if the address ends in generate_204; else 200 to 399)",
        "any" => " (every answer counts)",
        _ => "",
    };
    writeln!(out, "  expected status: {}{meaning}", text::line(expected))
}

fn tell_steps(out: &mut String, explained: &Explained) -> std::fmt::Result {
    heading(out, "steps")?;
    let mut missed = explained.missed_at_ms;
    let mut attempts = 0;
    for step in &explained.steps {
        if let Some(at) = missed.filter(|at| *at <= step.at_ms) {
            tell_miss(out, at)?;
            missed = None;
        }
        let what = match purpose(step) {
            Purpose::UrlTest if step.tag == explained.tag => {
                attempts += 1;
                format!(
                    "attempt {attempts}: {} {}",
                    step.request.method, step.request.url
                )
            }
            Purpose::UrlTest => {
                format!(
                    "first {}: {} {}",
                    step.tag, step.request.method, step.request.url
                )
            }
            Purpose::IpLookup => format!("where it comes out, says {}?", host(&step.request.url)),
            Purpose::Ipv6 => format!("IPv6: {} {}", step.request.method, step.request.url),
        };
        writeln!(out, "  {}  {}", at(step.at_ms), text::line(&what))?;
        writeln!(
            out,
            "           {}",
            outcome(step, explained.report.as_ref())
        )?;
    }
    if let Some(at) = missed {
        tell_miss(out, at)?;
    }
    if explained.steps.is_empty() {
        writeln!(out, "  nothing was sent")?;
    }
    Ok(())
}

fn tell_miss(out: &mut String, ms: u64) -> std::fmt::Result {
    writeln!(
        out,
        "  {}  no answer yet: shown as unavailable for now",
        at(ms)
    )
}

/// What came of a step.
fn outcome(step: &Step, report: Option<&Report>) -> String {
    let (status, headers, timing) = match &step.outcome {
        None => return "given up: it was no longer wanted, or its time was over".to_owned(),
        Some(Outcome::Failed(error)) => {
            let took = step
                .took_ms
                .map_or(String::new(), |ms| format!(" after {ms} ms"));
            return format!(
                "failed{took} ({}): {}",
                phase(error.phase),
                text::line(&error.text)
            );
        }
        Some(Outcome::Answered {
            status,
            headers,
            timing,
        }) => (status, headers, timing),
    };
    let mut told = format!("status {status}; {}", phases(timing));
    for (name, value) in headers {
        // Writing to a string cannot fail.
        let _ = write!(told, "; {}: {}", text::line(name), text::line(value));
    }
    if purpose(step) == Purpose::IpLookup {
        let service = report
            .and_then(|report| report.ip.as_ref())
            .map(|ip| ip.service.as_str());
        if service != Some(host(&step.request.url).as_str()) {
            told.push_str("; what it says does not count");
        }
    }
    told
}

/// How long each part took, one after the other.
fn phases(timing: &Timing) -> String {
    let mut parts = Vec::new();
    if let Some(dns) = timing.dns {
        parts.push(format!("dns {}", ms(dns)));
    }
    parts.push(format!(
        "dial {}",
        ms(timing.dial.saturating_sub(timing.dns.unwrap_or_default()))
    ));
    if let Some(tls) = timing.tls {
        parts.push(format!("tls {}", ms(tls)));
    }
    let before = timing.dial + timing.tls.unwrap_or_default();
    parts.push(format!(
        "answer {}",
        ms(timing.first_byte.saturating_sub(before))
    ));
    parts.push(format!("first byte after {}", ms(timing.first_byte)));
    if timing.total > timing.first_byte {
        parts.push(format!("all after {}", ms(timing.total)));
    }
    if let Some(repeat) = timing.repeat {
        parts.push(format!("once more {}", ms(repeat)));
    }
    parts.join(", ")
}

fn tell_result(out: &mut String, explained: &Explained) -> std::fmt::Result {
    heading(out, "result")?;
    if let Some(refused) = &explained.refused {
        writeln!(out, "  not tested: {}", text::line(&refused.to_string()))?;
    }
    let Some(report) = &explained.report else {
        return writeln!(out, "  the component stopped working");
    };
    if explained.refused.is_none() {
        let s = if report.attempts == 1 { "" } else { "s" };
        let delay = cells::delay(report).text;
        writeln!(out, "  {delay}, in {} attempt{s}", report.attempts)?;
    }
    if let Some(error) = &report.error {
        writeln!(out, "  {}: {}", error.kind, text::line(&error.text))?;
    }
    if report.ip.is_some() {
        let parts = [
            cells::exit_ip(report),
            cells::place(report),
            cells::network(report),
        ];
        let parts = parts.map(|part| part.text).join("  ");
        writeln!(out, "  comes out at {}", parts.trim_end())?;
    } else if report.state == State::Ok {
        writeln!(out, "  where it comes out is not known")?;
    }
    let kind = report.error.as_ref().map(|error| error.kind);
    let unsupported = report.state == State::NotReady;
    match kind.or_else(|| unsupported.then_some(ErrorKind::Unsupported)) {
        Some(kind) => {
            let style = terminal::HINT;
            writeln!(out, "\n{style}hint:{style:#} {}", advice::on(kind))
        }
        None => Ok(()),
    }
}

fn heading(out: &mut String, name: &str) -> std::fmt::Result {
    let (style, before) = (terminal::HEADING, if out.is_empty() { "" } else { "\n" });
    writeln!(out, "{before}{style}{name}{style:#}")
}

fn at(ms: u64) -> String {
    format!("{:>3}.{:03} s", ms / 1000, ms % 1000)
}

fn ms(duration: Duration) -> String {
    match duration.as_millis() {
        0..10 => format!("{:.1} ms", duration.as_secs_f64() * 1000.0),
        ms => format!("{ms} ms"),
    }
}

fn host(url: &str) -> String {
    let host = Url::parse(url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| url.to_owned())
}
