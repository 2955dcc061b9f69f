//! How requests are answered: results as JSON, and refusals in words for people. It must not
//! know what was asked for.

use axum::Json;
use axum::extract::Request;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::monitor::TestError;
use crate::proxy_core::SelectError;

/// Why a request is not done: a status, a stable code for programs, and a sentence for people.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
        }
    }

    pub(super) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(super) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    pub(super) fn no_such_tag(tag: &str) -> Self {
        Self::not_found(
            "no_such_tag",
            format!("no outbound or group is named `{tag}`"),
        )
    }

    pub(super) fn wrong_method() -> Self {
        let message =
            "this path does not answer to this method; the header `Allow` names those it does";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", message)
    }

    pub(super) fn stopped() -> Self {
        let message = "the monitor has stopped";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", message)
    }

    /// Of a test of `tag` that gave no result.
    pub(super) fn untested(tag: &str, error: &TestError) -> Self {
        match error {
            TestError::UnknownTag => Self::no_such_tag(tag),
            TestError::Untestable => {
                let message = format!("`{tag}` is never tested");
                Self::new(StatusCode::CONFLICT, "untestable", message)
            }
            TestError::NotReady(why) => {
                let message = format!("`{tag}` is not ready: {why}");
                Self::new(StatusCode::CONFLICT, "not_ready", message)
            }
            TestError::Stopped => Self::stopped(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self {
            status,
            code,
            message,
        } = self;
        let body = json!({ "error": { "code": code, "message": message } });
        let mut response = (status, Json(body)).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl From<SelectError> for Refusal {
    fn from(error: SelectError) -> Self {
        let message = error.to_string();
        match error {
            SelectError::NoSuchGroup(_) => Self::not_found("no_such_tag", message),
            SelectError::NotAMember { .. } => Self::bad_request("no_such_member", message),
            SelectError::Fixed(group) => {
                let message = format!("`{group}` is no selector: it chooses by itself");
                Self::bad_request("not_selectable", message)
            }
        }
    }
}

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Self {
        Self::bad_request("bad_path", rejection.body_text())
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad_request("bad_query", rejection.body_text())
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            let message = "the body is larger than this path takes";
            return Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message);
        }
        Self::bad_request("bad_body", rejection.body_text())
    }
}

/// Keeps browsers from guessing what an answer is, and everyone from keeping one that says
/// nothing about it.
pub(super) async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
