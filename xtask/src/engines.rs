//! Makes the engines anew that tests host and that are kept in the tree. It must not
//! touch released ones.

use std::fs;

use anyhow::{Context as _, Result};
use outwatch_component_build::Build;

use crate::run::{root, say, target_dir};
use crate::setup;

/// Where a guest's crate is, the module it makes, and the engine that becomes of it.
const GUESTS: [(&str, &str, &str); 2] = [
    (
        "tests/guests",
        "outwatch_test_guest.wasm",
        "tests/engines/guest.wasm",
    ),
    (
        "tests/guests/changed",
        "outwatch_changed_guest.wasm",
        "tests/engines/contract-0.2.wasm",
    ),
];

pub(crate) fn engines() -> Result<()> {
    let toolchain = setup::for_building()?;
    let build = Build {
        root: root(),
        target_dir: target_dir().join("guests"),
    };
    for (folder, module, engine) in GUESTS {
        let bytes = build.guest(&toolchain, folder, module)?;
        let path = root().join(engine);
        fs::write(&path, &bytes).with_context(|| format!("failed to write {engine}"))?;
        say(&format!("{engine} ({} bytes)", bytes.len()));
    }
    Ok(())
}
