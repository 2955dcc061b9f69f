//! `outwatch demo`: the whole way on loopback, without a config.

use outwatch_tests::http::Client;
use serde_json::Value;

use crate::scene::{Running, Scene, assert_shot};

#[test]
fn once_ends_with_a_table_of_everything() {
    assert_shot!(Scene::new().run(["demo", "--once"]).by_tag(), @"
    exit code: 0
    ----- stdout
    TAG  DELAY  TYPE  EXIT IP  PLACE  NETWORK  NOTE
    behind fast  [n] ms  socks  2001:db8::40  CA Toronto  AS64499 Example Cable
    best  [n] ms  urltest  192.0.2.10  DE Berlin  AS64496 Example Net  via fast
    choice  [n] ms  selector  198.51.100.20  JP Tokyo  AS64497 Example Fiber  via slow
    dead  failed  socks  dial_refused: 127.0.0.1:[port] refused the connection
    fast  [n] ms  socks  192.0.2.10  DE Berlin  AS64496 Example Net
    flaky  [n] ms  socks  198.51.100.50  TR Istanbul  AS64500 Example Mobile
    hanging  failed  socks  timeout: [why]
    intercepted  failed  http  tls_cert: the certificate of test.outwatch.example comes from an unknown issuer (UnknownIssuer)
    office  [n] ms  http  203.0.113.30  FI Helsinki  AS64498 Example Hosting
    slow  [n] ms  socks  198.51.100.20  JP Tokyo  AS64497 Example Fiber
    wrong password  failed  http  proxy_auth: the HTTP proxy 127.0.0.1:[port] of `wrong password` refused the username and password (407 Proxy Authentication Required)

    These are real proxies on loopback, tested like yours would be. `office` speaks TLS
    and wants a password. `behind fast` is dialed through `fast`, and was not tested
    before that had a result. `flaky` drops every second connection. `intercepted` shows
    a certificate that nobody vouches for. `best` and `choice` are groups: they are not
    tested themselves and show the result of the member that they lead to.

    With a config of your own: outwatch test -c config.json
    ");
}

#[test]
fn its_page_is_where_it_says_and_a_person_chooses_there() {
    let scene = Scene::new();
    let mut command = scene.outwatch(["demo", "--listen", "127.0.0.1:0", "--format", "jsonl"]);
    let mut running = Running::start(&mut command);
    let line = running.logs("The page is at http://");
    let address = line
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.split('/').next());
    let address = address.and_then(|address| address.parse().ok());
    let client = Client::of(address.expect("an address"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let page = client.get("/").await;
        assert!(page.text().contains("<title>"), "{page:?}");
        let best = client.get("/api/v1/groups/best").await.fine();
        assert_eq!(
            best["strategy"], "lowest-delay",
            "it chooses as it would in `run`"
        );
        let choice = client.get("/api/v1/groups/choice").await.fine();
        let last = choice["members"]
            .as_array()
            .and_then(|members| members.last());
        let last = last.expect("a member");
        let body = serde_json::json!({ "tag": last }).to_string();
        let chosen = client
            .put("/api/v1/groups/choice/selected", body)
            .await
            .fine();
        assert_eq!(chosen["selected"]["tcp"], *last);
    });
    running.signal("INT");
    let shot = running.end();
    assert_eq!(shot.code, Some(0), "{shot}");
}

#[test]
fn once_can_be_read_by_programs() {
    let shot = Scene::new().run(["demo", "--once", "--format", "jsonl"]);
    let report = |line| serde_json::from_str::<Value>(line).expect("a JSON object");
    let reports: Vec<Value> = shot.stdout.lines().map(report).collect();
    assert!(reports.len() > 10, "{shot}");
    assert!(
        reports.iter().all(|report| report["state"] != "untested"),
        "{shot}"
    );
}

#[test]
fn in_a_pipe_updates_come_as_lines_until_ctrl_c() {
    let mut running = Running::start(&mut Scene::new().outwatch(["demo"]));
    running.says("tag\tkind");
    running.says("192.0.2.10");
    running.signal("INT");
    let shot = running.end();
    assert_eq!((shot.code, shot.stderr.as_str()), (Some(0), ""), "{shot}");
}

#[test]
fn it_leaves_nothing_behind() {
    let scene = Scene::new();
    scene.run(["demo", "--once"]);
    assert!(scene.files().is_empty(), "{:?}", scene.files());
}
