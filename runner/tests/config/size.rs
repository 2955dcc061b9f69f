//! Big configs: as many outbounds as anybody has, and more. Reading takes time in
//! proportion to the text and no stack.

use std::fmt::Write;
use std::time::{Duration, Instant};

use outwatch::config::{self, LoadOptions};

use crate::{PLAIN, accept};

/// For an unoptimised build on a busy machine; anything quadratic takes far longer.
const PATIENCE: Duration = Duration::from_secs(150);

fn in_time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let took = start.elapsed();
    assert!(took < PATIENCE, "{what} took {took:?}");
    result
}

/// A config of `count` outbounds, each written by `outbound`, and nothing else.
fn many(count: usize, mut outbound: impl FnMut(usize, &mut String)) -> String {
    let mut text = String::from("{ \"outbounds\": [\n");
    for n in 0..count {
        outbound(n, &mut text);
        text.push_str(",\n");
    }
    text.push_str("] }");
    text
}

fn vless(n: usize, text: &mut String) {
    let detour = if n.is_multiple_of(5) {
        String::new()
    } else {
        format!(r#", "detour": "🇩🇪 server {}""#, n - n % 5)
    };
    text.push_str(&format!(
        r#"{{ "type": "vless", "tag": "🇩🇪 server {n}", "server": "s{n}.example", "server_port": 443, "uuid": "00000000-0000-4000-8000-{n:012}",
          "tls": {{ "enabled": true, "server_name": "cdn.example", "utls": {{ "enabled": true, "fingerprint": "chrome" }} }},
          "transport": {{ "type": "ws", "path": "/{n}", "headers": {{ "Host": "h{n}.example" }} }}{detour} }}"#
    ));
}

#[test]
fn f5_a_hundred_thousand_outbounds_in_groups_load_in_time() {
    let mut text = many(100_000, vless);
    let members: Vec<String> = (0..100_000).map(|n| format!("\"🇩🇪 server {n}\"")).collect();
    let members = members.join(",");
    text.truncate(text.len() - 3);
    write!(text, r#"{{ "type": "urltest", "tag": "auto", "outbounds": [{members}] }}, {{ "type": "selector", "tag": "all", "outbounds": ["auto", {members}] }}] }}"#).unwrap();
    let config = in_time("loading 100 000 outbounds", || accept(&text));
    assert_eq!(config.entries.len(), 100_002);
    assert_eq!(config.entries.last().unwrap().members.len(), 100_001);
}

#[test]
fn f5_a_chain_of_a_hundred_thousand_detours_needs_no_stack() {
    let text = many(100_000, |n, text| {
        write!(
            text,
            r#"{{ "type": "socks", "tag": "{n}", "detour": "{}" }}"#,
            n + 1
        )
        .unwrap();
    });
    let loaded = in_time("a chain of 100 000", || {
        config::read("c.json", text.as_bytes(), &PLAIN)
    });
    assert_eq!(
        loaded.problems.len(),
        1,
        "only the last detour leads nowhere"
    );
}

#[test]
fn f5_a_hundred_thousand_mistakes_are_found_and_shown_in_time() {
    let text = many(100_000, |n, text| {
        write!(
            text,
            r#"{{ "type": "socks", "tag": "server {}", "detour": "sever {n}" }}"#,
            n / 2
        )
        .unwrap();
    });
    let text = text.replace('\n', " ");
    let loaded = in_time("reading", || {
        config::read("c.json", text.as_bytes(), &PLAIN)
    });
    assert_eq!(loaded.problems.len(), 150_000);
    let shown = in_time("showing", || loaded.source.render(&loaded.problems));
    assert!(shown.ends_with("... and 149900 more\n"));
}

#[test]
fn f5_a_hundred_thousand_equal_tags_are_told_apart_in_time() {
    let text = many(100_000, |_, text| {
        text.push_str(r#"{ "type": "direct", "tag": "same" }"#);
    });
    let dedupe = LoadOptions {
        dedupe_tags: true,
        ..PLAIN
    };
    let config = in_time("deduping", || {
        config::read("c.json", text.as_bytes(), &dedupe)
    })
    .config
    .unwrap();
    assert_eq!(config.entries.last().unwrap().tag, "same #100000");
}

#[test]
fn f5_loops_everywhere_are_found_in_time() {
    // Every outbound of a long chain may also lead back to the start.
    let mut text = many(10_000, |n, text| {
        write!(
            text,
            r#"{{ "type": "selector", "tag": "{n}", "outbounds": ["0", "{}"] }}"#,
            n + 1
        )
        .unwrap();
    });
    text.truncate(text.len() - 3);
    text.push_str(r#"{ "type": "direct", "tag": "10000" } ] }"#);
    let loaded = in_time("finding loops", || {
        config::read("c.json", text.as_bytes(), &PLAIN)
    });
    assert_eq!(loaded.problems.len(), 10_000, "each loop once");
}
