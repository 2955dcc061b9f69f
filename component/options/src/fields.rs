//! The fields of the block (SPEC F-1, F-2): what each is read as and written as.
//! It must not know how a type is spelled.

use std::collections::BTreeMap;

use outwatch_engine::Options;
use serde::Serialize;
use serde_json::Value;

use crate::given::{Given, Read};
use crate::wording::meant;
use crate::{Problem, duration, status};

/// More at once than this is a slip: each takes sockets and memory.
const MOST_AT_ONCE: u32 = 10_000;

/// Takes one field over into the options; gives a warning where there is one.
pub(crate) fn read(options: &mut Options, given: &Given<'_>) -> Read<Option<Problem>> {
    take(options, given).map_err(|mut problems| {
        for problem in &mut problems {
            // What is wrong inside a list or object says enough.
            if problem.hint.is_none() && problem.path == given.key() {
                problem.hint = default_hint(given.key());
            }
        }
        problems
    })
}

fn take(options: &mut Options, given: &Given<'_>) -> Read<Option<Problem>> {
    match given.key() {
        "interval" => options.interval = given.duration()?,
        "urls" => options.urls = given.list(Given::web_address)?,
        "ipinfo_url" => options.ipinfo_url = given.optional_web_address()?,
        "verify_ipv6" => options.verify_ipv6 = given.flag()?,
        "ipv6_declared" => options.ipv6_declared = given.flags()?,
        "workers" => options.workers = given.count(MOST_AT_ONCE)?,
        "url_test_timeout" => options.url_test_timeout = given.duration()?,
        "on_demand_timeouts" => {
            let mut marks = given.list(Given::duration)?;
            marks.sort_unstable();
            marks.dedup();
            options.on_demand_timeouts = marks;
        }
        "idle_timeout" => options.idle_timeout = given.duration()?,
        "debounce_window" => options.debounce_window = given.duration()?,
        "expected_status" => options.expected_status = given.expected_status()?,
        "unified_delay" => options.unified_delay = given.flag()?,
        "ip_lookup" => options.ip_lookup = given.flag()?,
        "immediate_limit" => options.immediate_limit = given.count(MOST_AT_ONCE)?,
        "ipv6_probe" => return Ok(Some(retired(given))),
        _ => return Ok(Some(unknown(given))),
    }
    Ok(None)
}

/// All fields as a JSON object.
pub(crate) fn write(options: &Options) -> String {
    // Plain values under text keys: there is nothing that could fail.
    serde_json::to_string_pretty(&Written::of(options)).unwrap_or_default()
}

fn retired(given: &Given<'_>) -> Problem {
    let hint = "remove it; `verify_ipv6` asks for a check through each outbound".to_owned();
    given.problem("is no longer used and has no effect".to_owned(), Some(hint))
}

fn unknown(given: &Given<'_>) -> Problem {
    let known = defaults();
    let hint = match meant(given.key(), known.keys().map(String::as_str)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "remove it, or look for a version of the engine that knows it".to_owned(),
    };
    given.problem(
        "is not a known field and has no effect".to_owned(),
        Some(hint),
    )
}

fn default_hint(name: &str) -> Option<String> {
    let default = defaults().remove(name)?;
    Some(format!("leave the field out to use the default, {default}"))
}

/// All fields with their defaults.
fn defaults() -> serde_json::Map<String, Value> {
    match serde_json::to_value(Written::of(&Options::default())) {
        Ok(Value::Object(fields)) => fields,
        // It is an object of plain values.
        _ => serde_json::Map::new(),
    }
}

/// The options as they are written, in this order.
#[derive(Serialize)]
struct Written<'a> {
    interval: String,
    urls: &'a [String],
    ipinfo_url: &'a str,
    verify_ipv6: bool,
    ipv6_declared: &'a BTreeMap<String, bool>,
    workers: u32,
    url_test_timeout: String,
    on_demand_timeouts: Vec<String>,
    idle_timeout: String,
    debounce_window: String,
    expected_status: String,
    unified_delay: bool,
    ip_lookup: bool,
    immediate_limit: u32,
}

impl<'a> Written<'a> {
    fn of(options: &'a Options) -> Self {
        // Without `..`, so that a new option is noticed here.
        let Options {
            interval,
            urls,
            ipinfo_url,
            verify_ipv6,
            ipv6_declared,
            workers,
            url_test_timeout,
            on_demand_timeouts,
            idle_timeout,
            debounce_window,
            expected_status,
            unified_delay,
            ip_lookup,
            immediate_limit,
        } = options;
        Self {
            interval: duration::write(*interval),
            urls,
            ipinfo_url: ipinfo_url.as_deref().unwrap_or_default(),
            verify_ipv6: *verify_ipv6,
            ipv6_declared,
            workers: *workers,
            url_test_timeout: duration::write(*url_test_timeout),
            on_demand_timeouts: on_demand_timeouts
                .iter()
                .copied()
                .map(duration::write)
                .collect(),
            idle_timeout: duration::write(*idle_timeout),
            debounce_window: duration::write(*debounce_window),
            expected_status: status::write(expected_status),
            unified_delay: *unified_delay,
            ip_lookup: *ip_lookup,
            immediate_limit: *immediate_limit,
        }
    }
}
