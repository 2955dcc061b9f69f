//! The real component in a stub core, on virtual time.

use outwatch::Component;

/// The one that the runner brings.
fn engine() -> Component {
    outwatch_tests::engines::fresh()
}

mod component {
    mod containing;
    mod contract;
    mod errors;
    mod hooks;
    mod monitoring;
    mod precompiled;
    mod replacing;
    mod saving;
    mod subscribing;
    mod versions;
    mod world;
}
