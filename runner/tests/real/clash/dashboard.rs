//! zashboard, as people use it, in a real Chromium: it lists what there is, shows what was
//! measured, has a group tested and a member chosen, and outwatch does it.

use std::time::Duration;

use outwatch_tests::browser::Browser;
use outwatch_tests::peers::{Pace, Zashboard};
use serde_json::{Value, json};

use super::world::{Api, BERLIN, GONE, PICK, SECRET, TOKYO, World, encoded};

/// The dashboard of one who has just opened it, on its page of groups.
async fn opened(api: &Api) -> Browser {
    let browser = Browser::open().await;
    let (host, port) = api.address.split_once(':').expect("a port");
    let setup = format!("hostname={host}&port={port}&secret={SECRET}");
    let url = format!("http://{}/ui/#/setup?{setup}", api.address);
    browser.go(&url).await;
    browser.until("location.hash.startsWith('#/proxies')").await;
    browser
}

/// The elements that show just this text, as an expression.
fn showing(text: &str) -> String {
    let text = json!(text);
    format!(
        "[...document.querySelectorAll('#app *')].filter(one => \
         !one.children.length && one.textContent.trim() === {text})"
    )
}

/// The tag with the delay that stands nearest to an element.
fn delay_beside(element: &str) -> String {
    format!(
        "(() => {{ let one = {element}; \
         while (!one.querySelector('.latency-tag')) one = one.parentElement; \
         return one.querySelector('.latency-tag'); }})()"
    )
}

/// What is shown of a member in the group that is opened, which comes first.
fn member(tag: &str) -> String {
    format!("{}[0]", showing(tag))
}

/// Clicks as a user would, once nothing lies over the element.
async fn click(browser: &Browser, element: &str) {
    let marked = format!(
        "(() => {{ const one = {element}; const {{ x, y, width, height }} = one.getBoundingClientRect(); \
         const top = document.elementFromPoint(x + width / 2, y + height / 2); \
         one.toggleAttribute('data-click', one.contains(top)); return one.contains(top); }})()"
    );
    browser.until(&marked).await;
    browser.click("[data-click]").await;
    let unmarked = "document.querySelector('[data-click]')?.removeAttribute('data-click')";
    browser.value(unmarked).await;
}

fn last_delay(api: &Api, tag: &str) -> Value {
    let proxy = api.get(&format!("/proxies/{}", encoded(tag)));
    let history = proxy["history"].as_array().expect("a history");
    history.last().expect("a measurement")["delay"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dashboard_lists_shows_tests_and_selects() {
    let files = Zashboard::unpack();
    let mut world = World::start(&json!({ "external_ui": files.folder() }));
    let browser = opened(&world.api).await;

    // It lists groups, and the members of one that is opened, with what was measured.
    for group in [PICK, "auto", "turns", "GLOBAL"] {
        browser.until(&format!("{}.length", showing(group))).await;
    }
    click(&browser, &format!("{}[0]", showing(PICK))).await;
    for tag in [BERLIN, TOKYO] {
        let shown = format!("{}.textContent.trim()", delay_beside(&member(tag)));
        let delay = last_delay(&world.api, tag);
        browser.until(&format!("{shown} === '{delay}'")).await;
    }
    browser.until(&format!("{}.length", showing(GONE))).await;

    // It has a group tested: what outwatch measures is shown.
    world.berlin.set(Pace::After(Duration::from_millis(900)));
    let auto = format!("{}.at(-1)", showing("auto"));
    click(&browser, &delay_beside(&auto)).await;
    let line = format!("event=result tag={} reason=asked", json!(BERLIN));
    world.running.until_logged(&line);
    let delay = last_delay(&world.api, BERLIN);
    assert!(delay.as_u64() >= Some(900), "{delay}");
    let shown = format!("{}.textContent.trim()", delay_beside(&member(BERLIN)));
    browser.until(&format!("{shown} === '{delay}'")).await;

    // It selects a member, and connections go there.
    click(&browser, &member(TOKYO)).await;
    let line = format!("event=selected tag={} member={}", json!(PICK), json!(TOKYO));
    world.running.until_logged(&line);
    assert_eq!(world.way(), "tokyo");
    let pick = world.api.get(&format!("/proxies/{}", encoded(PICK)));
    assert_eq!(pick["now"], TOKYO);

    // Its page of the log hears what happens.
    browser.value("location.hash = '#/logs'").await;
    browser
        .until("document.body.innerText.includes('MONITORING event=')")
        .await;
    browser.close().await;
}
