//! Datagrams of shadowsocks, against a server made of its crate.

use serde_json::json;
use shadowsocks::config::{ServerConfig, ServerType};
use shadowsocks::context::Context;
use shadowsocks::crypto::CipherKind;
use shadowsocks::crypto::v1::Cipher;
use shadowsocks::relay::socks5::Address;
use shadowsocks::relay::udprelay::crypto_io::{decrypt_client_payload, encrypt_server_payload};

use super::super::{core, target};
use super::{associate, heard, hears_nothing, receive, socket};

#[tokio::test]
async fn a_shadowsocks_datagram_that_comes_again_or_is_not_for_us_is_dropped() {
    const METHOD: CipherKind = CipherKind::AEAD2022_BLAKE3_AES_128_GCM;
    let key = "MDEyMzQ1Njc4OWFiY2RlZg==";
    let (server, at) = socket().await;
    let core = core(
        json!([{ "type": "shadowsocks", "tag": "ss", "server": "127.0.0.1",
        "server_port": at.port(), "method": "2022-blake3-aes-128-gcm", "password": key }]),
    );
    let way = associate(&core, "ss").await.unwrap();
    way.send(b"query", &target("a.test:53")).await.unwrap();

    let context = Context::new_shared(ServerType::Server);
    let config = ServerConfig::new(at, key, METHOD).unwrap();
    let (mut packet, from) = heard(&server).await;
    let opened = decrypt_client_payload(&context, METHOD, config.key(), &mut packet, None);
    let (length, wanted, control) = opened.unwrap();
    assert_eq!(
        (&packet[..length], wanted.to_string()),
        (&b"query"[..], "a.test:53".into())
    );

    let source = Address::SocketAddress("192.0.2.7:53".parse().unwrap());
    let mut control = control.unwrap();
    let mut sealed = |payload: &[u8], session: u64, packet_id: u64| {
        control.client_session_id ^= session;
        (control.server_session_id, control.packet_id) = (9, packet_id);
        let mut packet = Default::default();
        encrypt_server_payload(
            &context,
            METHOD,
            config.key(),
            &source,
            &control,
            payload,
            &mut packet,
        );
        control.client_session_id ^= session;
        packet
    };
    let (one, two) = (sealed(b"one", 0, 0), sealed(b"two", 0, 1));
    let foreign = sealed(b"foreign", 1, 2);
    for packet in [&one[..], &one, &foreign, b"garbage", &two, &one] {
        server.send_to(packet, from).await.unwrap();
    }
    for expected in [b"one", b"two"] {
        let (payload, from) = receive(&*way).await.unwrap();
        assert_eq!(
            (&payload[..], from),
            (&expected[..], target("192.0.2.7:53"))
        );
    }
    hears_nothing(&*way).await;
}

#[tokio::test]
async fn a_shadowsocks_datagram_in_the_clear_that_is_cut_short_is_dropped() {
    let (server, at) = socket().await;
    let core = core(
        json!([{ "type": "shadowsocks", "tag": "ss", "server": "127.0.0.1",
        "server_port": at.port(), "method": "none" }]),
    );
    let way = associate(&core, "ss").await.unwrap();
    way.send(b"query", &target("a.test:53")).await.unwrap();
    let (packet, from) = heard(&server).await;
    assert_eq!(packet, b"\x03\x06a.test\0\x35query");
    let packets: [&[u8]; 3] = [b"", b"\x03\x01a", b"\x01\xc0\0\x02\x07\0\x35answer"];
    for packet in packets {
        server.send_to(packet, from).await.unwrap();
    }
    let expected = (b"answer".to_vec(), target("192.0.2.7:53"));
    assert_eq!(receive(&*way).await.unwrap(), expected);
}

#[tokio::test]
async fn a_shadowsocks_server_that_cuts_an_address_short_loses_that_packet_alone() {
    const METHOD: CipherKind = CipherKind::AES_128_GCM;
    let (server, at) = socket().await;
    let core = core(
        json!([{ "type": "shadowsocks", "tag": "ss", "server": "127.0.0.1",
        "server_port": at.port(), "method": "aes-128-gcm", "password": "secret" }]),
    );
    let way = associate(&core, "ss").await.unwrap();
    way.send(b"query", &target("a.test:53")).await.unwrap();
    let (_, from) = heard(&server).await;
    let config = ServerConfig::new(at, "secret", METHOD).unwrap();
    let sealed = |plain: &[u8]| {
        let salt = vec![7; METHOD.salt_len()];
        let mut rest = [plain, &vec![0; METHOD.tag_len()]].concat();
        Cipher::new(METHOD, config.key(), &salt).encrypt_packet(&mut rest);
        [salt, rest].concat()
    };
    for plain in [
        &b"\x03\x01a"[..],
        b"\x03",
        b"",
        b"\x01\xc0\0\x02\x07\0\x35answer",
    ] {
        server.send_to(&sealed(plain), from).await.unwrap();
    }
    let expected = (b"answer".to_vec(), target("192.0.2.7:53"));
    assert_eq!(receive(&*way).await.unwrap(), expected);
}
