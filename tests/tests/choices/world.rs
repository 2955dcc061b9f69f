//! The same members for every core: SOCKS outbounds whose delays a test sets. It must
//! not know what is chosen.

use std::collections::BTreeMap;
use std::time::Duration;

use outwatch_tests::peers::{Curl, Lane, Pace};

/// A site whose tests every lane answers.
pub(crate) const URL: &str = "http://site.test/generate_204";

/// What a user sees of a request that failed.
pub(crate) const LOST: &str = "lost";

/// Outbounds by tag and port of 127.0.0.1, in config order.
pub(crate) type Members = Vec<(&'static str, u16)>;

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

    pub(crate) fn members(&self) -> Members {
        let lanes = self.lanes.iter();
        lanes.map(|(name, lane)| (*name, lane.port())).collect()
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
