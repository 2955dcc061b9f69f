//! The same scripts through the engine alone and through the component in its runtime
//! leave the same traces. A random one that differs names its seed: `SEED=n cargo test
//! -p outwatch-tests --test parity random` replays it.

mod parity {
    mod random;
    mod results;
    mod rounds;
    mod watching;
}
