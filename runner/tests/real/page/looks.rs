//! The page's colours, languages and widths.

use serde_json::json;

use super::visitor::Visitor;
use super::world::World;

/// Contrast of a text on what is behind it, as WCAG counts it.
const CONTRASTS: &str = "(() => {
    const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const light = (colour) => {
        paint.fillStyle = colour;
        paint.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map((it) => it / 255)
            .map((it) => (it <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (it) => {
        const colour = getComputedStyle(it).backgroundColor;
        return colour === 'rgba(0, 0, 0, 0)' ? behind(it.parentElement) : colour;
    };
    const texts = ['#body .delay', '#body .note', '.name bdi', '.why', '.type', '#states button', '.age', '#test-all', '.note b'];
    return texts.map((text) => {
        const it = document.querySelector(text);
        const [one, other] = [light(getComputedStyle(it).color), light(behind(it))];
        return [text, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
    });
})()";

/// What one language has that another has not, by the paths of its words.
const WORDS: &str = "Promise.all(['en', 'fa'].map((it) => import(`/page/words/${it}.js`))).then(([en, fa]) => {
    const paths = (it, at) => typeof it === 'object' ? Object.entries(it).flatMap(([name, value]) => paths(value, `${at}/${name}`)) : [`${at}: ${typeof it}`];
    const [one, other] = [paths(en.words, ''), paths(fa.words, '')];
    return { count: one.length, missing: one.filter((it) => !other.includes(it)), more: other.filter((it) => !one.includes(it)) };
})";

#[tokio::test]
async fn dark_and_light_follow_the_device_until_the_user_chooses() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;
    visitor.until_grade("dead", "failed").await;
    let browser = &visitor.browser;
    let ground = "getComputedStyle(document.body).backgroundColor";
    let mut seen = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefers("prefers-color-scheme", scheme).await;
        seen.push(browser.value(ground).await);
        // Colours change by and by.
        browser.until("document.getAnimations().length === 0").await;
        let contrasts = browser.value(CONTRASTS).await;
        for pair in contrasts.as_array().expect("a list") {
            assert!(
                pair[1].as_f64().expect("a ratio") >= 4.5,
                "{scheme}: {pair}"
            );
        }
    }
    assert_ne!(seen[0], seen[1]);
    browser.click("#theme").await;
    assert_eq!(browser.value(ground).await, seen[0]);
    // It is remembered.
    browser.go(&world.url()).await;
    assert_eq!(browser.value(ground).await, seen[0]);
    visitor.leave().await;
}

#[tokio::test]
async fn in_persian_the_page_runs_from_right_to_left_with_its_own_digits_and_names() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("berlin", "working").await;
    visitor.browser.click("#language").await;
    visitor
        .until("document.documentElement.dir === 'rtl' && document.documentElement.lang === 'fa'")
        .await;
    visitor.until_row("berlin", "آلمان").await;
    // An address stays as it is.
    visitor.until_row("berlin", "81.2.69.1").await;
    visitor
        .until("/^[۰-۹٬]+ م‌ث$/.test(document.querySelector('#body .delay').innerText.trim())")
        .await;
    let first = "document.querySelector('#body .name').getBoundingClientRect().left > document.querySelector('#body .age').getBoundingClientRect().left";
    assert_eq!(visitor.browser.value(first).await, true);
    let words = visitor.evaluates(WORDS).await;
    assert!(words["count"].as_u64() > Some(100), "{words}");
    assert_eq!(
        (&words["missing"], &words["more"]),
        (&json!([]), &json!([]))
    );
    visitor.leave().await;
}

#[tokio::test]
async fn a_browser_that_asks_for_persian_gets_it() {
    let world = World::new();
    let browser = outwatch_tests::browser::Browser::open_in("fa").await;
    browser.go(&world.url()).await;
    browser.until("document.documentElement.lang === 'fa' && document.getElementById('test-all').innerText.includes('آزمودن')").await;
    browser.close().await;
}

#[tokio::test]
async fn nothing_is_wider_than_a_phone() {
    let world = World::hostile();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;
    visitor.browser.resize(360, 740).await;
    for _ in 0..2 {
        visitor.click_in_row("tokyo", ".note").await;
        visitor
            .until("!document.getElementById('detail').hidden")
            .await;
        let wide = visitor
            .browser
            .value("document.documentElement.scrollWidth")
            .await;
        assert!(wide.as_u64() <= Some(360), "{wide}");
        // A finger needs room.
        let small = "document.querySelector('#body .delay').getBoundingClientRect().height >= 28";
        assert_eq!(visitor.browser.value(small).await, true);
        visitor.browser.click("#detail [data-do=close]").await;
        visitor.browser.click("#language").await;
    }
    visitor.leave().await;
}

#[tokio::test]
async fn nothing_moves_for_those_who_want_it_still() {
    let world = World::new();
    let visitor = Visitor::of(&world).await;
    visitor.until_grade("tokyo", "working").await;
    visitor
        .browser
        .prefers("prefers-reduced-motion", "reduce")
        .await;
    let moving = "[...document.querySelectorAll('*')].filter((it) => { const { animationName, transitionDuration, transitionProperty } = getComputedStyle(it); return animationName !== 'none' || (transitionProperty !== 'none' && transitionDuration !== '0s'); }).length";
    assert_eq!(visitor.browser.value(moving).await, 0);
    visitor.leave().await;
}
