//! What follows a test that answered: runs IP lookups (I) and IPv6 checks (V) and
//! takes what they find. It must not hold up any test.

use alloc::string::String;
use alloc::sync::Arc;

use super::{GRACE, Monitor};
use crate::ProbeId;
use crate::action::{Action, Level, Probe, Request};
use crate::board::Urgency;
use crate::expect::delay_ms;
use crate::followup::{FollowUp, Subject};
use crate::gate;
use crate::input::{Answer, ProbeOutcome};
use crate::report::{DelaySource, ErrorKind, IpInfo, Ipv6Source, View};
use crate::running::Use;
use crate::services;
use crate::timers::Timer;
use crate::topology::Id;

impl Monitor {
    /// Whether something is still to be learnt of an outbound that works now.
    pub(super) fn is_missing(&self, id: Id, subject: Subject) -> bool {
        let record = self.board.get(id);
        let missing = match subject {
            Subject::Ip => self.options.ip_lookup && record.wants_ip(),
            Subject::Ipv6 => self.options.verify_ipv6 && record.ipv6.is_none(),
        };
        missing && self.topology.is_testable(id) && record.ok_at().is_some()
    }

    /// T-9: a pool of its own, as large as the workers'.
    pub(super) fn fill_follow_ups(&mut self) {
        let room = usize::try_from(self.options.workers).unwrap_or(usize::MAX);
        while self.follow_ups.busy() < room {
            let Some((id, subject)) = self.follow_ups.pop() else {
                return;
            };
            if !self.is_missing(id, subject) {
                self.show_pending(id, subject, false);
            } else if gate::is_quiet(&self.topology, &self.running, id) {
                self.begin_follow_up(id, subject);
            } else {
                reached!("a lookup waits while its detour is tested");
                // D-2
                self.follow_ups.hold(id, subject);
            }
        }
    }

    fn begin_follow_up(&mut self, id: Id, subject: Subject) {
        let Some(success) = &self.board.get(id).success else {
            return;
        };
        let Some(of) = success.at else { return };
        let url = success.url.clone();
        let follow_up = FollowUp {
            subject,
            of,
            generation: self.life.generation(),
            way: self.services.begin(),
            probe: None,
            url,
        };
        self.follow_ups.begin(id, follow_up);
        match subject {
            Subject::Ip => self.ask_next_service(id),
            // V-2: the same URL as the test's.
            Subject::Ipv6 => self.send_follow_up(id),
        }
    }

    pub(super) fn follow_up_ended(&mut self, id: Id, probe: ProbeId, outcome: ProbeOutcome) {
        self.timers.clear(Timer::FollowUp(probe));
        let Some(follow_up) = self
            .follow_ups
            .get_mut(id)
            .filter(|one| one.probe == Some(probe))
        else {
            return;
        };
        let subject = follow_up.subject;
        match (subject, outcome) {
            (_, ProbeOutcome::NotReady(_)) => {
                reached!("a lookup finds its outbound not ready");
                self.follow_ups.end(id);
                self.show_pending(id, subject, false);
            }
            (Subject::Ip, ProbeOutcome::Answered(answer)) => self.service_answered(id, &answer),
            (Subject::Ip, ProbeOutcome::Failed(failure)) => {
                self.service_failed(id, failure.kind, &failure.text);
            }
            (Subject::Ipv6, ProbeOutcome::Answered(_)) => self.take_ipv6(id, Some(true)),
            (Subject::Ipv6, ProbeOutcome::Failed(failure)) => {
                reached!("an IPv6 check fails");
                // V-2: without an address to dial nothing is known.
                let unknown = matches!(
                    failure.kind,
                    ErrorKind::DnsFail
                        | ErrorKind::DnsTimeout
                        | ErrorKind::Unsupported
                        | ErrorKind::Canceled
                );
                self.take_ipv6(id, (!unknown).then_some(false));
            }
        }
    }

    /// The probe has not come back.
    pub(super) fn follow_up_lost(&mut self, id: Id, probe: ProbeId) {
        let Some(follow_up) = self
            .follow_ups
            .get_mut(id)
            .filter(|one| one.probe == Some(probe))
        else {
            return;
        };
        match follow_up.subject {
            Subject::Ip => self.service_failed(id, ErrorKind::Stuck, "never came back"),
            Subject::Ipv6 => self.take_ipv6(id, None),
        }
    }

    fn service_answered(&mut self, id: Id, answer: &Answer) {
        let Some(lookup) = self.follow_ups.get_mut(id) else {
            return;
        };
        let own = self.options.ipinfo_url.as_deref();
        let allow_private = own.is_some_and(services::is_private_host);
        let info = services::read_answer(&lookup.url, answer.status, &answer.body, allow_private);
        match info {
            Ok(info) => {
                if let Some(lookup) = self.follow_ups.end(id) {
                    self.take_ip(id, &lookup, info, answer);
                }
            }
            Err(failure) => {
                if answer.status == 429 {
                    let header = answer
                        .headers
                        .iter()
                        .find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
                    let after = header.map(|(_, value)| value.as_str());
                    reached!("a service is tired of an outbound");
                    self.services.rest(id, &lookup.way, after, self.now.mono);
                }
                self.service_failed(id, failure.kind, &failure.text);
            }
        }
    }

    fn service_failed(&mut self, id: Id, kind: ErrorKind, text: &str) {
        if let Some(lookup) = self.follow_ups.get_mut(id) {
            let line = self
                .journal
                .line(Level::Debug, "ip_service_failed")
                .text("tag", self.topology.tag(id));
            let line = line
                .text("url", &lookup.url)
                .word("kind", kind.as_str())
                .text("text", text);
            self.log(line);
        }
        self.ask_next_service(id);
    }

    /// I-1
    fn ask_next_service(&mut self, id: Id) {
        let Some(lookup) = self.follow_ups.get_mut(id) else {
            return;
        };
        let own = self.options.ipinfo_url.as_deref();
        if let Some(url) = self.services.next(id, &mut lookup.way, own, self.now.mono) {
            lookup.url = Arc::from(url);
            return self.send_follow_up(id);
        }
        reached!("every service failed");
        // I-6: what was known stays.
        self.follow_ups.end(id);
        self.show_pending(id, Subject::Ip, false);
        let line = self.line(Level::Info, "ip_failed", id);
        self.log(line);
    }

    fn send_follow_up(&mut self, id: Id) {
        let probe = self.running.probe(Use::FollowUp(id));
        let Some(follow_up) = self.follow_ups.get_mut(id) else {
            return;
        };
        follow_up.probe = Some(probe);
        let subject = follow_up.subject;
        let url = String::from(&*follow_up.url);
        let deadline = self.options.url_test_timeout;
        self.timers.set(
            Timer::FollowUp(probe),
            self.now.mono + deadline.saturating_mul(3) + GRACE,
        );
        let event = match subject {
            Subject::Ip => "ip_lookup",
            Subject::Ipv6 => "ipv6_check",
        };
        let line = self
            .line(Level::Debug, event, id)
            .text("url", &url)
            .word("deadline_ms", deadline.as_millis());
        self.log(line);
        let request = Request {
            head: subject == Subject::Ipv6,
            url,
            deadline,
            body_limit: match subject {
                // One byte more shows that an answer is too long (I-3).
                Subject::Ip => services::BODY_LIMIT + 1,
                Subject::Ipv6 => 0,
            },
            response_headers: match subject {
                Subject::Ip => ["retry-after"].into(),
                Subject::Ipv6 => [].into(),
            },
            repeat: false,
            ipv6_only: subject == Subject::Ipv6,
        };
        let tag = String::from(self.topology.tag(id));
        self.actions.push(Action::Probe(Probe {
            id: probe,
            tag,
            forced: true,
            request,
        }));
    }

    fn take_ip(&mut self, id: Id, lookup: &FollowUp, info: IpInfo, answer: &Answer) {
        self.show_pending(id, Subject::Ip, false);
        let follows_host = self.topology.get(id).exit_follows_host;
        if follows_host && lookup.generation != self.life.generation() {
            reached!("an own address of the network before does not count");
            // I-7: the address of the network before; a test of the new one follows.
            return;
        }
        let line = self
            .line(Level::Info, "ip", id)
            .text("ip", &info.ip)
            .text("service", &info.service);
        let line = line.text("country", info.country_code.as_deref().unwrap_or_default());
        let time_ms = delay_ms(answer.first_byte, self.options.url_test_timeout);
        let record = self.board.edit(id);
        record.take_ip(info);
        let of_this_test = record.ok_at() == Some(lookup.of);
        if let Some(success) = &mut record.success
            && of_this_test
            && time_ms < success.delay_ms
        {
            reached!("a faster lookup lowers the delay");
            // T-8
            success.delay_ms = time_ms;
            success.source = DelaySource::IpInfo;
            success.warm = false;
        }
        self.log(line.word("time_ms", time_ms));
        self.board.touch(id, View::Confirmed, Urgency::Debounced);
        self.keep(id, Urgency::Debounced);
    }

    /// Lets people see whether a lookup is still to come.
    pub(super) fn show_pending(&mut self, id: Id, subject: Subject, pending: bool) {
        let record = self.board.edit(id);
        if subject == Subject::Ip && record.ip_pending != pending {
            record.ip_pending = pending;
            self.board.touch(id, View::Display, Urgency::Debounced);
        }
    }

    fn take_ipv6(&mut self, id: Id, carries: Option<bool>) {
        let Some(check) = self.follow_ups.end(id) else {
            return;
        };
        let Some(carries) = carries.filter(|_| check.generation == self.life.generation()) else {
            return;
        };
        self.board.edit(id).ipv6 = Some((carries, Ipv6Source::Verified));
        self.board.touch(id, View::Confirmed, Urgency::Debounced);
        let line = self
            .line(Level::Info, "ipv6", id)
            .word("carries", if carries { "yes" } else { "no" });
        self.log(line);
    }
}
