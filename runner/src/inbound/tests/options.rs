//! Reading `inbounds`.

use serde_json::{Value, json};

use crate::inbound::read;
use crate::report::Severity;

/// The tags and addresses of what is opened, and the problems as `severity path: message`.
fn found(inbounds: &Value) -> (Vec<String>, Vec<String>) {
    let (read, problems) = read(inbounds.as_array().unwrap());
    let inbounds = read
        .iter()
        .map(|inbound| format!("{} on {}", inbound.tag(), inbound.address()));
    let problems = problems.iter().map(|problem| {
        let severity = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        format!("{severity} {}: {}", problem.path, problem.message)
    });
    (inbounds.collect(), problems.collect())
}

fn problems(inbound: &Value) -> Vec<String> {
    found(&json!([inbound])).1
}

#[test]
fn the_three_types_are_read_with_their_tags_and_addresses() {
    let (inbounds, problems) = found(&json!([
        { "type": "mixed", "tag": "in", "listen_port": 2080 },
        { "type": "socks", "listen": "::1", "listen_port": 1080 },
        { "type": "http", "listen": "127.0.0.2", "listen_port": 2080, "users": [] },
    ]));
    assert_eq!(
        inbounds,
        [
            "in on 127.0.0.1:2080",
            "1 on [::1]:1080",
            "2 on 127.0.0.2:2080"
        ]
    );
    assert_eq!(problems, [""; 0]);
}

#[test]
fn a_type_that_is_not_served_is_a_warning_and_stops_nothing_else() {
    let (inbounds, problems) = found(&json!([
        { "type": "tun", "address": ["172.19.0.1/30"] },
        { "type": "mixed", "listen_port": 2080 },
    ]));
    assert_eq!(inbounds, ["1 on 127.0.0.1:2080"]);
    assert_eq!(
        problems,
        [
            "warning inbounds[0].type: inbounds of type `tun` are not opened here; `mixed`, \
             `socks` and `http` are"
        ]
    );
}

#[test]
fn listen_fields_that_change_nothing_are_accepted() {
    let fields = json!({
        "type": "mixed", "listen_port": 2080, "tcp_fast_open": true, "tcp_multi_path": false,
        "udp_fragment": true, "udp_timeout": "5m", "reuse_addr": true, "sniff": true,
        "sniff_override_destination": true, "sniff_timeout": "300ms", "domain_strategy": "",
        "tcp_keep_alive": "1m", "tcp_keep_alive_interval": "15s", "disable_tcp_keep_alive": false,
        "tls": { "enabled": false }, "set_system_proxy": false, "detour": "", "users": null,
    });
    assert_eq!(problems(&fields), [""; 0]);
}

#[test]
fn f4_other_fields_are_warnings_and_those_that_matter_keep_it_closed() {
    let (inbounds, problems) = found(&json!([
        { "type": "http", "listen_port": 1, "set_system_proxy": true, "usres": [] },
        { "type": "http", "listen_port": 2, "tls": { "enabled": true } },
        { "type": "http", "listen_port": 3, "bind_interface": "eth0" },
    ]));
    assert_eq!(inbounds, ["0 on 127.0.0.1:1"]);
    assert_eq!(
        problems,
        [
            "warning inbounds[0].set_system_proxy: not done here; it has no effect",
            "warning inbounds[0].usres: unknown field; it has no effect",
            "warning inbounds[1].tls: `tls` is not done here, so this inbound is not opened",
            "warning inbounds[2].bind_interface: `bind_interface` is not done here, so this \
             inbound is not opened",
        ]
    );
}

#[test]
fn a_place_that_others_reach_without_users_is_a_warning() {
    let open = json!({ "type": "mixed", "listen": "0.0.0.0", "listen_port": 2080 });
    assert_eq!(
        problems(&open),
        [
            "warning inbounds[0].listen: anyone who reaches 0.0.0.0 may use your outbounds; set \
             `users`, or listen on 127.0.0.1"
        ]
    );
    let users = json!([{ "username": "ann", "password": "secret" }]);
    let closed = json!({ "type": "mixed", "listen": "::", "listen_port": 2080, "users": users });
    assert_eq!(problems(&closed), [""; 0]);
    let anywhere = json!({ "type": "mixed" });
    assert_eq!(
        problems(&anywhere),
        ["warning inbounds[0]: without `listen_port` it listens on another port each time"]
    );
}

#[test]
fn wrong_values_are_errors_with_their_paths() {
    let wrong = [
        (json!("mixed"), "inbounds[0]: an inbound is an object"),
        (json!({}), "inbounds[0]: missing field `type`"),
        (
            json!({ "type": "mixed", "listen": "localhost" }),
            "inbounds[0].listen: `localhost` is no",
        ),
        (
            json!({ "type": "mixed", "listen_port": 70000 }),
            "inbounds[0].listen_port: invalid value",
        ),
        (
            json!({ "type": "mixed", "users": [{ "username": "a" }, { "username": "b", "password": 1 }] }),
            "inbounds[0].users[1].password: invalid type",
        ),
        (
            json!({ "type": "mixed", "users": [{ "username": "" }] }),
            "inbounds[0].users[0].username: a user needs a name",
        ),
        (
            json!({ "type": "mixed", "udp_timeout": "0s" }),
            "inbounds[0].udp_timeout: `0s` is no",
        ),
    ];
    for (inbound, start) in wrong {
        let (inbounds, problems) = found(&json!([inbound]));
        assert_eq!(inbounds, [""; 0]);
        let first = problems.first().unwrap();
        assert!(first.starts_with(&format!("error {start}")), "{first}");
    }
}

#[test]
fn one_tag_and_one_address_for_each() {
    let (inbounds, problems) = found(&json!([
        { "type": "mixed", "tag": "in", "listen_port": 2080 },
        { "type": "mixed", "tag": "in", "listen_port": 2081 },
        { "type": "mixed", "tag": "other", "listen_port": 2080 },
    ]));
    assert_eq!(inbounds, ["in on 127.0.0.1:2080"]);
    assert_eq!(
        problems,
        [
            "error inbounds[1].tag: another inbound is `in` too",
            "error inbounds[2].listen_port: another inbound listens on 127.0.0.1:2080 too",
        ]
    );
}
