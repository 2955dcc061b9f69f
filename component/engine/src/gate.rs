//! Whether an outbound may be tested as far as its detour is concerned (D-2).
//! It must not know who wants to test it.

use crate::board::Board;
use crate::record::Known;
use crate::running::Running;
use crate::topology::{Id, Topology};

/// Whether the gate is open: the leaf of the detour has a result of this run and
/// is not being tested again.
pub(crate) fn is_open(topology: &Topology, board: &Board, running: &Running, id: Id) -> bool {
    let opens = |leaf: Id| {
        // What is never tested would keep the gate shut for ever.
        !topology.is_testable(leaf)
            || (board.get(leaf).known() != Known::Nothing && !running.contains(leaf))
    };
    // D-5: a detour that names nothing opens the gate.
    let Some(detour) = topology.get(id).detour else {
        return true;
    };
    match topology.leaf(detour) {
        Some(leaf) => opens(leaf),
        None => topology
            .within(detour)
            .any(|id| topology.is_testable(id) && board.get(id).known() != Known::Nothing),
    }
}

/// Whether what an outbound dials through is left in peace. That is all that a
/// lookup waits for: its outbound has just worked.
pub(crate) fn is_quiet(topology: &Topology, running: &Running, id: Id) -> bool {
    let leaf = topology
        .get(id)
        .detour
        .and_then(|detour| topology.leaf(detour));
    leaf.is_none_or(|leaf| !running.contains(leaf))
}

/// Whose test would open the gate of an outbound, if it is shut.
pub(crate) fn keeper(topology: &Topology, board: &Board, running: &Running, id: Id) -> Option<Id> {
    if is_open(topology, board, running, id) {
        return None;
    }
    let detour = topology.get(id).detour?;
    topology
        .leaf(detour)
        .or_else(|| topology.leaves(detour).first().copied())
}
