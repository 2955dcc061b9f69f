//! Which core dials: the native one, or a sing-box beside this process. It must not know
//! what is monitored.

mod dialing;

use std::path::PathBuf;
use std::sync::Arc;

use outwatch::group::GroupPlan;
use outwatch::{
    Kind, NativeCore, Problem, ProxyCore, Readiness, Severity, SingBoxCore, SingBoxError,
};

use super::config::Checked;
use super::exit::Exit;
use super::failure::Failure;
use super::monitoring;
use dialing::Started;

pub(crate) use dialing::Dialing;

/// The core of a verb.
#[derive(Debug, clap::Args)]
pub(crate) struct CoreArgs {
    /// What dials: `native`, `sing-box` (as found on PATH) or `sing-box=PATH` [default:
    /// native; the sing-box on PATH when the config needs it]
    #[arg(long, value_name = "CORE", value_parser = choice)]
    core: Option<Choice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    Native,
    SingBox(Option<PathBuf>),
}

impl CoreArgs {
    /// Starts the core of a config, with what is wrong with its outbounds shown.
    ///
    /// # Errors
    /// When the config is wrong, or the core that was asked for cannot be had.
    pub(crate) async fn start(&self, checked: &Checked) -> Result<Dialing, Failure> {
        let started = self.decide(checked)?.start(checked).await?;
        Ok(Dialing::new(started))
    }

    /// The core of a config as far as it can be told without starting anything, and what
    /// is wrong with its outbounds. It cannot be dialed through.
    ///
    /// # Errors
    /// When the core that was asked for cannot be had.
    pub(crate) async fn describe(
        &self,
        checked: &Checked,
    ) -> Result<(Arc<dyn ProxyCore>, Vec<Problem>), Failure> {
        let (program, native) = match self.decide(checked)? {
            Decided::Native(native) => return Ok(native.describe()),
            Decided::SingBox { program, instead } => (program, instead),
        };
        match (SingBoxCore::check(&program, &checked.config).await, native) {
            (Ok((core, problems)), _) => Ok((Arc::new(core), with_groups(checked, problems))),
            (Err(_), Some(native)) => Ok(native.describe()),
            (Err(error), None) => Err(failure(checked, error)),
        }
    }

    fn decide(&self, checked: &Checked) -> Result<Decided, Failure> {
        if let Some(Choice::SingBox(path)) = &self.core {
            let program = path.clone().or_else(SingBoxCore::find).ok_or_else(|| {
                Failure::new(Exit::Usage, "there is no `sing-box` on PATH")
                    .hint("say where it is: --core sing-box=PATH")
            })?;
            return Ok(Decided::SingBox {
                program,
                instead: None,
            });
        }
        let (core, problems) = monitoring::core(checked);
        let native = Native { core, problems };
        let program = (self.core.is_none() && native.lacks_any())
            .then(SingBoxCore::find)
            .flatten();
        Ok(match program {
            None => Decided::Native(native),
            Some(program) => Decided::SingBox {
                program,
                instead: Some(native),
            },
        })
    }
}

enum Decided {
    Native(Native),
    SingBox {
        program: PathBuf,
        /// What dials if it cannot be used, where nobody asked for it.
        instead: Option<Native>,
    },
}

impl Decided {
    /// Starts what was decided, with what is wrong with its outbounds shown.
    async fn start(self, checked: &Checked) -> Result<Started, Failure> {
        let (program, native) = match self {
            Self::Native(native) => return native.start(checked),
            Self::SingBox { program, instead } => (program, instead),
        };
        match (SingBoxCore::start(&program, &checked.config).await, native) {
            (Ok((core, problems)), _) => {
                tracing::info!("sing-box {} dials", core.version());
                let started = Started::sing_box(core, program);
                started
                    .or_stop(checked.report(with_groups(checked, problems)))
                    .await?;
                Ok(started)
            }
            // Nobody asked for it.
            (Err(error), Some(native)) => {
                tracing::warn!("{}; the native core dials", in_full(&error));
                native.start(checked)
            }
            (Err(error), None) => Err(failure(checked, error)),
        }
    }
}

/// The native core of a config, and what is wrong with its outbounds.
struct Native {
    core: NativeCore,
    problems: Vec<Problem>,
}

impl Native {
    fn start(self, checked: &Checked) -> Result<Started, Failure> {
        checked.report(self.problems)?;
        Ok(Started::native(self.core))
    }

    fn describe(self) -> (Arc<dyn ProxyCore>, Vec<Problem>) {
        (Arc::new(self.core), self.problems)
    }

    /// Whether the config is right, and holds an outbound that another core may dial and
    /// this one cannot.
    fn lacks_any(&self) -> bool {
        let wrong = |problem: &Problem| problem.severity == Severity::Error;
        !self.problems.iter().any(wrong)
            && self.core.list().into_iter().any(|outbound| {
                matches!(outbound.kind, Kind::Outbound | Kind::Endpoint)
                    && matches!(self.core.status(&outbound.tag), Readiness::Unsupported(_))
            })
    }
}

/// sing-box does not know our groups.
fn with_groups(checked: &Checked, mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.extend(GroupPlan::of_config(&checked.config.entries).1);
    problems
}

fn failure(checked: &Checked, error: SingBoxError) -> Failure {
    match error {
        SingBoxError::Refused(problems) => match checked.report(problems) {
            Err(failure) => failure,
            Ok(()) => Failure::new(Exit::Config, "sing-box refuses the config"),
        },
        error @ SingBoxError::Unusable { .. } => Failure::new(Exit::Usage, error.to_string())
            .hint("`--core native` dials without it what the native core can"),
        error => Failure::new(Exit::Unexpected, error.to_string()),
    }
}

/// With what it refuses.
fn in_full(error: &SingBoxError) -> String {
    match error {
        SingBoxError::Refused(problems) => {
            let told = problems.iter().map(|problem| problem.message.as_str());
            Vec::from_iter(told).join("; ")
        }
        error => error.to_string(),
    }
}

fn choice(text: &str) -> Result<Choice, String> {
    match text.split_once('=') {
        None if text == "native" => Ok(Choice::Native),
        None if text == "sing-box" => Ok(Choice::SingBox(None)),
        Some(("sing-box", path)) if !path.is_empty() => Ok(Choice::SingBox(Some(path.into()))),
        _ => Err("expected `native`, `sing-box` or `sing-box=PATH`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_is_chosen_by_name_and_path() {
        assert_eq!(choice("native"), Ok(Choice::Native));
        assert_eq!(choice("sing-box"), Ok(Choice::SingBox(None)));
        let path = PathBuf::from("/opt/a=b/sing-box");
        assert_eq!(
            choice("sing-box=/opt/a=b/sing-box"),
            Ok(Choice::SingBox(Some(path)))
        );
        for wrong in ["", "singbox", "sing-box=", "native=x"] {
            assert!(choice(wrong).is_err(), "{wrong}");
        }
    }
}
