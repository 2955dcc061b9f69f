//! Whole texts of links, as people have them, and what becomes of them.

mod schemes;
mod secrets;

use serde_json::{Value, json};

use super::{Links, Why, read};

/// The object that a link alone becomes.
fn only(link: &str) -> Value {
    let links = read(link.as_bytes());
    assert_eq!(links.left_out, [], "{link}");
    let config = links.config();
    let found = config["endpoints"]
        .get(0)
        .or_else(|| config["outbounds"].get(2));
    found.expect("an outbound").clone()
}

/// Why a link alone is left out.
fn refused(link: &str) -> String {
    let links = read(link.as_bytes());
    assert_eq!(links.shared.len(), 0, "{link}");
    links.left_out.first().expect("a reason").why.to_string()
}

fn tags(links: &Links) -> Vec<&str> {
    links
        .shared
        .iter()
        .map(|shared| shared.tag.as_str())
        .collect()
}

const TWO: &str =
    "trojan://a@192.0.2.1:443#Berlin\r\nss://YWVzLTI1Ni1nY206Yg@192.0.2.2:8388#Tokyo\r\n";

#[test]
fn a_list_is_read_plain_and_in_every_base64() {
    use ::base64::Engine as _;
    use ::base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    let wrapped = |text: &str| {
        let chars: Vec<char> = text.chars().collect();
        let lines = chars.chunks(76).map(|line| line.iter().collect::<String>());
        lines.collect::<Vec<_>>().join("\r\n")
    };
    // What is in it differs between the two alphabets.
    let list = format!("{TWO}trojan://c@192.0.2.3:443#%3F%3E>>>???");
    for text in [
        list.clone(),
        format!("\u{feff}{list}"),
        STANDARD.encode(&list),
        STANDARD_NO_PAD.encode(&list),
        URL_SAFE.encode(&list),
        URL_SAFE_NO_PAD.encode(&list),
        wrapped(&STANDARD.encode(&list)),
        json!(list.lines().collect::<Vec<_>>()).to_string(),
    ] {
        let links = read(text.as_bytes());
        assert_eq!(tags(&links), ["Berlin", "Tokyo", "?>>>>???"], "{text}");
        assert_eq!(links.left_out, []);
    }
}

#[test]
fn comments_are_passed_over_and_bad_lines_are_named_by_number() {
    let text = "#profile-title: Mine\n\n//web: https://example.org\ntrojan://a@192.0.2.1:443#ok\n\
                trojan://192.0.2.1:443#no password\nhello\nssr://abc\nhttps://example.org/sub/1\n";
    let links = read(text.as_bytes());
    assert_eq!(tags(&links), ["ok"]);
    assert_eq!(links.shared[0].line, 4);
    let told: Vec<String> = links
        .left_out
        .iter()
        .map(|left| {
            format!(
                "{} {} {:?}: {}",
                left.line, left.scheme, left.name, left.why
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            r#"5 trojan "no password": it has no password"#,
            r#"6  "": this is no share link"#,
            r#"7 ssr "": links of this kind are not read"#,
            r#"8 https "": this is the address of a page, not of a proxy"#,
        ]
    );
}

#[test]
fn entries_that_only_tell_something_are_no_outbounds() {
    let text =
        format!("{TWO}trojan://a@192.0.2.1:443#Expires%202026-12-31\nvless://#剩余流量：3GB");
    let links = read(text.as_bytes());
    assert_eq!(tags(&links), ["Berlin", "Tokyo"]);
    let why: Vec<_> = links.left_out.iter().map(|left| &left.why).collect();
    assert_eq!(why, [&Why::Notice, &Why::Notice]);
}

#[test]
fn f5_every_outbound_has_a_tag_of_its_own() {
    let link = "trojan://a@192.0.2.1:443";
    let text = [
        &format!("{link}#A"),
        &format!("{link}#A"),
        &format!("{link}#auto"),
        link,
        "wg://[2001:db8::1]?pk=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA&\
         peer_pk=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA&ip=10.0.0.2",
    ];
    let links = read(text.join("\n").as_bytes());
    assert_eq!(
        tags(&links),
        [
            "A",
            "A #2",
            "auto #2",
            "trojan 192.0.2.1:443",
            "wireguard [2001:db8::1]:51820"
        ]
    );
    let config = links.config();
    assert_eq!(config["outbounds"][0]["tag"], "select");
    assert_eq!(config["outbounds"][0]["outbounds"][0], "auto");
    assert_eq!(config["outbounds"][1]["outbounds"], json!(tags(&links)));
    assert_eq!(
        config["endpoints"][0]["tag"],
        "wireguard [2001:db8::1]:51820"
    );
}

#[test]
fn v1_what_links_say_of_ipv6_is_declared() {
    let text = "trojan://a@192.0.2.1:443?ipv6=1#A\ntrojan://a@192.0.2.1:443?ipv6=0#A\n\
                trojan://a@192.0.2.1:443#B";
    let config = read(text.as_bytes()).config();
    assert_eq!(
        config["experimental"]["monitoring"]["ipv6_declared"],
        json!({ "A": true, "A #2": false })
    );
}

#[test]
fn a_text_without_links_makes_an_empty_config() {
    for text in ["", "\n\n# nothing\n", "\u{feff}"] {
        let links = read(text.as_bytes());
        assert_eq!((links.shared.len(), links.left_out.len()), (0, 0));
        assert_eq!(links.config(), json!({ "outbounds": [] }));
    }
}
