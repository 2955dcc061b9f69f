//! The component that is stepped, made once for all tests. It must not run it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use outwatch_component_build::{Build, MISSING, Toolchain};

/// The component's path. Where nothing changed since it was made, that takes no time.
pub(crate) fn component() -> &'static Path {
    static COMPONENT: LazyLock<PathBuf> = LazyLock::new(|| {
        let build = Build {
            root: root(),
            // Where the other one is made: they share what both are made of.
            target_dir: Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("component"),
        };
        let toolchain = Toolchain::find().expect(MISSING);
        build.step(&toolchain).expect("a component")
    });
    &COMPONENT
}

/// The project's root.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}
