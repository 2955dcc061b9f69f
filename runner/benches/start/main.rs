//! What a start takes, with nothing compiled and with compiled code kept, and what monitors
//! hold in memory, one and a hundred in one process. It must not judge; it prints tables.
//!
//! `cargo bench --workspace --bench start`
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is what a bench is for"
)]

mod again;
mod first_fetch;

use std::process::ExitCode;

use tempfile::TempDir;

/// Each figure is the middle one of so many.
const TIMES: usize = 5;

fn main() -> ExitCode {
    if !cfg!(target_os = "linux") {
        eprintln!("what a process holds is read from /proc, which only Linux has");
        return ExitCode::FAILURE;
    }
    if let Some(code) = again::asked() {
        return code;
    }
    let cold = (0..TIMES).map(|_| again::with(0, folder().path()).load);
    let cold = cold.collect();
    let kept = folder();
    again::with(0, kept.path());
    let warm = (0..TIMES).map(|_| again::with(0, kept.path()).load);
    let warm = warm.collect();
    println!("the component, until it can run");
    println!("  compiled       {:>7.1} ms", median(cold));
    println!("  loaded         {:>7.1} ms", median(warm));

    println!(
        "monitors of {} outbounds in one process, all tested",
        again::OUTBOUNDS
    );
    let none = again::with(0, kept.path()).held;
    println!("  none           {none:>7.1} MiB, with the code loaded");
    for count in [1, 100] {
        let held = again::with(count, kept.path()).held;
        let each = (held - none) / f64::from(count);
        println!("  {count:<14} {held:>7.1} MiB, {each:.2} MiB for each");
    }

    let cold = (0..TIMES).map(|_| first_fetch::after(&folder())).collect();
    let kept = folder();
    first_fetch::after(&kept);
    let warm = (0..TIMES).map(|_| first_fetch::after(&kept)).collect();
    println!("`outwatch run`, from its start to its first connection to a server");
    println!("  compiled       {:>7.1} ms", median(cold));
    println!("  loaded         {:>7.1} ms", median(warm));
    ExitCode::SUCCESS
}

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
