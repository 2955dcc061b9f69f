//! Finds entries that lead back to themselves through members and detours. It must
//! not know which of them are selected, nor what leads where in use.

use super::findings::Findings;
use super::model::Entry;
use super::tags::Index;
use super::wording::cut;

/// A longer loop is cut in the middle when it is shown.
const SHOWN: usize = 12;

/// Every loop that a walk over all entries runs into, once, as an error. The walk
/// goes along each link once and keeps its way on the heap: a chain of any length
/// is fine.
pub(super) fn find(entries: &[Entry], index: &Index, findings: &mut Findings) {
    let mut walk = Walk {
        entries,
        index,
        state: vec![State::New; entries.len()],
        way: Vec::new(),
    };
    for start in 0..entries.len() {
        walk.from(start, findings);
    }
}

#[derive(Clone, Copy)]
enum State {
    New,
    /// On the way, as its n-th step.
    Ahead(usize),
    Done,
}

struct Walk<'a> {
    entries: &'a [Entry],
    index: &'a Index,
    state: Vec<State>,
    way: Vec<Step<'a>>,
}

struct Step<'a> {
    at: usize,
    entry: &'a Entry,
    /// How many of its links were followed.
    followed: usize,
}

impl<'a> Walk<'a> {
    fn from(&mut self, start: usize, findings: &mut Findings) {
        self.enter(start);
        while let Some(step) = self.way.last_mut() {
            let Some(tag) = link(step.entry, step.followed) else {
                set(&mut self.state, step.at, State::Done);
                self.way.pop();
                continue;
            };
            step.followed += 1;
            let Some(next) = self.index.get(tag).copied() else {
                continue;
            };
            match self.state.get(next) {
                Some(State::Ahead(first)) => self.report(*first, findings),
                _ => self.enter(next),
            }
        }
    }

    fn enter(&mut self, at: usize) {
        let (Some(State::New), Some(entry)) = (self.state.get(at), self.entries.get(at)) else {
            return;
        };
        set(&mut self.state, at, State::Ahead(self.way.len()));
        self.way.push(Step {
            at,
            entry,
            followed: 0,
        });
    }

    /// The way from its step `first` on has led back there.
    fn report(&self, first: usize, findings: &mut Findings) {
        let steps = self.way.get(first..).unwrap_or_default();
        let Some(start) = steps.first() else { return };
        let left = steps.len().saturating_sub(SHOWN);
        let mut shown: Vec<String> = steps
            .iter()
            .take(SHOWN / 2)
            .chain(steps.iter().skip(SHOWN / 2 + left))
            .chain([start])
            .map(|step| cut(&step.entry.tag))
            .collect();
        if left > 0 {
            shown.insert(SHOWN / 2, format!("({left} more)"));
        }
        let message = format!("a loop: {}", shown.join(" -> "));
        findings.error(path(start), message).hint =
            Some("a member or a detour must not lead back; remove one of these links".to_owned());
    }
}

/// The n-th tag that an entry leads to: its members, then its detour.
fn link(entry: &Entry, n: usize) -> Option<&str> {
    let detour = || entry.detour.as_ref().filter(|_| n == entry.members.len());
    entry.members.get(n).or_else(detour).map(String::as_str)
}

/// The field whose link was followed last.
fn path(step: &Step<'_>) -> String {
    let field = if step.followed > step.entry.members.len() {
        "detour"
    } else {
        "outbounds"
    };
    format!("{}.{field}", step.entry.path)
}

fn set(states: &mut [State], at: usize, state: State) {
    if let Some(slot) = states.get_mut(at) {
        *slot = state;
    }
}
