//! Puts together a report of one entry in one view. It must not change anything.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Board, Look};
use crate::Now;
use crate::record::Record;
use crate::report::{Ipv6, Report, State, Stats, View};
use crate::topology::{Entry, Id, Topology};

impl Board {
    /// The report of an entry.
    pub(crate) fn report(&self, topology: &Topology, id: Id, view: View, now: Now) -> Report {
        let entry = topology.get(id);
        if !topology.is_group(id) {
            let record = self.get(id);
            let mut report = of_record(entry, record, view, now);
            report.revision = revision(view, record.revision, record.shown_revision);
            return report;
        }
        let Look {
            via,
            revision: confirmed,
            shown_revision,
        } = self.look(id);
        let mut report = match via {
            Some(via) => of_record(entry, self.get(via), view, now),
            None => blank(entry),
        };
        report.via = via.map(|via| String::from(topology.tag(via)));
        report.revision = revision(view, confirmed, shown_revision);
        report
    }

    /// All reports in config order.
    pub(crate) fn reports(&self, topology: &Topology, view: View, now: Now) -> Vec<Report> {
        topology
            .order()
            .iter()
            .map(|&id| self.report(topology, id, view, now))
            .collect()
    }
}

fn revision(view: View, confirmed: u64, shown: u64) -> u64 {
    match view {
        View::Confirmed => confirmed,
        View::Display => confirmed.max(shown),
    }
}

fn of_record(entry: &Entry, record: &Record, view: View, now: Now) -> Report {
    let mut report = blank(entry);
    report.state = record.state();
    if let Some(failed) = &record.failed {
        report.url = Some(String::from(&*failed.url));
        report.tested_at = Some(failed.wall_ms);
        report.age_ms = Some(millis_since(failed.at, now));
        // D-4: the core's words take the place of an error.
        report.error = record.not_ready.is_none().then(|| failed.failure.clone());
    } else if let Some(success) = &record.success {
        report.delay_ms = Some(success.delay_ms);
        report.delay_source = Some(success.source);
        report.warm = success.warm;
        report.url = Some(String::from(&*success.url));
        report.tested_at = Some(success.wall_ms);
        report.from_cache = success.at.is_none();
        report.age_ms = Some(match success.at {
            Some(at) => millis_since(at, now),
            None => now.wall_ms.saturating_sub(success.wall_ms),
        });
    }
    report.last_ok_at = record.success.as_ref().map(|success| success.wall_ms);
    report.ip = record.ip.as_deref().cloned();
    report.ip_from_cache = record.ip_from_cache;
    (report.ipv6, report.ipv6_source) = record.ipv6();
    report.status_text = record
        .not_ready
        .as_ref()
        .map(|not_ready| not_ready.text.clone());
    report.reason = record.reason;
    report.attempts = record.attempts;
    report.stats = record.ring.stats();
    // R-3, S-7
    report.testing = view == View::Display && record.testing;
    report.miss = view == View::Display && record.miss;
    report.ip_pending = view == View::Display && record.ip_pending;
    report
}

fn millis_since(at: crate::Instant, now: Now) -> u64 {
    u64::try_from(now.mono.since(at).as_millis()).unwrap_or(u64::MAX)
}

/// What is reported when nothing is known.
fn blank(entry: &Entry) -> Report {
    Report {
        tag: String::from(&*entry.tag),
        kind: entry.kind,
        type_name: String::from(&*entry.type_name),
        state: State::Untested,
        testing: false,
        delay_ms: None,
        delay_source: None,
        warm: false,
        url: None,
        tested_at: None,
        last_ok_at: None,
        age_ms: None,
        from_cache: false,
        miss: false,
        error: None,
        ip: None,
        ip_from_cache: false,
        ip_pending: false,
        ipv6: Ipv6::Unknown,
        ipv6_source: None,
        status_text: None,
        reason: None,
        attempts: 0,
        via: None,
        stats: Stats::default(),
        revision: 0,
        extra: Vec::new(),
    }
}
