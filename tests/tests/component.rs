//! The real component in a stub core, on virtual time.

mod component {
    mod contract;
    mod errors;
    mod hooks;
    mod monitoring;
    mod precompiled;
    mod saving;
    mod subscribing;
    mod world;
}
