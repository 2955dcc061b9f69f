//! A value again and again, as its client wants it: in messages of a websocket, or one line
//! after the other. It must not know what the values are.

use std::convert::Infallible;
use std::pin::pin;

use axum::body::{Body, Bytes};
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::stream::{Stream, StreamExt};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// What a client says that wants a websocket; an error from one that does not.
pub(super) type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// The largest message of a client: none says anything.
const MESSAGE: usize = 4096;

/// Sends these until there are no more, the client leaves, or `ending`.
pub(super) fn feed<T: Serialize + Send + 'static>(
    upgrade: Upgrade,
    ending: CancellationToken,
    values: impl Stream<Item = T> + Send + 'static,
) -> Response {
    let texts = values
        .filter_map(async |value| serde_json::to_string(&value).ok())
        .take_until(ending.cancelled_owned());
    match upgrade {
        Ok(upgrade) => upgrade
            .max_message_size(MESSAGE)
            .on_upgrade(|socket| converse(socket, texts)),
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
            let _ = socket.send(Message::Close(None)).await;
            return;
        };
        if socket.send(Message::Text(text.into())).await.is_err() {
            return;
        }
    }
}
