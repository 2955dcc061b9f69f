//! The corpora and thousands of mutations of them as ordinary tests: what fuzzing found
//! stays found. It must not know what a target checks.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use outwatch_fuzz_targets::{TARGETS, Target};

/// How many mutations of each target's corpus are tried.
const MUTATIONS: u64 = 3_000;

fn target(name: &str) -> (Vec<(PathBuf, Vec<u8>)>, Target) {
    let (_, target) = TARGETS
        .into_iter()
        .find(|(of, _)| *of == name)
        .expect("a target");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../corpus")
        .join(name);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 5, "few seeds in {}", folder.display());
    let seed = |path: PathBuf| (path.clone(), fs::read(path).expect("a seed"));
    (paths.into_iter().map(seed).collect(), target)
}

fn run(target: Target, bytes: &[u8], what: &dyn std::fmt::Display) {
    let Err(fault) = catch_unwind(AssertUnwindSafe(|| target(bytes))) else {
        return;
    };
    let fault = fault
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| fault.downcast_ref::<&str>().copied());
    panic!(
        "{what}: {}\nThe bytes are b\"{}\"",
        fault.unwrap_or("no text"),
        bytes.escape_ascii()
    );
}

fn replay(name: &str) {
    let (seeds, target) = target(name);
    for (path, bytes) in &seeds {
        run(target, bytes, &path.display());
    }
}

fn mutate(name: &str) {
    let (seeds, target) = target(name);
    let seeds: Vec<Vec<u8>> = seeds.into_iter().map(|(_, bytes)| bytes).collect();
    for seed in 0..MUTATIONS {
        let bytes = Mutator(seed).mutation(&seeds);
        run(target, &bytes, &format_args!("{name}: mutation {seed}"));
    }
}

/// A stream of random numbers (splitmix64).
struct Mutator(u64);

impl Mutator {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % count as u64).expect("below a size")
    }

    /// One of the seeds with a few changes.
    fn mutation(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(8) {
            let at = self.below(bytes.len() + 1);
            let end = (at + 1 + self.below(8)).min(bytes.len());
            match self.below(5) {
                0 => bytes.insert(at, self.below(256).to_le_bytes()[0]),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                3 => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len() + 1);
                    bytes.splice(at.., other[from..].iter().copied());
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
        bytes
    }
}

#[test]
fn f3_every_text_ever_found_for_the_options_is_read_or_refused() {
    replay("options");
}

#[test]
fn f3_mutated_texts_for_the_options_are_read_or_refused() {
    mutate("options");
}

#[test]
fn i3_every_service_answer_ever_found_is_read_or_refused() {
    replay("service_answer");
}

#[test]
fn i3_mutated_service_answers_are_read_or_refused() {
    mutate("service_answer");
}

#[test]
fn p3_every_saved_pair_ever_found_is_taken_or_left() {
    replay("saved_pairs");
}

#[test]
fn p3_mutated_saved_pairs_are_taken_or_left() {
    mutate("saved_pairs");
}

#[test]
fn every_list_of_links_ever_found_is_read_or_refused() {
    replay("links");
}

#[test]
fn mutated_lists_of_links_are_read_or_refused() {
    mutate("links");
}

#[test]
fn every_story_ever_found_keeps_the_rules() {
    replay("inputs");
}

#[test]
fn mutated_stories_keep_the_rules() {
    mutate("inputs");
}
