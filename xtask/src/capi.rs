//! Builds the C interface as others are to have it: `liboutwatch`, shared and static, and its
//! header. It must not know what is in it.

use std::fs;

use anyhow::{Context as _, Result};

use crate::run::{cargo, root, say, target_dir};
use crate::setup;

/// What each kind of library is called on some system or other.
const LIBRARIES: [(&str, &str); 5] = [
    ("liboutwatch_c.so", "liboutwatch.so"),
    ("liboutwatch_c.dylib", "liboutwatch.dylib"),
    ("outwatch_c.dll", "outwatch.dll"),
    ("liboutwatch_c.a", "liboutwatch.a"),
    ("outwatch_c.lib", "outwatch.lib"),
];

/// Which one.
pub(crate) struct Wanted {
    /// Features instead of the default ones.
    pub(crate) features: Option<String>,
    /// For another machine than this.
    pub(crate) target: Option<String>,
}

pub(crate) fn capi(wanted: &Wanted) -> Result<()> {
    setup::for_building()?;
    let mut build = cargo([
        "rustc",
        "--package",
        "outwatch-c",
        "--lib",
        "--profile",
        "size",
    ])
    .args(["--crate-type", "cdylib,staticlib"]);
    if let Some(features) = &wanted.features {
        build = build.args(["--no-default-features", "--features", features]);
    }
    let mut built = target_dir();
    if let Some(target) = &wanted.target {
        build = build.args(["--target", target]);
        built.push(target);
    }
    built.push("size");
    for (made, _) in LIBRARIES {
        // One of another system or an earlier build is not to be taken for this one's.
        let _ = fs::remove_file(built.join(made));
    }
    build.run()?;

    let folder = target_dir().join("capi");
    fs::create_dir_all(&folder)?;
    let header = root().join("capi/include/outwatch.h");
    fs::copy(header, folder.join("outwatch.h")).context("failed to copy the header")?;
    for (made, name) in LIBRARIES {
        if let Ok(bytes) = fs::copy(built.join(made), folder.join(name)) {
            say(&format!(
                "{} ({} KiB)",
                folder.join(name).display(),
                bytes.div_ceil(1024)
            ));
        }
    }
    Ok(())
}
