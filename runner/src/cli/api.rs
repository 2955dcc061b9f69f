//! The API of a monitor that runs: where it listens by arguments and config, and what is
//! wrong with that. It must not know what is answered.

use std::net::SocketAddr;

use outwatch::api::{Api, LogLines, ServeError, Serving};
use outwatch::config::{ClashApi, listen_address};
use outwatch::group::Groups;
use outwatch::{CodeCache, Monitor};
use tracing::{info, warn};

use super::exit::Exit;
use super::failure::Failure;
use super::traffic::Traffic;

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

impl ApiArgs {
    /// Serves a monitor, its groups and its users' connections, if an address is given.
    ///
    /// # Errors
    /// When the address needs a secret and there is none, or cannot be listened on.
    pub(crate) fn serve(
        &self,
        config: &ClashApi,
        monitor: &Monitor,
        traffic: &Traffic,
        log_lines: LogLines,
        code: Option<CodeCache>,
    ) -> Result<Option<Serving>, Failure> {
        let Some(address) = self.listen.or(config.listen) else {
            return Ok(None);
        };
        let secret = match config.secret.as_str() {
            "" => std::env::var(SECRET).unwrap_or_default(),
            secret => secret.to_owned(),
        };
        let mut api = Api::new(monitor)
            .groups(Groups::clone(&traffic.groups().get()))
            .connections(traffic.connections().clone(), traffic.final_tag())
            .log_lines(log_lines)
            .secret(&secret)
            .allow_origins(config.allow_origins.iter().cloned());
        if let Some(code) = code {
            api = api.code_cache(code);
        }
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
