//! The board alone, filled by hand.

use super::*;
use crate::group::tests::untested;

fn outbound(tag: &str, revision: u64) -> Holds {
    Holds::Outbound(Box::new(Report {
        revision,
        ..untested(tag)
    }))
}

fn board(tags: &[&str]) -> Board {
    let mut board = Board::new();
    for tag in tags {
        board.put((*tag).to_owned(), outbound(tag, 1));
    }
    board
}

fn changed(board: &Board, version: u64) -> Vec<String> {
    let update = board.since(version).expect("it is known");
    update
        .reports
        .into_iter()
        .map(|report| report.tag)
        .collect()
}

#[test]
fn one_who_is_behind_gets_each_tag_once_in_its_last_state() {
    let mut board = board(&["a", "b", "c"]);
    let behind = board.version();
    for revision in 2..100 {
        board.put("b".to_owned(), outbound("b", revision));
    }
    board.put("a".to_owned(), outbound("a", 2));
    assert_eq!(changed(&board, behind), ["b", "a"]);
    let update = board.since(behind).expect("it is known");
    assert_eq!(update.reports[0].revision, 99);
    assert_eq!(changed(&board, update.version), [""; 0]);
    assert_eq!(
        changed(&board, 0),
        ["c", "b", "a"],
        "all of it, to who knows nothing"
    );
}

#[test]
fn what_says_the_same_is_no_change() {
    let mut board = board(&["a"]);
    let version = board.version();
    let Holds::Outbound(mut older) = outbound("a", 1) else {
        unreachable!("it is one");
    };
    older.age_ms = Some(5);
    board.put("a".to_owned(), Holds::Outbound(older.clone()));
    assert_eq!(board.version(), version, "an age is no news");
    older.testing = true;
    board.put("a".to_owned(), Holds::Outbound(older));
    assert_eq!(board.version(), version + 1);
}

#[test]
fn a_tag_that_went_and_came_back_is_told_as_it_is() {
    let mut board = board(&["a", "b"]);
    let version = board.version();
    board.put("a".to_owned(), Holds::Gone);
    let update = board.since(version).expect("it is known");
    assert_eq!(
        (update.removed, update.reports.len()),
        (vec!["a".to_owned()], 0)
    );
    board.put("a".to_owned(), outbound("a", 7));
    let update = board.since(version).expect("it is known");
    assert_eq!((update.removed.len(), update.reports.len()), (0, 1));
}

#[test]
fn what_went_is_not_remembered_without_end_and_who_was_away_so_long_starts_anew() {
    let mut board = board(&["stays"]);
    let version = board.version();
    for nth in 0..2 * GONE {
        let tag = nth.to_string();
        board.put(tag.clone(), outbound(&tag, 1));
        board.put(tag, Holds::Gone);
        board.forget();
    }
    assert_eq!(board.slots.len(), GONE + 1);
    assert_eq!(board.order.len(), GONE + 1);
    assert!(board.since(version).is_none());
    assert!(board.since(board.version()).is_some());
    assert!(
        board.since(board.version() + 1).is_none(),
        "of another start"
    );
}
