//! The same members for every core: SOCKS outbounds whose delays a test sets. It must
//! not know what is chosen.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use outwatch_tests::peers::{Curl, Lane, Member, Pace, Visitor};

/// A site whose tests every lane answers.
pub(crate) const URL: &str = "http://site.test/generate_204";

/// The tolerance that all three cores have by default, in milliseconds.
pub(crate) const TOLERANCE_MS: u64 = 50;

/// What a user sees of a request that failed.
pub(crate) const LOST: &str = "lost";

/// Where datagrams are sent to; a lane answers in place of whoever is there.
const DATAGRAM_PORT: u16 = 53;

/// How long an answer to a datagram may take, in seconds.
const PATIENCE_S: usize = 3;

pub(crate) struct World {
    lanes: BTreeMap<&'static str, Lane>,
}

impl World {
    /// Lanes that are dead until a test says otherwise.
    pub(crate) fn new(names: &[&'static str]) -> Self {
        let lane = |name: &&'static str| (*name, Lane::start(name, Pace::Dead));
        Self {
            lanes: names.iter().map(lane).collect(),
        }
    }

    /// The members in config order.
    pub(crate) fn members(&self) -> Vec<Member> {
        let lanes = self.lanes.iter();
        lanes
            .map(|(tag, lane)| Member {
                tag,
                port: lane.port(),
                datagrams: true,
            })
            .collect()
    }

    /// From now on these answer, so many milliseconds later.
    pub(crate) fn answer(&mut self, delays: &[(&str, u64)]) {
        for (name, delay_ms) in delays {
            self.lanes[name].set(Pace::After(Duration::from_millis(*delay_ms)));
        }
    }

    /// From now on these close every connection.
    pub(crate) fn die(&mut self, names: &[&str]) {
        for name in names {
            self.lanes[name].set(Pace::Dead);
        }
    }
}

/// The member that carried a user's request to a site; [`LOST`] if it failed.
pub(crate) fn visit(port: u16, site: &str) -> String {
    let proxy = format!("socks5h://127.0.0.1:{port}");
    let answer = Curl::run(["-x", &proxy, &format!("http://{site}/")]);
    match answer.code {
        0 => answer.output,
        _ => LOST.to_owned(),
    }
}

/// The member that carried a user's datagram; [`LOST`] if nothing came back.
pub(crate) async fn datagram(port: u16) -> String {
    let mut visitor = Visitor::new((Ipv4Addr::LOCALHOST, port).into()).await;
    let answer = match visitor.associate().await {
        Ok(way) => way.asks(DATAGRAM_PORT, b"who are you?", PATIENCE_S).await,
        Err(_) => None,
    };
    answer.map_or_else(
        || LOST.to_owned(),
        |name| String::from_utf8_lossy(&name).into_owned(),
    )
}
