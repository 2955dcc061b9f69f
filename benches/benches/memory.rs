//! The memory of the engine with every outbound tested, its exit known and its ring of
//! measurements full; fails above the budget. It must not measure time.

use allocation_counter::measure;
use outwatch_benches::{World, mib};

/// The most that 10 000 outbounds may take.
const BUDGET: usize = 24 << 20;
/// As many measurements as are kept, and one more.
const CYCLES: usize = 33;

#[allow(clippy::print_stdout, reason = "it is what a bench is for")]
fn main() {
    println!("| outbounds | in use | bytes each | at the peak |");
    println!("| --- | --- | --- | --- |");
    for outbounds in [10_000, 100_000_u32] {
        let mut world = None;
        let allocated = measure(|| {
            let world = world.insert(World::settled(outbounds));
            for _ in 1..CYCLES {
                world.whole_cycle();
            }
        });
        let working = world.map(|world| world.working());
        assert_eq!(working, Some(outbounds as usize), "the world answers");
        let used = usize::try_from(allocated.bytes_current).unwrap_or(0);
        let peak = usize::try_from(allocated.bytes_max).unwrap_or(usize::MAX);
        assert!(outbounds > 10_000 || used < BUDGET, "{used} bytes are used");
        let each = used / outbounds as usize;
        println!(
            "| {outbounds} | {:.1} MiB | {each} | {:.1} MiB |",
            mib(used),
            mib(peak)
        );
    }
}
