//! Names of outbounds and networks that try to be more than text, and where the page reaches.

use super::visitor::{Visitor, row};
use super::world::{HOSTILE, World};

#[tokio::test]
async fn hostile_names_are_text_and_nothing_else() {
    let world = World::hostile();
    let visitor = Visitor::of(&world).await;
    let (tag, _) = HOSTILE;
    visitor.until_grade(tag, "working").await;
    visitor
        .until_row(tag, "<script>document.title='owned'</script>")
        .await;
    visitor.until_row(tag, tag).await;
    visitor.until_row(tag, "<b>bold</b>").await;
    // Everywhere that a name is shown: rows, groups, details, filter, notes.
    visitor.click_in_row(tag, ".note").await;
    visitor
        .until("document.getElementById('detail').innerText.includes('<script>')")
        .await;
    visitor.browser.click(".card:nth-child(2) .open").await;
    visitor.click_in_row(tag, "[data-do=use]").await;
    visitor
        .until(&format!("!{}.querySelector('.used').hidden", row(tag)))
        .await;
    visitor.click_in_row(tag, "[data-do=test]").await;
    visitor
        .until("document.getElementById('spoken').textContent.includes('<img')")
        .await;

    let made = "document.querySelectorAll('img, main script').length
        + [...document.querySelectorAll('b')].filter((it) => it.textContent === 'bold').length";
    assert_eq!(visitor.browser.value(made).await, 0);
    visitor.until("document.title.includes('Outwatch')").await;
    visitor.leave().await;
}

#[tokio::test]
async fn the_page_asks_nothing_of_any_other_host() {
    let world = World::hostile();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;
    visitor.click_in_row("tokyo", ".note").await;
    visitor.click_in_row("tokyo", "[data-do=test]").await;
    visitor.browser.click("#language").await;
    visitor.browser.click("#theme").await;
    visitor
        .until("document.documentElement.dir === 'rtl'")
        .await;
    let requests = visitor.browser.requests().await;
    assert!(requests.len() > 20, "{requests:?}");
    let outside: Vec<_> = requests
        .iter()
        .filter(|url| !url.starts_with(&world.url()))
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
    visitor.leave().await;
}

#[tokio::test]
async fn code_that_is_no_part_of_the_page_does_not_run() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    let refused =
        "(() => { try { document.body.innerHTML = '<b>'; return false } catch { return true } })()";
    assert_eq!(visitor.browser.value(refused).await, true);
    let inline = "(() => {
        const it = document.createElement('button');
        try { it.setAttribute('onclick', 'document.title = 1'); it.click(); } catch {}
        return document.title;
    })()";
    assert!(visitor.browser.text(inline).await.contains("Outwatch"));
    let complaints = visitor.browser.complaints().await;
    assert!(
        !complaints.is_empty(),
        "the browser tells of what it refused"
    );
    visitor.leave().await;
}
