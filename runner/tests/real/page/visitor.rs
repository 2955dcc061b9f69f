//! A user who looks at the page and uses it. It must not know what a test hopes to see.

use outwatch_tests::browser::{Browser, Key};
use serde_json::{Value, json};

use super::world::World;

/// A browser that shows the page of a world.
pub(super) struct Visitor {
    pub(super) browser: Browser,
}

impl Visitor {
    /// Opens the page, in English, and waits until it is live.
    pub(super) async fn of(world: &World) -> Self {
        let visitor = Self::at(world).await;
        visitor
            .until("document.documentElement.dataset.link === 'live'")
            .await;
        visitor
    }

    /// Opens the page.
    pub(super) async fn at(world: &World) -> Self {
        let browser = Browser::open().await;
        browser.go(&world.url()).await;
        Self { browser }
    }

    pub(super) async fn until(&self, expression: &str) {
        self.browser.until(expression).await;
    }

    /// Waits until a row's text is as wanted.
    pub(super) async fn until_row(&self, tag: &str, says: &str) {
        let (row, says) = (row(tag), json!(says));
        self.until(&format!("{row}.innerText.includes({says})"))
            .await;
    }

    /// Waits until a row has this grade: `good`, `failed` and so on; `working` stands for all
    /// that work.
    pub(super) async fn until_grade(&self, tag: &str, grade: &str) {
        let grades = match grade {
            "working" => json!(["good", "fair", "slow"]),
            grade => json!([grade]),
        };
        let row = row(tag);
        self.until(&format!("{grades}.includes({row}.dataset.grade)"))
            .await;
    }

    /// Clicks something in a row that is on the screen.
    pub(super) async fn click_in_row(&self, tag: &str, what: &str) {
        self.until(&row(tag)).await;
        let place = format!(
            "[...{row}.parentElement.children].indexOf({row}) + 1",
            row = row(tag)
        );
        let place = self.browser.value(&place).await;
        let selector = format!("#body .row:nth-child({place}) {what}");
        self.browser.click(&selector).await;
    }

    /// What a promise in the page becomes.
    pub(super) async fn evaluates(&self, promise: &str) -> Value {
        let asked = json!({ "expression": promise, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.browser.devtools("Runtime.evaluate", &asked).await;
        answer["result"]["value"].take()
    }

    pub(super) async fn press(&self, keys: &[Key]) {
        for key in keys {
            self.browser.press(*key).await;
        }
    }

    /// The tag of the row that has the focus.
    pub(super) async fn focused(&self) -> Value {
        self.browser
            .value("document.activeElement.tag ?? null")
            .await
    }

    /// Leaves, once nothing is held against the page.
    pub(super) async fn leave(self) {
        let complaints = self.browser.complaints().await;
        assert!(complaints.is_empty(), "{complaints:#?}");
        self.browser.close().await;
    }
}

/// The expression for a row.
pub(super) fn row(tag: &str) -> String {
    let tag = json!(tag);
    format!("[...document.querySelectorAll('#body .row')].find((it) => it.tag === {tag})")
}
