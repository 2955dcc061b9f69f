//! Names of the branches that a simulation must reach to show anything. It must not
//! be in the component: without the feature `labels` nothing of it is compiled.

#[cfg(feature = "labels")]
use core::sync::atomic::{AtomicBool, Ordering};

/// Notes that a branch was reached. The label must stand in [`ALL`].
macro_rules! reached {
    ($label:literal) => {
        #[cfg(feature = "labels")]
        {
            const AT: usize = crate::labels::place($label);
            crate::labels::note(AT);
        }
    };
}

/// Every label, in the order of the rooms.
#[cfg(feature = "labels")]
const ALL: [&str; 62] = [
    "an untestable tag is asked for",
    "activity wakes an idle monitor",
    "a cycle is broken off by idleness or a pause",
    "a wanted test is dropped when testing stops",
    "a wanted lookup is dropped when testing stops",
    "one that was not ready becomes ready",
    "an abandoned test comes back late",
    "a lookup that never came back is given up",
    "a forced test finds its outbound not ready still",
    "a mark tries again",
    "the deadline cancels a running attempt",
    "a test that never came back is given up",
    "a failed attempt waits for its next mark",
    "a failure of the network before is not published",
    "an outbound is unavailable for now",
    "a success of the network before is tested again",
    "one that is not ready is put aside",
    "an outbound went while the cycle ran",
    "the cycle takes the result of a test that runs",
    "the cycle passes over one that waits",
    "the cycle finds a fresh result",
    "a cycle without success moves to the next address",
    "a cycle without success keeps or restores its address",
    "a test waits for the gate of its detour",
    "a stuck outbound is failed without a probe",
    "a gated outbound asks for what its gate waits for",
    "a failed connection soon after a failed test waits",
    "a recovered outbound has its dependents tested again",
    "a result opens a gate",
    "a wish joins a test that runs",
    "a cause that comes while idle marks its outbound",
    "the network changes while idle",
    "a cycle is broken off by a change of the network",
    "a broken test that somebody waits for runs again at once",
    "a broken test waits until the network settles",
    "a change of the network makes an own address doubtful",
    "an outbound goes while it is tested",
    "an outbound goes while it is looked up",
    "an outbound goes with tests that never came back",
    "a question passes on to the new server",
    "a lookup waits while its detour is tested",
    "a faster lookup lowers the delay",
    "an own address of the network before does not count",
    "every service failed",
    "a service is tired of an outbound",
    "an IPv6 check fails",
    "a lookup finds its outbound not ready",
    "a service has rested",
    "a new record fills its gaps from the old one",
    "a tag goes while somebody asks about it",
    "a saved result is loaded",
    "the result of one that goes is kept",
    "an old result of one that is gone is dropped",
    "a newer saved result is left alone",
    "a broken saved result is removed",
    "the outbounds change while somebody listens",
    "an answer has a status that does not count",
    "a loop of groups ends",
    "the number of one that went is given out again",
    "a detour names nothing",
    "a tag stands twice",
    "the device slept",
];

#[cfg(feature = "labels")]
static REACHED: [AtomicBool; ALL.len()] = [const { AtomicBool::new(false) }; ALL.len()];

/// Every label, and whether its branch was reached in this process.
#[cfg(feature = "labels")]
pub fn all() -> impl Iterator<Item = (&'static str, bool)> {
    let reached = REACHED.iter().map(|label| label.load(Ordering::Relaxed));
    ALL.into_iter().zip(reached)
}

#[cfg(feature = "labels")]
pub(crate) fn note(at: usize) {
    REACHED[at].store(true, Ordering::Relaxed);
}

/// Where a label stands in [`ALL`]; does not compile for one that does not.
#[cfg(feature = "labels")]
pub(crate) const fn place(label: &str) -> usize {
    let mut at = 0;
    while !equal(ALL[at].as_bytes(), label.as_bytes()) {
        at += 1;
    }
    at
}

#[cfg(feature = "labels")]
const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
