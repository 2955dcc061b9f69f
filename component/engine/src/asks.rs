//! Those who asked for a test and have no answer yet (S-9). It must not know how a
//! test goes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::Ticket;
use crate::action::AskError;
use crate::topology::Id;

/// All open questions, and the answers of this step.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    open: BTreeMap<Ticket, Ask>,
    answers: Vec<(Ticket, Result<Id, AskError>)>,
}

#[derive(Debug)]
struct Ask {
    about: Id,
    /// Leaves whose test is not over.
    left: usize,
    /// About a group: a leaf that is not ready does not fail it.
    is_group: bool,
}

impl Asks {
    /// Opens a question about an entry with so many leaves.
    pub(crate) fn open(&mut self, ticket: Ticket, about: Id, leaves: usize, is_group: bool) {
        self.open.insert(
            ticket,
            Ask {
                about,
                left: leaves,
                is_group,
            },
        );
    }

    pub(crate) fn refuse(&mut self, ticket: Ticket, error: AskError) {
        self.answers.push((ticket, Err(error)));
    }

    /// The tests of a leaf are over for those who asked.
    pub(crate) fn leaf_over(&mut self, tickets: &[Ticket], result: &Result<(), AskError>) {
        for &ticket in tickets {
            let Some(ask) = self.open.get_mut(&ticket) else {
                continue;
            };
            ask.left = ask.left.saturating_sub(1);
            let answer = match result {
                Err(error) if !ask.is_group => Err(error.clone()),
                Ok(()) | Err(_) if ask.left == 0 => Ok(ask.about),
                Ok(()) | Err(_) => continue,
            };
            self.open.remove(&ticket);
            self.answers.push((ticket, answer));
        }
    }

    /// What the questions about an entry that is gone get.
    pub(crate) fn forget(&mut self, id: Id) {
        let about = |ask: &Ask| ask.about == id;
        let tickets: Vec<Ticket> = self
            .open
            .iter()
            .filter(|(_, ask)| about(ask))
            .map(|(&ticket, _)| ticket)
            .collect();
        for ticket in tickets {
            self.open.remove(&ticket);
            reached!("a tag goes while somebody asks about it");
            self.refuse(ticket, AskError::UnknownTag);
        }
    }

    /// Every open question gets this.
    pub(crate) fn close(&mut self, error: &AskError) {
        for (ticket, _) in core::mem::take(&mut self.open) {
            self.refuse(ticket, error.clone());
        }
    }

    pub(crate) fn take_answers(&mut self) -> Vec<(Ticket, Result<Id, AskError>)> {
        core::mem::take(&mut self.answers)
    }
}
