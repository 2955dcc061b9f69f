//! A whole cycle of 10 000 outbounds in a world that answers at once: what the engine
//! itself takes of it. It must not know what a cycle is.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use outwatch_benches::World;

const OUTBOUNDS: u32 = 10_000;

fn cycle(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cycle");
    group.sample_size(10);
    group.bench_function("first_of_10000", |bencher| {
        bencher.iter_batched_ref(
            || World::new(OUTBOUNDS),
            World::whole_cycle,
            BatchSize::PerIteration,
        );
    });
    let mut world = World::settled(OUTBOUNDS);
    assert_eq!(world.working(), OUTBOUNDS as usize, "the world answers");
    group.bench_function("later_of_10000", |bencher| {
        bencher.iter(|| world.whole_cycle());
    });
    group.finish();
}

criterion_group!(benches, cycle);
criterion_main!(benches);
