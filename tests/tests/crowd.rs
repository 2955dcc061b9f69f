//! Crowds: many connections at once, good and bad, leave nothing behind. A test counts
//! what its whole process has open, so that only one runs at a time.
#![cfg(target_os = "linux")]

mod crowd {
    mod counts;
    mod datagrams;
    mod exhausted;
    mod failing;
    mod many;
    mod world;
}
