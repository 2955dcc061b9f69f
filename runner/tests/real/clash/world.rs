//! A running outwatch behind whose groups are three ways out, and one who asks its API. It
//! must not know what is asked.

use std::time::Duration;

use outwatch_tests::peers::{Curl, Lane, Pace, socks};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::process::{Running, Scene};
use crate::visit::inbound_port;

/// Tags that must be written otherwise in an address, but for the last.
pub(crate) const PICK: &str = "Pick / 🌍";
pub(crate) const BERLIN: &str = "Berlin 🇩🇪 #1";
pub(crate) const TOKYO: &str = "Tokyo 100%";
pub(crate) const GONE: &str = "gone";

/// What who asks must know.
pub(crate) const SECRET: &str = "hush";

/// The fast way, the slow way and the one that fails, in front of them a selector, a group of
/// the fastest and one that takes turns, and an inbound.
pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) api: Api,
    inbound: String,
    pub(crate) berlin: Lane,
    _tokyo: Lane,
    _gone: Lane,
    config: Value,
    scene: Scene,
}

impl World {
    /// Runs it until everything was tested once. `clash_api` has more of its fields.
    pub(crate) fn start(clash_api: &Value) -> Self {
        let later = |ms| Pace::After(Duration::from_millis(ms));
        let (berlin, tokyo) = (
            Lane::start("berlin", later(10)),
            Lane::start("tokyo", later(200)),
        );
        let gone = Lane::start("gone", Pace::Dead);
        let mut config = json!({
            "inbounds": [{ "type": "mixed", "tag": "in", "listen_port": 0 }],
            "outbounds": [
                { "type": "selector", "tag": PICK, "outbounds": ["auto", BERLIN, TOKYO, GONE] },
                { "type": "urltest", "tag": "auto", "outbounds": [GONE, BERLIN, TOKYO] },
                {
                    "type": "balancer", "tag": "turns", "outbounds": [BERLIN, TOKYO],
                    "strategy": "round-robin",
                },
                socks(BERLIN, berlin.port()),
                socks(TOKYO, tokyo.port()),
                socks(GONE, gone.port()),
                { "type": "block", "tag": "no" },
            ],
            "experimental": {
                "clash_api": { "external_controller": "127.0.0.1:0", "secret": SECRET },
                "monitoring": {
                    "urls": ["http://site.test/generate_204"], "ip_lookup": false,
                    "interval": "1h", "debounce_window": "10ms",
                    "on_demand_timeouts": ["500ms", "60s"],
                },
            },
        });
        let fields = clash_api.as_object().expect("fields");
        for (field, value) in fields {
            config["experimental"]["clash_api"][field] = value.clone();
        }
        let scene = Scene::new(&config);
        let mut running = scene.run();
        let api = Api::of(&mut running);
        let inbound = inbound_port(&mut running);
        running.logged("event=cycle_end");
        running.until_report("where the group leads", |report| {
            report["tag"] == "auto" && report["via"] == BERLIN && report["state"] == "ok"
        });
        Self {
            running,
            api,
            inbound,
            berlin,
            _tokyo: tokyo,
            _gone: gone,
            config,
            scene,
        }
    }

    /// The name of the way that a user's request takes.
    pub(crate) fn way(&self) -> String {
        let proxy = format!("socks5h://127.0.0.1:{}", self.inbound);
        let answer = Curl::run(["-x", &proxy, "http://site.test/page"]);
        assert_eq!(answer.code, 0, "{answer:?}");
        answer.output
    }

    /// Has all connections go through another outbound or group from now on.
    pub(crate) fn goes_through(&mut self, tag: &str) {
        self.config["route"] = json!({ "final": tag });
        self.scene.has_config(&self.config.to_string());
        self.running.signal("HUP");
        self.running.until_logged("the config was read again");
    }

    /// Where the inbound listens.
    pub(crate) fn inbound(&self) -> String {
        format!("127.0.0.1:{}", self.inbound)
    }
}

/// One who asks an API, and knows the secret.
pub(crate) struct Api {
    /// Its host and port.
    pub(crate) address: String,
}

impl Api {
    /// The API of one who runs.
    pub(crate) fn of(running: &mut Running) -> Self {
        let line = running.logged("the API answers on http://");
        let address = line.split("http://").nth(1).expect("an address");
        Self {
            address: address.trim_end_matches('/').to_owned(),
        }
    }

    /// The status and the body of an answer; null if it is no JSON.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let bearer = format!("Authorization: Bearer {SECRET}");
        self.ask_with(&["-X", method, "-H", &bearer, "--data", body], path)
    }

    /// The same with arguments of curl's, and without the secret.
    pub(crate) fn ask_with(&self, arguments: &[&str], path: &str) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let arguments = [arguments, &["-w", "\n%{http_code}", &url]].concat();
        let answer = Curl::run(arguments);
        assert_eq!(answer.code, 0, "{path}: {answer:?}");
        let (body, status) = answer.output.rsplit_once('\n').expect("a status");
        let status = status.parse().expect("a status");
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// What there is at a path.
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }
}

/// A tag as it stands in a path.
pub(crate) fn encoded(tag: &str) -> String {
    utf8_percent_encode(tag, NON_ALPHANUMERIC).to_string()
}
