//! Files that people take for a config: each is told what it looks like.

use insta::assert_snapshot;

use crate::check;

#[test]
fn f4_an_empty_file() {
    assert_snapshot!(check(""), @r#"
    c.json:1:1: error: the file is empty
      hint: a config is an object with `outbounds`; see examples/
    "#);
    assert_snapshot!(check("\u{FEFF} \r\n\t"), @r#"
    c.json:1:1: error: the file is empty
      hint: a config is an object with `outbounds`; see examples/
    "#);
}

#[test]
fn f4_share_links() {
    assert_snapshot!(check("vless://8f91b6a0-e8ee-4497-8c75-4c5f2c2d6a3e@192.0.2.1:443?security=tls#de\n"), @r#"
    c.json:1:1: error: this looks like a share link, not a config for Outwatch
      hint: `outwatch import FILE` makes a config of it
    "#);
    assert_snapshot!(check("#profile-title: Mine\n//support-url: https://example.com\ntrojan://a@192.0.2.1:443\nss://YWVz@192.0.2.1:1\n"), @r#"
    c.json:1:1: error: this looks like a list of 2 share links, not a config for Outwatch
      hint: `outwatch import FILE` makes a config of it
    "#);
    assert_snapshot!(check(r#"["vless://a@192.0.2.1:443"]"#), @r#"
    c.json:1:1: error: this looks like a list of share links, not a config for Outwatch
      hint: `outwatch import FILE` makes a config of it
    "#);
    assert_snapshot!(check("https://example.com/sub/5f3a"), @r#"
    c.json:1:1: error: this looks like a web address, not a config for Outwatch
      hint: save what is at that address, and give that file
    "#);
}

#[test]
fn f4_base64_text() {
    // vless://a@192.0.2.1:443#a and trojan://b@192.0.2.1:443#b, on two lines.
    assert_snapshot!(check("dmxlc3M6Ly9hQDE5Mi4wLjIuMTo0NDMjYQp0cm9qYW46Ly9iQDE5Mi4wLjIu\nMTo0NDMjYgo=\n"), @r#"
    c.json:1:1: error: this looks like base64 text with a list of 2 share links inside (a subscription), not a config for Outwatch
      hint: `outwatch import FILE` makes a config of it
    "#);
    // {"outbounds":[]}
    assert_snapshot!(check("eyJvdXRib3VuZHMiOltdfQ"), @r#"
    c.json:1:1: error: this looks like base64 text with JSON inside, not a config for Outwatch
      hint: decode it first: base64 -d
    "#);
    assert_snapshot!(check("aGVsbG8sIHRoaXMgaXMgYSBsZXR0ZXI"), @r#"
    c.json:1:1: error: this looks like base64 text, not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    "#);
}

#[test]
fn f4_yaml() {
    assert_snapshot!(check("# made by an app\nmixed-port: 7890\nproxies:\n  - name: de\n    type: vless\n"), @r#"
    c.json:1:1: error: this looks like a Clash or mihomo config (YAML), not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    "#);
    assert_snapshot!(check("---\noutbounds:\n  - type: direct\n"), @r#"
    c.json:1:1: error: this looks like YAML, not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    "#);
}

#[test]
fn f4_an_xray_config() {
    assert_snapshot!(check("{\n  \"log\": { \"loglevel\": \"warning\" },\n  \"outbounds\": [\n    { \"protocol\": \"vless\", \"settings\": {} }\n  ]\n}"), @r#"
    c.json:4:7: error: outbounds[0].protocol: this looks like a config of Xray or V2Ray, not a config for Outwatch
      hint: an outbound of sing-box has a `type`, not a `protocol`; have an app or a converter make a sing-box config of it
    "#);
    assert_snapshot!(check(r#"{ "inbounds": [{ "protocol": "socks" }], "outboundDetour": [] }"#), @r#"
    c.json:1:42: error: outboundDetour: this looks like a config of Xray or V2Ray, not a config for Outwatch
      hint: an outbound of sing-box has a `type`, not a `protocol`; have an app or a converter make a sing-box config of it
    "#);
}

#[test]
fn f4_the_settings_of_an_app() {
    assert_snapshot!(check("{\n  \"region\": \"ir\",\n  \"log-level\": \"warn\",\n  \"resolve-destination\": false,\n  \"mux\": { \"enable\": false }\n}"), @r#"
    c.json:2:3: error: region: this looks like the settings of an app, not a config for Outwatch
      hint: settings hold no outbounds; export the app's profile or its full config, which has `outbounds`
    "#);
    assert_snapshot!(check(r#"{ "dark-mode": true, "show-in-tray": 1, "theme-name": "x" }"#), @r#"
    c.json:1:3: error: dark-mode: this looks like the settings of an app, not a config for Outwatch
      hint: settings hold no outbounds; export the app's profile or its full config, which has `outbounds`
    "#);
}

#[test]
fn f4_pages_lists_and_other_programs_files() {
    assert_snapshot!(check("<!DOCTYPE html>\n<html><title>Just a moment...</title></html>"), @r#"
    c.json:1:1: error: this looks like an HTML page, not a config for Outwatch
      hint: the address it came from shows a page; open it in a browser to see what it says
    "#);
    assert_snapshot!(check("<?xml version=\"1.0\"?><Error/>"), @r#"
    c.json:1:1: error: this looks like XML, not a config for Outwatch
      hint: the address it came from shows a page; open it in a browser to see what it says
    "#);
    assert_snapshot!(check("192.0.2.1:1080\n192.0.2.2:1080\nproxy.example:3128\n"), @r#"
    c.json:1:1: error: this looks like a plain list of 3 addresses, not a config for Outwatch
      hint: an outbound for one is { "type": "socks", "server": "192.0.2.1", "server_port": 1080 }
    "#);
    assert_snapshot!(check("[Interface]\nPrivateKey = x\n[Peer]\n"), @r#"
    c.json:1:1: error: this looks like a WireGuard config, not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    "#);
    assert_snapshot!(check("[General]\nloglevel = notify\n"), @r#"
    c.json:1:1: error: this looks like a config with sections, as of Surge or Quantumult, not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    "#);
    assert_snapshot!(check("server = 192.0.2.1\nport = 1\n"), @r#"
    c.json:1:1: error: this looks like settings of the form key = value, not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    "#);
    assert_snapshot!(check(r#"{ "version": 1, "servers": [{ "server": "192.0.2.1", "method": "aes-128-gcm" }] }"#), @r#"
    c.json:1:17: error: servers: this looks like a list of Shadowsocks servers (SIP008), not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    "#);
    assert_snapshot!(check(r#"{ "proxies": [] }"#), @r#"
    c.json:1:3: error: proxies: this looks like a Clash or mihomo config, not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    "#);
}

#[test]
fn f4_parts_of_a_config() {
    assert_snapshot!(check(r#"[{ "type": "socks", "server": "192.0.2.1" }]"#), @r#"
    c.json:1:1: error: this looks like a list of outbounds without the config around it
      hint: put it into an object: { "outbounds": [...] }
    "#);
    assert_snapshot!(check(r#"{ "type": "socks", "server": "192.0.2.1" }"#), @r#"
    c.json:1:3: error: type: this looks like one outbound, not a config for Outwatch
      hint: put it into { "outbounds": [...] }
    "#);
    assert_snapshot!(check("[]"), @r#"
    c.json:1:1: error: a config is an object (found an empty list)
      hint: the least is { "outbounds": [...] }
    "#);
    assert_snapshot!(check("\"vless\""), @r#"
    c.json:1:1: error: a config is an object (found "vless")
      hint: the least is { "outbounds": [...] }
    "#);
    assert_snapshot!(check("{}"), @r#"
    c.json:1:1: error: there is nothing to test: no `outbounds` and no `endpoints`
      hint: is it the whole config? the least is { "outbounds": [...] }
    "#);
    assert_snapshot!(check(r#"{ "outbounds": [], "endpoints": null }"#), @r#"c.json:1:1: warning: there is nothing to test: no outbound and no endpoint is listed"#);
}

#[test]
fn f4_what_resembles_nothing_gets_a_syntax_error() {
    assert_snapshot!(check("hello there"), @r#"
    c.json:1:1: error: expected a value, found `hello`
      hint: text stands in double quotes; `true`, `false` and `null` are in small letters
    "#);
}
