//! A native core over a config, and single exchanges through it. It must not know
//! which servers the config leads to.

use std::time::Duration;

use outwatch::config::{self, Config, LoadOptions};
use outwatch::{Cause, FetchError, NativeCore, Phase, Problem, ProxyCore as _, Request, Response};
use serde_json::{Value, json};

/// What an exchange that answers gets; far beyond what a loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// What an exchange that never answers gets.
const IMPATIENCE: Duration = Duration::from_millis(800);

/// The core of a config with these outbounds, nothing being wrong with it.
pub(crate) fn core(outbounds: impl IntoIterator<Item = Value>) -> NativeCore {
    core_of(&json!({ "outbounds": Vec::from_iter(outbounds) }))
}

/// The core of a whole config, nothing being wrong with it.
pub(crate) fn core_of(config: &Value) -> NativeCore {
    let (core, problems) = core_and_problems(&read(config));
    assert_eq!(problems, []);
    core
}

/// A whole config, nothing being wrong with it.
pub(crate) fn read(config: &Value) -> Config {
    let text = config.to_string();
    let loaded = config::read("test.json", text.as_bytes(), &LoadOptions::default());
    assert_eq!(loaded.problems, []);
    loaded.config.expect("a config without problems")
}

/// The core of a config, and what is wrong with the options of its outbounds.
pub(crate) fn core_and_problems(config: &Config) -> (NativeCore, Vec<Problem>) {
    NativeCore::new(&config.entries, config.certificate.as_ref())
}

/// What the URL test asks.
pub(crate) fn head(url: &str) -> Request {
    Request {
        url: url.to_owned(),
        method: "HEAD".to_owned(),
        headers: Vec::new(),
        deadline: PATIENCE,
        body_limit: 0,
        response_headers: vec!["location".to_owned()],
        repeat: false,
        family: None,
    }
}

/// What an IP lookup asks.
pub(crate) fn get(url: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        body_limit: 64 * 1024,
        ..head(url)
    }
}

/// The same with a deadline for what never answers.
pub(crate) fn soon(request: Request) -> Request {
    Request {
        deadline: IMPATIENCE,
        ..request
    }
}

/// The response to a HEAD through `tag`.
pub(crate) async fn answer(core: &NativeCore, tag: &str, url: &str) -> Response {
    fetch(core, tag, &head(url)).await
}

/// The response to any request through `tag`.
pub(crate) async fn fetch(core: &NativeCore, tag: &str, request: &Request) -> Response {
    let fetched = core.fetch(tag, request).await;
    fetched.unwrap_or_else(|error| panic!("`{tag}` to {}: {error:?}", request.url))
}

/// Why a HEAD through `tag` fails.
pub(crate) async fn failure(core: &NativeCore, tag: &str, url: &str) -> FetchError {
    fail(core, tag, &head(url)).await
}

/// Why any request through `tag` fails.
pub(crate) async fn fail(core: &NativeCore, tag: &str, request: &Request) -> FetchError {
    match core.fetch(tag, request).await {
        Ok(response) => panic!("`{tag}` to {} answers: {response:?}", request.url),
        Err(error) => error,
    }
}

/// Where and why, in one.
pub(crate) fn why(error: &FetchError) -> (Phase, Cause) {
    (error.phase, error.cause)
}

/// Fails unless the error is of this phase and cause and its text says `words`.
#[track_caller]
pub(crate) fn assert_failed(error: &FetchError, phase: Phase, cause: Cause, words: &str) {
    assert_eq!(why(error), (phase, cause), "{error:?}");
    assert!(error.text.contains(words), "{words:?} is not in {error:?}");
}
