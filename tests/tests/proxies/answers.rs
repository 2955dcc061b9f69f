//! What comes back from a real web server, directly and through proxies.

use outwatch_tests::peers::{EXITS, Microsocks, Nginx, Tinyproxy};
use serde_json::{Value, json};

use super::world::{answer, core, fetch, get};

#[tokio::test(flavor = "multi_thread")]
async fn t5_the_status_comes_back_as_it_is_and_no_redirect_is_followed() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let core = core([
        json!({ "type": "direct", "tag": "direct" }),
        proxy.outbound("proxy"),
    ]);
    let expected = [
        ("/generate_204", 204, None),
        ("/page", 200, None),
        ("/error", 500, None),
        ("/tired", 429, None),
        ("/nothing-here", 404, None),
        ("/moved", 302, Some("/page")),
        ("/login", 302, Some("http://login.test/portal")),
    ];
    for (path, status, location) in expected {
        for tag in ["direct", "proxy"] {
            let response = answer(&core, tag, &web.url(path)).await;
            assert_eq!(response.status, status, "{path} through {tag}");
            let found = response.headers.first().map(|(_, value)| value.as_str());
            let ends_alike = match (found, location) {
                (Some(found), Some(location)) => found.ends_with(location),
                (found, location) => found == location,
            };
            assert!(ends_alike, "{path} through {tag}: {found:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_traffic_comes_out_where_the_outbound_leads() {
    let web = Nginx::plain();
    let socks = Microsocks::leaving_from(&EXITS[1]);
    let http = Tinyproxy::leaving_from(&EXITS[2]);
    let core = core([
        json!({ "type": "direct", "tag": "direct" }),
        socks.outbound("socks"),
        http.outbound("http"),
        json!({ "type": "direct", "tag": "bound", "inet4_bind_address": EXITS[3].address }),
    ]);
    let tags = ["direct", "socks", "http", "bound"];
    for (tag, exit) in tags.into_iter().zip(&EXITS) {
        let response = fetch(&core, tag, &get(&web.url("/ip"))).await;
        let told: Value = serde_json::from_slice(&response.body).expect("JSON");
        assert_eq!(told["ip"], exit.address, "{tag}");
        assert_eq!(told["country_code"], exit.country, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i3_a_body_is_read_up_to_the_limit() {
    let web = Nginx::plain();
    let core = core([json!({ "type": "direct", "tag": "direct" })]);
    let mut request = get(&web.url("/page"));
    request.body_limit = 3;
    let response = fetch(&core, "direct", &request).await;
    assert_eq!(response.body, b"a p");
}
