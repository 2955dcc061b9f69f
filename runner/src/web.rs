//! The page at `/`: files that are part of the program, and how browsers are to treat them. It
//! must not know what the page shows, nor the API that it asks.
//!
//! The page is written by hand, in modules that browsers load as they are: there is nothing to
//! build, and nothing is asked of any other host. It holds no data, so no secret guards it.

use axum::Router;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use sha2::{Digest, Sha256};

/// What the page may do: load what is served here, and ask the server it came from. Text is
/// never taken for HTML or code, and no other page can frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers that every file has.
const HARDENING: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// A file of the page: where it is served, its type, and what is in it.
type File = (&'static str, &'static str, &'static str);

/// Files below `/page/`.
macro_rules! files {
    ($($name:literal: $kind:ident,)*) => {
        [$((concat!("/page/", $name), $kind, include_str!(concat!("web/", $name))),)*]
    };
}

const PAGE: File = ("/", HTML, include_str!("web/index.html"));
const PARTS: [File; 29] = files! {
    "icon.svg": SVG,
    "base.css": CSS,
    "frame.css": CSS,
    "groups.css": CSS,
    "rows.css": CSS,
    "side.css": CSS,
    "main.js": SCRIPT,
    "actions.js": SCRIPT,
    "api.js": SCRIPT,
    "bar.js": SCRIPT,
    "detail.js": SCRIPT,
    "element.js": SCRIPT,
    "events.js": SCRIPT,
    "exits.js": SCRIPT,
    "flag.js": SCRIPT,
    "groups.js": SCRIPT,
    "keys.js": SCRIPT,
    "link.js": SCRIPT,
    "model.js": SCRIPT,
    "notes.js": SCRIPT,
    "row.js": SCRIPT,
    "rows.js": SCRIPT,
    "secret.js": SCRIPT,
    "strip.js": SCRIPT,
    "theme.js": SCRIPT,
    "view.js": SCRIPT,
    "words.js": SCRIPT,
    "words/en.js": SCRIPT,
    "words/fa.js": SCRIPT,
};

/// The page's paths.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let all = [PAGE].into_iter().chain(PARTS);
    all.fold(Router::new(), |router, file| {
        router.route(file.0, served(file))
    })
}

/// A browser keeps the file, and asks each time whether it is still the same: another version
/// of the program may answer.
fn served<S: Clone + Send + Sync + 'static>((_, kind, text): File) -> MethodRouter<S> {
    let tag = tag(text);
    get(move |headers: HeaderMap| async move {
        let known = headers.get(header::IF_NONE_MATCH);
        let known = known.is_some_and(|known| matches(known, &tag));
        let mut response = match known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(header::CONTENT_TYPE, kind)], text).into_response(),
        };
        harden(&mut response);
        let headers = response.headers_mut();
        headers.insert(header::ETAG, tag);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    })
}

fn harden(response: &mut Response) {
    for (name, value) in HARDENING {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
}

/// The entity tag of a text: another text has another one.
fn tag(text: &str) -> HeaderValue {
    let digest = Sha256::digest(text);
    let hex: String = digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    // Digits and letters between quotes are always a header's value.
    HeaderValue::from_str(&format!("\"{hex}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Whether a list of entity tags names this one, be it as a weak one.
fn matches(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let known = known.to_str().unwrap_or_default().split(',');
    let mut known = known.map(|one| one.trim().trim_start_matches("W/"));
    known.any(|one| one == "*" || one.as_bytes() == tag.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_served_and_every_served_file_is_used() {
        let all: Vec<File> = [PAGE].into_iter().chain(PARTS).collect();
        for (path, _, text) in &all {
            for line in text.lines() {
                for used in used(line) {
                    let full = resolve(path, used);
                    assert!(all.iter().any(|(path, ..)| *path == full), "{path}: {full}");
                }
            }
        }
        for (path, ..) in PARTS {
            let is_used = all.iter().any(|(from, _, text)| {
                text.lines()
                    .any(|line| used(line).any(|it| resolve(from, it) == path))
            });
            assert!(is_used, "{path} is used by nothing");
        }
    }

    #[test]
    fn a_text_has_its_own_tag() {
        assert_eq!(tag("a"), tag("a"));
        assert_ne!(tag("a"), tag("b"));
        let both =
            HeaderValue::from_str(&format!("\"x\", W/{}", tag("a").to_str().expect("a text")));
        assert!(matches(&both.expect("a header"), &tag("a")));
        assert!(!matches(&HeaderValue::from_static("\"x\""), &tag("a")));
    }

    /// The files that a line names, in imports and links.
    fn used(line: &str) -> impl Iterator<Item = &str> {
        line.split(['\'', '"']).filter(|text| {
            let begins = text.starts_with("./") || text.starts_with("/page/");
            begins
                && [".js", ".css", ".svg"]
                    .iter()
                    .any(|end| text.ends_with(end))
        })
    }

    fn resolve(from: &str, name: &str) -> String {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        match name.strip_prefix("./") {
            Some(name) => format!("{folder}/{name}"),
            None => name.to_owned(),
        }
    }
}
