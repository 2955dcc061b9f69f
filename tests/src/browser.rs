//! A real Chromium, driven by WebDriver: started for one test and gone with it. It must not
//! know what pages it is shown.
//!
//! ```no_run
//! # async fn example() {
//! let browser = outwatch_tests::browser::Browser::open().await;
//! browser.go("http://127.0.0.1:8080/").await;
//! browser.until("document.title === 'Outwatch'").await;
//! browser.close().await;
//! # }
//! ```

mod driver;
mod keys;
mod session;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use session::Session;

pub use keys::Key;

/// One window of a Chromium with a profile of its own, 1280 by 800 pixels. It reaches loopback
/// alone. Dropping it ends all its processes, in a panicking test too.
#[derive(Debug)]
pub struct Browser {
    session: Session,
}

impl Browser {
    /// Opens one.
    ///
    /// # Panics
    /// When `chromium` or `chromedriver` is not installed, naming the package, or does not
    /// start.
    pub async fn open() -> Self {
        Self::open_in("en").await
    }

    /// Opens one whose user reads a language, such as `fa`.
    ///
    /// # Panics
    /// As [`Browser::open`].
    pub async fn open_in(language: &str) -> Self {
        Self {
            session: Session::start(language).await,
        }
    }

    /// Loads a page.
    ///
    /// # Panics
    /// When it cannot be loaded.
    pub async fn go(&self, url: &str) {
        self.post("url", json!({ "url": url })).await;
    }

    /// The value of an expression in the page.
    ///
    /// # Panics
    /// When it throws.
    pub async fn value(&self, expression: &str) -> Value {
        let script = format!("return ({expression});");
        self.post("execute/sync", json!({ "script": script, "args": [] }))
            .await
    }

    /// The text that an expression in the page is.
    ///
    /// # Panics
    /// When it throws or is anything else.
    pub async fn text(&self, expression: &str) -> String {
        let value = self.value(expression).await;
        let text = value.as_str().map(str::to_owned);
        text.unwrap_or_else(|| panic!("`{expression}` is no text but {value}"))
    }

    /// Waits until an expression in the page is true. One that throws is not, yet.
    ///
    /// # Panics
    /// When it is not within a minute, with the page's text.
    pub async fn until(&self, expression: &str) {
        // The page looks by itself, so that no moment is missed between two commands.
        let script = format!(
            "const done = arguments[0];
             const look = () => {{
                 let is = false;
                 try {{ is = Boolean({expression}); }} catch {{}}
                 is ? done(true) : setTimeout(look, 20);
             }};
             look();"
        );
        let looked = json!({ "script": script, "args": [] });
        if let Err(error) = self.session.post("execute/async", &looked).await {
            let page = self.value("document.body.innerText").await;
            panic!("`{expression}` does not come true ({error:#}); the page says:\n{page}");
        }
    }

    /// Clicks the first element that a CSS selector finds, as a user would: it must be seen,
    /// and be there within a minute.
    ///
    /// # Panics
    /// When there is none, or something lies over it.
    pub async fn click(&self, selector: &str) {
        let wanted = json!({ "using": "css selector", "value": selector });
        let element = self.post("element", wanted).await;
        let element = element
            .as_object()
            .and_then(|element| element.values().next());
        let element = element.and_then(Value::as_str).expect("an element's id");
        self.post(&format!("element/{element}/click"), json!({}))
            .await;
    }

    /// Types into whatever has the focus.
    ///
    /// # Panics
    /// When the browser refuses.
    pub async fn keys(&self, text: &str) {
        self.post("actions", keys::strokes(text.chars())).await;
    }

    /// Presses one key that writes nothing.
    ///
    /// # Panics
    /// When the browser refuses.
    pub async fn press(&self, key: Key) {
        self.post("actions", keys::strokes([key.code()])).await;
    }

    /// Sets what the page's user prefers, as `prefers-color-scheme` to `dark`.
    ///
    /// # Panics
    /// When the browser does not know the feature.
    pub async fn prefers(&self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", &features).await;
    }

    /// Makes the page so many CSS pixels large.
    ///
    /// # Panics
    /// When the browser refuses.
    pub async fn resize(&self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", &size)
            .await;
    }

    /// Carries out a command of the DevTools protocol.
    ///
    /// # Panics
    /// When the browser refuses it.
    pub async fn devtools(&self, method: &str, parameters: &Value) -> Value {
        let command = json!({ "cmd": method, "params": parameters });
        self.post("goog/cdp/execute", command).await
    }

    /// The address of everything that pages asked for since the last look, by the browser's
    /// own log. What its first, empty page is made of is left out.
    ///
    /// # Panics
    /// When the browser keeps no log.
    pub async fn requests(&self) -> Vec<String> {
        let entries = self.log("performance").await;
        entries.iter().filter_map(|entry| request(entry)).collect()
    }

    /// What pages said on the console since the last look, and what the browser held against
    /// them there: errors, refused requests, broken policies.
    ///
    /// # Panics
    /// When the browser keeps no log.
    pub async fn complaints(&self) -> Vec<String> {
        self.log("browser").await
    }

    /// A picture of the window, as PNG.
    ///
    /// # Panics
    /// When the browser takes none.
    pub async fn picture(&self) -> Vec<u8> {
        let picture = self.session.send("GET", "screenshot", &Value::Null);
        let picture = picture.await.expect("a picture");
        let picture = picture.as_str().expect("a picture in Base64");
        BASE64_STANDARD
            .decode(picture)
            .expect("a picture in Base64")
    }

    /// Closes it in order; all its processes are gone then.
    ///
    /// # Panics
    /// When the browser is gone already.
    pub async fn close(self) {
        let closed = self.session.send("DELETE", "", &Value::Null);
        closed.await.expect("a browser to close");
    }

    /// The messages of one of the browser's logs since the last look.
    async fn log(&self, name: &str) -> Vec<String> {
        let entries = self.post("se/log", json!({ "type": name })).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let messages = entries.iter().filter_map(|entry| entry["message"].as_str());
        messages.map(str::to_owned).collect()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.session.post(path, &body).await;
        answer.unwrap_or_else(|error| panic!("{path} {body}: {error:#}"))
    }
}

/// The address that an entry of the performance log tells was asked for.
fn request(entry: &str) -> Option<String> {
    let entry: Value = serde_json::from_str(entry).ok()?;
    let event = &entry["message"];
    let url = match event["method"].as_str()? {
        "Network.requestWillBeSent" => &event["params"]["request"]["url"],
        "Network.webSocketCreated" => &event["params"]["url"],
        _ => return None,
    };
    let page = event["params"]["documentURL"].as_str().unwrap_or_default();
    (!page.starts_with("chrome://")).then(|| url.as_str().map(str::to_owned))?
}
