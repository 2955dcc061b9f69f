//! The API of a monitor that runs: where it listens by arguments and config, and what is
//! wrong with that. It must not know what is answered.

use std::net::SocketAddr;

use outwatch::Monitor;
use outwatch::api::{Api, ServeError, Serving};
use outwatch::config::{ClashApi, listen_address};
use tracing::{info, warn};

use super::exit::Exit;
use super::failure::Failure;

/// Holds the secret of an address that is given by `--listen`, where the config has none.
const SECRET: &str = "OUTWATCH_SECRET";

/// Whether there is an API, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct ApiArgs {
    /// Serve the page, the API and metrics on this address, such as 127.0.0.1:9090
    /// [default: the config's `experimental.clash_api.external_controller`]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    listen: Option<SocketAddr>,
}

/// What runs, with where its page is.
pub(crate) fn title(name: &str, api: Option<&Serving>) -> String {
    match api {
        Some(api) => format!("{name} at http://{}/", api.address()),
        None => name.to_owned(),
    }
}

impl ApiArgs {
    /// On this address, or nowhere.
    pub(crate) fn on(listen: Option<SocketAddr>) -> Self {
        Self { listen }
    }

    /// Where it is to listen; none where there is to be no API.
    pub(crate) fn address(&self, config: &ClashApi) -> Option<SocketAddr> {
        self.listen.or(config.listen)
    }

    /// Serves a monitor, if an address is given, with all that `describe` adds.
    ///
    /// # Errors
    /// When the address needs a secret and there is none, or cannot be listened on.
    pub(crate) fn serve(
        &self,
        config: &ClashApi,
        monitor: &Monitor,
        describe: impl FnOnce(Api) -> Api,
    ) -> Result<Option<Serving>, Failure> {
        let Some(address) = self.address(config) else {
            return Ok(None);
        };
        let secret = match config.secret.as_str() {
            "" => std::env::var(SECRET).unwrap_or_default(),
            secret => secret.to_owned(),
        };
        let mut api = describe(Api::new(monitor))
            .secret(&secret)
            .allow_origins(config.allow_origins.iter().cloned());
        if config.allow_private_network {
            api = api.allow_private_network();
        }
        if let Some(folder) = &config.external_ui {
            api = api.external_ui(folder);
        }
        let serving = api.serve(address).map_err(|error| self.failure(&error))?;
        let address = serving.address();
        info!("the API answers on http://{address}/");
        match &config.external_ui {
            Some(folder) if folder.is_dir() => info!("the dashboard is at http://{address}/ui/"),
            Some(folder) => warn!("there is no dashboard: {} is no folder", folder.display()),
            None => {}
        }
        Ok(Some(serving))
    }

    fn failure(&self, error: &ServeError) -> Failure {
        let message = error.to_string();
        match error {
            ServeError::NeedsSecret { .. } => {
                let exit = match self.listen {
                    Some(_) => Exit::Usage,
                    None => Exit::Config,
                };
                Failure::new(exit, message).hint(format!(
                    "set `experimental.clash_api.secret` in the config or {SECRET} in the environment, or listen on 127.0.0.1"
                ))
            }
            _ => Failure::unexpected(message)
                .hint("choose another port; 0 takes one that is free, and the log says which"),
        }
    }
}
