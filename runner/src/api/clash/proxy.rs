//! An outbound or group as clients of this surface see it: its type in their spelling, where
//! it leads, and what monitoring measured. It must not know how it is asked for.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::Serialize;

use super::answer::Refusal;
use crate::api::source::Source;
use crate::proxy_core::{Kind, Network, Outbound};
use crate::report::{Measurement, Report, State, View, as_text};

/// The group of everything that dashboards expect.
pub(super) const GLOBAL: &str = "GLOBAL";

/// As it stands in an answer. sing-box has the fields up to `history`, mihomo the rest.
#[derive(Debug, Serialize)]
pub(super) struct Proxy {
    pub(super) name: String,
    #[serde(rename = "type")]
    type_name: String,
    /// Whether it carries datagrams.
    udp: bool,
    history: Vec<Measured>,
    #[serde(flatten)]
    group: Option<Leads>,
    alive: bool,
    /// The history by the address that was tested.
    extra: BTreeMap<String, Extra>,
}

/// What groups have besides.
#[derive(Debug, Serialize)]
struct Leads {
    /// Empty where each connection is led anew.
    now: String,
    all: Vec<String>,
    hidden: bool,
    icon: &'static str,
}

#[derive(Clone, Debug, Serialize)]
struct Measured {
    #[serde(serialize_with = "as_text")]
    time: Timestamp,
    /// Milliseconds; 0 for a failure.
    delay: u32,
}

#[derive(Debug, Serialize)]
struct Extra {
    alive: bool,
    history: Vec<Measured>,
}

impl Source {
    /// All outbounds, endpoints and groups, in config order.
    pub(super) async fn proxies(&self) -> Vec<Proxy> {
        let reports = self.monitor.reports(View::Display).await;
        self.with_reports(self.listed(), reports).await
    }

    /// The one of this name.
    pub(super) async fn proxy(&self, name: &str) -> Option<Proxy> {
        let mut listed = self.listed();
        if !listed.iter().any(|one| one.tag == name) {
            return (name == GLOBAL).then(|| self.global(&listed));
        }
        listed.retain(|one| one.tag == name);
        let report = self.monitor.report(name, View::Display).await;
        let reports = report.into_iter().collect();
        self.with_reports(listed, reports).await.pop()
    }

    /// The tags of the members of a group.
    pub(super) fn members(&self, group: &str) -> Option<Vec<String>> {
        let mut listed = self.listed();
        let found = listed.iter_mut().find(|one| one.tag == group);
        match found {
            Some(one) => (one.kind == Kind::Group).then(|| std::mem::take(&mut one.members)),
            None => (group == GLOBAL).then(|| listed.into_iter().map(|one| one.tag).collect()),
        }
    }

    /// What is known of the outbound or group of this name; of what everything leads to, for
    /// the group of everything.
    ///
    /// # Errors
    /// When there is none, or it is never tested.
    pub(super) async fn known(&self, name: &str) -> Result<Report, Refusal> {
        let report = |tag: String| self.monitor.report(tag, View::Confirmed);
        if let Some(report) = report(name.to_owned()).await {
            return Ok(report);
        }
        if self.listed().iter().any(|one| one.tag == name) {
            return Err(Refusal::TestFailed("it is never tested".to_owned()));
        }
        let leads = self.final_tag().filter(|_| name == GLOBAL);
        report(leads.ok_or(Refusal::NotFound)?)
            .await
            .ok_or(Refusal::NotFound)
    }

    /// Everything as one group, which leads where connections go.
    pub(super) fn global(&self, listed: &[Outbound]) -> Proxy {
        let all: Vec<String> = listed.iter().map(|one| one.tag.clone()).collect();
        let leads = Leads {
            now: self.final_tag().unwrap_or_default(),
            all,
            hidden: false,
            icon: "",
        };
        Proxy {
            name: GLOBAL.to_owned(),
            type_name: "Fallback".to_owned(),
            udp: true,
            history: Vec::new(),
            group: Some(leads),
            alive: true,
            extra: BTreeMap::new(),
        }
    }

    /// What the core has, in config order.
    pub(super) fn listed(&self) -> Vec<Outbound> {
        let core = self.monitor.core();
        core.map(|core| core.list()).unwrap_or_default()
    }

    /// These as they are answered. What is never tested has no report.
    async fn with_reports(&self, listed: Vec<Outbound>, reports: Vec<Report>) -> Vec<Proxy> {
        let reports = reports.into_iter();
        let mut reports: HashMap<_, _> = reports.map(|one| (one.tag.clone(), one)).collect();
        // A group shows what its member measured.
        let measuring = listed.iter().map(|one| {
            let via = reports.get(&one.tag).and_then(|report| report.via.clone());
            via.unwrap_or_else(|| one.tag.clone())
        });
        let measured = self.monitor.measurements(measuring.collect()).await;
        let proxies = listed.into_iter().zip(measured);
        proxies
            .map(|(listed, measured)| self.one(&listed, reports.remove(&listed.tag), &measured))
            .collect()
    }

    fn one(&self, listed: &Outbound, report: Option<Report>, measured: &[Measurement]) -> Proxy {
        let alive = report.as_ref().is_none_or(|report| match report.state {
            State::Untested | State::Cached | State::Ok => true,
            State::Failed | State::NotReady => false,
        });
        let history = history(report.as_ref(), measured);
        let extra = report.and_then(|report| report.url).map(|url| {
            let history = history.clone();
            (url, Extra { alive, history })
        });
        Proxy {
            name: listed.tag.clone(),
            type_name: spelled(&listed.type_name).to_owned(),
            udp: listed.kind == Kind::Group || listed.networks.contains(&Network::Udp),
            history,
            group: (listed.kind == Kind::Group).then(|| self.leads(listed)),
            alive,
            extra: extra.into_iter().collect(),
        }
    }

    fn leads(&self, listed: &Outbound) -> Leads {
        Leads {
            now: self.selected(&listed.tag).unwrap_or_default(),
            all: listed.members.clone(),
            hidden: false,
            icon: "",
        }
    }

    /// The member that a group leads streams to; none where it is another for each.
    fn selected(&self, group: &str) -> Option<String> {
        let status = self.groups().and_then(|groups| groups.status(group));
        match status {
            Some(status) => status.tcp,
            None => self.monitor.core()?.selected(group, Network::Tcp),
        }
    }
}

impl Proxy {
    pub(super) fn is_group(&self) -> bool {
        self.group.is_some()
    }
}

/// What was measured, the oldest first; of an earlier run the last answer alone.
fn history(report: Option<&Report>, measured: &[Measurement]) -> Vec<Measured> {
    if measured.is_empty() {
        let last = report.and_then(|report| report.tested_at.zip(report.delay_ms));
        let last = last.map(|(time, delay)| Measured { time, delay });
        return last.into_iter().collect();
    }
    let measured = measured.iter().map(|one| Measured {
        time: one.at,
        delay: one.delay_ms.unwrap_or_default(),
    });
    measured.collect()
}

/// A type as sing-box spells it for dashboards, which show it, and tell groups by it. One that
/// is not known is left as the core has it.
fn spelled(type_name: &str) -> &str {
    match type_name {
        "anytls" => "AnyTLS",
        "balancer" => "LoadBalance",
        "block" => "Reject",
        "direct" => "Direct",
        "dns" => "DNS",
        "http" => "HTTP",
        "hysteria" => "Hysteria",
        "hysteria2" => "Hysteria2",
        "naive" => "Naive",
        "selector" => "Selector",
        "shadowsocks" => "Shadowsocks",
        "shadowsocksr" => "ShadowsocksR",
        "shadowtls" => "ShadowTLS",
        "socks" => "SOCKS",
        "ssh" => "SSH",
        "tailscale" => "Tailscale",
        "tor" => "Tor",
        "trojan" => "Trojan",
        "tuic" => "TUIC",
        "urltest" => "URLTest",
        "vless" => "VLESS",
        "vmess" => "VMess",
        "wireguard" => "WireGuard",
        other => other,
    }
}
