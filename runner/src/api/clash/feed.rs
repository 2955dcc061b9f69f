//! A value again and again, as its client wants it: in messages of a websocket, or one line
//! after the other. It must not know what the values are.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::stream::{Stream, StreamExt};
use serde::Serialize;
use tokio::time::timeout;

use super::answer::Refusal;
use crate::api::source::Source;

/// What a client says that wants a websocket; an error from one that does not.
pub(super) type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// The largest message of a client: none says anything.
const MESSAGE: usize = 4096;

/// How long a client may take over one message.
const SENT_WITHIN: Duration = Duration::from_secs(30);

/// Sends these until there are no more, the client leaves or takes nothing, or the server
/// stops.
pub(super) fn feed<T: Serialize + Send + 'static>(
    source: &Source,
    upgrade: Upgrade,
    values: impl Stream<Item = T> + Send + 'static,
) -> Response {
    let texts = values
        .filter_map(async |value| serde_json::to_string(&value).ok())
        .take_until(source.ending.clone().cancelled_owned());
    match upgrade {
        Ok(upgrade) => {
            // It is no connection of the server's any more once it is a websocket.
            let Ok(place) = source.websockets.clone().try_acquire_owned() else {
                return Refusal::TooMany.into_response();
            };
            upgrade
                .max_message_size(MESSAGE)
                .on_upgrade(async move |socket| {
                    let _place = place;
                    converse(socket, texts).await;
                })
        }
        Err(_) => {
            let lines = texts.map(|text| Ok::<_, Infallible>(Bytes::from(text + "\n")));
            let json = HeaderValue::from_static("application/json");
            ([(CONTENT_TYPE, json)], Body::from_stream(lines)).into_response()
        }
    }
}

async fn converse(mut socket: WebSocket, texts: impl Stream<Item = String>) {
    let mut texts = pin!(texts);
    loop {
        let text = tokio::select! {
            text = texts.next() => text,
            // What it says means nothing, but that it is there.
            said = socket.recv() => match said {
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => return,
            },
        };
        let Some(text) = text else {
            // It may have left already.
            let _ = timeout(SENT_WITHIN, socket.send(Message::Close(None))).await;
            return;
        };
        let sent = timeout(SENT_WITHIN, socket.send(Message::Text(text.into())));
        if !matches!(sent.await, Ok(Ok(()))) {
            return;
        }
    }
}
