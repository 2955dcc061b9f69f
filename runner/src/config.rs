//! A sing-box style config file: read, checked, and explained when it is wrong.
//! It must not know the monitor or any protocol.

pub(crate) mod base64;
mod clash_api;
mod entries;
mod findings;
mod fingerprint;
mod lines;
mod lookalike;
mod loops;
mod model;
mod places;
mod references;
mod sections;
mod source;
mod syntax;
mod tags;
mod wording;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;

use crate::report::Problem;
use findings::Findings;
use syntax::Fault;

pub use clash_api::listen_address;
pub use model::{CacheFile, ClashApi, Config, Entry, Log};
pub use source::{Position, Source};
pub(crate) use tags::Names;

/// Files larger than this are refused: 100 000 outbounds take about a third of it.
const SIZE_LIMIT: u64 = 128 * 1024 * 1024;

/// How tolerant reading is.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// Every warning is an error.
    pub strict: bool,
    /// A tag that is already taken gets ` #2`, ` #3` and so on instead of being an
    /// error.
    pub dedupe_tags: bool,
}

/// What came of reading a config.
#[derive(Debug)]
pub struct Loaded {
    /// The config; none when a problem is an error.
    pub config: Option<Config>,
    /// The text, for saying where a problem is.
    pub source: Source,
    /// What is wrong or doubtful, in no particular order.
    pub problems: Vec<Problem>,
}

/// Reads the config file at `path`. A file that cannot be read is a problem like
/// any other.
pub fn load(path: &Path, options: &LoadOptions) -> Loaded {
    let name = path.display().to_string();
    match contents(path) {
        Ok(text) => read(&name, &text, options),
        Err(why) => {
            let mut findings = Findings::default();
            findings.error("", why.message).hint = why.hint;
            conclude(None, Source::unread(&name), findings, options)
        }
    }
}

/// Reads a config from memory; `name` is what problems call it.
///
/// ```
/// use outwatch::config::{self, LoadOptions};
///
/// let text = br#"{ "outbounds": ["de"] }"#;
/// let loaded = config::read("mine.json", text, &LoadOptions::default());
/// assert!(loaded.config.is_none());
/// assert!(loaded.source.render(&loaded.problems).starts_with("mine.json:1:17: error: outbounds[0]:"));
/// ```
pub fn read(name: &str, text: &[u8], options: &LoadOptions) -> Loaded {
    let mut findings = Findings::default();
    let text = match syntax::decode(text) {
        Ok(text) => text,
        Err((text, fault)) => return refuse(name, text, fault, options),
    };
    let parsed = match lookalike::text(text) {
        Some(fault) => Err(fault),
        None => syntax::parse(text, &mut findings),
    };
    match parsed {
        Ok(document) => {
            let config = interpret(document, options, &mut findings);
            conclude(
                config,
                Source::new(name, text.to_owned()),
                findings,
                options,
            )
        }
        Err(fault) => refuse(name, text.to_owned(), fault, options),
    }
}

/// From a JSON document to the values that are used.
fn interpret(document: Value, options: &LoadOptions, findings: &mut Findings) -> Option<Config> {
    let mut root = lookalike::config(document, findings)?;
    let mut config = sections::read(&mut root, findings);
    config.entries = entries::read(&mut root, options, findings);
    Some(config)
}

/// The outcome for a text that is no JSON document.
fn refuse(name: &str, text: String, fault: Fault, options: &LoadOptions) -> Loaded {
    let mut findings = Findings::default();
    findings.error(fault.path, fault.message).hint = fault.hint;
    conclude(
        None,
        Source::broken(name, text, fault.at),
        findings,
        options,
    )
}

fn conclude(
    config: Option<Config>,
    source: Source,
    findings: Findings,
    options: &LoadOptions,
) -> Loaded {
    let (problems, failed) = findings.finish(options.strict);
    Loaded {
        config: config.filter(|_| !failed),
        source,
        problems,
    }
}

/// Why a file could not be read.
struct Unreadable {
    message: String,
    hint: Option<String>,
}

fn contents(path: &Path) -> Result<Vec<u8>, Unreadable> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?
            .take(SIZE_LIMIT + 1)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(Unreadable {
            message: format!("the file is larger than {} MiB", SIZE_LIMIT / 1024 / 1024),
            hint: Some("this is more than any config needs; is it the right file?".to_owned()),
        });
    }
    Ok(bytes)
}

fn unreadable(error: &io::Error) -> Unreadable {
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound => ("there is no such file", "check the path's spelling"),
        io::ErrorKind::PermissionDenied => (
            "this user may not read the file",
            "change its permissions or its owner",
        ),
        io::ErrorKind::IsADirectory => ("this is a directory", "give a file inside it"),
        _ => {
            return Unreadable {
                message: format!("reading failed: {error}"),
                hint: None,
            };
        }
    };
    Unreadable {
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    }
}
