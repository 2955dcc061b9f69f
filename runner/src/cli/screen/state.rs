//! What a person looks at: which row, which group, which pane, and what each key does. It
//! must not know how it is drawn, nor carry out what a key asks for.

use std::collections::HashSet;

use outwatch::{Kind, Measurement, Report, Update};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::choosing::Group;
use super::rows::{Rows, Wanted};
use crate::cli::output::text;

/// What a key asks for, and only others can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To test these.
    Test(Vec<String>),
    /// To be told how a group stands, and to go into it.
    Open(String),
    /// To have a group lead to a member.
    Select { group: String, member: String },
    /// To end.
    End,
}

/// What is below the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pane {
    #[default]
    Log,
    /// All that is known of the row.
    Details,
    Nothing,
}

/// What the keys go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Focus {
    #[default]
    Table,
    /// The text that rows are filtered by.
    Filter,
    /// The list of keys.
    Help,
}

/// The last measurements of one outbound.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) tag: String,
    /// Of which report they are.
    revision: u64,
    pub(super) measurements: Vec<Measurement>,
}

/// Everything that decides what is drawn.
#[derive(Default)]
pub(super) struct State {
    pub(super) rows: Rows,
    pub(super) wanted: Wanted,
    /// The filter as it was typed.
    pub(super) filter: String,
    /// The groups that were gone into, the innermost last.
    pub(super) groups: Vec<Group>,
    pub(super) pane: Pane,
    pub(super) focus: Focus,
    pub(super) history: History,
    /// The last thing to be told, until the next key.
    pub(super) notice: Option<String>,
    /// The tag of the row that the keys mean.
    at: Option<String>,
    /// The first row on the screen, and how many there are.
    pub(super) top: usize,
    height: usize,
    /// Where in the order the row was, for when it goes.
    nth: usize,
}

impl State {
    /// Takes an update of the reports.
    pub(super) fn learn(&mut self, update: Update) {
        self.rows.learn(update);
        self.arrange();
    }

    /// Takes how a group stands: of one that was gone into, else goes into it.
    pub(super) fn enter(&mut self, group: Group) {
        match self.groups.iter_mut().find(|open| open.tag == group.tag) {
            Some(open) => *open = group,
            None => {
                self.at.clone_from(&group.selected);
                // It found the group, and would hide its members.
                self.clear_filter();
                self.groups.push(group);
            }
        }
        self.arrange();
    }

    /// Whose measurements are needed and not known, and of which report.
    pub(super) fn history_wanted(&self) -> Option<(String, u64)> {
        let report = self.current().filter(|_| self.pane == Pane::Details)?;
        let known = self.history.tag == report.tag && self.history.revision == report.revision;
        let is_outbound = report.kind != Kind::Group;
        (is_outbound && !known).then(|| (report.tag.clone(), report.revision))
    }

    /// Takes them.
    pub(super) fn remember(&mut self, tag: String, revision: u64, measurements: Vec<Measurement>) {
        self.history = History {
            tag,
            revision,
            measurements,
        };
    }

    /// Says something, until the next key.
    pub(super) fn say(&mut self, notice: impl Into<String>) {
        self.notice = Some(text::line(&notice.into()));
    }

    /// The row that the keys mean.
    pub(super) fn current(&self) -> Option<&Report> {
        self.rows.nth(self.nth)
    }

    /// Where in the order it is.
    pub(super) fn nth(&self) -> usize {
        self.nth
    }

    /// So many rows have room; scrolls to the one that the keys mean.
    pub(super) fn fit(&mut self, height: usize) {
        self.height = height.max(1);
        let lowest_top = (self.nth + 1).saturating_sub(self.height);
        let last_top = self.rows.len().saturating_sub(self.height);
        self.top = self
            .top
            .clamp(lowest_top, self.nth)
            .min(last_top.max(lowest_top));
    }

    /// Takes a key; gives what it asks for.
    pub(super) fn key(&mut self, key: KeyEvent) -> Option<Wish> {
        self.notice = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Some(Wish::End),
                _ => None,
            };
        }
        match self.focus {
            Focus::Table => self.table_key(key.code),
            Focus::Filter => {
                self.filter_key(key.code);
                None
            }
            Focus::Help => {
                self.focus = Focus::Table;
                None
            }
        }
    }

    fn table_key(&mut self, key: KeyCode) -> Option<Wish> {
        match key {
            KeyCode::Char('q') => return Some(Wish::End),
            KeyCode::Up | KeyCode::Char('k') => self.go(self.nth.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.go(self.nth + 1),
            KeyCode::PageUp => self.go(self.nth.saturating_sub(self.height)),
            KeyCode::PageDown => self.go(self.nth + self.height),
            KeyCode::Home | KeyCode::Char('g') => self.go(0),
            KeyCode::End | KeyCode::Char('G') => self.go(usize::MAX),
            KeyCode::Enter => return self.open(),
            KeyCode::Esc | KeyCode::Backspace => self.back(),
            KeyCode::Char(' ') => return self.select(),
            KeyCode::Char('t') => {
                let tag = self.current()?.tag.clone();
                return Some(Wish::Test(vec![tag]));
            }
            KeyCode::Char('T') => return Some(Wish::Test(self.rows.testable())),
            KeyCode::Char('s') => {
                self.wanted.sort = self.wanted.sort.next();
                self.arrange();
            }
            KeyCode::Char('r') => {
                self.wanted.reversed = !self.wanted.reversed;
                self.arrange();
            }
            KeyCode::Char('/') => self.focus = Focus::Filter,
            KeyCode::Char('l') => self.turn_to(Pane::Log),
            KeyCode::Char('d') => self.turn_to(Pane::Details),
            KeyCode::Char('?' | 'h') => self.focus = Focus::Help,
            _ => {}
        }
        None
    }

    fn filter_key(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter | KeyCode::Down | KeyCode::Up => self.focus = Focus::Table,
            KeyCode::Esc => {
                self.focus = Focus::Table;
                self.clear_filter();
            }
            KeyCode::Backspace => {
                self.filter.pop();
            }
            KeyCode::Char(typed) => self.filter.push(typed),
            _ => {}
        }
        self.wanted.filter = self.filter.to_lowercase();
        self.arrange();
    }

    /// Into a group; of an outbound its details.
    fn open(&mut self) -> Option<Wish> {
        let report = self.current()?;
        if report.kind == Kind::Group {
            return Some(Wish::Open(report.tag.clone()));
        }
        self.turn_to(Pane::Details);
        None
    }

    /// Out of the innermost of details, group and filter.
    fn back(&mut self) {
        if self.pane == Pane::Details {
            self.pane = Pane::Log;
        } else if let Some(group) = self.groups.pop() {
            self.at = Some(group.tag);
            self.arrange();
        } else {
            self.clear_filter();
            self.arrange();
        }
    }

    fn select(&mut self) -> Option<Wish> {
        let member = self.current()?.tag.clone();
        match self.groups.last() {
            None => self.say("open a group first (Enter), then choose a member of it"),
            Some(group) if !group.selectable => {
                let notice = format!("`{}` chooses by itself", group.tag);
                self.say(notice);
            }
            Some(group) => {
                let group = group.tag.clone();
                return Some(Wish::Select { group, member });
            }
        }
        None
    }

    fn clear_filter(&mut self) {
        self.filter.clear();
        self.wanted.filter.clear();
    }

    fn turn_to(&mut self, pane: Pane) {
        self.pane = if self.pane == pane {
            Pane::Nothing
        } else {
            pane
        };
    }

    fn go(&mut self, nth: usize) {
        self.nth = nth.min(self.rows.len().saturating_sub(1));
        self.at = self.current().map(|report| report.tag.clone());
    }

    /// Decides anew what is shown; the row that the keys mean stays the same one, wherever
    /// it goes.
    fn arrange(&mut self) {
        let members = self
            .groups
            .last()
            .map(|group| group.members.iter().cloned());
        self.wanted.among = members.map(HashSet::from_iter);
        self.rows.arrange(&self.wanted);
        let at = self.at.as_deref().and_then(|tag| self.rows.position(tag));
        match at {
            Some(nth) => self.nth = nth,
            // The first stays the first until a person moves.
            None => self.nth = self.nth.min(self.rows.len().saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests;
