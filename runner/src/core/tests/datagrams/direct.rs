//! Datagrams by our own sockets, through detours too.

use serde_json::json;

use super::super::servers::closed_port;
use super::super::{Names, core, target};
use super::{associate, heard, hears_nothing, receive, socket};
use crate::proxy_core::{Cause, Network, Phase, ProxyCore, Target};

#[tokio::test]
async fn direct_datagrams_leave_as_the_dial_fields_say() {
    let (there, address) = socket().await;
    let mut core = core(json!([
        { "type": "direct", "tag": "plain" },
        { "type": "direct", "tag": "bound", "inet4_bind_address": "127.0.0.9" },
        { "type": "direct", "tag": "four", "domain_strategy": "ipv4_only" },
        { "type": "direct", "tag": "away", "inet4_bind_address": "192.0.2.1" },
    ]));
    core.resolver = Names::new([("web.test", &["::1", "127.0.0.1"])]);
    let named = target(&format!("web.test:{}", address.port()));
    for (tag, to, source) in [
        ("plain", Target::from(address), "127.0.0.1"),
        ("bound", Target::from(address), "127.0.0.9"),
        ("four", named, "127.0.0.1"),
    ] {
        let way = associate(&core, tag).await.unwrap();
        way.send(tag.as_bytes(), &to).await.unwrap();
        let (payload, from) = heard(&there).await;
        assert_eq!(
            (&payload[..], from.ip().to_string().as_str()),
            (tag.as_bytes(), source)
        );
        there.send_to(b"back", from).await.unwrap();
        let back = (b"back".to_vec(), Target::from(address));
        assert_eq!(receive(&*way).await.unwrap(), back);
    }
    let error = associate(&core, "away").await.err().unwrap();
    assert_eq!((error.phase, error.cause), (Phase::Dial, Cause::NoRoute));
    assert!(error.text.contains("192.0.2.1"), "{error}");
}

#[tokio::test]
async fn a_datagram_that_nobody_takes_is_no_end_of_the_way() {
    let (there, address) = socket().await;
    let core = core(json!([{ "type": "direct", "tag": "direct" }]));
    let way = associate(&core, "direct").await.unwrap();
    let nobody = {
        let (_gone, address) = socket().await;
        Target::from(address)
    };
    for _ in 0..3 {
        // The second may tell what became of the first.
        let _ = way.send(b"lost", &nobody).await;
        hears_nothing(&*way).await;
    }
    way.send(b"here", &address.into()).await.unwrap();
    let (payload, from) = heard(&there).await;
    assert_eq!(payload, b"here");
    there.send_to(b"yes", from).await.unwrap();
    assert_eq!(receive(&*way).await.unwrap().0, b"yes");
}

#[tokio::test]
async fn a_detour_by_a_group_leads_datagrams_where_it_is_told() {
    let (there, address) = socket().await;
    let core = core(json!([
        { "type": "direct", "tag": "one", "inet4_bind_address": "127.0.0.8" },
        { "type": "direct", "tag": "two", "inet4_bind_address": "127.0.0.9" },
        { "type": "http", "tag": "http", "server": "127.0.0.1", "server_port": closed_port().await },
        { "type": "urltest", "tag": "group", "outbounds": ["http", "one", "two"] },
        { "type": "direct", "tag": "behind", "detour": "group" },
    ]));
    for (chosen, source) in [(None, "127.0.0.8"), (Some("two"), "127.0.0.9")] {
        if let Some(member) = chosen {
            core.select("group", Network::Udp, member).unwrap();
        }
        let way = associate(&core, "behind").await.unwrap();
        way.send(b"x", &address.into()).await.unwrap();
        assert_eq!(heard(&there).await.1.ip().to_string(), source);
    }
    core.select("group", Network::Udp, "http").unwrap();
    let error = associate(&core, "behind").await.err().unwrap();
    assert_eq!(error.cause, Cause::Unsupported);
    assert!(error.text.contains("`http`"), "{error}");
}
