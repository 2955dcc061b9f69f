//! Outwatch beside sing-box and mihomo at the same work in the same run: what a pass of
//! tests costs each, and what the traffic of users does. It must not judge; it prints
//! tables.
//!
//! `cargo bench --workspace --bench peers` for all of it, with `-- monitoring` or
//! `-- inbound` for one.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is what a bench is for"
)]

mod inbound;
mod monitoring;
mod program;
mod running;
mod servers;

use std::process::ExitCode;

use program::Programs;

fn main() -> ExitCode {
    if !cfg!(target_os = "linux") {
        eprintln!("what a process needs is read from /proc, which only Linux has");
        return ExitCode::FAILURE;
    }
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let all = wanted.is_empty();
    let programs = Programs::prepare();
    if all || wanted.iter().any(|name| name == "monitoring") {
        monitoring::compare(&programs);
    }
    if all || wanted.iter().any(|name| name == "inbound") {
        inbound::compare(&programs);
    }
    ExitCode::SUCCESS
}

/// The middle one of some figures.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
