//! Errors of streams, TLS and HTTP, told apart and put into words.
//! It must not know at what moment of which exchange they came.

use std::error::Error;
use std::io;

use rustls::CertificateError;

use crate::proxy_core::{Cause, FetchError, Phase};

/// What `error`, met while talking with `peer`, means.
pub(crate) fn of_io(phase: Phase, peer: &str, error: &io::Error) -> FetchError {
    if let Some(inner) = inner::<FetchError>(error) {
        // A stream of a proxy protocol that says itself what went wrong.
        return inner.clone();
    }
    if let Some(inner) = inner::<rustls::Error>(error) {
        return of_tls(phase, peer, inner);
    }
    let (cause, text) = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            (Cause::Refused, format!("{peer} refused the connection"))
        }
        io::ErrorKind::UnexpectedEof | io::ErrorKind::WriteZero => {
            (Cause::Eof, format!("{peer} closed the connection"))
        }
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::NotConnected => (Cause::Reset, format!("{peer} reset the connection")),
        io::ErrorKind::TimedOut => {
            let cause = if phase == Phase::Dial {
                Cause::DialTimeout
            } else {
                Cause::Timeout
            };
            (cause, format!("{peer} did not answer in time"))
        }
        io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::AddrNotAvailable
        | io::ErrorKind::NetworkDown => (Cause::NoRoute, format!("no route to {peer} ({error})")),
        _ => (Cause::Other, format!("talking with {peer} failed: {error}")),
    };
    FetchError::new(phase, cause, text)
}

/// What an error of HTTP/1.1 with `peer` means.
pub(crate) fn of_http(phase: Phase, peer: &str, error: &hyper::Error) -> FetchError {
    if let Some(error) = io_source(error) {
        return of_io(phase, peer, error);
    }
    if error.is_parse_too_large() {
        too_large(phase, peer)
    } else if error.is_incomplete_message() {
        closed_early(phase, peer)
    } else if error.is_canceled() || error.is_closed() {
        let text = format!("{peer} closed the connection before it was asked anything");
        FetchError::new(phase, Cause::Eof, text)
    } else {
        malformed(phase, peer, error)
    }
}

pub(super) fn too_large(phase: Phase, peer: &str) -> FetchError {
    let text = format!("the response headers of {peer} are too large");
    FetchError::new(phase, Cause::HttpMalformed, text)
}

pub(super) fn closed_early(phase: Phase, peer: &str) -> FetchError {
    let text = format!("{peer} closed the connection before the response was complete");
    FetchError::new(phase, Cause::Eof, text)
}

pub(super) fn malformed(phase: Phase, peer: &str, error: &dyn Error) -> FetchError {
    let text = format!("{peer} did not answer in HTTP/1.1 ({error})");
    FetchError::new(phase, Cause::HttpMalformed, text)
}

fn of_tls(phase: Phase, peer: &str, error: &rustls::Error) -> FetchError {
    let (cause, text) = match error {
        rustls::Error::InvalidCertificate(error) => {
            (Cause::TlsCertificate, certificate_text(peer, error))
        }
        rustls::Error::NoCertificatesPresented => (
            Cause::TlsCertificate,
            format!("{peer} presented no certificate"),
        ),
        rustls::Error::AlertReceived(alert) => (
            Cause::TlsFailed,
            format!("{peer} ended TLS with the alert {alert:?}"),
        ),
        rustls::Error::InvalidMessage(_) => (
            Cause::TlsFailed,
            format!("{peer} does not speak TLS ({error})"),
        ),
        _ => (Cause::TlsFailed, format!("TLS with {peer} failed: {error}")),
    };
    FetchError::new(phase, cause, text)
}

fn certificate_text(peer: &str, error: &CertificateError) -> String {
    let what = match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet"
        }
        CertificateError::UnknownIssuer => "comes from an unknown issuer",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "is for another name"
        }
        CertificateError::Revoked => "was revoked",
        _ => "is not valid",
    };
    format!("the certificate of {peer} {what} ({error})")
}

/// The error inside an [`io::Error`], at any depth.
pub(crate) fn inner<E: Error + 'static>(error: &io::Error) -> Option<&E> {
    let mut next: Option<&(dyn Error + 'static)> = error.get_ref().map(|inner| inner as _);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = match error.downcast_ref::<io::Error>() {
            // `source` would skip the error right inside.
            Some(error) => error.get_ref().map(|inner| inner as _),
            None => error.source(),
        };
    }
    None
}

fn io_source(error: &hyper::Error) -> Option<&io::Error> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<io::Error>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
