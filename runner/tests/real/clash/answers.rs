//! One question, one answer: outbounds, groups, choices, delays, and who may ask.

use std::time::Duration;

use outwatch_tests::peers::Pace;
use serde_json::{Value, json};

use super::world::{BERLIN, GONE, PICK, SECRET, TOKYO, World, encoded};

fn last_delay(proxy: &Value) -> u64 {
    let history = proxy["history"].as_array().expect("a history");
    let last = history.last().expect("a measurement");
    last["delay"].as_u64().expect("milliseconds")
}

#[test]
fn every_outbound_and_group_is_told_with_what_was_measured() {
    let world = World::start(&json!({}));
    let proxies = &world.api.get("/proxies")["proxies"];
    let names: Vec<&String> = proxies.as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 8, "{names:?}");

    let berlin = &proxies[BERLIN];
    assert_eq!(berlin["name"], BERLIN);
    assert_eq!(
        (&berlin["type"], &berlin["alive"]),
        (&json!("SOCKS"), &json!(true))
    );
    assert!(last_delay(berlin) >= 10, "{berlin}");
    assert!(last_delay(&proxies[TOKYO]) >= 200);
    let gone = &proxies[GONE];
    assert_eq!((last_delay(gone), &gone["alive"]), (0, &json!(false)));
    let url = "http://site.test/generate_204";
    assert_eq!(gone["extra"][url]["history"], gone["history"]);

    let types = [PICK, "auto", "turns"].map(|tag| proxies[tag]["type"].clone());
    assert_eq!(types, ["Selector", "URLTest", "LoadBalance"]);
    assert_eq!(proxies[PICK]["all"], json!(["auto", BERLIN, TOKYO, GONE]));
    assert_eq!(proxies[PICK]["now"], "auto");
    assert_eq!(proxies["auto"]["now"], BERLIN);
    assert_eq!(
        proxies["turns"]["now"], "",
        "each connection takes its turn"
    );
    assert_eq!(proxies["auto"]["history"], berlin["history"]);
    assert_eq!(proxies["GLOBAL"]["now"], PICK, "where connections go");

    let never_tested = &proxies["no"];
    assert_eq!(never_tested["type"], "Reject");
    assert_eq!(never_tested["history"], json!([]), "T-1");

    let groups = world.api.get("/group");
    let groups = groups["proxies"].as_array().unwrap();
    let names: Vec<&Value> = groups.iter().map(|group| &group["name"]).collect();
    assert_eq!(names, [PICK, "auto", "turns"]);
}

#[test]
fn names_with_emoji_slashes_and_hashes_are_found_in_a_path() {
    let world = World::start(&json!({}));
    for tag in [PICK, BERLIN, TOKYO, "auto", "GLOBAL"] {
        let path = format!("/proxies/{}", encoded(tag));
        assert_eq!(world.api.get(&path)["name"], tag);
    }
    let group = world.api.get(&format!("/group/{}", encoded(PICK)));
    assert_eq!(group["name"], PICK);
    for path in ["/proxies/nobody", "/proxies/%FF", "/group/nobody"] {
        let (status, body) = world.api.ask("GET", path, "");
        assert_eq!(
            (status, body),
            (404, json!({ "message": "Resource not found" }))
        );
    }
    let path = format!("/group/{}", encoded(BERLIN));
    assert_eq!(world.api.ask("GET", &path, "").0, 404, "it is no group");
}

#[test]
fn g1_what_a_person_chooses_is_where_connections_go() {
    let world = World::start(&json!({}));
    assert_eq!(world.way(), "berlin");
    let pick = format!("/proxies/{}", encoded(PICK));
    let choice = |tag: &str| json!({ "name": tag }).to_string();
    assert_eq!(world.api.ask("PUT", &pick, &choice(TOKYO)).0, 204);
    assert_eq!(world.api.get(&pick)["now"], TOKYO);
    assert_eq!(world.way(), "tokyo");

    for (path, body, status, message) in [
        (
            &*pick,
            choice("nobody"),
            400,
            "Selector update error: not found",
        ),
        (&*pick, "nonsense".to_owned(), 400, "Body invalid"),
        ("/proxies/auto", choice(TOKYO), 400, "Must be a Selector"),
        ("/proxies/gone", choice(TOKYO), 400, "Must be a Selector"),
        ("/proxies/no", choice(TOKYO), 400, "Must be a Selector"),
        ("/proxies/GLOBAL", choice(TOKYO), 400, "Must be a Selector"),
        ("/proxies/nobody", choice(TOKYO), 404, "Resource not found"),
    ] {
        let answer = world.api.ask("PUT", path, &body);
        assert_eq!(
            answer,
            (status, json!({ "message": message })),
            "{path} {body}"
        );
    }
    assert_eq!(world.api.get(&pick)["now"], TOKYO);
}

#[test]
fn s6_a_delay_that_is_asked_for_is_measured_and_waited_for_as_long_as_the_client_says() {
    let world = World::start(&json!({}));
    let delay = |tag: &str, query: &str| {
        let path = format!("/proxies/{}/delay?{query}", encoded(tag));
        world.api.ask("GET", &path, "")
    };
    let before = world.api.get(&format!("/proxies/{}", encoded(BERLIN)));
    let (status, body) = delay(BERLIN, "timeout=70000&url=http%3A%2F%2Fother.test%2F");
    assert_eq!(status, 200, "{body}");
    assert!(body["delay"].as_u64().unwrap() >= 10);
    let after = world.api.get(&format!("/proxies/{}", encoded(BERLIN)));
    let measured = |proxy: &Value| proxy["history"].as_array().unwrap().len();
    assert_eq!(measured(&after), measured(&before) + 1, "the monitor's own");

    // A selector has what it leads to tested.
    for group in [PICK, "GLOBAL"] {
        assert_eq!(delay(group, "timeout=30000").0, 200);
    }

    let (status, body) = delay(GONE, "timeout=30000");
    assert_eq!(status, 503);
    let message = body["message"].as_str().unwrap();
    assert!(
        message.starts_with("An error occurred in the delay test: "),
        "{message}"
    );

    world.berlin.set(Pace::After(Duration::from_secs(3600)));
    assert_eq!(
        delay(BERLIN, "timeout=100"),
        (504, json!({ "message": "Timeout" }))
    );

    assert_eq!(delay("nobody", "timeout=100").0, 404);
    assert_eq!(delay("no", "timeout=100").0, 503, "it is never tested");
    for query in ["", "timeout=soon", "timeout=-1"] {
        assert_eq!(
            delay(TOKYO, query),
            (400, json!({ "message": "Body invalid" }))
        );
    }
}

#[test]
fn s9_the_delays_of_a_group_are_those_of_the_members_that_answer() {
    let world = World::start(&json!({}));
    let (status, delays) = world.api.ask("GET", "/group/auto/delay?timeout=30000", "");
    assert_eq!(status, 200);
    let names: Vec<&String> = delays.as_object().unwrap().keys().collect();
    assert_eq!(names, [BERLIN, TOKYO]);
    assert!(delays[TOKYO].as_u64().unwrap() >= 200, "{delays}");
    let (_, everything) = world
        .api
        .ask("GET", "/group/GLOBAL/delay?timeout=30000", "");
    let names: Vec<&String> = everything.as_object().unwrap().keys().collect();
    assert_eq!(names, [BERLIN, PICK, TOKYO, "auto", "turns"]);
    let (status, _) = world.api.ask("GET", "/group/gone/delay?timeout=30000", "");
    assert_eq!(status, 404, "it is no group");
}

#[test]
fn who_does_not_know_the_secret_gets_nothing_but_the_dashboard() {
    let ui = tempfile::tempdir().unwrap();
    std::fs::write(ui.path().join("index.html"), r#"{"page":1}"#).unwrap();
    let world = World::start(&json!({ "external_ui": ui.path() }));
    let refused = (401, json!({ "message": "Unauthorized" }));
    for path in ["/version", "/proxies", "/connections", "/logs", "/configs"] {
        assert_eq!(world.api.ask_with(&[], path), refused, "{path}");
        let wrong = ["-H", "Authorization: Bearer hus"];
        assert_eq!(world.api.ask_with(&wrong, path), refused, "{path}");
    }
    let (status, _) = world.api.ask_with(&[], &format!("/proxies?token={SECRET}"));
    assert_eq!(status, 200);

    assert_eq!(world.api.ask_with(&[], "/ui/"), (200, json!({ "page": 1 })));
    assert_eq!(world.api.ask_with(&["-L"], "/ui").0, 200);
    for outside in [
        "/ui/../Cargo.toml",
        "/ui/%2e%2e/config.json",
        "/ui/..%2fconfig.json",
    ] {
        let (status, _) = world.api.ask_with(&["--path-as-is"], outside);
        assert_eq!(status, 404, "{outside}");
    }
}

#[test]
fn a_page_of_another_origin_may_ask_where_the_config_says_so() {
    let allowed = "https://dashboard.example";
    let world = World::start(&json!({ "access_control_allow_origin": [allowed] }));
    let bearer = format!("Authorization: Bearer {SECRET}");
    let status = |origin: &str| {
        let origin = format!("Origin: {origin}");
        let (status, _) = world
            .api
            .ask_with(&["-H", &bearer, "-H", &origin], "/proxies");
        status
    };
    assert_eq!(status(allowed), 200);
    assert_eq!(status("https://elsewhere.example"), 403);
    assert_eq!(status(&format!("http://{}", world.api.address)), 200);
    // A name that somebody has lead to this host does not open it.
    let (status, _) = world
        .api
        .ask_with(&["-H", &bearer, "-H", "Host: rebound.test"], "/proxies");
    assert_eq!(status, 403);
}

#[test]
fn what_cannot_be_changed_is_taken_and_left_as_it_is() {
    let world = World::start(&json!({}));
    let before = world.api.get("/configs");
    assert_eq!(
        world.api.ask("PATCH", "/configs", r#"{"mode":"direct"}"#).0,
        204
    );
    assert_eq!(world.api.ask("PUT", "/configs", r#"{"path":""}"#).0, 204);
    assert_eq!(world.api.ask("PATCH", "/configs", "nonsense").0, 400);
    assert_eq!(world.api.get("/configs"), before);
    assert_eq!(before["log-level"], "info");
    for path in ["/cache/fakeip/flush", "/cache/dns/flush"] {
        assert_eq!(world.api.ask("POST", path, "").0, 204);
    }
    assert_eq!(world.api.ask("GET", "/dns/query?name=a.test", "").0, 500);
    let rules = world.api.get("/rules");
    assert_eq!(rules["rules"][0]["proxy"], PICK);
}

#[test]
fn after_a_reload_it_tells_of_what_there_is_then() {
    let mut world = World::start(&json!({}));
    world.goes_through(TOKYO);
    assert_eq!(world.way(), "tokyo");
    assert_eq!(world.api.get("/proxies/GLOBAL")["now"], TOKYO);
    assert_eq!(world.api.get("/rules")["rules"][0]["proxy"], TOKYO);

    world.goes_through(PICK);
    let pick = format!("/proxies/{}", encoded(PICK));
    let choice = json!({ "name": BERLIN }).to_string();
    assert_eq!(world.api.ask("PUT", &pick, &choice).0, 204);
    assert_eq!(
        world.way(),
        "berlin",
        "the choice is in the groups that choose now"
    );
}
