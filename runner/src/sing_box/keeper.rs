//! Keeps sing-box running: one task that owns the process, starts it again when it ends,
//! and carries out orders. It must not know what is dialed.

use std::collections::HashSet;
use std::future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::SingBoxError;
use super::child_config::{Keys, Written};
use super::control::Control;
use super::journal::Journal;
use super::outbounds::Outbounds;
use super::process::Process;
use super::program::Program;
use super::refusal::last_words;
use super::selections::Selections;
use super::settle::Settled;
use super::state::{Live, Now, Shared, State};
use crate::fetch::Trust;
use crate::proxy_core::Kind;
use crate::report::Problem;

/// Before it is started again the first time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The pause doubles up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// One that ran this long was all right; the next pause is the first again.
const RAN_WELL: Duration = Duration::from_secs(60);

/// What the task is asked to do.
pub(super) enum Order {
    /// Make sing-box lead a group to a member.
    Select {
        group: String,
        member: String,
        number: u64,
    },
    /// Go over to another config.
    Reload {
        outbounds: Box<Outbounds>,
        trust: Trust,
        reply: oneshot::Sender<Result<Vec<Problem>, SingBoxError>>,
    },
}

/// The task's own.
pub(super) struct Keeper {
    program: Program,
    settled: Settled,
    trust: Trust,
    shared: Arc<Shared>,
    orders: mpsc::UnboundedReceiver<Order>,
    process: Option<Process>,
    pause: Duration,
    /// When it came up, or is to be started again.
    at: Instant,
}

enum Event {
    Ended(String),
    Due,
    Order(Option<Order>),
}

/// Starts sing-box with a config that it has taken in a check. An outbound that keeps it
/// from starting all the same is left out.
///
/// # Errors
/// Its last words.
pub(super) async fn bring_up(
    program: &Program,
    settled: &mut Settled,
    selections: &Selections,
) -> Result<(Process, Arc<Live>), String> {
    loop {
        let keys = Keys {
            password: random_word()?,
            api_secret: program.has_clash_api.then(random_word).transpose()?,
        };
        let written = Written::new(&settled.outbounds, selections, &keys);
        let tags: HashSet<String> = settled.outbounds.tags().collect();
        let journal = Arc::new(Journal::new(tags));
        let started =
            Process::start(program, &written.text, &settled.allowed, journal.clone()).await;
        let said = match started {
            Ok((process, whereabouts)) => {
                let Some(socks) = whereabouts.socks else {
                    return Err("it does not say where its inbound listens".to_owned());
                };
                let control = keys.api_secret.zip(whereabouts.api);
                let live = Live {
                    id: process.id(),
                    socks,
                    password: keys.password,
                    control: control.map(|(secret, at)| Control { at, secret }),
                    journal,
                };
                return Ok((process, Arc::new(live)));
            }
            Err(said) => said,
        };
        if settled.give_way(&said, &written).is_err() {
            return Err(last_words(&said));
        }
    }
}

impl Keeper {
    /// Of a sing-box that is up.
    pub(super) fn new(
        program: Program,
        settled: Settled,
        trust: Trust,
        shared: Arc<Shared>,
        orders: mpsc::UnboundedReceiver<Order>,
        process: Process,
    ) -> Self {
        Self {
            program,
            settled,
            trust,
            shared,
            orders,
            process: Some(process),
            pause: FIRST_PAUSE,
            at: Instant::now(),
        }
    }

    /// Works until it is told to stop or its owner is gone, then ends sing-box.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        tokio::select! {
            // Also when the owner is gone.
            _ = stop.wait_for(|stop| *stop) => {}
            () = self.work() => {}
        }
        if let Some(process) = self.process.take() {
            process.stop().await;
        }
        self.publish(State::Stopped);
    }

    async fn work(&mut self) {
        loop {
            let (process, due) = (&mut self.process, self.at);
            let happens = async {
                match process {
                    Some(process) => Event::Ended(process.ended().await),
                    None => {
                        sleep_until(due).await;
                        Event::Due
                    }
                }
            };
            let event = tokio::select! {
                event = happens => event,
                order = self.orders.recv() => Event::Order(order),
            };
            match event {
                Event::Ended(why) => {
                    self.process = None;
                    if self.at.elapsed() >= RAN_WELL {
                        self.pause = FIRST_PAUSE;
                    }
                    self.down(&format!("sing-box ended: {why}"));
                }
                Event::Due => self.start_again().await,
                Event::Order(Some(order)) => self.carry_out(order).await,
                // The stop that follows ends this.
                Event::Order(None) => future::pending().await,
            }
        }
    }

    async fn carry_out(&mut self, order: Order) {
        match order {
            Order::Select {
                group,
                member,
                number,
            } => {
                self.lead(&group, &member).await;
                self.shared.selection_heard(number);
            }
            Order::Reload {
                outbounds,
                trust,
                reply,
            } => {
                let reloaded = self.reload(*outbounds, trust).await;
                // Who asked may have gone meanwhile.
                let _ = reply.send(reloaded);
            }
        }
    }

    /// One that is down learns of it when it is started.
    async fn lead(&mut self, group: &str, member: &str) {
        let known = |entry| {
            self.settled
                .outbounds
                .members(entry)
                .any(|tag| tag == member)
        };
        if !self.settled.outbounds.group(group).is_some_and(known) {
            return;
        }
        let Some(live) = self.shared.live() else {
            return;
        };
        let led = match &live.control {
            Some(control) => control.select(group, member).await.is_ok(),
            None => false,
        };
        // This build cannot be told, but can be started anew.
        if !led && let Some(process) = self.process.take() {
            let why = format!("sing-box is started anew to lead `{group}` to `{member}`");
            self.publish(State::Down(why));
            process.stop().await;
            self.start_again().await;
        }
    }

    async fn reload(
        &mut self,
        outbounds: Outbounds,
        trust: Trust,
    ) -> Result<Vec<Problem>, SingBoxError> {
        let mut settled = Settled::new(&self.program, outbounds, &self.shared.selections).await?;
        // Two ends of one tunnel cannot both be up.
        if settled
            .outbounds
            .entries
            .iter()
            .any(|entry| entry.kind == Kind::Endpoint)
            && let Some(process) = self.process.take()
        {
            self.publish(State::Down(
                "sing-box goes over to another config".to_owned(),
            ));
            process.stop().await;
        }
        match bring_up(&self.program, &mut settled, &self.shared.selections).await {
            Ok((process, live)) => {
                let problems = std::mem::take(&mut settled.problems);
                (self.settled, self.trust) = (settled, trust);
                let before = self.process.replace(process);
                self.up(live);
                if let Some(before) = before {
                    before.stop().await;
                }
                Ok(problems)
            }
            Err(why) => {
                if self.process.is_none() {
                    self.start_again().await;
                }
                Err(SingBoxError::NotStarted(why))
            }
        }
    }

    async fn start_again(&mut self) {
        match bring_up(&self.program, &mut self.settled, &self.shared.selections).await {
            Ok((process, live)) => {
                self.process = Some(process);
                self.up(live);
            }
            Err(why) => self.down(&format!("sing-box does not start: {why}")),
        }
    }

    fn up(&mut self, live: Arc<Live>) {
        self.at = Instant::now();
        self.publish(State::Up(live));
    }

    fn down(&mut self, why: &str) {
        let seconds = self.pause.as_secs();
        self.at = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        tracing::warn!("{why}; starting it again in {seconds} s");
        self.publish(State::Down(format!(
            "{why}; starting it again in {seconds} s"
        )));
    }

    fn publish(&self, state: State) {
        self.shared.now.send_replace(Arc::new(Now {
            outbounds: Arc::new(self.settled.outbounds.clone()),
            trust: self.trust.clone(),
            state,
        }));
    }
}

/// 128 random bits.
fn random_word() -> Result<String, String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|error| format!("no random password: {error}"))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}
