//! What rows and groups say, and what a tap does.

use std::time::Duration;

use outwatch_tests::peers::Pace;

use super::visitor::{Visitor, row};
use super::world::{AT_ONCE, DEAD, World};

#[tokio::test]
async fn each_row_tells_state_delay_exit_and_network() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("berlin", "working").await;
    for words in [
        "ms",
        "Germany",
        "Berlin",
        "81.2.69.1",
        "Example Net",
        "AS64496",
    ] {
        visitor.until_row("berlin", words).await;
    }
    visitor.until_grade(DEAD, "failed").await;
    visitor.until_row(DEAD, "connection refused").await;
    visitor
        .until("document.querySelector('#states [data-state=working] b').textContent === '2'")
        .await;
    visitor
        .until("document.getElementById('exits').innerText.includes('Japan')")
        .await;
    visitor.leave().await;
}

#[tokio::test]
async fn r7_a_tap_tests_and_what_changed_is_seen_at_once() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;

    world.set("tokyo", Pace::Dead);
    visitor.click_in_row("tokyo", "[data-do=test]").await;
    visitor.until_grade("tokyo", "failed").await;
    // What is known of the exit stays, and the strip is one measurement longer.
    visitor.until_row("tokyo", "Japan").await;
    let strip = format!("{}.querySelector('.strip').ariaLabel", row("tokyo"));
    visitor
        .until(&format!("{strip}.startsWith('1 of the last 2 answered')"))
        .await;

    world.set("tokyo", AT_ONCE);
    visitor.browser.click("#test-all").await;
    visitor.until_grade("tokyo", "working").await;
    visitor
        .until("document.getElementById('test-all-text').textContent === 'Test all'")
        .await;
    visitor.leave().await;
}

#[tokio::test]
async fn the_list_is_sorted_and_filtered_as_wanted() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    world.set("berlin", Pace::After(Duration::from_millis(1500)));
    visitor.until_grade("tokyo", "working").await;
    visitor.until_grade("berlin", "working").await;
    visitor.click_in_row("berlin", "[data-do=test]").await;
    visitor.until_row("berlin", "Germany").await;
    let slower = "document.getElementById('spoken').textContent.replace(',', '').match(/[0-9]+/)?.[0] >= 1500";
    visitor.until(slower).await;

    let order = "[...document.querySelectorAll('#body .row')].map((it) => it.tag).join()";
    visitor
        .until(&format!("{order} === 'berlin,tokyo,dead'"))
        .await;
    visitor.browser.click(".head-delay button").await;
    visitor
        .until(&format!("{order} === 'tokyo,berlin,dead'"))
        .await;
    visitor
        .until("document.querySelector('.head-delay').ariaSort === 'ascending'")
        .await;

    visitor.browser.click("#states [data-state=failed]").await;
    visitor.until(&format!("{order} === 'dead'")).await;
    visitor.browser.click("#states [data-state=all]").await;
    let japan =
        "[...document.querySelectorAll('#exits li')].findIndex((it) => it.code === 'JP') + 1";
    let place = visitor.browser.value(japan).await;
    visitor
        .browser
        .click(&format!("#exits li:nth-child({place}) button"))
        .await;
    visitor.until(&format!("{order} === 'tokyo'")).await;
    visitor.leave().await;
}

#[tokio::test]
async fn v1_a_declared_ipv6_is_marked() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_row("berlin", "IPv6").await;
    let marked = format!("{}.innerText.includes('IPv6')", row("tokyo"));
    assert_eq!(visitor.browser.value(&marked).await, false);
    visitor.leave().await;
}

#[tokio::test]
async fn details_tell_all_that_is_known() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade(DEAD, "failed").await;
    visitor.click_in_row(DEAD, ".note").await;
    for words in [
        "refused the connection",
        "http://site.test/generate_204",
        "Why tested",
        "best",
    ] {
        visitor
            .until(&format!(
                "document.getElementById('detail').innerText.includes('{words}')"
            ))
            .await;
    }
    visitor.browser.click("#detail [data-do=close]").await;
    visitor
        .until("document.getElementById('detail').hidden")
        .await;
    visitor.leave().await;
}

#[tokio::test]
async fn a_tap_on_a_member_of_a_selector_leads_it_there() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    // A group tells where it leads, and why.
    let card = "[...document.querySelectorAll('.card')].find((it) => it.tag === 'choice')";
    visitor
        .until(&format!("{card}.innerText.includes('best')"))
        .await;
    let best = "[...document.querySelectorAll('.card')].find((it) => it.tag === 'best')";
    visitor
        .until(&format!("/(kept|taken): /.test({best}.innerText)"))
        .await;

    visitor.browser.click(".card:nth-child(2) .open").await;
    visitor
        .until("document.querySelectorAll('#body .row').length === 4")
        .await;
    visitor.click_in_row("tokyo", "[data-do=use]").await;
    visitor
        .until(&format!(
            "{card}.querySelector('.choice').innerText.includes('tokyo')"
        ))
        .await;
    visitor
        .until(&format!("!{}.querySelector('.used').hidden", row("tokyo")))
        .await;
    let group = visitor
        .evaluates("fetch('/api/v1/groups/choice').then((answer) => answer.json())")
        .await;
    assert_eq!(group["selected"]["tcp"], "tokyo");
    visitor.leave().await;
}

#[tokio::test]
async fn a_tap_on_a_group_tests_its_members() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("berlin", "working").await;
    visitor.until_grade("tokyo", "working").await;
    world.set("berlin", Pace::Dead);
    world.set("tokyo", Pace::Dead);
    visitor.browser.click(".card [data-do=test-group]").await;
    visitor.until_grade("berlin", "failed").await;
    visitor.until_grade("tokyo", "failed").await;
    visitor.leave().await;
}
