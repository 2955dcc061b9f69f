//! From arguments and a config to a monitor that runs, and its end.
//! It must not know what a verb wants of it.

use std::path::PathBuf;

use outwatch::config::Config;
use outwatch::group::GroupPlan;
use outwatch::{
    Builder, CodeCache, Component, Monitor, NativeCore, Problem, ProxyCore, StartError,
};

use super::config::{self, Checked};
use super::exit::Exit;
use super::failure::Failure;

/// Which component a verb uses.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ComponentArgs {
    /// Use the component in this file instead of the one built in
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,
}

impl ComponentArgs {
    #[cfg(test)]
    pub(crate) fn of_file(path: &std::path::Path) -> Self {
        Self {
            component: Some(path.to_owned()),
        }
    }

    /// The file, if one is named.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        self.component.as_ref()
    }

    /// As [`load`](Self::load), on a thread of its own: it may take a while.
    ///
    /// # Errors
    /// As it.
    pub(crate) async fn load_apart(&self, code: Option<CodeCache>) -> Result<Component, Failure> {
        let args = self.clone();
        let loading = tokio::task::spawn_blocking(move || args.load(code.as_ref()));
        loading.await.unwrap_or_else(|error| {
            let message = "loading the component broke off";
            Err(Failure::new(Exit::Component, message).because(&error))
        })
    }

    /// Loads it, with code kept there or kept nowhere.
    ///
    /// # Errors
    /// When it cannot be used here.
    pub(crate) fn load(&self, code: Option<&CodeCache>) -> Result<Component, Failure> {
        let Some(path) = &self.component else {
            return embedded(code);
        };
        let loaded = match code {
            Some(code) => code.from_file(path),
            None => Component::from_file(path),
        };
        loaded.map_err(|error| {
            let path = path.display();
            Failure::new(
                Exit::Component,
                format!("cannot use the component `{path}`"),
            )
            .because(&error)
            .hint(format!("`outwatch component {path}` shows what is in it"))
        })
    }
}

/// The component built into this program, with code kept there or kept nowhere.
///
/// # Errors
/// When it cannot be compiled for this machine.
pub(crate) fn embedded(code: Option<&CodeCache>) -> Result<Component, Failure> {
    let loaded = code.map_or_else(Component::embedded, CodeCache::embedded);
    loaded.map_err(|error| {
        Failure::new(Exit::Component, "cannot use the component built in").because(&error)
    })
}

/// The core of a config, and what is wrong with its outbounds and groups.
pub(crate) fn core(checked: &Checked) -> (NativeCore, Vec<Problem>) {
    let Config {
        entries,
        certificate,
        ..
    } = &checked.config;
    let (core, mut problems) = NativeCore::new(entries, certificate.as_ref());
    problems.extend(GroupPlan::of_config(entries).1);
    (core, problems)
}

/// The core of a config that has nothing wrong.
///
/// # Errors
/// When it has.
pub(crate) fn sound_core(checked: &Checked) -> Result<NativeCore, Failure> {
    let (core, problems) = core(checked);
    checked.report(problems)?;
    Ok(core)
}

/// Describes a monitor of a core with a config's options.
pub(crate) fn builder(checked: &Checked, core: impl ProxyCore, component: Component) -> Builder {
    Monitor::builder(core)
        .component(component)
        .options(checked.config.monitoring.clone())
}

/// Starts a monitor, with the problems of its options shown.
///
/// # Errors
/// When the options are wrong or the component does not start.
pub(crate) async fn start(checked: &Checked, builder: Builder) -> Result<Monitor, Failure> {
    match builder.start().await {
        Ok(monitor) => {
            checked.report(config::in_options(monitor.warnings().to_vec()))?;
            Ok(monitor)
        }
        Err(StartError::Options(problems)) => {
            checked.report(config::in_options(problems))?;
            let message = "the component refuses the options and does not say why";
            Err(Failure::new(Exit::Component, message))
        }
        Err(error) => Err(does_not_start(&error)),
    }
}

/// Something other than the options keeps the component from starting.
pub(crate) fn does_not_start(error: &StartError) -> Failure {
    Failure::new(Exit::Component, "the component does not start").because(error)
}

/// Stops a monitor: results are saved.
///
/// # Errors
/// When the component had failed for good.
pub(crate) async fn stop(monitor: &Monitor) -> Result<(), Failure> {
    monitor.stop().await.map_err(|error| {
        Failure::new(Exit::Component, "the component stopped working").because(&error)
    })
}
