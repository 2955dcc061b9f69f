//! The library's `tracing` events as lines of a trace, on this thread only. It must not
//! know what they say.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

use super::Stage;
use crate::parity::trace::Lane;

/// Records until the guard is dropped.
pub(super) fn record(stage: Stage) -> DefaultGuard {
    tracing::subscriber::set_default(Recorder(stage))
}

struct Recorder(Stage);

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("outwatch")
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Message(String::new());
        event.record(&mut line);
        let (target, level) = (event.metadata().target(), event.metadata().level());
        let text = format!("{target} {level} {}", line.0);
        self.0.note(Lane::Log, text);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to a string cannot fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}
