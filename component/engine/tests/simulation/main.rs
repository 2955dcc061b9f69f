//! Random worlds and events by seed, with invariants after every step. A failure
//! prints the line that replays its seed. It must not know any rule.

use std::collections::BTreeSet;

#[path = "../shared/grammar.rs"]
mod grammar;
mod invariants;
mod random;
mod seeds;
mod world;

use world::{CacheFault, Event, Fault, World};

/// How many seeds a run looks at, unless it is told another number.
const SEEDS: u64 = 60;

/// So many seeds reach every label and every kind of event and fault.
const SEEDS_FOR_ALL: u64 = 150;

#[test]
fn no_seed_breaks_an_invariant() {
    seeds::play(SEEDS);
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 1000..1005 {
        assert_eq!(World::new(seed).play().trace, World::new(seed).play().trace);
    }
}

#[test]
fn l1_every_label_is_reached_every_line_written_and_every_kind_of_event_and_fault_happens() {
    let mut happened = BTreeSet::new();
    let mut unwritten = grammar::events();
    assert!(unwritten.len() >= 30, "{unwritten:?}");
    for seed in 0..SEEDS_FOR_ALL {
        let story = World::new(seed).play();
        happened.extend(story.happened);
        for line in &story.trace {
            let line = line.split_once(' ').map(|(_, line)| line);
            let pairs = line.and_then(grammar::parse).expect("L-1: a line");
            unwritten.remove(pairs[0].1.as_str());
        }
    }
    assert!(unwritten.is_empty(), "in no story: {unwritten:?}");
    let all = Event::ALL.iter().map(|(event, _)| format!("{event:?}"));
    let all = all.chain(Fault::ALL.iter().map(|(fault, _)| format!("{fault:?}")));
    let all = all.chain(CacheFault::ALL.iter().map(|fault| format!("{fault:?}")));
    let all: Vec<String> = all.collect();
    assert!(all.len() >= 40, "{}", all.len());
    let missing: Vec<&String> = all
        .iter()
        .filter(|kind| !happened.contains(*kind))
        .collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
    let labels: Vec<(&str, bool)> = outwatch_engine::labels().collect();
    assert!(labels.len() >= 40, "{}", labels.len());
    let missed: Vec<&str> = labels
        .iter()
        .filter(|(_, reached)| !reached)
        .map(|(label, _)| *label)
        .collect();
    assert!(missed.is_empty(), "never reached: {missed:#?}");
}

#[test]
fn when_every_outbound_answers_each_has_a_result_in_time() {
    for seed in 0..SEEDS {
        World::calm(seed).play_calm();
    }
}
