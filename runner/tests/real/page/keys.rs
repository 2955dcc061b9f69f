//! The page by keyboard, and as those hear it who do not see it.

use outwatch_tests::browser::Key;
use outwatch_tests::peers::Pace;
use serde_json::{Value, json};

use super::visitor::{Visitor, row};
use super::world::World;

#[tokio::test]
async fn rows_are_found_tested_and_opened_by_keys_alone() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;
    visitor.browser.keys("/").await;
    visitor
        .until("document.activeElement.id === 'filter'")
        .await;
    visitor.browser.keys("jap").await;
    visitor
        .until("document.querySelectorAll('#body .row').length === 1")
        .await;
    visitor.press(&[Key::Escape]).await;
    visitor
        .until("document.querySelectorAll('#body .row').length === 3")
        .await;

    visitor.press(&[Key::Down, Key::Home, Key::Down]).await;
    assert_eq!(visitor.focused().await, "tokyo");
    let ring = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(visitor.browser.value(ring).await, "solid");
    world.set("tokyo", Pace::Dead);
    visitor.press(&[Key::Enter]).await;
    visitor.until_grade("tokyo", "failed").await;
    // Whoever asked hears what came of it.
    visitor
        .until("document.getElementById('spoken').textContent.startsWith('tokyo: failed')")
        .await;
    assert_eq!(visitor.focused().await, "tokyo");

    visitor.browser.keys(" ").await;
    visitor
        .until("!document.getElementById('detail').hidden")
        .await;
    visitor.press(&[Key::Escape]).await;
    visitor
        .until("document.getElementById('detail').hidden")
        .await;
    assert_eq!(visitor.focused().await, "tokyo");
    visitor.leave().await;
}

#[tokio::test]
async fn the_focus_stays_with_its_row_when_the_order_changes() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;
    visitor.until_grade("dead", "failed").await;
    visitor.browser.keys("/").await;
    visitor.press(&[Key::Down, Key::End]).await;
    assert_eq!(visitor.focused().await, "dead");
    let by_name = "(() => { const it = document.getElementById('sort'); it.value = 'name'; it.dispatchEvent(new Event('change')) })()";
    visitor.browser.value(by_name).await;
    visitor
        .until(&format!("{}.ariaRowIndex === '3'", row("dead")))
        .await;
    assert_eq!(visitor.focused().await, "dead");
    visitor.press(&[Key::Up]).await;
    assert_eq!(visitor.focused().await, "berlin");
    visitor.leave().await;
}

#[tokio::test]
async fn everything_that_can_be_used_has_a_name() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;
    let tree = visitor
        .browser
        .devtools("Accessibility.getFullAXTree", &json!({}))
        .await;
    let nodes = tree["nodes"].as_array().expect("nodes");
    let of = |role: &str| -> Vec<String> {
        let named = nodes
            .iter()
            .filter(|node| node["role"]["value"] == role && node["ignored"] != true);
        named
            .map(|node| {
                node["name"]["value"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    };
    for role in [
        "button",
        "searchbox",
        "combobox",
        "image",
        "grid",
        "columnheader",
    ] {
        let names = of(role);
        assert!(!names.is_empty(), "no {role}");
        assert!(
            names.iter().all(|name| !name.is_empty()),
            "{role}: {names:?}"
        );
    }
    // Three rows and their head.
    assert_eq!(of("row").len(), 4);
    let row = nodes
        .iter()
        .find(|node| node["name"]["value"] == "tokyo")
        .map(|node| &node["role"]);
    assert_ne!(row, Some(&Value::Null));
    visitor.leave().await;
}
