//! The cost of one event that concerns one outbound, among few and among many: it must
//! not grow with their number. It must not know why it would.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use outwatch_benches::{BEST, CHOSEN, SIZES, World, selection};
use outwatch_engine::{Cause, Input};

/// Longer than a new selection counts as recent (E-2), and than a save waits (P-3).
const A_WHILE: Duration = Duration::from_secs(20);

/// What is measured: an event and all that comes of it, from the first step to the last.
type Event = fn(&mut World) -> Duration;

const EVENTS: [(&str, Event); 6] = [
    ("asked", asked),
    ("answered", answered),
    ("connection_failed", connection_failed),
    ("selected", selected),
    ("selected_one_asked", selected_one_asked),
    ("best_one_asked", best_one_asked),
];

fn asked(world: &mut World) -> Duration {
    let tag = world.turn();
    let ask = world.ask(tag);
    timed(world, ask)
}

/// Only from the answer on: the result, its publication, its save.
fn answered(world: &mut World) -> Duration {
    let tag = world.turn();
    let ask = world.ask(tag);
    let outcome = world.step(vec![ask]);
    let start = Instant::now();
    world.goes_on(outcome);
    world.passes(A_WHILE);
    start.elapsed()
}

fn connection_failed(world: &mut World) -> Duration {
    let failed = Input::ConnectionFailed {
        tag: world.turn(),
        group: Some(CHOSEN.into()),
        cause: Cause::Member,
    };
    timed(world, failed)
}

fn selected(world: &mut World) -> Duration {
    let selected = Input::Selected(selection(world.turn()));
    timed(world, selected)
}

fn selected_one_asked(world: &mut World) -> Duration {
    shown_one_asked(world, CHOSEN)
}

fn best_one_asked(world: &mut World) -> Duration {
    shown_one_asked(world, BEST)
}

/// The outbound that all that a group shows is taken from.
fn shown_one_asked(world: &mut World, group: &str) -> Duration {
    let shown = world.report(group).via.unwrap_or_default();
    let ask = world.ask(shown);
    timed(world, ask)
}

fn timed(world: &mut World, input: Input) -> Duration {
    let start = Instant::now();
    world.happens(input);
    world.passes(A_WHILE);
    start.elapsed()
}

fn events(criterion: &mut Criterion) {
    for (name, event) in EVENTS {
        let mut group = criterion.benchmark_group(name);
        for size in SIZES {
            let mut world = World::settled(size);
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter_custom(|times| (0..times).map(|_| event(&mut world)).sum());
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = events
}
criterion_main!(benches);
