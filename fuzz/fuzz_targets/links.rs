//! Fuzzes `links`. It must not know what the target checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| outwatch_fuzz_targets::links(data));
