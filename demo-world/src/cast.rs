//! Who lives in the world of `outwatch demo`, and what each is to show.
//! It must not know how any of them is served.

use std::io;
use std::time::Duration;

use serde_json::json;

use crate::{Behaviour, Exit, Proxy, World};

impl World {
    /// The world of the demo: something of everything that happens to proxies.
    /// Addresses and network numbers are those set aside for documentation.
    ///
    /// # Errors
    /// As [`World::start`].
    pub async fn demo() -> io::Result<Self> {
        let mut world = Self::start().await?;
        for proxy in cast() {
            world.add(proxy).await?;
        }
        world.add_entry(json!({
            "type": "urltest", "tag": "best",
            "outbounds": ["fast", "slow", "office", "flaky", "dead", "behind fast"],
        }));
        world.add_entry(json!({
            "type": "selector", "tag": "choice",
            "outbounds": ["best", "office", "slow"], "default": "slow",
        }));
        Ok(world)
    }
}

fn cast() -> [Proxy; 9] {
    let berlin = Exit::new("192.0.2.10", "DE", "Berlin", 64496, "Example Net");
    let tokyo = Exit::new("198.51.100.20", "JP", "Tokyo", 64497, "Example Fiber");
    let helsinki = Exit::new("203.0.113.30", "FI", "Helsinki", 64498, "Example Hosting");
    let toronto = Exit::new("2001:db8::40", "CA", "Toronto", 64499, "Example Cable");
    let istanbul = Exit::new("198.51.100.50", "TR", "Istanbul", 64500, "Example Mobile");
    let ms = Duration::from_millis;
    [
        Proxy::socks("fast").exit(berlin).takes(ms(5)),
        Proxy::socks("slow").exit(tokyo).takes(ms(320)),
        Proxy::http("office")
            .exit(helsinki)
            .takes(ms(80))
            .over_tls()
            .account("ann", "secret"),
        Proxy::socks("behind fast")
            .exit(toronto)
            .takes(ms(160))
            .detour("fast"),
        Proxy::socks("flaky")
            .exit(istanbul)
            .takes(ms(240))
            .behaves(Behaviour::Flaky),
        Proxy::socks("dead").behaves(Behaviour::Dead),
        Proxy::socks("hanging").behaves(Behaviour::Hanging),
        Proxy::http("wrong password")
            .account("ann", "secret")
            .wrong_password(),
        Proxy::http("intercepted").behaves(Behaviour::Intercepting),
    ]
}
