//! What many outbounds cost, counted in allocations: the memory of the engine, and
//! that an event about one outbound is no dearer because there are others.

use std::time::Duration;

use allocation_counter::measure;
use outwatch_benches::{BEST, CHOSEN, World, selection};
use outwatch_engine::{Cause, Input};

/// The budget is 24 MiB for 10 000 outbounds; a tenth of both is measured.
#[test]
fn r7_the_memory_of_outbounds_with_full_rings_stays_under_24_mib_for_10_000() {
    let mut world = None;
    let allocated = measure(|| {
        let world = world.insert(World::settled(1_000));
        for _ in 0..33 {
            world.whole_cycle();
        }
    });
    let world = world.expect("a world");
    let report = world.report("outbound-999");
    assert_eq!(report.stats.count, 32);
    assert!(report.ip.is_some());
    let used = allocated.bytes_current;
    assert!(used < (24 << 20) / 10, "{} KiB are used", used >> 10);
}

/// What is allocated from an event to its end, among so many outbounds.
fn cost(outbounds: u32, event: impl Fn(&mut World) -> Input) -> u64 {
    let mut world = World::settled(outbounds);
    // The first of everything may find a table full.
    for _ in 0..3 {
        let event = event(&mut world);
        world.happens(event);
        world.passes(Duration::from_secs(20));
    }
    let event = event(&mut world);
    measure(|| {
        world.happens(event);
        world.passes(Duration::from_secs(20));
    })
    .bytes_total
}

#[track_caller]
fn costs_the_same_among_many(event: impl Fn(&mut World) -> Input) {
    let (few, many) = (cost(100, &event), cost(3_000, &event));
    assert!(
        many <= few + few / 2,
        "{few} bytes among 100, {many} among 3 000"
    );
}

#[test]
fn e1_a_failed_connection_costs_the_same_among_many() {
    costs_the_same_among_many(|world| Input::ConnectionFailed {
        tag: world.turn(),
        group: None,
        cause: Cause::Member,
    });
}

#[test]
fn s1_a_test_that_is_asked_for_costs_the_same_among_many() {
    costs_the_same_among_many(|world| {
        let tag = world.turn();
        world.ask(tag)
    });
}

#[test]
fn r2_a_test_of_what_a_group_shows_costs_the_same_among_many() {
    for group in [CHOSEN, BEST] {
        costs_the_same_among_many(|world| {
            let shown = world.report(group).via.expect("a member");
            world.ask(shown)
        });
    }
}

#[test]
fn e1_a_new_selection_costs_the_same_among_many() {
    costs_the_same_among_many(|world| Input::Selected(selection(world.turn())));
}
