//! The engines that tests host: the fresh one, those in `tests/engines/`, and what can be
//! made of their bytes. It must not run any.

use std::sync::OnceLock;

use outwatch::{CodeCache, Component, LoadError};

/// An engine that does one wrong thing, as the first outbound's tag says; see
/// `tests/guests`.
pub static GUEST: &[u8] = include_bytes!("../engines/guest.wasm");

/// The engine of the first release.
pub static RELEASED_0_1_0: &[u8] = include_bytes!("../engines/outwatch-0.1.0.wasm");

/// The engine that the runner brings.
pub fn fresh() -> Component {
    code().embedded().expect("an engine")
}

/// [`RELEASED_0_1_0`].
pub fn released_0_1_0() -> Component {
    load(RELEASED_0_1_0).expect("an engine")
}

/// [`GUEST`].
pub fn guest() -> Component {
    static LOADED: OnceLock<Component> = OnceLock::new();
    LOADED
        .get_or_init(|| load(GUEST).expect("an engine"))
        .clone()
}

/// The fresh engine again, as another component than the embedded one: with a section
/// more, which means nothing.
pub fn another() -> Component {
    static LOADED: OnceLock<Component> = OnceLock::new();
    LOADED
        .get_or_init(|| load(&another_as_bytes()).expect("an engine"))
        .clone()
}

/// The bytes of [`another`].
pub fn another_as_bytes() -> Vec<u8> {
    [Component::embedded_bytes(), b"\0\x05\x04same"].concat()
}

/// Loads an engine, compiled no more than once for all tests.
///
/// # Errors
/// As [`Component::from_bytes`].
pub fn load(engine: &[u8]) -> Result<Component, LoadError> {
    code().from_bytes(engine)
}

/// Where compiled engines are kept: beside the tests' programs.
pub fn code() -> CodeCache {
    let program = std::env::current_exe().expect("a test has a program");
    CodeCache::in_folder(program.with_file_name("engines"))
}

/// An engine for another version of the contract. Only versions of the same length.
pub fn of_version(engine: &[u8], version: &str) -> Vec<u8> {
    let mut bytes = engine.to_vec();
    let end = b"@0.1.0";
    assert_eq!(
        version.len() + 1,
        end.len(),
        "other lengths would move the rest"
    );
    let prefix = b"outwatch:monitor/";
    let is_name = |&at: &usize| engine[at..].starts_with(prefix);
    for at in (0..engine.len()).filter(is_name) {
        let name = &engine[at + prefix.len()..];
        let length = name
            .iter()
            .take_while(|&&byte| byte.is_ascii_lowercase() || byte == b'-');
        let at = at + prefix.len() + length.count();
        if engine[at..].starts_with(end) {
            bytes[at + 1..at + end.len()].copy_from_slice(version.as_bytes());
        }
    }
    bytes
}
