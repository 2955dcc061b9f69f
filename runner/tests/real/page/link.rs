//! The page and its server: one that goes away, and one with a secret.

use outwatch_tests::browser::Key;
use outwatch_tests::peers::Pace;

use super::visitor::{Visitor, row};
use super::world::{NEVER, SECRET, World};

#[tokio::test]
async fn a_page_outlives_its_server_and_tells_what_the_next_one_knows() {
    let mut world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;

    world.end();
    visitor
        .until("document.documentElement.dataset.link === 'lost'")
        .await;
    visitor
        .until("document.getElementById('link').innerText.includes('trying again')")
        .await;
    // What is known stays to be read.
    visitor.until_row("tokyo", "Japan").await;

    world.set("tokyo", Pace::Dead);
    world.begin();
    visitor
        .until("document.documentElement.dataset.link === 'live'")
        .await;
    visitor.until_grade("tokyo", "failed").await;
    // The browser itself tells of the connections that were refused.
    let _ = visitor.browser.complaints().await;
    visitor.leave().await;
}

#[tokio::test]
async fn r5_results_of_an_earlier_run_are_marked_until_there_are_new_ones() {
    let mut world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_row("tokyo", "Japan").await;
    visitor.until_row("berlin", "Germany").await;

    world.end_with(2);
    world.set("berlin", NEVER);
    world.begin();
    visitor.until_grade("berlin", "cached").await;
    for words in ["ms", "cached", "Germany", "unconfirmed"] {
        visitor.until_row("berlin", words).await;
    }
    let testing = format!("{}.dataset.testing === 'true'", row("berlin"));
    visitor.until(&testing).await;
    visitor.until_grade("tokyo", "working").await;
    let unmarked = format!(
        "{}.querySelectorAll('.mark:not(.used)').length === 0",
        row("tokyo")
    );
    visitor.until(&unmarked).await;
    // The browser itself tells of the connections that were refused.
    let _ = visitor.browser.complaints().await;
    visitor.leave().await;
}

#[tokio::test]
async fn a_secret_is_asked_for_until_it_is_right_and_never_in_an_address() {
    let world = World::guarded();
    let visitor = Visitor::at(&world).await;
    visitor
        .until("document.getElementById('secret').open")
        .await;
    visitor.browser.keys("wrong").await;
    visitor.press(&[Key::Enter]).await;
    visitor
        .until("document.getElementById('secret-why').textContent.includes('not it')")
        .await;
    visitor
        .until("document.getElementById('secret').open")
        .await;
    visitor.browser.keys(SECRET).await;
    visitor.press(&[Key::Enter]).await;
    visitor.until_grade("tokyo", "working").await;

    // A tab that is loaded again knows it.
    visitor.browser.go(&world.url()).await;
    visitor.until_grade("tokyo", "working").await;
    assert_eq!(
        visitor
            .browser
            .value("document.getElementById('secret').open")
            .await,
        false
    );
    let told = SECRET.replace(' ', "%20");
    for url in visitor.browser.requests().await {
        assert!(!url.contains(&told) && !url.contains(SECRET), "{url}");
    }
    // The browser itself tells of the answers that said 401.
    let _ = visitor.browser.complaints().await;
    visitor.leave().await;
}
