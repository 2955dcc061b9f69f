//! What a sing-box is to whoever monitors: a [`ProxyCore`]. It must not know how it is
//! kept running.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::Instant;

use super::keeper::Order;
use super::state::{Live, STOPPED, State};
use super::{SingBoxCore, associate, dial};
use crate::config::Entry;
use crate::fetch;
use crate::proxy_core::{
    Cause, Datagrams, Dialed, FetchError, Kind, Network, Outbound, Phase, ProxyCore, Readiness,
    Request, Response, SelectError, Target,
};

/// Protocols whose servers close without a word on those whom they do not know.
const SILENT: [&str; 5] = ["shadowsocks", "trojan", "tuic", "vless", "vmess"];

#[async_trait]
impl ProxyCore for SingBoxCore {
    fn list(&self) -> Vec<Outbound> {
        self.shared.now().outbounds.list()
    }

    fn selected(&self, group: &str, network: Network) -> Option<String> {
        let now = self.shared.now();
        self.shared
            .selections
            .of(now.outbounds.group(group)?, network)
    }

    fn select(&self, group: &str, network: Network, member: &str) -> Result<(), SelectError> {
        let now = self.shared.now();
        let Some(entry) = now.outbounds.group(group) else {
            return Err(SelectError::NoSuchGroup(group.to_owned()));
        };
        if !entry.members.iter().any(|known| known == member) {
            return Err(SelectError::NotAMember {
                group: group.to_owned(),
                member: member.to_owned(),
            });
        }
        self.shared.selections.set(group, network, member);
        // What dials through a group in sing-box goes to one member, streams or not.
        if network == Network::Tcp {
            let order = Order::Select {
                group: group.to_owned(),
                member: member.to_owned(),
                number: self.shared.count_selection(),
            };
            // One that was stopped leads nowhere anyway.
            let _ = self.orders.send(order);
        }
        Ok(())
    }

    fn status(&self, tag: &str) -> Readiness {
        let now = self.shared.now();
        let Some((index, entry)) = now.outbounds.find(tag) else {
            return Readiness::Unsupported(format!("there is no outbound `{tag}`"));
        };
        if entry.kind == Kind::Group {
            return Readiness::Ready;
        }
        if let Some(why) = now.outbounds.why_left_out(index) {
            return Readiness::Unsupported(why.to_owned());
        }
        match &now.state {
            State::Down(why) => Readiness::NotReady(why.clone()),
            State::Stopped => Readiness::NotReady(STOPPED.to_owned()),
            State::Up(live) => live
                .journal
                .waits_for(tag)
                .map_or(Readiness::Ready, Readiness::NotReady),
        }
    }

    async fn dial(
        &self,
        tag: &str,
        target: &Target,
        deadline: Instant,
    ) -> Result<Dialed, FetchError> {
        dial::dial(&self.shared, tag, target, deadline).await
    }

    async fn associate(
        &self,
        tag: &str,
        deadline: Instant,
    ) -> Result<Box<dyn Datagrams>, FetchError> {
        associate::associate(&self.shared, tag, deadline).await
    }

    /// An exchange that breaks because sing-box ends is done again with the next one.
    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        let deadline = Instant::now() + request.deadline.min(fetch::LONGEST);
        let mut last: Option<Arc<Live>> = None;
        loop {
            // What waits for sing-box is no part of the delay.
            let (now, live) = match self.shared.up(last.as_ref(), deadline).await {
                Ok(up) => up,
                Err(why) => return Err(FetchError::new(Phase::Dial, Cause::Other, why)),
            };
            let left = deadline.saturating_duration_since(Instant::now());
            let within = Request {
                deadline: left,
                ..request.clone()
            };
            let fetched = fetch::through_dial(self, tag, &within, &now.trust).await;
            match fetched {
                Err(error) if broke(&error) && !left.is_zero() && !live.is_there().await => {
                    last = Some(live);
                }
                Err(error) if broke(&error) => {
                    let leaf = now
                        .outbounds
                        .leaf(tag, Network::Tcp, &self.shared.selections);
                    return Err(match leaf {
                        Some((_, entry)) => with_what_may_be_wrong(error, entry),
                        None => error,
                    });
                }
                fetched => return fetched,
            }
        }
    }
}

/// The stream ended before its time.
fn broke(error: &FetchError) -> bool {
    matches!(error.cause, Cause::Eof | Cause::Reset)
}

/// To whom it may look as if the destination had closed the stream.
fn with_what_may_be_wrong(mut error: FetchError, entry: &Entry) -> FetchError {
    if SILENT.contains(&entry.type_name.as_str()) {
        error.text += &format!(
            " (so does the server of `{}` when it is told a wrong secret: {} has no words for it)",
            entry.tag, entry.type_name
        );
    }
    error
}
