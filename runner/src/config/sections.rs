//! Everything of a config besides its outbounds: the sections that are used are
//! read, those of a proxy core are left alone, the rest is asked about. It must
//! not know what the monitor's options mean.

use serde_json::{Map, Value};

use super::clash_api;
use super::findings::Findings;
use super::model::{CacheFile, Config, Log};
use super::wording::{field, found, meant, quoted};

/// The sections of a sing-box config.
const SECTIONS: [&str; 14] = [
    "$schema",
    "log",
    "dns",
    "ntp",
    "certificate",
    "certificate_providers",
    "http_clients",
    "endpoints",
    "inbounds",
    "outbounds",
    "providers",
    "route",
    "services",
    "experimental",
];

/// Sections left alone here that say how outbounds dial.
const DIALING: [&str; 2] = ["dns", "http_clients"];

const EXPERIMENTAL: [&str; 5] = [
    "monitoring",
    "cache_file",
    "clash_api",
    "v2ray_api",
    "debug",
];

const CACHE_FILE: [&str; 8] = [
    "enabled",
    "path",
    "cache_id",
    "store_fakeip",
    "store_rdrc",
    "rdrc_timeout",
    "store_dns",
    "store_warp_config",
];

const LOG: [&str; 4] = ["disabled", "level", "output", "timestamp"];

const LEVELS: [&str; 7] = ["trace", "debug", "info", "warn", "error", "fatal", "panic"];

/// Reads all sections but outbounds and endpoints.
pub(super) fn read(root: &mut Map<String, Value>, findings: &mut Findings) -> Config {
    unknown("", root, &SECTIONS, findings);
    let mut config = Config {
        monitoring: "{}".to_owned(),
        ..Config::default()
    };
    if let Some(log) = section(root, "log", "", findings) {
        config.log = self::log(&log, findings);
    }
    config.certificate = section(root, "certificate", "", findings);
    config.dialing = DIALING
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), root.get(*name)?.clone())))
        .collect();
    config.inbounds = inbounds(root, findings);
    config.route = section(root, "route", "", findings).unwrap_or_default();
    if let Some(mut experimental) = section(root, "experimental", "", findings) {
        unknown("experimental", &experimental, &EXPERIMENTAL, findings);
        if let Some(cache_file) = section(&mut experimental, "cache_file", "experimental", findings)
        {
            config.cache_file = self::cache_file(&cache_file, findings);
        }
        if let Some(fields) = section(&mut experimental, "clash_api", "experimental", findings) {
            config.clash_api = clash_api::read(&fields, findings);
        }
        // The engine reads its own options: a newer one knows more of them.
        match experimental.get("monitoring") {
            None | Some(Value::Null) => {}
            Some(monitoring) => config.monitoring = monitoring.to_string(),
        }
    }
    config
}

fn log(log: &Map<String, Value>, findings: &mut Findings) -> Log {
    unknown("log", log, &LOG, findings);
    let mut fields = Fields::of("log", log, findings);
    Log {
        disabled: fields.bool("disabled").unwrap_or_default(),
        level: fields.level(),
        output: fields
            .string("output")
            .filter(|output| !output.is_empty())
            .map(Into::into),
        timestamp: fields.bool("timestamp"),
    }
}

fn cache_file(cache_file: &Map<String, Value>, findings: &mut Findings) -> CacheFile {
    let path = "experimental.cache_file";
    unknown(path, cache_file, &CACHE_FILE, findings);
    let mut fields = Fields::of(path, cache_file, findings);
    CacheFile {
        enabled: fields.bool("enabled").unwrap_or_default(),
        path: fields
            .string("path")
            .filter(|path| !path.is_empty())
            .map(Into::into),
    }
}

/// Takes the list `inbounds` out of the config; what is in it is read by who opens them.
fn inbounds(root: &mut Map<String, Value>, findings: &mut Findings) -> Vec<Value> {
    match root.remove("inbounds") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(other) => {
            let message = format!("expected a list (found {})", found(&other));
            findings.error("inbounds", message);
            Vec::new()
        }
    }
}

/// Takes the object `key` out of `parent`, which stands at `path`.
fn section(
    parent: &mut Map<String, Value>,
    key: &str,
    path: &str,
    findings: &mut Findings,
) -> Option<Map<String, Value>> {
    match parent.get_mut(key).map(Value::take)? {
        Value::Null => None,
        Value::Object(fields) => Some(fields),
        other => {
            let message = format!("expected an object (found {})", found(&other));
            findings.error(field(path, key), message).hint =
                Some(format!("write {}: {{ ... }}, or leave it out", quoted(key)));
            None
        }
    }
}

/// Warns of every key that is not one of `known`.
pub(super) fn unknown(
    path: &str,
    fields: &Map<String, Value>,
    known: &[&str],
    findings: &mut Findings,
) {
    for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
        let message = format!("unknown field {}, ignored", quoted(key));
        findings.warning(field(path, key), message).hint =
            meant(key, known.iter().copied()).map(|key| format!("did you mean {}?", quoted(key)));
    }
}

/// Reads an object's simple fields; null is as good as absent.
pub(super) struct Fields<'a> {
    path: &'a str,
    fields: &'a Map<String, Value>,
    findings: &'a mut Findings,
}

impl<'a> Fields<'a> {
    /// Those of the object that stands at `path`.
    pub(super) fn of(
        path: &'a str,
        fields: &'a Map<String, Value>,
        findings: &'a mut Findings,
    ) -> Self {
        Self {
            path,
            fields,
            findings,
        }
    }

    pub(super) fn bool(&mut self, key: &str) -> Option<bool> {
        let value = self.fields.get(key).filter(|value| !value.is_null())?;
        let read = value.as_bool();
        if read.is_none() {
            self.wrong(key, "true or false", value);
        }
        read
    }

    /// A list of texts, of which one may stand without its list.
    pub(super) fn strings(&mut self, key: &str) -> Vec<String> {
        let value = self.fields.get(key).filter(|value| !value.is_null());
        let Some(value) = value else {
            return Vec::new();
        };
        let list = std::slice::from_ref(value);
        let list = value.as_array().map_or(list, Vec::as_slice);
        let read: Option<Vec<String>> = list
            .iter()
            .map(|one| one.as_str().map(str::to_owned))
            .collect();
        read.unwrap_or_else(|| {
            self.wrong(key, "a list of texts in double quotes", value);
            Vec::new()
        })
    }

    pub(super) fn string(&mut self, key: &str) -> Option<String> {
        let value = self.fields.get(key).filter(|value| !value.is_null())?;
        let read = value.as_str();
        if read.is_none() {
            self.wrong(key, "a text in double quotes", value);
        }
        read.map(str::to_owned)
    }

    fn level(&mut self) -> Option<String> {
        let level = self.string("level").filter(|level| !level.is_empty())?;
        if LEVELS.contains(&level.as_str()) {
            return Some(level);
        }
        let message = format!("unknown level {}", quoted(&level));
        self.findings.error(field(self.path, "level"), message).hint =
            Some(format!("levels are {}", LEVELS.join(", ")));
        None
    }

    fn wrong(&mut self, key: &str, expected: &str, value: &Value) {
        let message = format!("expected {expected} (found {})", found(value));
        self.findings.error(field(self.path, key), message);
    }
}
