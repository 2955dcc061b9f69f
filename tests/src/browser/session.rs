//! A driver with one browser, and how they are started. It must not know what the browser is
//! told.

use anyhow::Result;
use hyper::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::command::command;
use super::driver::Driver;

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
        let session = command(driver.port(), Method::POST, "/session", &wanted).await;
        let session = session.unwrap_or_else(|error| panic!("no browser: {error:#}"));
        let id = session["sessionId"].as_str().expect("a session's id");
        Self {
            driver,
            _profile: profile,
            path: format!("/session/{id}"),
        }
    }

    /// # Errors
    /// As [`command`].
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send(Method::POST, path, body).await
    }

    /// # Errors
    /// As [`command`].
    pub(super) async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value> {
        let path = format!("{}/{path}", self.path);
        command(self.driver.port(), method, path.trim_end_matches('/'), body).await
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
