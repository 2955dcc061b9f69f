//! SOCKS 5, 4 and 4a, byte by byte.

use std::sync::Arc;

use super::{Fake, Raw, closed, open};

/// A reply of SOCKS 5 with this code.
fn reply(code: u8) -> [u8; 10] {
    [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// A request of SOCKS 5 for port 80 of a name.
fn request(command: u8, name: &str) -> Vec<u8> {
    let mut request = vec![5, command, 0, 3, u8::try_from(name.len()).unwrap()];
    request.extend(name.as_bytes());
    request.extend([0, 80]);
    request
}

#[tokio::test]
async fn a_connection_by_name_or_address_reaches_its_target() {
    for type_name in ["mixed", "socks"] {
        let fake = Arc::new(Fake::default());
        let inbound = open(type_name, &fake);
        let v4 = b"\x05\x01\x00\x01\xc0\x00\x02\x07\x01\xbb".to_vec();
        let v6 = [
            &b"\x05\x01\x00\x04"[..],
            &[0x20, 1, 0xd, 0xb8],
            &[0; 11],
            &[1, 1, 0xbb],
        ]
        .concat();
        for request in [request(1, "echo.test"), v4, v6] {
            let mut client = Raw::connect(&inbound).await;
            client.says([5, 2, 0, 2], [5, 0]).await;
            client.says(request, reply(0)).await;
            client.echoes().await;
        }
        assert_eq!(
            fake.asked(),
            ["echo.test:80", "192.0.2.7:443", "[2001:db8::1]:443"]
        );
        assert_eq!(fake.last_user(), None);
    }
}

#[tokio::test]
async fn what_is_sent_before_the_reply_is_not_lost() {
    let inbound = open("mixed", &Arc::new(Fake::default()));
    let mut client = Raw::connect(&inbound).await;
    let eager = [&[5, 1, 0][..], &request(1, "echo.test"), b"eager"].concat();
    let answer = [&[5, 0][..], &reply(0), b"eager"].concat();
    client.says(eager, answer).await;
}

#[tokio::test]
async fn the_right_password_opens_and_names_the_user() {
    let fake = Arc::new(Fake::default());
    let inbound = closed("socks", &fake);
    let mut client = Raw::connect(&inbound).await;
    client.says([5, 2, 0, 2], [5, 2]).await;
    client.says(b"\x01\x03ann\x06secret", [1, 0]).await;
    client.says(request(1, "echo.test"), reply(0)).await;
    client.echoes().await;
    assert_eq!(fake.last_user().as_deref(), Some("ann"));
}

#[tokio::test]
async fn a_wrong_password_or_none_is_refused_and_asks_nothing_of_the_upstream() {
    let fake = Arc::new(Fake::default());
    let inbound = closed("socks", &fake);
    let mut client = Raw::connect(&inbound).await;
    client.says([5, 1, 2], [5, 2]).await;
    client.says(b"\x01\x03ann\x05guess", [1, 1]).await;
    assert_eq!(client.rest().await, b"");

    let mut client = Raw::connect(&inbound).await;
    client.says([5, 1, 0], [5, 0xff]).await;
    assert_eq!(client.rest().await, b"");
    assert_eq!(fake.asked(), [""; 0]);
}

#[tokio::test]
async fn each_cause_has_its_reply_code() {
    let inbound = open("mixed", &Arc::new(Fake::default()));
    let codes = [
        ("refused.test", 5),
        ("nowhere.test", 4),
        ("unknown.test", 4),
        ("slow.test", 6),
        ("broken.test", 1),
    ];
    for (name, code) in codes {
        let mut client = Raw::connect(&inbound).await;
        client.says([5, 1, 0], [5, 0]).await;
        client.says(request(1, name), reply(code)).await;
        assert_eq!(client.rest().await, b"", "{name}");
    }
}

#[tokio::test]
async fn commands_and_addresses_that_there_are_not_are_told() {
    let fake = Arc::new(Fake::default());
    let inbound = open("socks", &fake);
    let requests = [
        // BIND.
        (request(2, "echo.test"), 7),
        // A UDP association where no datagrams are carried.
        (request(3, "echo.test"), 7),
        (vec![5, 1, 0, 9, 1, 2, 3, 4, 0, 80], 8),
        (request(1, "no such host"), 1),
    ];
    for (request, code) in requests {
        let mut client = Raw::connect(&inbound).await;
        client.says([5, 1, 0], [5, 0]).await;
        client.says(request, reply(code)).await;
        assert_eq!(client.rest().await, b"");
    }
    assert_eq!(fake.asked(), ["datagrams"]);
}

#[tokio::test]
async fn socks_4_and_4a_reach_their_targets() {
    let fake = Arc::new(Fake::default());
    let inbound = open("mixed", &fake);
    let granted = [0, 0x5a, 0, 0, 0, 0, 0, 0];
    for request in [
        &b"\x04\x01\x00\x50\xc0\x00\x02\x07me\0"[..],
        b"\x04\x01\x00\x50\x00\x00\x00\x01\0echo.test\0",
    ] {
        let mut client = Raw::connect(&inbound).await;
        client.says(request, granted).await;
        client.echoes().await;
    }
    assert_eq!(fake.asked(), ["192.0.2.7:80", "echo.test:80"]);

    let mut client = Raw::connect(&inbound).await;
    let refused = [0, 0x5b, 0, 0, 0, 0, 0, 0];
    client
        .says(b"\x04\x01\x00\x50\x00\x00\x00\x01\0refused.test\0", refused)
        .await;
    assert_eq!(client.rest().await, b"");
}

#[tokio::test]
async fn socks_4_lets_in_a_user_without_a_password_alone() {
    let fake = Arc::new(Fake::default());
    let users = serde_json::json!([
        { "username": "ann", "password": "secret" }, { "username": "bob" },
    ]);
    let inbound = serde_json::json!({ "type": "socks", "listen_port": 0, "users": users });
    let inbound = super::serve(inbound, &fake);
    for (request, code) in [
        (&b"\x04\x01\x00\x50\xc0\x00\x02\x07bob\0"[..], 0x5a),
        (b"\x04\x01\x00\x50\xc0\x00\x02\x07ann\0", 0x5d),
        (b"\x04\x01\x00\x50\xc0\x00\x02\x07\0", 0x5d),
    ] {
        let mut client = Raw::connect(&inbound).await;
        client.says(request, [0, code, 0, 0, 0, 0, 0, 0]).await;
    }
    assert_eq!(fake.asked().len(), 1);
    assert_eq!(fake.last_user().as_deref(), Some("bob"));
}
