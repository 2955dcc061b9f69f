//! The memory of the engine with every outbound tested, its exit known and its ring of
//! measurements full; fails above the budget. It must not measure time.

use outwatch_benches::World;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The most that 10 000 outbounds may take.
const BUDGET: usize = 24 << 20;
/// As many measurements as are kept, and one more.
const CYCLES: usize = 33;

#[allow(clippy::print_stdout, reason = "it is what a bench is for")]
fn main() {
    println!("| outbounds | in use | bytes each | at the peak |");
    println!("| --- | --- | --- | --- |");
    for outbounds in [10_000, 100_000_u32] {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let mut world = World::settled(outbounds);
        for _ in 1..CYCLES {
            world.whole_cycle();
        }
        let used = ALLOCATOR.current_usage() - before;
        let peak = ALLOCATOR.peak_usage() - before;
        assert_eq!(world.working(), outbounds as usize, "the world answers");
        assert!(outbounds > 10_000 || used < BUDGET, "{used} bytes are used");
        let each = used / outbounds as usize;
        println!(
            "| {outbounds} | {:.1} MiB | {each} | {:.1} MiB |",
            mib(used),
            mib(peak)
        );
    }
}

#[allow(clippy::cast_precision_loss, reason = "a few digits of it are shown")]
fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
