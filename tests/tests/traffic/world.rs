//! An inbound in front of one outbound. It must not know who comes in.

use std::sync::Arc;

use outwatch::NativeCore;
use outwatch::config::{self, LoadOptions};
use outwatch::inbound::{self, OneOutbound, Serving};
use serde_json::{Value, json};

/// A `mixed` inbound for ann alone, whose password is `secret`, in front of `outbound`.
pub(crate) fn for_ann(outbound: &Value) -> Serving {
    let users = json!([{ "username": "ann", "password": "secret" }]);
    serve(
        outbound,
        &json!({ "type": "mixed", "listen_port": 0, "users": users }),
    )
}

/// A `mixed` inbound for everybody in front of `outbound`.
pub(crate) fn for_all(outbound: &Value) -> Serving {
    serve(outbound, &json!({ "type": "mixed", "listen_port": 0 }))
}

fn serve(outbound: &Value, inbound: &Value) -> Serving {
    let tag = outbound["tag"].as_str().expect("a tag").to_owned();
    let config = json!({ "outbounds": [outbound], "inbounds": [inbound] }).to_string();
    let loaded = config::read("test.json", config.as_bytes(), &LoadOptions::default());
    let config = loaded.config.expect("a config without errors");
    let (core, problems) = NativeCore::new(&config.entries, None);
    assert_eq!(problems, []);
    let (inbounds, problems) = inbound::read(&config.inbounds);
    assert_eq!(problems, []);
    let inbound = inbounds.into_iter().next().expect("one inbound");
    inbound
        .serve(Arc::new(OneOutbound::new(core, tag)))
        .expect("a free port")
}

/// Straight to the target.
pub(crate) fn direct() -> Value {
    json!({ "type": "direct", "tag": "direct" })
}
