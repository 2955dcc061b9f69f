//! A binary with an API in front of proxies whose pace and exits a test sets. It must not know
//! what the page shows of it.

use std::time::Duration;

use outwatch_tests::peers::{Lane, Pace, Port, socks};
use serde_json::{Value, json};

use crate::process::{Running, Scene};

/// Everything works at once.
pub(super) const AT_ONCE: Pace = Pace::After(Duration::ZERO);

/// Nothing ever comes back.
pub(super) const NEVER: Pace = Pace::After(Duration::from_secs(3600));

/// The secret of a [guarded](World::guarded) world.
pub(super) const SECRET: &str = "correct horse";

/// An outbound's tag, and what an IP service says of where it comes out.
pub(super) type Member = (&'static str, &'static str);

pub(super) const BERLIN: Member = (
    "berlin",
    r#"{"ip":"81.2.69.1","country_code":"DE","city":"Berlin","asn":"AS64496","org":"Example Net"}"#,
);
pub(super) const TOKYO: Member = (
    "tokyo",
    r#"{"ip":"81.2.69.2","country_code":"JP","city":"Tokyo","asn":"AS64497","org":"Sakura Transit"}"#,
);
/// As nasty as a subscription and an IP service can be.
pub(super) const HOSTILE: Member = (
    "<img src=x onerror=\"document.title='owned'\">",
    r#"{"ip":"81.2.69.3","country_code":"NL","city":"<b>bold</b>","org":"<script>document.title='owned'</script>"}"#,
);

/// The outbound that nobody listens for.
pub(super) const DEAD: &str = "dead";

/// Members in a `urltest` named `best`, which is in a `selector` named `choice`.
pub(super) struct World {
    lanes: Vec<(&'static str, Lane)>,
    scene: Scene,
    port: Port,
    _nobody: Port,
    running: Option<Running>,
}

impl World {
    /// Berlin and Tokyo, which work, and one that does not.
    pub(super) fn new() -> Self {
        Self::of(&[BERLIN, TOKYO], &json!({}))
    }

    /// The same, behind a secret.
    pub(super) fn guarded() -> Self {
        Self::of(&[BERLIN, TOKYO], &json!({ "secret": SECRET }))
    }

    /// The same, and a hostile one.
    pub(super) fn hostile() -> Self {
        Self::of(&[BERLIN, TOKYO, HOSTILE], &json!({}))
    }

    fn of(members: &[Member], api: &Value) -> Self {
        let lane = |(tag, exit): &Member| (*tag, Lane::start(exit, AT_ONCE));
        let lanes: Vec<_> = members.iter().map(lane).collect();
        let nobody = Port::reserve();
        let mut tags: Vec<_> = lanes.iter().map(|(tag, _)| *tag).collect();
        let mut outbounds: Vec<Value> = lanes
            .iter()
            .map(|(tag, lane)| socks(tag, lane.port()))
            .collect();
        outbounds.push(socks(DEAD, nobody.number()));
        tags.push(DEAD);
        outbounds.push(json!({ "type": "urltest", "tag": "best", "outbounds": tags }));
        tags.insert(0, "best");
        outbounds.push(json!({ "type": "selector", "tag": "choice", "outbounds": tags }));
        Self::start(lanes, nobody, &outbounds, api)
    }

    /// So many outbounds through one proxy, named `0` and on, without groups.
    pub(super) fn many(count: usize) -> Self {
        let (_, exit) = BERLIN;
        let lane = Lane::start(exit, AT_ONCE);
        let outbounds: Vec<Value> = (0..count)
            .map(|number| socks(&number.to_string(), lane.port()))
            .collect();
        Self::start(vec![("all", lane)], Port::reserve(), &outbounds, &json!({}))
    }

    fn start(
        lanes: Vec<(&'static str, Lane)>,
        nobody: Port,
        outbounds: &[Value],
        api: &Value,
    ) -> Self {
        let scene = Scene::new(&json!({
            "outbounds": outbounds,
            "experimental": {
                "clash_api": api,
                "monitoring": {
                    "urls": ["http://site.test/generate_204"],
                    "ipinfo_url": "http://ip.test/",
                    "interval": "1h",
                    "url_test_timeout": "60s",
                    // A test that fails is over at once.
                    "on_demand_timeouts": ["60s"],
                    "debounce_window": "10ms",
                    "ipv6_declared": { "berlin": true },
                },
            },
        }));
        let mut world = Self {
            lanes,
            scene,
            port: Port::reserve(),
            _nobody: nobody,
            running: None,
        };
        world.begin();
        world
    }

    /// Where the page is.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port.number())
    }

    /// How a member treats connections from now on.
    pub(super) fn set(&self, tag: &str, pace: Pace) {
        let lane = self.lanes.iter().find(|(of, _)| *of == tag);
        let (_, lane) = lane.expect("a member");
        lane.set(pace);
    }

    /// Kills the binary, once so many results are saved.
    pub(super) fn end_with(&mut self, saved: usize) {
        self.scene.wait_until_saved(saved, "81.2.69.");
        self.end();
    }

    /// Kills the binary.
    pub(super) fn end(&mut self) {
        self.running = None;
    }

    /// Starts it, at the same address as before.
    pub(super) fn begin(&mut self) {
        let address = format!("127.0.0.1:{}", self.port.number());
        let mut running = self.scene.run_with(&["--listen", &address]);
        running.logged("the API answers");
        self.running = Some(running);
    }
}
