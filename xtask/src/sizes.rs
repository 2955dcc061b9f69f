//! Weighs what each feature of the library adds to a program. It must not know what any
//! feature is for.

use std::fs;

use anyhow::{Context as _, Result};

use crate::run::{cargo, say, target_dir};
use crate::setup;

/// What is weighed, and with what it is compared.
const FEATURES: [(&str, &str); 10] = [
    ("", ""),
    ("fetch", ""),
    ("file-cache", ""),
    ("network", ""),
    ("native-core", "fetch"),
    ("inbound", "native-core"),
    ("sing-box", "native-core"),
    ("api", "inbound"),
    ("compiler", ""),
    ("embedded", "compiler"),
];

pub(crate) fn sizes() -> Result<()> {
    setup::for_building()?;
    let mut table = vec!["| features | KiB | more than | KiB more |".to_owned()];
    table.push("| --- | ---: | --- | ---: |".to_owned());
    let mut sizes: Vec<(&str, u64)> = Vec::new();
    for (features, base) in FEATURES {
        let size = size(features)?;
        let known = sizes.iter().find(|(name, _)| *name == base);
        let more = size.saturating_sub(known.map_or(size, |(_, size)| *size));
        let name = if features.is_empty() {
            "none"
        } else {
            features
        };
        let base = if base.is_empty() { "none" } else { base };
        table.push(format!("| {name} | {size} | {base} | {more} |"));
        sizes.push((features, size));
    }
    say(&table.join("\n"));
    Ok(())
}

/// The size of a program that uses these features, in KiB.
fn size(features: &str) -> Result<u64> {
    cargo(["build", "--package", "outwatch-minimal", "--bin", "sized"])
        .args(["--profile", "size", "--features"])
        .args([format!("alone,{features}")])
        .run()?;
    let program = target_dir().join("size/sized");
    let about = fs::metadata(&program).with_context(|| format!("no {}", program.display()))?;
    Ok(about.len().div_ceil(1024))
}
