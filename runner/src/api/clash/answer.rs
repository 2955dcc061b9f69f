//! What a client of this surface is told when it gets nothing, in the bodies and statuses
//! that it knows. It must not know what was asked for.

use axum::Json;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The secret is missing or wrong.
    Unauthorized,
    /// Nothing has this name.
    NotFound,
    /// The body, or what stands after `?`, is not understood.
    Malformed,
    /// It asks for what cannot be, for this reason.
    Bad(String),
    /// The test failed, for this reason.
    TestFailed(String),
    /// The test took longer than the client waits.
    Timeout,
    /// As many watch as there is room for.
    TooMany,
    /// Nothing runs here that could do it.
    Unavailable(&'static str),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "Unauthorized".to_owned()),
            Self::NotFound => (StatusCode::NOT_FOUND, "Resource not found".to_owned()),
            Self::Malformed => (StatusCode::BAD_REQUEST, "Body invalid".to_owned()),
            Self::Bad(why) => (StatusCode::BAD_REQUEST, why),
            Self::TestFailed(why) => {
                let message = format!("An error occurred in the delay test: {why}");
                (StatusCode::SERVICE_UNAVAILABLE, message)
            }
            Self::Timeout => (StatusCode::GATEWAY_TIMEOUT, "Timeout".to_owned()),
            Self::TooMany => {
                let message = "too many websockets are open; close one".to_owned();
                (StatusCode::SERVICE_UNAVAILABLE, message)
            }
            Self::Unavailable(why) => (StatusCode::INTERNAL_SERVER_ERROR, why.to_owned()),
        };
        (status, Json(json!({ "message": message }))).into_response()
    }
}

impl From<PathRejection> for Refusal {
    /// A name that is no UTF-8 is that of nothing.
    fn from(_: PathRejection) -> Self {
        Self::NotFound
    }
}

impl From<BytesRejection> for Refusal {
    fn from(_: BytesRejection) -> Self {
        Self::Malformed
    }
}
