//! A list far longer than the screen.

use outwatch_tests::browser::Key;

use super::visitor::Visitor;
use super::world::World;

/// How many outbounds there are.
const COUNT: usize = 2000;

/// Scrolls through the whole list in steps of half a screen, and tells for each frame how long
/// it took and whether the middle of the screen shows a row.
const SCROLL: &str = "new Promise((done) => {
    const frames = [];
    let blank = 0;
    let most = 0;
    let last = performance.now();
    const end = document.documentElement.scrollHeight - innerHeight;
    const list = document.getElementById('body').getBoundingClientRect().top + scrollY;
    const step = () => {
        const now = performance.now();
        frames.push(now - last);
        last = now;
        const middle = document.elementFromPoint(300, innerHeight / 2);
        if (scrollY > list && !middle?.closest('.row')) blank += 1;
        most = Math.max(most, document.querySelectorAll('#body .row').length);
        if (scrollY >= end - 1) {
            frames.sort((a, b) => a - b);
            return done({ blank, most, frames: frames.length, median: frames[Math.floor(frames.length / 2)] });
        }
        scrollBy(0, innerHeight / 2);
        // The page draws in the next frame; the one after shows it.
        requestAnimationFrame(() => requestAnimationFrame(step));
    };
    requestAnimationFrame(step);
})";

#[tokio::test]
async fn two_thousand_outbounds_scroll_smoothly() {
    let world = World::many(COUNT);
    let visitor = Visitor::of(&world).await;
    visitor
        .until("document.getElementById('rows').ariaRowCount === '2001'")
        .await;
    visitor.until_grade("0", "working").await;

    let seen = visitor.evaluates(SCROLL).await;
    println!("scrolling: {seen}");
    assert!(seen["frames"].as_u64() > Some(100), "{seen}");
    assert_eq!(seen["blank"], 0, "{seen}");
    // What is drawn is what the screen holds, and not the list.
    assert!(seen["most"].as_u64() < Some(60), "{seen}");
    // Two frames each. A machine busy with other tests takes several times what it must.
    assert!(seen["median"].as_f64() < Some(500.0), "{seen}");

    visitor.browser.keys("/").await;
    visitor.press(&[Key::Down, Key::End]).await;
    assert_eq!(visitor.focused().await, "1999");
    visitor.press(&[Key::Up, Key::Up]).await;
    assert_eq!(visitor.focused().await, "1997");
    let inside = "(() => { const { top, bottom } = document.activeElement.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight })()";
    visitor.until(inside).await;
    visitor.leave().await;
}
