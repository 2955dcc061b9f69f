//! `outwatch explain` in the demo's world.

use serde_json::Value;

use crate::scene::{Scene, Shot, Stage};

fn explain<const N: usize>(stage: &Stage, args: [&str; N]) -> Shot {
    let mut command = stage.scene.outwatch(["explain", "-c", "config.json"]);
    Shot::of(command.args(args))
}

fn parts(shot: &Shot) -> Vec<&str> {
    let heading = |line: &&str| !line.is_empty() && !line.starts_with(' ');
    shot.stdout.lines().filter(heading).collect()
}

#[test]
fn what_works_is_told_from_the_way_to_the_exit() {
    let stage = Stage::demo();
    let shot = explain(&stage, ["behind fast"]);
    assert_eq!(shot.code, Some(0), "{shot}");
    assert_eq!(parts(&shot), ["way", "rules", "steps", "result"], "{shot}");
    for said in [
        "  behind fast (socks), ready",
        "  dialed through fast (socks), ready",
        "a failed attempt is tried again at 500ms, 1s; all is over at 2s",
        "first fast: HEAD https://",
        "attempt 1: HEAD https://",
        "status 204; ",
        "dial ",
        "tls ",
        "first byte after ",
        "where fast comes out, says 127.0.0.1?",
        "where it comes out, says 127.0.0.1?",
        "comes out at 2001:db8::40",
    ] {
        assert!(shot.stdout.contains(said), "no {said:?} in {shot}");
    }
    // D-2: the detour goes first.
    let place = |text: &str| shot.stdout.find(text);
    assert!(place("first fast") < place("attempt 1"), "{shot}");
}

#[test]
fn s2_what_fails_is_told_by_attempt_with_what_to_do() {
    let stage = Stage::demo();
    let shot = explain(&stage, ["dead"]);
    assert_eq!(shot.code, Some(5), "{shot}");
    for said in [
        "attempt 1",
        "attempt 3",
        "failed",
        "(dial)",
        "dial_refused: ",
        "hint: nothing listens there",
    ] {
        assert!(shot.stdout.contains(said), "no {said:?} in {shot}");
    }
    assert!(
        shot.stdout.contains("no answer yet: shown as unavailable"),
        "S-3: {shot}"
    );
}

#[test]
fn programs_get_the_same_as_one_object() {
    let stage = Stage::demo();
    let shot = explain(&stage, ["wrong password", "--format", "json"]);
    assert_eq!(shot.code, Some(5), "{shot}");
    let told: Value = serde_json::from_str(&shot.stdout).expect("JSON");
    assert_eq!(
        (&told["tag"], &told["worked"]),
        (&"wrong password".into(), &false.into())
    );
    assert_eq!(told["report"]["error"]["kind"], "proxy_auth");
    assert_eq!(told["chain"][0]["ready"], true);
    let step = &told["steps"][0];
    assert_eq!(
        (&step["what"], &step["error"]["phase"]),
        (&"url_test".into(), &"proxy".into())
    );
    assert!(
        told["advice"]
            .as_str()
            .is_some_and(|advice| advice.contains("password")),
        "{told}"
    );
    let worked = explain(&stage, ["fast", "--format", "json"]);
    let told: Value = serde_json::from_str(&worked.stdout).expect("JSON");
    let steps = told["steps"].as_array().expect("steps");
    let lookup = steps.iter().find(|step| step["what"] == "ip_lookup");
    assert_eq!(lookup.expect("a lookup")["status"], 200);
    assert!(
        steps[0]["timing"]["first_byte_ms"].as_f64() > Some(0.0),
        "{told}"
    );
}

#[test]
fn a_group_is_explained_by_what_it_leads_to() {
    let stage = Stage::demo();
    let shot = explain(&stage, ["choice"]);
    assert!(
        shot.stdout.starts_with("way\n  slow (socks), ready"),
        "{shot}"
    );
    let open = explain(&stage, ["best"]);
    assert_eq!(open.code, Some(2), "{open}");
    assert!(
        open.stderr.contains("hint: name one of its members"),
        "{open}"
    );
    let slip = explain(&stage, ["fats"]);
    assert_eq!(slip.code, Some(2), "{slip}");
    assert!(slip.stderr.contains("did you mean `fast`?"), "{slip}");
}

#[test]
fn d6_what_cannot_be_dialed_says_what_would_make_it_work() {
    let config = r#"{ "outbounds": [{ "type": "hysteria2", "tag": "hy", "server": "192.0.2.1", "server_port": 1 }] }"#;
    let scene = Scene::with("config.json", config);
    let shot = scene.run(["explain", "hy", "-c", "config.json", "--core", "native"]);
    assert_eq!(shot.code, Some(5), "{shot}");
    for said in [
        "cannot be dialed",
        "nothing was sent",
        "not tested: ",
        "hint: this core cannot do",
    ] {
        assert!(shot.stdout.contains(said), "no {said:?} in {shot}");
    }
}
