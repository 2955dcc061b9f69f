//! What a component's file says about itself, or what another file looks like.
//! It must not run anything: the bytes may come from anywhere.

use outwatch::Component;
use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{Resolve, WorldItem, WorldKey};

/// The package whose worlds this program hosts.
const PACKAGE: (&str, &str) = ("outwatch", "monitor");

/// What a component declares.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// Package and version of the contract it was built for.
    pub(super) contract: Option<String>,
    /// The engine's name and version, as its build wrote them down.
    pub(super) version: Option<String>,
    /// Everything it asks of a host, in its own order.
    pub(super) imports: Vec<String>,
    /// Everything it offers.
    pub(super) exports: Vec<String>,
}

/// Reads a component.
///
/// # Errors
/// What the bytes look like instead, in words.
pub(super) fn read(bytes: &[u8]) -> Result<Contents, String> {
    if let Some(other) = other_than_wasm(bytes) {
        return Err(other.to_owned());
    }
    match decode(bytes) {
        Ok(DecodedWasm::Component(resolve, world)) => {
            let world = &resolve.worlds[world];
            Ok(Contents {
                contract: world
                    .exports
                    .iter()
                    .find_map(|(key, _)| contract(&resolve, key)),
                version: version(bytes),
                imports: names(&resolve, &world.imports),
                exports: names(&resolve, &world.exports),
            })
        }
        Ok(DecodedWasm::WitPackage(..)) => Err("it is a WIT package, only types".to_owned()),
        Err(error) => Err(format!(
            "it is damaged: {}",
            first_line(&format!("{error:#}"))
        )),
    }
}

fn names<'a>(
    resolve: &Resolve,
    items: impl IntoIterator<Item = (&'a WorldKey, &'a WorldItem)>,
) -> Vec<String> {
    items
        .into_iter()
        // Types alone need nothing of the host; interfaces show where they are from.
        .filter(|(_, item)| !matches!(item, WorldItem::Type { .. }))
        .map(|(key, _)| name(resolve, key))
        .collect()
}

fn name(resolve: &Resolve, key: &WorldKey) -> String {
    match key {
        WorldKey::Name(name) => name.clone(),
        WorldKey::Interface(id) => resolve
            .id_of(*id)
            .unwrap_or_else(|| "an interface without name".to_owned()),
    }
}

/// Package and version of an interface, if it is one of ours.
fn contract(resolve: &Resolve, key: &WorldKey) -> Option<String> {
    let WorldKey::Interface(id) = key else {
        return None;
    };
    let package = resolve.interfaces[*id].package?;
    let name = &resolve.packages[package].name;
    (name.namespace == PACKAGE.0 && name.name == PACKAGE.1).then(|| name.to_string())
}

/// The engine's version, with its name.
fn version(bytes: &[u8]) -> Option<String> {
    let version = Component::version_of(bytes)?;
    Some(format!("outwatch-monitor {version}"))
}

/// What bytes are that cannot be a component; none if they may be one.
fn other_than_wasm(bytes: &[u8]) -> Option<&'static str> {
    // After the four magic bytes: the version, and the layer (1 for components).
    match bytes {
        [] => return Some("the file is empty"),
        [0, b'a', b's', b'm', _, _, 1, 0, ..] => return None,
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => {
            return Some("it is a core WebAssembly module, which has yet to be made a component");
        }
        [0, b'a', b's', b'm', ..] => {
            return Some("it is WebAssembly of a version that this program does not know");
        }
        [0x7f, b'E', b'L', b'F', ..] => {
            return Some("it is an ELF file: a program, or a compiled component");
        }
        [b'M', b'Z', ..] => return Some("it is a Windows program"),
        [0x1f, 0x8b, ..] => return Some("it is compressed with gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return Some("it is compressed with zstd"),
        [b'P', b'K', 3, 4, ..] => return Some("it is a ZIP archive"),
        _ => {}
    }
    let start = std::str::from_utf8(bytes)
        .ok()?
        .trim_start_matches('\u{feff}')
        .trim_start();
    Some(match start.as_bytes() {
        [] => "the file is blank",
        [b'{' | b'[', ..] => "it is JSON, maybe a config",
        [b'<', ..] => "it is HTML or XML, maybe the page of a failed download",
        [b'(', ..] => "it is WebAssembly text, which has yet to be assembled",
        [b'p', ..] if start.starts_with("package ") => "it is WIT text, only types",
        _ => "it is text",
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks_like(bytes: &[u8]) -> String {
        read(bytes).expect_err("no component")
    }

    #[test]
    fn other_files_are_told_apart() {
        assert_eq!(looks_like(b""), "the file is empty");
        assert_eq!(looks_like(b" \n"), "the file is blank");
        assert_eq!(looks_like(b"{}"), "it is JSON, maybe a config");
        assert_eq!(
            looks_like(b"(component)"),
            "it is WebAssembly text, which has yet to be assembled"
        );
        assert_eq!(
            looks_like(b"<html>"),
            "it is HTML or XML, maybe the page of a failed download"
        );
        assert_eq!(
            looks_like(b"\x7fELF\x02"),
            "it is an ELF file: a program, or a compiled component"
        );
        assert!(looks_like(b"\0asm\x01\0\0\0").contains("core WebAssembly module"));
        assert!(looks_like(b"\0asm\x09\0\x07\0").contains("a version that this program"));
        assert!(looks_like(b"\xff\xfe\x00garbage").starts_with("it is damaged: "));
    }

    #[test]
    fn a_component_without_anything_has_no_contract() {
        let empty = b"\0asm\x0d\0\x01\0";
        let contents = read(empty).expect("the smallest component");
        let nothing = Contents {
            contract: None,
            version: None,
            imports: vec![],
            exports: vec![],
        };
        assert_eq!(contents, nothing);
    }

    #[test]
    fn a_cut_off_component_is_damaged() {
        assert!(looks_like(b"\0asm\x0d\0\x01\0\x07\x20\x01").starts_with("it is damaged: "));
    }
}
