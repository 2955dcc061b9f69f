//! A driver with one browser, how they are started, and how a command reaches them. It must
//! not know what the browser is told.
//!
//! WebDriver is so little that a client of one's own is smaller than what a crate of it brings.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::driver::Driver;
use crate::http::Client;

/// How long what is waited for may take, in milliseconds, on a machine busy with other tests.
const PATIENCE_MS: u32 = 60_000;

#[derive(Debug)]
pub(super) struct Session {
    // The browser's end before its folder's.
    driver: Driver,
    _profile: TempDir,
    path: String,
}

impl Session {
    /// Starts a browser whose user reads `language`.
    ///
    /// # Panics
    /// When it does not start.
    pub(super) async fn start(language: &str) -> Self {
        let driver = Driver::start();
        let profile = tempfile::Builder::new()
            .prefix("outwatch-browser-")
            .tempdir();
        let profile = profile.expect("a temporary folder");
        let wanted = json!({ "capabilities": { "alwaysMatch": capabilities(&profile, language) } });
        let session = command(driver.port(), "POST", "/session", &wanted).await;
        let session = session.unwrap_or_else(|error| panic!("no browser: {error:#}"));
        let id = session["sessionId"].as_str().expect("a session's id");
        Self {
            driver,
            _profile: profile,
            path: format!("/session/{id}"),
        }
    }

    /// Carries out a command with a body.
    ///
    /// # Errors
    /// When the driver says that it failed.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send("POST", path, body).await
    }

    /// Carries out any command; one whose body is null has none.
    ///
    /// # Errors
    /// When the driver says that it failed.
    pub(super) async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let path = format!("{}/{path}", self.path);
        command(self.driver.port(), method, path.trim_end_matches('/'), body).await
    }
}

/// The value that the driver which listens on `port` answers with.
async fn command(port: u16, method: &str, path: &str, body: &Value) -> Result<Value> {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let driver = Client::of(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .with("content-type", "application/json");
    let value = driver.ask(method, path, body).await.json()["value"].take();
    match value["error"].as_str() {
        Some(error) => bail!("{error}: {}", value["message"].as_str().unwrap_or_default()),
        None => Ok(value),
    }
}

fn capabilities(profile: &TempDir, language: &str) -> Value {
    let folder = format!("--user-data-dir={}", profile.path().display());
    let language = format!("--accept-lang={language}");
    let arguments = [
        "--headless",
        "--window-size=1280,800",
        // Tests may run as root, and nothing comes from outside.
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        // It ends with its driver, however that ends.
        "--remote-debugging-pipe",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--disable-quic",
        "--disable-sync",
        "--disable-extensions",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        &folder,
        &language,
    ];
    json!({
        "timeouts": { "script": PATIENCE_MS, "pageLoad": PATIENCE_MS, "implicit": PATIENCE_MS },
        "goog:chromeOptions": { "args": arguments },
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
    })
}
