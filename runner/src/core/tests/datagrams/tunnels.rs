//! Datagrams in the streams of trojan and VLESS: what is sent, to the byte, and what answers
//! they bear.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::servers::Server;
use super::super::{core, target};
use super::{associate, hears_nothing, receive};
use crate::NativeCore;
use crate::proxy_core::{Cause, FetchError, Phase, Target};

const UUID: &str = "00112233-4455-6677-8899-aabbccddeeff";

/// Records what it is told first, in hexadecimal digits, and sends `answer`.
async fn recorder(answer: &'static [u8]) -> Server {
    Server::recording(move |mut stream, asked| async move {
        let mut told = [0; 4096];
        let length = stream.read(&mut told).await.unwrap();
        let hex = told[..length].iter().map(|byte| format!("{byte:02x}"));
        asked.lock().unwrap().push(hex.collect());
        for byte in answer {
            stream.write_u8(*byte).await.unwrap();
            tokio::task::yield_now().await;
        }
        stream.shutdown().await.unwrap();
        while stream.read(&mut told).await.is_ok_and(|read| read > 0) {}
    })
    .await
}

/// An outbound of a type; `vless plain` is one that is told not to use XUDP.
fn of_server(type_name: &str, server: &Server) -> NativeCore {
    let mut outbound = json!({ "tag": "it", "server": "127.0.0.1", "server_port": server.port() });
    let fields = match type_name {
        "trojan" => json!({ "type": "trojan", "password": "password" }),
        "vless" => json!({ "type": "vless", "uuid": UUID }),
        _ => json!({ "type": "vless", "uuid": UUID, "packet_encoding": "" }),
    };
    let fields = fields.as_object().unwrap().clone();
    outbound.as_object_mut().unwrap().extend(fields);
    core(json!([outbound]))
}

/// What comes back on a way through `type_name` whose server answers so, until its end.
async fn answers(type_name: &str, answer: &'static [u8]) -> (Vec<(Vec<u8>, Target)>, FetchError) {
    let server = recorder(answer).await;
    let core = of_server(type_name, &server);
    let way = associate(&core, "it").await.unwrap();
    way.send(b"!", &target("a.test:53")).await.unwrap();
    let mut all = Vec::new();
    loop {
        match receive(&*way).await {
            Ok(received) => all.push(received),
            Err(error) => return (all, error),
        }
    }
}

#[tokio::test]
async fn trojan_and_vless_tell_who_asks_along_with_the_first_datagram() {
    // printf %s password | sha224sum, itself in ASCII.
    let digest = "d63dc919e201d7bc4c825630d2cf25fdc93d4b2f0d46706d29038d01";
    let key: String = digest.bytes().map(|byte| format!("{byte:02x}")).collect();
    let address = "0306612e746573740035";
    let trojan = format!("{key}0d0a03{address}0d0a{address}00010d0a21");
    // The head has 15 bytes: session, new, with data, UDP, port, and the name.
    let vless = "0000112233445566778899aabbccddeeff0003000f0000010102003502\
                 06612e74657374000121";
    let plain = "0000112233445566778899aabbccddeeff00020035\
                 0206612e74657374000121";
    for (type_name, expected) in [
        ("trojan", trojan.as_str()),
        ("vless", vless),
        ("vless plain", plain),
    ] {
        let server = recorder(b"").await;
        let core = of_server(type_name, &server);
        let way = associate(&core, "it").await.unwrap();
        // Receiving sends nothing by itself.
        hears_nothing(&*way).await;
        assert_eq!(server.asked(), Vec::<String>::new());
        way.send(b"!", &target("a.test:53")).await.unwrap();
        receive(&*way).await.unwrap_err();
        assert_eq!(server.asked(), [expected], "{type_name}");
    }
}

#[tokio::test]
async fn datagrams_in_a_stream_are_put_together_from_pieces() {
    let (heard, end) = answers(
        "trojan",
        b"\x01\xc0\0\x02\x07\0\x35\0\x03\r\none\x03\x03a b\0\x35\0\x03\r\nbad\
          \x03\x06b.test\0\x50\0\0\r\n",
    )
    .await;
    let expected = [
        (b"one".to_vec(), target("192.0.2.7:53")),
        (Vec::new(), target("b.test:80")),
    ];
    assert_eq!((&heard[..], end.cause), (&expected[..], Cause::Eof));

    let (heard, end) = answers(
        "vless",
        b"\0\0\
          \0\x0c\0\0\x02\x01\x02\0\x35\x01\xc0\0\x02\x07\0\x03one\
          \0\x04\0\0\x04\0\
          \0\x04\0\0\x04\x01\0\x04life\
          \0\x0c\0\0\x02\x01\x02\0\x35\x02\x03a b\0\x03bad\
          \0\x0f\0\0\x02\x01\x02\0\x50\x02\x06b.test\0\0\
          \0\x04\0\0\x03\0",
    )
    .await;
    assert_eq!((&heard[..], end.cause), (&expected[..], Cause::Eof));

    let (heard, end) = answers("vless plain", b"\0\0\0\x03one\0\0\0\x05cut").await;
    let asked = target("a.test:53");
    let expected = [(b"one".to_vec(), asked.clone()), (Vec::new(), asked)];
    assert_eq!((&heard[..], end.cause), (&expected[..], Cause::Eof));
}

#[tokio::test]
async fn t10_a_hostile_answer_ends_datagrams_in_words() {
    for (type_name, answer) in [
        ("trojan", &b"\x01\xc0\0\x02\x07\0\x35\0\x03--one"[..]),
        ("trojan", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        ("vless", b"\0\0\0\x03\0\0\x02"),
        ("vless", b"\x01\0"),
    ] {
        let (heard, end) = answers(type_name, answer).await;
        assert_eq!(heard, []);
        assert_eq!(
            (end.phase, end.cause),
            (Phase::Proxy, Cause::ProxyHandshake),
            "{end}"
        );
    }
    for (type_name, answer) in [
        ("trojan", &b""[..]),
        ("trojan", b"\x03\xffcut"),
        ("vless", b""),
        ("vless", b"\0\0\0\x0c\0\0"),
        (
            "vless",
            b"\0\0\0\x0c\0\0\x02\x01\x02\0\x35\x01\xc0\0\x02\x07\xff\xffcut",
        ),
    ] {
        let (heard, end) = answers(type_name, answer).await;
        assert_eq!(heard, []);
        assert_eq!((end.phase, end.cause), (Phase::Proxy, Cause::Eof), "{end}");
    }
}

#[tokio::test]
async fn a_datagram_too_long_for_a_proxy_is_lost_and_the_next_is_not() {
    for type_name in ["trojan", "vless", "vless plain"] {
        let server = recorder(b"").await;
        let core = of_server(type_name, &server);
        let way = associate(&core, "it").await.unwrap();
        let long = way.send(&[0; 65_536], &target("a.test:53")).await;
        assert_eq!(long.unwrap_err().cause, Cause::Unsupported);
        let name = target(&format!("{}:53", "a.".repeat(150)));
        assert_eq!(
            way.send(b"!", &name).await.unwrap_err().cause,
            Cause::Unsupported
        );
        way.send(b"!", &target("a.test:53")).await.unwrap();
        receive(&*way).await.unwrap_err();
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_datagram_to_another_target_is_refused_where_the_protocol_has_no_place_for_it() {
    let server = recorder(b"\0\0").await;
    let core = of_server("vless plain", &server);
    let way = associate(&core, "it").await.unwrap();
    way.send(b"!", &target("a.test:53")).await.unwrap();
    let error = way.send(b"!", &target("b.test:53")).await.unwrap_err();
    assert_eq!(error.cause, Cause::Unsupported);
    assert!(error.text.contains("packet_encoding"), "{error}");
}

#[tokio::test]
async fn what_ends_a_way_with_its_first_datagram_is_told_to_who_receives() {
    let server = Server::answering("HTTP/1.1 403 Forbidden\r\n\r\n").await;
    let core = core(
        json!([{ "type": "vless", "tag": "it", "server": "127.0.0.1",
        "server_port": server.port(), "uuid": UUID,
        "transport": { "type": "ws", "max_early_data": 2048 } }]),
    );
    let way = associate(&core, "it").await.unwrap();
    let sent = way.send(b"!", &target("a.test:53")).await.unwrap_err();
    let received = receive(&*way).await.unwrap_err();
    for error in [sent, received] {
        assert_eq!(
            (error.phase, error.cause),
            (Phase::Proxy, Cause::ProxyHandshake)
        );
        assert!(error.text.contains("403"), "{error}");
    }
}
