//! The same scripts through the engine alone and through the component in its runtime
//! leave the same traces. A random one that differs names its seed: `SEED=n cargo nextest
//! run --workspace random_scripts` replays it.

mod parity {
    mod random;
    mod results;
    mod rounds;
    mod watching;
}
