//! Who may ask, and who may not.

use std::net::{Ipv4Addr, SocketAddr};

use outwatch::api::{Api, ServeError};
use outwatch_tests::http::Client;
use outwatch_tests::stub::{Stub, answers};

use super::world::{World, describe};

const PATH: &str = "/api/v1/outbounds";

async fn status(client: &Client, method: &str, path: &str) -> u16 {
    client.ask(method, path, "").await.status.as_u16()
}

fn stub() -> Stub {
    Stub::with([("a", answers(10))])
}

#[tokio::test]
async fn without_the_secret_nothing_is_told_or_done() {
    let world = World::with(&stub(), |api| api.secret("hush")).await;
    let ways = [
        ("GET", PATH),
        ("GET", "/api/v1/groups"),
        ("GET", "/api/v1/events"),
        ("GET", "/api/v1/engine"),
        ("GET", "/api/v1/openapi.json"),
        ("GET", "/metrics"),
        ("POST", "/api/v1/test"),
        ("POST", "/api/v1/outbounds/a/test"),
        ("POST", "/api/v1/network-changed"),
        ("PUT", "/api/v1/engine"),
    ];
    let strangers = [
        world.client.clone(),
        world.client.clone().knowing("hus"),
        world.client.clone().knowing("hush!"),
        world.client.clone().with("authorization", "Basic hush"),
        world.client.clone().with("authorization", "hush"),
    ];
    for stranger in &strangers {
        for (method, path) in ways {
            let answer = stranger.ask(method, path, "").await;
            assert_eq!(
                answer.refused(),
                (401, "no_secret".to_owned()),
                "{method} {path}"
            );
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
    }
    assert_eq!(
        status(&world.client.clone().knowing("hush"), "GET", PATH).await,
        200
    );
}

#[tokio::test]
async fn what_cannot_set_headers_sends_the_secret_in_the_query_and_only_reads_so() {
    let world = World::with(&stub(), |api| api.secret("h&sh 🔑")).await;
    let query = "token=h%26sh%20%F0%9F%94%91";
    let listened = world
        .client
        .listen(&format!("/api/v1/events?{query}"))
        .await;
    drop(listened);
    let path = format!("{PATH}?view=display&{query}");
    assert_eq!(status(&world.client, "GET", &path).await, 200);
    assert_eq!(
        status(&world.client, "GET", &format!("{PATH}?token=h")).await,
        401
    );
    let test = format!("/api/v1/test?{query}");
    assert_eq!(status(&world.client, "POST", &test).await, 401);
}

#[tokio::test]
async fn a_name_that_a_foreign_page_made_lead_here_is_refused() {
    let world = World::with(&stub(), |api| api.secret("hush")).await;
    let named = |host: &str| world.client.clone().knowing("hush").with("host", host);
    for host in [
        "127.0.0.1",
        "localhost:9090",
        "LOCALHOST",
        "[::1]:80",
        "x.localhost",
    ] {
        assert_eq!(status(&named(host), "GET", PATH).await, 200, "{host}");
    }
    for host in [
        "evil.example",
        "127.0.0.1.evil.example:9090",
        "localhost.evil.example",
        "",
    ] {
        let refused = named(host).get(PATH).await.refused();
        assert_eq!(refused, (403, "foreign_host".to_owned()), "{host}");
        assert_eq!(status(&named(host), "GET", "/").await, 403, "{host}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_may_not_ask_without_a_secret() {
    let world = World::of(&stub()).await;
    let own = format!("http://{}", world.serving.address());
    let of = |origin: &str| world.client.clone().with("origin", origin);
    assert_eq!(
        status(&of(&own), "POST", "/api/v1/outbounds/a/test").await,
        200
    );
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", ""] {
        for (method, path) in [("GET", PATH), ("POST", "/api/v1/outbounds/a/test")] {
            let answer = of(origin).ask(method, path, "").await;
            assert_eq!(
                answer.refused(),
                (403, "foreign_origin".to_owned()),
                "{origin}"
            );
            assert!(!answer.headers.contains_key("access-control-allow-origin"));
        }
    }
    // What a browser sends for an image, a form or a link of another site.
    let image = world.client.clone().with("sec-fetch-site", "cross-site");
    assert_eq!(status(&image, "GET", PATH).await, 403);
    let link = image.with("sec-fetch-mode", "navigate");
    assert_eq!(status(&link, "GET", "/").await, 200);
    assert_eq!(status(&link, "POST", "/api/v1/test").await, 403);
}

#[tokio::test]
async fn an_origin_that_is_allowed_may_ask_and_no_other() {
    let allowed = "https://board.example";
    let world = World::with(&stub(), |api| {
        api.allow_origins(["https://Board.example/"])
            .allow_private_network()
    })
    .await;
    let page = world.client.clone().with("origin", allowed);
    let answer = page.get(PATH).await;
    assert_eq!(answer.headers["access-control-allow-origin"], allowed);
    assert!(
        answer
            .headers
            .get_all("vary")
            .iter()
            .any(|vary| vary == "Origin")
    );
    let asks = page
        .with("access-control-request-method", "PUT")
        .with("access-control-request-private-network", "true");
    let leave = asks.ask("OPTIONS", PATH, "").await;
    assert_eq!(leave.status, 204);
    assert_eq!(
        leave.headers["access-control-allow-private-network"],
        "true"
    );
    let methods = leave.headers["access-control-allow-methods"].to_str();
    assert!(methods.is_ok_and(|methods| methods.contains("PUT")));
    let other = world.client.clone().with("origin", "https://other.example");
    assert_eq!(status(&other, "GET", PATH).await, 403);
}

#[tokio::test]
async fn with_a_secret_any_page_may_ask_that_knows_it() {
    let world = World::with(&stub(), |api| api.secret("hush")).await;
    let page = world.client.clone().with("origin", "https://board.example");
    let asks = page.clone().with("access-control-request-method", "GET");
    assert_eq!(
        status(&asks, "OPTIONS", PATH).await,
        204,
        "it has no secret yet"
    );
    assert_eq!(status(&page, "GET", PATH).await, 401);
    let answer = page.knowing("hush").get(PATH).await;
    assert_eq!(
        answer.headers["access-control-allow-origin"],
        "https://board.example"
    );
}

#[tokio::test]
async fn an_address_that_others_reach_demands_a_secret() {
    let monitor = describe(&stub()).start().await.unwrap();
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let refused = Api::new(&monitor).serve(everywhere);
    assert!(matches!(refused, Err(ServeError::NeedsSecret { .. })));
    let refused = Api::new(&monitor).secret("").serve(everywhere);
    assert!(matches!(refused, Err(ServeError::NeedsSecret { .. })));

    let serving = Api::new(&monitor).secret("hush").serve(everywhere).unwrap();
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, serving.address().port()));
    let client = Client::of(here).knowing("hush");
    let named = client.with("host", "router.lan:9090");
    assert_eq!(
        status(&named, "GET", PATH).await,
        200,
        "by its name in the network"
    );
}

#[tokio::test]
async fn a_taken_address_is_told() {
    let world = World::of(&stub()).await;
    let refused = Api::new(&world.monitor).serve(world.serving.address());
    let refused = refused.expect_err("it is taken").to_string();
    assert!(
        refused.contains(&world.serving.address().to_string()),
        "{refused}"
    );
}

#[tokio::test]
async fn what_is_not_there_is_told_and_so_is_a_wrong_method_and_a_large_body() {
    let world = World::of(&stub()).await;
    let client = &world.client;
    for path in [
        "/api/v1",
        "/api/v1/nothing",
        "/api/v2/outbounds",
        "/nothing/at/all",
    ] {
        assert_eq!(client.get(path).await.refused().0, 404, "{path}");
    }
    for (method, path) in [
        ("POST", PATH),
        ("DELETE", "/api/v1/groups"),
        ("GET", "/api/v1/test"),
    ] {
        let answer = client.ask(method, path, "").await;
        assert_eq!(
            answer.refused(),
            (405, "wrong_method".to_owned()),
            "{method} {path}"
        );
        assert!(answer.headers.contains_key("allow"));
    }
    let large = vec![b' '; 128 * 1024];
    let answer = client.put("/api/v1/groups/a/selected", large).await;
    assert_eq!(answer.refused(), (413, "too_large".to_owned()));
    for path in [
        "/api/v1/outbounds/%ff",
        "/api/v1/outbounds?view=upside-down",
    ] {
        assert_eq!(client.get(path).await.refused().0, 400, "{path}");
    }
}

#[tokio::test]
async fn many_that_never_finish_asking_do_not_keep_others_out() {
    use tokio::io::AsyncWriteExt as _;
    let world = World::of(&stub()).await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut stream = tokio::net::TcpStream::connect(world.serving.address())
            .await
            .unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nhost: x")
            .await
            .unwrap();
        slow.push(stream);
    }
    assert_eq!(status(&world.client, "GET", PATH).await, 200);
    world.serving.stop().await;
}
