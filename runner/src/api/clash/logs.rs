//! Lines of the log, for one who listens. It must not know who writes them.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use futures::stream::{self, StreamExt};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::answer::Refusal;
use super::feed::{Upgrade, feed};
use crate::api::log_lines::LogLine;
use crate::api::source::Source;
use crate::report::as_text;

#[derive(Deserialize)]
pub(super) struct Asked {
    /// Info where the client names none.
    #[serde(default)]
    level: Wanted,
    #[serde(default)]
    format: Format,
}

/// A level as clients name it.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Trace,
    Debug,
    #[default]
    Info,
    #[serde(alias = "warn")]
    Warning,
    #[serde(alias = "fatal", alias = "panic")]
    Error,
    Silent,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Structured,
    /// Whatever else it names.
    #[default]
    #[serde(other)]
    Plain,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Line {
    Plain {
        #[serde(rename = "type")]
        level: &'static str,
        payload: String,
    },
    Structured {
        #[serde(serialize_with = "as_text")]
        time: Timestamp,
        level: &'static str,
        message: String,
        fields: [(); 0],
    },
}

pub(super) async fn lines(
    State(source): State<Arc<Source>>,
    asked: Result<Query<Asked>, QueryRejection>,
    upgrade: Upgrade,
) -> Result<Response, Refusal> {
    let Query(Asked { level, format }) = asked.map_err(|_| Refusal::Malformed)?;
    let listening = source.log_lines.listen(level.into());
    let lines = stream::unfold(listening, async |mut listening| {
        let line = listening.next().await?;
        Some((line, listening))
    });
    let lines = lines.map(move |line| Line::of(&line, format));
    Ok(feed(&source, upgrade, lines))
}

impl Line {
    fn of(line: &LogLine, format: Format) -> Self {
        let level = match line.level {
            Level::TRACE => "trace",
            Level::DEBUG => "debug",
            Level::INFO => "info",
            Level::WARN => "warning",
            Level::ERROR => "error",
        };
        match format {
            Format::Plain => Self::Plain {
                level,
                payload: line.text.to_string(),
            },
            Format::Structured => Self::Structured {
                time: Timestamp::now(),
                level,
                message: line.text.to_string(),
                fields: [],
            },
        }
    }
}

impl From<Wanted> for LevelFilter {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Trace => Self::TRACE,
            Wanted::Debug => Self::DEBUG,
            Wanted::Info => Self::INFO,
            Wanted::Warning => Self::WARN,
            Wanted::Error => Self::ERROR,
            Wanted::Silent => Self::OFF,
        }
    }
}
