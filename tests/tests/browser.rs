//! The driven browser: what tests of pages rely on. It must not know Outwatch's page.

use outwatch_tests::browser::{Browser, Key};

const PAGE: &str = "data:text/html,<input autofocus><img src='http://a.test/x'>\
    <script>document.querySelector('input').onchange=e=>document.title=e.target.value</script>";

#[tokio::test]
async fn a_user_types_and_every_request_is_known() {
    let browser = Browser::open().await;
    browser.go(PAGE).await;
    browser.click("input").await;
    browser.keys("hi").await;
    browser.press(Key::Tab).await;
    browser.until("document.title === 'hi'").await;

    let requests = browser.requests().await;
    assert!(
        requests.contains(&"http://a.test/x".to_owned()),
        "{requests:?}"
    );
    let complaints = browser.complaints().await;
    assert!(
        complaints.iter().any(|it| it.contains("a.test")),
        "{complaints:?}"
    );
    assert!(browser.picture().await.starts_with(b"\x89PNG"));
    browser.close().await;
}
