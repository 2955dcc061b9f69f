//! The examples in C and Python, compiled and run against a web server on loopback, and
//! the C one under valgrind. It must not know how the library works inside.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use outwatch::Component;
use outwatch_tests::peers::Nginx;
use serde_json::Value;

/// The shared library, as cargo built it for this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let folder = test.parent().expect("the folder of built things");
    folder.join(format!(
        "{}outwatch_c{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ))
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Options that test and look up at a server on loopback.
fn options(server: &Nginx) -> String {
    let site = format!("http://127.0.0.1:{}", server.port(0));
    format!(r#"{{"urls":["{site}/generate_204"],"ipinfo_url":"{site}/ip"}}"#)
}

fn run(command: &mut Command) -> Output {
    let output = command.output();
    let output = output.unwrap_or_else(|error| {
        panic!("{command:?}: {error}; `cargo xtask setup` installs what is missing")
    });
    assert!(output.status.success(), "{command:?}: {output:#?}");
    output
}

/// Compiles the C example with every warning an error.
fn compile(folder: &Path) -> PathBuf {
    let program = folder.join("embed");
    let library = library();
    let beside = library.parent().expect("its folder");
    run(Command::new("cc")
        .args([
            "-std=c11",
            "-D_GNU_SOURCE",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-g",
        ])
        .arg(examples().join("embed.c"))
        .arg("-I")
        .arg(examples().join("../include"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", beside.display()))
        .args(["-lpthread", "-o"])
        .arg(&program));
    program
}

/// The JSON after a word at the start of a line of what was printed.
fn printed(output: &Output, word: &str) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    let line = line.unwrap_or_else(|| panic!("no `{word}` in {text}"));
    serde_json::from_str(line).expect("JSON")
}

fn shows_a_tested_outbound(output: &Output) {
    let report = printed(output, "tested (0): ");
    assert_eq!(report["tag"], "straight");
    assert_eq!(report["state"], "ok", "{report}");
    assert!(report["delay_ms"].as_u64() >= Some(1), "{report}");
}

#[test]
fn the_c_example_compiles_without_a_warning_and_tests_through_its_own_sockets() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Nginx::plain();
    let program = compile(folder.path());
    let output = run(Command::new(program).arg(options(&server)));
    shows_a_tested_outbound(&output);
    assert_eq!(printed(&output, "reports: ")[0]["state"], "ok");
    assert!(printed(&output, "update: ")["reports"].is_array());
}

#[test]
fn valgrind_finds_no_fault_in_the_c_example_and_nothing_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Nginx::plain();
    let program = compile(folder.path());
    // Compiling under valgrind takes minutes.
    let code = folder.path().join("engine.code");
    let bytes = Component::precompile(Component::embedded_bytes(), None);
    std::fs::write(&code, bytes.expect("code")).expect("a file");
    let checks = [
        "--error-exitcode=9",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite",
        "--show-leak-kinds=definite",
    ];
    let arguments = checks.iter().map(OsStr::new);
    let output = run(Command::new("valgrind")
        .args(arguments)
        .arg(&program)
        .arg(options(&server))
        .arg(&code));
    shows_a_tested_outbound(&output);
}

#[test]
fn the_python_example_fetches_by_itself_and_learns_where_its_traffic_comes_out() {
    let server = Nginx::plain();
    let output = run(Command::new("python3")
        .arg(examples().join("embed.py"))
        .arg(library())
        .arg(options(&server)));
    shows_a_tested_outbound(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut located = text
        .lines()
        .filter_map(|line| line.strip_prefix("update: "));
    let last: Value = serde_json::from_str(located.next_back().expect("an update")).expect("JSON");
    assert_eq!(last["ip"]["country_code"], "NL", "{last}");
}
