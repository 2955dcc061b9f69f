//! One test as JSON, for programs. It must not decide what is in it.

use std::time::Duration;

use outwatch::{Readiness, Timing};
use serde_json::{Value, json};

use super::recording::{Outcome, Step};
use super::{Explained, advice, chain, story};

/// One object on one line.
pub(super) fn json(explained: &Explained) -> String {
    let error = explained
        .report
        .as_ref()
        .and_then(|report| report.error.as_ref());
    let object = json!({
        "tag": explained.tag,
        "worked": explained.worked(),
        "chain": explained.chain.iter().map(link).collect::<Vec<_>>(),
        "options": explained.options,
        "steps": explained.steps.iter().map(step).collect::<Vec<_>>(),
        "missed_at_ms": explained.missed_at_ms,
        "refused": explained.refused.as_ref().map(ToString::to_string),
        "report": explained.report,
        "advice": error.map(|error| advice::on(error.kind)),
    });
    format!("{object}\n")
}

fn link(link: &chain::Link) -> Value {
    let (ready, why) = match &link.readiness {
        Readiness::Ready => (true, None),
        Readiness::NotReady(why) | Readiness::Unsupported(why) => (false, Some(why)),
    };
    json!({
        "tag": link.tag, "type": link.type_name, "through": link.through,
        "ready": ready, "status_text": why,
    })
}

fn step(step: &Step) -> Value {
    let mut object = json!({
        "at_ms": step.at_ms,
        "tag": step.tag,
        "what": story::purpose(step).name(),
        "method": step.request.method,
        "url": step.request.url,
        "deadline_ms": millis(step.request.deadline),
        "took_ms": step.took_ms,
        "status": null,
        "timing": null,
        "error": null,
    });
    match &step.outcome {
        Some(Outcome::Answered {
            status,
            timing: took,
            ..
        }) => {
            object["status"] = (*status).into();
            object["timing"] = timing(took);
        }
        Some(Outcome::Failed(error)) => {
            object["error"] = json!({ "phase": story::phase(error.phase), "text": error.text });
        }
        None => {}
    }
    object
}

fn timing(timing: &Timing) -> Value {
    json!({
        "dns_ms": timing.dns.map(millis),
        "dial_ms": millis(timing.dial),
        "tls_ms": timing.tls.map(millis),
        "first_byte_ms": millis(timing.first_byte),
        "total_ms": millis(timing.total),
        "repeat_ms": timing.repeat.map(millis),
    })
}

/// To a tenth: phases on a near network take less than one.
fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}
