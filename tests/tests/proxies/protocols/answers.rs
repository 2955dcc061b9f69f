//! Answers through every protocol and transport of a real sing-box.

use outwatch_tests::peers::{EXITS, Nginx, SingBox, Site, through};
use serde_json::{Value, json};

use super::super::world::{answer, fetch, get, head};
use super::all::{All, EXIT};

#[tokio::test(flavor = "multi_thread")]
async fn t2_every_protocol_over_every_transport_reaches_the_url() {
    let (web, all) = (Nginx::plain(), All::start());
    let core = all.core();
    for tag in all.tags() {
        let response = answer(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{tag}");
        let response = fetch(&core, tag, &get(&web.url("/ip"))).await;
        let told: Value = serde_json::from_slice(&response.body).expect("JSON");
        assert_eq!(told["ip"], EXITS[EXIT].address, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_every_protocol_leaves_names_to_the_server() {
    let (web, all) = (Nginx::plain(), All::start());
    let core = all.core();
    let url = format!("http://{}:{}/page", SingBox::SECRET_NAME, web.port(0));
    for tag in all.tags() {
        let response = answer(&core, tag, &url).await;
        assert_eq!((response.status, response.timing.dns), (200, None), "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t3_every_protocol_carries_https_and_a_second_round_trip() {
    let all = All::start();
    let web = Nginx::start(&[Site::Tls(&all.leaf(&["127.0.0.1"]))]);
    let core = all.core();
    let mut request = head(&format!("https://127.0.0.1:{}/generate_204", web.port(0)));
    request.repeat = true;
    for tag in all.tags() {
        let response = fetch(&core, tag, &request).await;
        assert_eq!(response.status, 204, "{tag}");
        assert!(response.timing.repeat.is_some(), "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_protocols_are_dialed_through_each_other() {
    let (web, all) = (Nginx::plain(), All::start());
    let first = "2022-blake3-aes-256-gcm";
    let others: Vec<&str> = all.tags().filter(|tag| *tag != first).collect();
    let mut outbounds = vec![all.outbound(first)];
    outbounds.extend(others.iter().map(|tag| through(all.outbound(tag), first)));
    let long = through(
        all.changed("trojan ws tls", json!({ "tag": "long" })),
        "vless early in header tls",
    );
    outbounds.push(long);
    let core = all.core_of(outbounds);
    for tag in others.into_iter().chain(["long"]) {
        let response = answer(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{tag}");
    }
}
