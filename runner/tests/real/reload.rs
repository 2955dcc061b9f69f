//! The real binary goes over to another config while it is used.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

use outwatch_tests::peers::{
    Authority, Echo, Nginx, Protocols, SingBox, Visitor, sing_box_program,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::process::{Running, Scene};
use crate::visit::{inbound_port, port_in, shadowsocks, status};

/// What the log says when all is done.
const DONE: &str = "the config was read again";
const REFUSED: &str = "the config was not taken up";

/// A user's connection that stays open.
struct Held {
    runtime: Runtime,
    visitor: Visitor,
    _echo: Echo,
}

impl Held {
    fn through(port: &str) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let (echo, port) = (Echo::start(), port.parse().expect("a port"));
        let inbound = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let visitor = runtime.block_on(async {
            let mut visitor = Visitor::new(inbound).await;
            assert_eq!(visitor.socks(echo.port()).await, Some(0));
            visitor
        });
        let mut held = Self {
            runtime,
            visitor,
            _echo: echo,
        };
        held.works();
        held
    }

    fn works(&mut self) {
        self.runtime.block_on(self.visitor.echoes(b"still here"));
    }

    fn is_closed(&mut self) {
        let heard = self.runtime.block_on(self.visitor.hears(1));
        assert_eq!(heard, b"", "an end");
    }
}

fn monitoring(web: &Nginx) -> Value {
    json!({ "monitoring": {
        "urls": [web.url("/generate_204")], "ip_lookup": false, "interval": "1h",
    } })
}

fn config(web: &Nginx, servers: &[(&str, &SingBox)], inbounds: &Value) -> Value {
    let tags: Vec<&str> = servers.iter().map(|(tag, _)| *tag).collect();
    let outbounds = servers.iter().map(|(tag, server)| server.outbound(0, tag));
    let auto = json!({
        "type": "urltest", "tag": "auto", "outbounds": tags, "tolerance": 60_000,
    });
    json!({
        "inbounds": inbounds,
        "outbounds": std::iter::once(auto).chain(outbounds).collect::<Vec<_>>(),
        "route": { "final": "auto" },
        "experimental": monitoring(web),
    })
}

/// Waits until a test of each of these has worked.
fn work(running: &mut Running, tags: &[&str]) {
    let mut left = BTreeSet::from_iter(tags);
    running.until_report("all successes", |report| {
        if report["state"] == "ok" {
            left.retain(|tag| report["tag"] != **tag);
        }
        left.is_empty()
    });
}

fn answers(web: &Nginx, port: &str) {
    let proxy = format!("socks5h://127.0.0.1:{port}");
    assert_eq!(status(&proxy, &web.url("/generate_204")), "204");
}

#[test]
fn a_changed_config_is_followed_and_what_it_does_not_change_lives_on() {
    let web = Nginx::plain();
    let (one, two, three, other) = (shadowsocks(), shadowsocks(), shadowsocks(), shadowsocks());
    let stays = json!({ "type": "mixed", "tag": "stays", "listen_port": 0 });
    let goes = json!({ "type": "socks", "tag": "goes", "listen_port": 0 });
    let comes = json!({ "type": "http", "tag": "comes", "listen_port": 0 });
    let servers = [("one", &one), ("two", &two)];
    let before = config(&web, &servers, &json!([stays, goes]));
    let servers = [("three", &three), ("two", &two), ("one", &other)];
    let after = config(&web, &servers, &json!([comes, stays]));
    let scene = Scene::new(&before);
    let mut running = scene.run();
    let port = port_in(&running.logged("(\"stays\") go through"));
    let gone = port_in(&running.logged("(\"goes\") go through"));
    work(&mut running, &["one", "two"]);
    let (mut held, mut lost) = (Held::through(&port), Held::through(&gone));

    scene.has_config(&after.to_string());
    running.signal("HUP");
    let new = port_in(&running.until_logged("(\"comes\") go through"));
    running.until_logged(DONE);
    work(&mut running, &["three", "one"]);
    held.works();
    lost.is_closed();
    answers(&web, &port);
    let proxy = format!("http://127.0.0.1:{new}");
    assert_eq!(status(&proxy, &web.url("/generate_204")), "204");
    held.works();

    let logged = running.kill();
    let tests = ["one", "two", "three"].map(|tag| {
        let words = format!("event=test tag=\"{tag}\" reason=");
        logged.iter().filter(|line| line.contains(&words)).count()
    });
    assert_eq!(
        tests,
        [2, 1, 1],
        "one leads elsewhere, two stays, three is new"
    );
}

#[test]
fn a_config_that_is_wrong_is_told_and_changes_nothing() {
    let (web, server) = (Nginx::plain(), shadowsocks());
    let inbounds = json!([{ "type": "mixed", "listen_port": 0 }]);
    let good = config(&web, &[("one", &server)], &inbounds);
    let scene = Scene::new(&good);
    let mut running = scene.run();
    let port = inbound_port(&mut running);
    work(&mut running, &["one"]);
    let mut held = Held::through(&port);
    let with = |place: &str, value: Value| {
        let mut config = good.clone();
        *config.pointer_mut(place).expect("a place") = value;
        config.to_string()
    };
    for (wrong, told) in [
        ("{".to_owned(), "config.json:1:"),
        (with("/route/final", json!("nothing")), "route.final"),
        (with("/inbounds/0/listen_port", json!("x")), "inbounds[0]"),
        (with("/outbounds/1/server_port", json!("x")), "outbounds[1]"),
        (
            with("/outbounds/0/tolerance", json!("x")),
            "outbounds[0].tolerance",
        ),
        (
            with("/experimental/monitoring/interval", json!("never")),
            "experimental.monitoring.interval",
        ),
    ] {
        scene.has_config(&wrong);
        running.signal("HUP");
        running.until_logged(told);
        let refused = running.until_logged(REFUSED);
        assert!(refused.contains("1 error in config.json"), "{refused}");
        answers(&web, &port);
        held.works();
    }

    scene.has_config(&good.to_string());
    running.signal("HUP");
    running.until_logged(DONE);
    held.works();
    assert_eq!(running.terminate(), Some(0));
}

#[test]
fn what_holds_from_the_next_start_on_is_said() {
    let (web, server) = (Nginx::plain(), shadowsocks());
    let mut config = config(&web, &[("one", &server)], &json!([]));
    let scene = Scene::new(&config);
    let mut running = scene.run();
    work(&mut running, &["one"]);
    config["experimental"]["monitoring"]["interval"] = json!("2h");
    config["experimental"]["cache_file"] = json!({ "enabled": true, "path": "other.redb" });
    config["log"] = json!({ "level": "debug" });
    scene.has_config(&config.to_string());
    running.signal("HUP");
    for what in ["experimental.monitoring", "experimental.cache_file", "log"] {
        let words = format!("a change of `{what}` holds from the next start on");
        running.until_logged(&words);
    }
    running.until_logged(DONE);
    assert_eq!(running.terminate(), Some(0));
    assert_eq!(scene.files(), ["config.json", "results.redb"]);
}

#[test]
fn the_core_changes_with_the_config_where_another_is_needed() {
    let web = Nginx::plain();
    let servers = Protocols::start(&Authority::new("Real Authority").leaf(&["127.0.0.1"]));
    let config = |outbounds: &[&str]| {
        let outbounds = outbounds.iter().map(|tag| servers.outbound(tag));
        json!({
            "inbounds": [{ "type": "mixed", "listen_port": 0 }],
            "outbounds": outbounds.collect::<Vec<_>>(),
            "experimental": monitoring(&web),
        })
    };
    let scene = Scene::new(&config(&["socks"]));
    let program = sing_box_program();
    scene.program("sing-box", &format!("exec '{}' \"$@\"", program.display()));
    let mut running = scene.run();
    let port = inbound_port(&mut running);
    work(&mut running, &["socks"]);
    let mut held = Held::through(&port);

    // sing-box comes, goes over to another config, and goes.
    for (outbounds, last) in [
        (&["vmess", "socks"][..], "vmess"),
        (&["vless", "vmess"][..], "vless"),
        (&["shadowsocks"][..], "shadowsocks"),
    ] {
        scene.has_config(&config(outbounds).to_string());
        running.signal("HUP");
        running.until_logged(DONE);
        work(&mut running, &[last]);
        answers(&web, &port);
        held.works();
    }
    let started = running.logged("sing-box 1.");
    assert!(started.contains("dials"), "{started}");
    assert_eq!(running.terminate(), Some(0));
}
