//! What people read of a report, piece by piece: a text and how it is meant. It must not
//! know where the pieces are shown, nor in which colours.

use std::time::Duration;

use outwatch::{IpInfo, Kind, Report, State};

use super::text;

/// One thing that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Harmless to a terminal, on one line.
    pub(crate) text: String,
    /// How it is meant; the text says as much.
    pub(crate) tone: Tone,
}

/// How something is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// No more than it says.
    Plain,
    /// A group's.
    Group,
    /// Not of this run, or of little interest.
    Dim,
    /// Fast.
    Good,
    /// Neither.
    Fair,
    /// Slow.
    Slow,
    /// Not working.
    Bad,
}

impl Shown {
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self {
            text: text.into(),
            tone,
        }
    }
}

/// What it is called.
pub(crate) fn tag(report: &Report) -> Shown {
    let tone = match report.kind {
        Kind::Group => Tone::Group,
        _ => Tone::Plain,
    };
    Shown::new(text::line(&report.tag), tone)
}

/// Its type.
pub(crate) fn type_name(report: &Report) -> Shown {
    Shown::new(text::line(&report.type_name), Tone::Dim)
}

/// The delay, or the word for there being none.
pub(crate) fn delay(report: &Report) -> Shown {
    match (report.state, report.delay_ms) {
        (State::Cached | State::NotReady, Some(ms)) => Shown::new(format!("{ms} ms"), Tone::Dim),
        (State::Ok, Some(ms)) => Shown::new(format!("{ms} ms"), speed(ms)),
        (State::Failed, _) => Shown::new("failed", Tone::Bad),
        (State::Untested, _) if report.testing => Shown::new("testing", Tone::Dim),
        (State::NotReady, None) => Shown::new("not ready", Tone::Fair),
        _ => Shown::new("untested", Tone::Dim),
    }
}

/// How a delay is meant.
pub(crate) fn speed(ms: u32) -> Tone {
    match ms {
        ..200 => Tone::Good,
        200..600 => Tone::Fair,
        600.. => Tone::Slow,
    }
}

/// The exit's address.
pub(crate) fn exit_ip(report: &Report) -> Shown {
    of_ip(report, |ip| text::line(&ip.ip))
}

/// The exit's country and city.
pub(crate) fn place(report: &Report) -> Shown {
    of_ip(report, |ip| {
        let place = ip.city.as_ref().or(ip.region.as_ref());
        joined([ip.country_code.as_ref(), place].into_iter().flatten())
    })
}

/// The exit's network.
pub(crate) fn network(report: &Report) -> Shown {
    of_ip(report, |ip| {
        let number = ip.asn.map(|asn| format!("AS{asn}"));
        joined([number.as_ref(), ip.org.as_ref()].into_iter().flatten())
    })
}

/// What else there is to say, the most telling first.
pub(crate) fn note(report: &Report) -> Shown {
    let mut notes = Vec::new();
    if let Some(via) = &report.via {
        notes.push(format!("via {}", text::line(via)));
    }
    if report.miss {
        notes.push("no answer yet".to_owned());
    }
    if let Some(error) = &report.error {
        notes.push(format!("{}: {}", error.kind, text::line(&error.text)));
    }
    if let Some(status) = &report.status_text {
        notes.push(text::line(status));
    }
    match (report.from_cache, report.age_ms) {
        (true, Some(age)) => {
            let age = rounded(Duration::from_millis(age));
            notes.push(format!("saved {age} ago"));
        }
        (true, None) => notes.push("saved".to_owned()),
        (false, _) if report.ip_from_cache => notes.push("IP as saved".to_owned()),
        (false, _) => {}
    }
    Shown::new(notes.join("; "), Tone::Plain)
}

/// An age in its largest unit, such as `5m`.
pub(crate) fn rounded(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}

fn of_ip(report: &Report, shown: impl Fn(&IpInfo) -> String) -> Shown {
    let tone = if report.ip_from_cache {
        Tone::Dim
    } else {
        Tone::Plain
    };
    Shown::new(report.ip.as_ref().map(shown).unwrap_or_default(), tone)
}

fn joined<'a>(words: impl Iterator<Item = &'a String>) -> String {
    text::line(&words.map(String::as_str).collect::<Vec<_>>().join(" "))
}
