//! What a script looks at: reports, probes, answers, updates and log lines. It must
//! not change the world.

use outwatch_engine::{
    AskError, ErrorKind, Measurement, Monitor, Report, SubscriberId, Ticket, Update, View,
};

use super::{Sent, World};

impl World {
    pub(crate) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    pub(crate) fn monitor_mut(&mut self) -> &mut Monitor {
        &mut self.monitor
    }

    pub(crate) fn confirmed(&self, tag: &str) -> Report {
        self.monitor
            .report(tag, View::Confirmed, self.now())
            .expect("a known tag")
    }

    pub(crate) fn shown(&self, tag: &str) -> Report {
        self.monitor
            .report(tag, View::Display, self.now())
            .expect("a known tag")
    }

    pub(crate) fn measurements(&self, tag: &str) -> Vec<Measurement> {
        self.monitor.measurements(tag, self.now())
    }

    /// When URL tests of an outbound were sent.
    pub(crate) fn tests(&self, tag: &str) -> Vec<u64> {
        self.url_tests()
            .filter(|sent| sent.probe.tag == tag)
            .map(|sent| sent.at)
            .collect()
    }

    pub(crate) fn url_tests(&self) -> impl Iterator<Item = &Sent> {
        self.sent
            .iter()
            .filter(|sent| sent.probe.request.head && !sent.probe.request.ipv6_only)
    }

    /// How often somebody was asked for over IPv6 alone.
    pub(crate) fn ipv6_checks(&self) -> usize {
        let checks = self.sent.iter();
        checks.filter(|sent| sent.probe.request.ipv6_only).count()
    }

    /// The outbounds in the order of their first URL test.
    pub(crate) fn order(&self) -> Vec<&str> {
        let mut order: Vec<&str> = Vec::new();
        for sent in self.url_tests() {
            if !order.contains(&sent.probe.tag.as_str()) {
                order.push(&sent.probe.tag);
            }
        }
        order
    }

    /// The GET probes through an outbound.
    pub(crate) fn lookups(&self, tag: &str) -> Vec<&Sent> {
        self.sent
            .iter()
            .filter(|sent| sent.probe.tag == tag && !sent.probe.request.head)
            .collect()
    }

    pub(crate) fn answer(&self, ticket: Ticket) -> Option<&(u64, Result<Report, AskError>)> {
        self.answers.get(&ticket)
    }

    /// When a question was answered, and with which delay or error.
    pub(crate) fn verdict(&self, ticket: Ticket) -> Option<(u64, Result<u32, ErrorKind>)> {
        let (at, result) = self.answers.get(&ticket)?;
        let report = result.as_ref().expect("a report");
        let verdict = match (&report.error, report.delay_ms) {
            (Some(error), _) => Err(error.kind),
            (None, delay) => Ok(delay.expect("a delay")),
        };
        Some((*at, verdict))
    }

    pub(crate) fn updates_of(&self, subscriber: SubscriberId) -> Vec<(u64, &Update)> {
        let own = self.updates.iter().filter(|(_, id, _)| *id == subscriber);
        own.map(|(at, _, update)| (*at, update)).collect()
    }

    /// The tags of a subscriber's updates, with their time.
    pub(crate) fn told(&self, subscriber: SubscriberId) -> Vec<(u64, Vec<&str>)> {
        self.updates_of(subscriber)
            .into_iter()
            .map(|(at, update)| {
                (
                    at,
                    update
                        .reports
                        .iter()
                        .map(|report| report.tag.as_str())
                        .collect(),
                )
            })
            .collect()
    }

    /// Log lines that hold all these words.
    pub(crate) fn lines(&self, words: &[&str]) -> Vec<(u64, &str)> {
        let fits = |line: &str| words.iter().all(|word| line.contains(word));
        self.log
            .iter()
            .filter(|(_, line)| fits(line))
            .map(|(at, line)| (*at, line.as_str()))
            .collect()
    }

    pub(crate) fn probes_out(&self) -> usize {
        self.open.len()
    }
}
