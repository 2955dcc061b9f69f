//! Fifth phase: tells everyone what they are to know, and saves. It must not change
//! any result.

use super::Monitor;
use crate::action::{Action, AskError, Update};
use crate::publisher::Batch;
use crate::report::View;
use crate::timers::Timer;

impl Monitor {
    pub(super) fn announce(&mut self) {
        self.note_changes();
        self.answer();
        self.save();
        for batch in self.publisher.take_due() {
            self.publish(batch);
        }
    }

    /// The same at the end of the monitor, without waiting for any window.
    pub(super) fn announce_all(&mut self) {
        self.note_changes();
        self.answer();
        self.save();
        for batch in self.publisher.take_all() {
            self.publish(batch);
        }
    }

    fn note_changes(&mut self) {
        for change in self.board.take_changes(&self.topology) {
            for opened in self.publisher.note(change, &self.topology) {
                let closes = self.now.mono + self.options.debounce_window;
                self.timers.set(Timer::Window(opened), closes);
            }
        }
    }

    fn answer(&mut self) {
        for (ticket, answer) in self.asks.take_answers() {
            let alive = answer.and_then(|id| {
                if self.topology.is_alive(id) {
                    Ok(id)
                } else {
                    Err(AskError::UnknownTag)
                }
            });
            let result = alive.map(|id| {
                self.board
                    .report(&self.topology, id, View::Confirmed, self.now)
            });
            self.actions.push(Action::Answer { ticket, result });
        }
    }

    /// P-3: one write for all that changed.
    fn save(&mut self) {
        if let Some(write) = self
            .saved
            .take(&self.topology, &self.board, self.now.wall_ms)
        {
            self.timers.clear(Timer::Save);
            self.actions.push(Action::Save {
                delete: write.delete,
                set: write.set,
            });
        }
    }

    fn publish(&mut self, batch: Batch) {
        self.timers.clear(Timer::Window(batch.subscriber));
        let mut ids: alloc::vec::Vec<_> = batch.dirty.into_iter().collect();
        ids.sort_by_key(|&id| self.topology.get(id).rank);
        let report = |id| self.board.report(&self.topology, id, batch.view, self.now);
        let update = Update {
            reports: ids.into_iter().map(report).collect(),
            removed: batch.removed,
            urgent: batch.urgent,
        };
        self.actions.push(Action::Publish {
            subscriber: batch.subscriber,
            update,
        });
    }
}
