//! What a wrong password, key, uuid or method shows: a server that ends the connection
//! without a word, and a text that says what to look at.

use outwatch::{Cause, FetchError, Phase};
use outwatch_tests::peers::{Inbound, Nginx, Port, SingBox, with};
use serde_json::json;

use super::super::world::{answer, core, failure};
use super::all::{All, KEY, METHODS, PASSWORD, UUID};

/// The server ended the connection, and the text names the outbound and says `words`.
#[track_caller]
fn assert_ended(error: &FetchError, tag: &str, words: &str) {
    assert_eq!(error.phase, Phase::Proxy, "{tag}: {error:?}");
    let ended = [Cause::Eof, Cause::Reset].contains(&error.cause);
    assert!(ended, "{tag}: {error:?}");
    for words in [tag, words] {
        assert!(error.text.contains(words), "{words:?} is not in {error:?}");
    }
    for secret in [PASSWORD, KEY, "guess"] {
        assert!(!error.text.contains(secret), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_shadowsocks_password_ends_the_connection() {
    let (web, all) = (Nginx::plain(), All::start());
    let wrong = |method: &str| match method {
        "2022-blake3-aes-128-gcm" => "ISEhISEhISEhISEhISEhIQ==",
        method if method.starts_with("2022") => "ISEhISEhISEhISEhISEhISEhISEhISEhISEhISEhISE=",
        _ => "guess",
    };
    let methods = METHODS.iter().filter(|(method, _)| *method != "none");
    let methods: Vec<&str> = methods.map(|(method, _)| *method).collect();
    let outbounds = methods.iter().map(|method| {
        let password = json!({ "password": wrong(method) });
        all.changed(method, password)
    });
    let core = all.core_of(outbounds);
    for tag in methods {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_ended(&error, tag, "another password or method");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_shadowsocks_method_ends_the_connection() {
    let (web, all) = (Nginx::plain(), All::start());
    let core = all.core_of([
        all.changed("aes-128-gcm", json!({ "method": "chacha20-ietf-poly1305" })),
        all.changed(
            "2022-blake3-aes-256-gcm",
            json!({ "method": "2022-blake3-chacha20-poly1305" }),
        ),
    ]);
    for tag in ["aes-128-gcm", "2022-blake3-aes-256-gcm"] {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_ended(&error, tag, "another password or method");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_user_that_a_shadowsocks_server_does_not_know_is_cut_off() {
    let (web, all) = (Nginx::plain(), All::start());
    let password = format!("{KEY}:ISEhISEhISEhISEhISEhIQ==");
    let core = all.core_of([all.changed("user", json!({ "password": password }))]);
    let error = failure(&core, "user", &web.url("/generate_204")).await;
    assert_ended(&error, "user", "another password");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_trojan_password_ends_the_connection() {
    let (web, all) = (Nginx::plain(), All::start());
    let tags: Vec<&str> = all.tags().filter(|tag| tag.starts_with("trojan")).collect();
    let wrong = json!({ "password": "guess" });
    let core = all.core_of(tags.iter().map(|tag| all.changed(tag, wrong.clone())));
    for tag in tags {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_ended(&error, tag, "another password");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_vless_uuid_ends_the_connection() {
    let (web, all) = (Nginx::plain(), All::start());
    let tags: Vec<&str> = all.tags().filter(|tag| tag.starts_with("vless")).collect();
    let wrong = json!({ "uuid": "99999999-4b5a-4697-8877-665544332211" });
    let core = all.core_of(tags.iter().map(|tag| all.changed(tag, wrong.clone())));
    for tag in tags {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_ended(&error, tag, "another uuid");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_target_that_the_server_cannot_reach_ends_the_connection() {
    let all = All::start();
    let nobody = Port::reserve();
    let core = all.core();
    let url = format!("http://127.0.0.1:{}/generate_204", nobody.number());
    for tag in all.tags() {
        let error = failure(&core, tag, &url).await;
        assert_ended(&error, tag, "not reach the target");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_no_uuid_stands_for_the_one_that_sing_box_takes() {
    let web = Nginx::plain();
    let sing = SingBox::start([Inbound::vless("ann"), Inbound::vless(UUID)]);
    let bare = json!({ "uuid": UUID.replace('-', "") });
    let core = core([
        sing.outbound(0, "a word"),
        with(sing.outbound(1, "without dashes"), bare),
    ]);
    for tag in ["a word", "without dashes"] {
        let response = answer(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{tag}");
    }
}
