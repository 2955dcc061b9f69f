//! The engine that runs, and putting another in its place. It must not know what an engine
//! does.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use serde::Serialize;

use crate::api::answer::Refusal;
use crate::api::source::Source;
use crate::engine::{Component, LoadError};
use crate::monitor::{ReplaceError, StartError};
use crate::report::Problem;

/// The engine that runs.
#[derive(Serialize)]
pub(super) struct Engine {
    #[serde(flatten)]
    identity: Identity,
    /// 0 while none runs.
    memory_bytes: usize,
    runner_version: &'static str,
}

/// What tells an engine from others.
#[derive(Serialize)]
struct Identity {
    version: Option<String>,
    contract: String,
    sha256: String,
}

/// What became of a replacement.
#[derive(Serialize)]
pub(super) struct Outcome {
    engine: Engine,
    /// What ran before; the same if that was wanted again.
    before: Identity,
    warnings: Vec<Warning>,
}

/// What the new engine finds doubtful about the options.
#[derive(Serialize)]
struct Warning {
    path: String,
    message: String,
    hint: Option<String>,
}

impl Engine {
    fn of(source: &Source) -> Self {
        Self {
            identity: Identity::of(&source.monitor.component()),
            memory_bytes: source.monitor.memory(),
            runner_version: env!("CARGO_PKG_VERSION"),
        }
    }
}

impl Identity {
    fn of(component: &Component) -> Self {
        Self {
            version: component.version().map(str::to_owned),
            contract: component.contract().to_owned(),
            sha256: component.sha256().to_owned(),
        }
    }
}

impl From<&Problem> for Warning {
    fn from(problem: &Problem) -> Self {
        Self {
            path: problem.path.clone(),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
        }
    }
}

pub(super) async fn identity(State(source): State<Arc<Source>>) -> Json<Engine> {
    Json(Engine::of(&source))
}

/// As [`replace_component`](crate::Monitor::replace_component): all or nothing.
pub(super) async fn replace(
    State(source): State<Arc<Source>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Outcome>, Refusal> {
    let component = source.load(body?).await?;
    let running = source.monitor.component();
    if component.sha256() == running.sha256() {
        return Ok(Json(Outcome {
            engine: Engine::of(&source),
            before: Identity::of(&running),
            warnings: Vec::new(),
        }));
    }
    let replaced = source.monitor.replace_component(component).await;
    let replaced = replaced.map_err(|error| not_replaced(&error))?;
    Ok(Json(Outcome {
        engine: Engine::of(&source),
        before: Identity::of(replaced.before()),
        warnings: replaced.warnings().iter().map(Warning::from).collect(),
    }))
}

impl Source {
    /// Compiles a component, on a thread of its own: it takes a while.
    #[cfg(feature = "compiler")]
    async fn load(&self, bytes: Bytes) -> Result<Component, Refusal> {
        let code = self.code.clone();
        let loading = tokio::task::spawn_blocking(move || match code {
            Some(code) => code.from_bytes(&bytes),
            None => Component::from_bytes(&bytes),
        });
        match loading.await {
            Ok(loaded) => loaded.map_err(|error| unusable(&error)),
            Err(_) => Err(Refusal::stopped()),
        }
    }

    #[cfg(not(feature = "compiler"))]
    #[expect(clippy::unused_async, reason = "with a compiler it takes a while")]
    async fn load(&self, _: Bytes) -> Result<Component, Refusal> {
        let message = "this host has no compiler, and takes no other engine while it runs";
        Err(Refusal::new(StatusCode::CONFLICT, "no_compiler", message))
    }
}

fn unusable(error: &LoadError) -> Refusal {
    Refusal::bad_request("bad_component", error.to_string())
}

fn not_replaced(error: &ReplaceError) -> Refusal {
    let message = match error {
        ReplaceError::Stopped => return Refusal::stopped(),
        ReplaceError::Start(StartError::Options(problems)) => {
            let told = problems.iter().map(|problem| match problem.path.as_str() {
                "" => problem.message.clone(),
                path => format!("{path}: {}", problem.message),
            });
            let told = Vec::from_iter(told).join("; ");
            format!("the one before goes on: the new engine refuses the options: {told}")
        }
        error => format!("the one before goes on: {error}"),
    };
    Refusal::new(StatusCode::CONFLICT, "not_replaced", message)
}
