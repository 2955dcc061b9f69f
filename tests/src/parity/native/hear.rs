//! What the engine hears of each event of a script. It must not know what comes of it.

use outwatch_engine::{Filter, Input, SubscriberId, Ticket};

use super::reader::{ALL, Reader};
use super::{Native, words};
use crate::parity::script::Event;
use crate::parity::trace::Lane;

impl Native<'_> {
    pub(super) fn perform(&mut self, event: &Event) {
        event.change(&mut self.world);
        let inputs = match event {
            Event::Start => {
                self.start();
                Vec::new()
            }
            Event::Read(nth) => self.permit(*nth, 1),
            Event::ReadAll => {
                let all = 0..self.readers.len();
                all.flat_map(|nth| self.permit(nth, ALL)).collect()
            }
            Event::Leave(nth) => self.readers[*nth].leave().into_iter().collect(),
            Event::Reports(view) => {
                self.read_reports(*view);
                Vec::new()
            }
            Event::Failed(.., times) => (0..*times).filter_map(|_| self.input(event)).collect(),
            event => self.input(event).into_iter().collect(),
        };
        if let Some(run) = &mut self.run
            && !inputs.is_empty()
        {
            run.inbox.extend(inputs);
            self.turn();
        }
    }

    /// What the engine hears of what a host tells it, if it hears of it.
    fn input(&mut self, event: &Event) -> Option<Input> {
        let run = self.run.as_mut()?;
        Some(match event {
            Event::Ask(tag) => {
                let ticket = Ticket(run.next_id());
                run.tickets.insert(ticket, self.asked);
                self.asked += 1;
                let tag = tag.clone();
                Input::Ask { ticket, tag }
            }
            Event::Activity if run.has_heard_of_activity(self.now) => return None,
            Event::Activity => Input::Activity,
            Event::NetworkChanged => Input::NetworkChanged,
            Event::Failed(tag, fault, _) => Input::ConnectionFailed {
                tag: tag.clone(),
                group: None,
                cause: words::cause(*fault),
            },
            Event::Select(group, _) => Input::Selected(words::selection(&self.world, group)),
            Event::Ready(tag) => Input::OutboundReady(tag.clone()),
            Event::Outbounds(outbounds) => Input::Outbounds {
                outbounds: outbounds.iter().map(words::outbound).collect(),
                selections: words::selections(&self.world),
            },
            Event::Pause => Input::Pause,
            Event::Resume => Input::Resume,
            Event::Subscribe(scope, view, pace) => {
                let subscriber = SubscriberId(run.next_id());
                self.readers.push(Reader::new(subscriber, *pace));
                let (scope, view) = (words::scope(scope), words::view(*view));
                let filter = Filter { scope, view };
                Input::Subscribe { subscriber, filter }
            }
            Event::Stop => Input::Stop,
            Event::Status(..) | Event::Rule(_) | Event::WallJump(_) => return None,
            Event::Start
            | Event::Read(_)
            | Event::ReadAll
            | Event::Leave(_)
            | Event::Reports(_) => {
                return None;
            }
        })
    }

    /// Lets the n-th subscriber read; gives what the engine hears of it.
    fn permit(&mut self, nth: usize, more: usize) -> Vec<Input> {
        self.readers[nth].permit(more);
        self.read(nth)
    }

    fn read_reports(&self, view: outwatch::View) {
        let Some(run) = &self.run else { return };
        let now = run.clocks(self.now, &self.world);
        for report in run.monitor.reports(words::view(view), now) {
            self.note(Lane::Reports, words::report(&report).to_string());
        }
    }
}
