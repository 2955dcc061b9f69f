//! Changes as they happen, as server-sent events. It must not know how they are found.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{self, Stream};

use crate::api::events::{Listener, Told, What};
use crate::api::source::Source;

/// How often something is sent, so that a connection without changes is not taken for dead.
const PING: Duration = Duration::from_secs(15);
/// How long a browser waits before it asks again.
const RETRY: Duration = Duration::from_secs(1);

/// Has nginx pass each event on as it comes.
const AT_ONCE: [(&str, &str); 1] = [("x-accel-buffering", "no")];

pub(super) async fn events(
    State(source): State<Arc<Source>>,
    headers: HeaderMap,
) -> (
    [(&'static str, &'static str); 1],
    Sse<impl Stream<Item = Result<Event, Infallible>>>,
) {
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok());
    let listener = Listener::new(source, last);
    let events = stream::unfold(listener, async |mut listener| {
        let told = listener.next().await?;
        Some((Ok(event(&told)), listener))
    });
    let ping = KeepAlive::new()
        .interval(PING)
        .event(Event::default().event("ping").data("{}"));
    (AT_ONCE, Sse::new(events).keep_alive(ping))
}

fn event(told: &Told) -> Event {
    let (name, data) = match &told.what {
        What::Snapshot(snapshot) => ("snapshot", serde_json::to_string(snapshot)),
        What::Update(update) => ("update", serde_json::to_string(update)),
    };
    let event = Event::default().id(&told.id).event(name).retry(RETRY);
    // Strings, numbers and lists are always JSON.
    event.data(data.unwrap_or_default())
}
