//! Which member a lowest-delay group keeps or takes (G-5). It must not know what comes
//! of it.

use super::standing::{Grade, Standing};

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// The member to lead to.
    pub(super) member: usize,
    /// The fastest that works, if one does.
    pub(super) fastest: Option<usize>,
    pub(super) why: Why,
}

/// Why a member is kept or taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Kept: nothing else works either.
    NoneWorks,
    /// Kept: it is the fastest.
    Fastest,
    /// Kept: the fastest is not fast enough to be worth it.
    WithinTolerance,
    /// Taken: the current one does not work.
    CurrentFailed,
    /// Taken: the current one has worked in an earlier run only.
    CurrentOnlyCached,
    /// Taken: it is faster by more than the tolerance.
    Faster,
}

impl Why {
    /// Whether another member is taken.
    pub(super) fn takes(self) -> bool {
        match self {
            Self::NoneWorks | Self::Fastest | Self::WithinTolerance => false,
            Self::CurrentFailed | Self::CurrentOnlyCached | Self::Faster => true,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::NoneWorks => "none-works",
            Self::Fastest => "fastest",
            Self::WithinTolerance => "within-tolerance",
            Self::CurrentFailed => "current-failed",
            Self::CurrentOnlyCached => "current-only-cached",
            Self::Faster => "faster",
        }
    }
}

/// Decides among the members that may be used, given in config order with their numbers;
/// none if there is none. `current` need not be among them.
pub(super) fn decide<'a>(
    members: impl Iterator<Item = (usize, &'a Standing)>,
    current: Option<usize>,
    tolerance_ms: u32,
) -> Option<Decision> {
    let mut first = None;
    let mut at = None;
    let mut fastest: Option<(bool, u64, usize)> = None;
    for (member, standing) in members {
        first = first.or(Some(member));
        if current == Some(member) {
            at = Some(standing);
        }
        // One that works comes before any that only worked; of equals the first in config
        // order is taken.
        if let Some(delay) = standing.delay() {
            let it = (is_cached(standing), delay, member);
            fastest = fastest.min(Some(it)).or(Some(it));
        }
    }
    let kept = current.filter(|_| at.is_some()).or(first)?;
    let Some((cached, delay, member)) = fastest else {
        return Some(Decision {
            member: kept,
            fastest: None,
            why: Why::NoneWorks,
        });
    };
    let why = match at.and_then(|at| Some((at, at.steady_delay()?))) {
        None => Why::CurrentFailed,
        Some(_) if member == kept => Why::Fastest,
        Some((at, _)) if is_cached(at) && !cached => Why::CurrentOnlyCached,
        Some((_, steady)) if delay + u64::from(tolerance_ms) < steady => Why::Faster,
        Some(_) => Why::WithinTolerance,
    };
    Some(Decision {
        member: if why.takes() { member } else { kept },
        fastest: Some(member),
        why,
    })
}

fn is_cached(standing: &Standing) -> bool {
    matches!(standing.grade(), Grade::Cached(_))
}
