//! What the first release's engine can do, it can do in every later host.

use outwatch::Component;

/// The one that was released as 0.1.0.
fn engine() -> Component {
    outwatch_tests::engines::released_0_1_0()
}

mod component {
    mod errors;
    mod hooks;
    mod monitoring;
    mod replacing;
    mod saving;
    mod subscribing;
    mod world;
}
