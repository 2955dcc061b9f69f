//! A running monitor goes over to what its config says now: what can be changed is, what
//! cannot is said, and a config that is wrong changes nothing. It must not know what asks
//! for it.

use outwatch::api::Serving;
use outwatch::config::{CacheFile, ClashApi, Config, Log};
use outwatch::group::Groups;
use outwatch::{Monitor, StartError};
use tracing::{error, info, warn};

use super::config::{self, Checked};
use super::core::Dialing;
use super::failure::Failure;
use super::memory;
use super::monitoring;
use super::run::Args;
use super::screen::Choosing;
use super::traffic::{Plan, Traffic};

/// What runs, and what it was started with.
pub(crate) struct Running<'a> {
    pub(crate) args: &'a Args,
    pub(crate) api: Option<Serving>,
    pub(crate) fixed: Fixed,
    pub(crate) dialing: Dialing,
    pub(crate) monitor: Monitor,
    pub(crate) traffic: Traffic,
}

impl Running<'_> {
    /// The groups that choose, for who looks at them.
    pub(crate) fn choosing(&self) -> Choosing {
        Choosing {
            groups: self.traffic.groups().clone(),
            monitor: self.monitor.clone(),
        }
    }

    /// Reads the config again, and goes over to it.
    pub(crate) async fn reload(&mut self) {
        if let Err(failure) = self.go_over().await {
            error!("the config was not taken up, and the one before holds on: {failure}");
        }
        memory::give_back();
    }

    async fn go_over(&mut self) -> Result<(), Failure> {
        let checked = self.args.config.load_again()?;
        let (plan, problems) = Plan::read(&checked);
        checked.report(problems)?;
        self.check_options(&checked).await?;
        // The last that can fail.
        let next = self.dialing.prepare(&self.args.core, &checked).await?;
        let fixed = Fixed::of(&checked.config);
        for what in self.fixed.changes(&fixed) {
            warn!("a change of {what} holds from the next start on");
        }
        let core = match &next {
            Some(next) => next.core.clone(),
            None => self.dialing.core(),
        };
        self.traffic.go_over(plan, core).await;
        if let Some(api) = &self.api {
            api.set_groups(Groups::clone(&self.traffic.groups().get()));
            api.set_final_tag(self.traffic.final_tag());
        }
        let before = next.map(|next| self.dialing.go_over(next, &self.monitor));
        self.monitor.outbounds_changed();
        if let Some(before) = before {
            before.stop().await;
        }
        let count = checked.config.entries.len();
        info!("the config was read again; it has {count} outbounds and groups");
        self.fixed = fixed;
        Ok(())
    }

    /// Options that are wrong would keep the next start from succeeding.
    async fn check_options(&self, checked: &Checked) -> Result<(), Failure> {
        if checked.config.monitoring == self.fixed.monitoring {
            return Ok(());
        }
        let code = self.args.cache.code();
        let component = self.args.component.load(code.as_ref())?;
        let builder = monitoring::builder(checked, self.dialing.core(), component);
        match builder.check().await {
            Ok((_, warnings)) => checked.report(config::in_options(warnings)),
            Err(StartError::Options(wrong)) => checked.report(config::in_options(wrong)),
            Err(error) => Err(monitoring::does_not_start(&error)),
        }
    }
}

/// What of a config is read at the start alone. The rest is long where there are many
/// outbounds, and not kept.
pub(crate) struct Fixed {
    monitoring: String,
    cache_file: CacheFile,
    clash_api: ClashApi,
    log: Log,
}

impl Fixed {
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            monitoring: config.monitoring.clone(),
            cache_file: config.cache_file.clone(),
            clash_api: config.clash_api.clone(),
            log: config.log.clone(),
        }
    }

    /// What is another now.
    fn changes(&self, now: &Self) -> Vec<&'static str> {
        [
            (
                "`experimental.monitoring`",
                self.monitoring != now.monitoring,
            ),
            (
                "`experimental.cache_file`",
                self.cache_file != now.cache_file,
            ),
            ("`experimental.clash_api`", self.clash_api != now.clash_api),
            ("`log`", self.log != now.log),
        ]
        .into_iter()
        .filter_map(|(what, changed)| changed.then_some(what))
        .collect()
    }
}
