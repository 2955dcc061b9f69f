//! What tests of these rooms share. It must not know what is tested.

use serde_json::Value;

use crate::config::{self, Config, LoadOptions};

/// A whole config that can be used.
pub(super) fn config(value: &Value) -> Config {
    let loaded = config::read(
        "test.json",
        value.to_string().as_bytes(),
        &LoadOptions::default(),
    );
    loaded
        .config
        .unwrap_or_else(|| panic!("{:?}", loaded.problems))
}
