//! A subscriber as the library serves it: one update waits for the reader, one more is
//! held back by the component, and the engine makes no third. It must not know the
//! engine's state.

use outwatch_engine::{Input, SubscriberId, Update};

use crate::parity::script::Pace;

/// More updates than any script has.
pub(crate) const ALL: usize = 1_000_000;

pub(super) struct Reader {
    pub(super) id: SubscriberId,
    /// How many updates it may still read.
    permits: usize,
    waiting: Option<Update>,
    held: Option<Update>,
    pub(super) gone: bool,
}

impl Reader {
    pub(super) fn new(id: SubscriberId, pace: Pace) -> Self {
        Self {
            id,
            permits: permits(pace),
            waiting: None,
            held: None,
            gone: false,
        }
    }

    /// An update comes; gives what the engine hears of it, if anything.
    pub(super) fn offer(&mut self, update: Update) -> Option<Input> {
        if self.gone {
            // That nobody reads shows when something is written.
            return Some(Input::Unsubscribe(self.id));
        }
        if self.waiting.is_some() {
            self.held = Some(update);
            return None;
        }
        self.waiting = Some(update);
        Some(Input::Taken(self.id))
    }

    pub(super) fn permit(&mut self, more: usize) {
        self.permits += more;
    }

    /// Reads one, if there is one and it may; gives what the engine hears of it too.
    pub(super) fn read(&mut self) -> Option<(Update, Option<Input>)> {
        self.permits = self
            .permits
            .checked_sub(usize::from(self.waiting.is_some()))?;
        let update = self.waiting.take()?;
        self.waiting = self.held.take();
        let taken = self.waiting.is_some().then_some(Input::Taken(self.id));
        Some((update, taken))
    }

    /// Goes away; gives what the engine hears of it now.
    pub(super) fn leave(&mut self) -> Option<Input> {
        self.gone = true;
        self.waiting = None;
        self.held.take().map(|_| Input::Unsubscribe(self.id))
    }
}

pub(crate) fn permits(pace: Pace) -> usize {
    match pace {
        Pace::Eager => ALL,
        Pace::Slow => 0,
    }
}
