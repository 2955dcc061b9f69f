//! The shapes of answers beside those of a real sing-box and a real mihomo with the same
//! outbounds and a connection open: what a client reads from theirs, it reads from ours.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use outwatch_tests::peers::{Core, Lane, Member, Pace, Rival};
use serde_json::{Value, json};

use super::world::{Api, SECRET};
use crate::process::{Running, Scene};
use crate::visit::inbound_port;

const PATIENCE: Duration = Duration::from_secs(60);

/// The paths that are compared; all answer once.
const PATHS: [&str; 9] = [
    "/version",
    "/configs",
    "/proxies",
    "/proxies/one",
    "/proxies/pick",
    "/group",
    "/group/auto",
    "/connections",
    "/providers/proxies",
];

/// Two lanes, which lead to every site.
fn lanes() -> ([Lane; 2], [Member; 2]) {
    let tags = ["one", "two"];
    let lanes = tags.map(|tag| Lane::start(tag, Pace::After(Duration::ZERO)));
    let members = [0, 1].map(|nth| Member {
        tag: tags[nth],
        port: lanes[nth].port(),
        datagrams: true,
    });
    (lanes, members)
}

/// Outwatch with these behind the same groups as its rivals.
fn ours(members: &[Member]) -> (Scene, Running, Api) {
    let tags: Vec<&str> = members.iter().map(|member| member.tag).collect();
    let groups = [("pick", "selector"), ("auto", "urltest")];
    let groups = groups.map(|(tag, kind)| json!({ "tag": tag, "type": kind, "outbounds": tags }));
    let members = members.iter().map(Member::outbound);
    let outbounds: Vec<Value> = groups.into_iter().chain(members).collect();
    let scene = Scene::new(&json!({
        "inbounds": [{ "type": "mixed", "tag": "in-0", "listen_port": 0 }],
        "outbounds": outbounds,
        "experimental": {
            "clash_api": { "external_controller": "127.0.0.1:0", "secret": SECRET },
            "monitoring": { "urls": ["http://site.test/generate_204"], "ip_lookup": false },
        },
    }));
    let mut running = scene.run();
    let api = Api::of(&mut running);
    running.logged("event=cycle_end");
    (scene, running, api)
}

/// A user's connection through an inbound, which stays open.
fn tunnel(port: &str) -> TcpStream {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("an inbound");
    stream.set_read_timeout(Some(PATIENCE)).expect("a bound");
    let request = b"CONNECT site.test:80 HTTP/1.1\r\nHost: site.test:80\r\n\r\n";
    stream.write_all(request).expect("it is taken");
    stream.read_exact(&mut [0; 12]).expect("an answer");
    stream
}

/// An answer once it has what is awaited.
fn once(what: &str, ask: impl Fn() -> Value, is_there: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = ask();
        if is_there(&answer) {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what} is never there: {answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn has_a_connection(answer: &Value) -> bool {
    answer["connections"]
        .as_array()
        .is_some_and(|all| !all.is_empty())
}

/// Where `theirs` and `ours` are read differently. What theirs leaves open (null, or a list
/// of nothing) may be anything.
fn differences(theirs: &Value, ours: &Value, at: &str, found: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Null, _) => {}
        (_, Value::Null) => found.push(format!("{at} is missing")),
        (Value::Object(theirs), Value::Object(ours)) => {
            for (field, value) in theirs {
                let at = format!("{at}.{field}");
                match ours.get(field) {
                    Some(our) => differences(value, our, &at, found),
                    None => found.push(format!("{at} is missing")),
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            if let (Some(first), Some(our)) = (theirs.first(), ours.first()) {
                differences(first, our, &format!("{at}[0]"), found);
            } else if !theirs.is_empty() {
                found.push(format!("{at} is empty"));
            }
        }
        (Value::Bool(_), Value::Bool(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_)) => {}
        _ => found.push(format!("{at} is {theirs} and not {ours}")),
    }
}

/// All differences between a rival's answers and ours.
fn against(core: Core, groups: &[Value]) -> Vec<String> {
    let (_lanes, members) = lanes();
    let rival = Rival::start(core, &members, groups);
    let (_scene, mut running, api) = ours(&members);
    for group in ["pick", "auto"] {
        rival.tests(group, "http://site.test/generate_204");
    }
    let _theirs = tunnel(&rival.port(0).to_string());
    let _ours = tunnel(&inbound_port(&mut running));
    let mut found = Vec::new();
    for path in PATHS {
        let is_there = |answer: &Value| path != "/connections" || has_a_connection(answer);
        let theirs = once(path, || rival.answer(path), is_there);
        let ours = once(path, || api.get(path), is_there);
        differences(&theirs, &ours, path, &mut found);
    }
    found
}

#[test]
fn every_field_of_a_sing_boxs_answers_is_in_ours_with_its_type() {
    let groups = [
        json!({ "type": "selector", "tag": "pick" }),
        json!({ "type": "urltest", "tag": "auto" }),
    ];
    let none: [String; 0] = [];
    assert_eq!(against(Core::SingBox, &groups), none);
}

/// What only mihomo has is not looked for: its own settings, and its own outbounds.
#[test]
fn what_ours_shares_with_a_mihomos_answers_has_its_type() {
    let groups = [
        json!({ "type": "select", "name": "pick" }),
        json!({
            "type": "url-test", "name": "auto", "interval": 3600,
            "url": "http://site.test/generate_204",
        }),
    ];
    let found = against(Core::Mihomo, &groups);
    let shared: Vec<&String> = found
        .iter()
        .filter(|one| !one.ends_with(" is missing"))
        .collect();
    let none: [&String; 0] = [];
    assert_eq!(shared, none);
    // So that the filter lets nothing through that dashboards read.
    for field in [
        "alive", "extra", "history", "name", "type", "udp", "now", "all",
    ] {
        let missing = format!("/proxies/pick.{field} is missing");
        assert!(!found.contains(&missing), "{missing}");
    }
}
