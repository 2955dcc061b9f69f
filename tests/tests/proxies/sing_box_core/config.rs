//! Configs that sing-box refuses, in whole or in part, and going over to others.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use outwatch::config::Config;
use outwatch::{
    Cause, Kind, Network, Phase, ProxyCore as _, Readiness, Severity, SingBoxCore, SingBoxError,
};
use outwatch_tests::peers::{Microsocks, Nginx, Port, sing_box_program, socks, through};
use serde_json::{Value, json};

use super::world::{answer, core, core_and_problems, core_of, fail};
use crate::proxies::world::{assert_failed, head, read};

async fn refused(config: &Value) -> SingBoxError {
    let started = SingBoxCore::start(&sing_box_program(), &read(config)).await;
    started.err().unwrap_or_else(|| panic!("{config} is taken"))
}

#[tokio::test(flavor = "multi_thread")]
async fn d6_outbounds_that_it_refuses_are_left_out_in_its_words_and_the_others_go_on() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let (core, problems) = core_and_problems(&json!({
        "outbounds": [
            { "type": "carrier-pigeon", "tag": "pigeon", "server": "loft.example" },
            proxy.outbound("good"),
            { "type": "selector", "tag": "choice", "outbounds": ["pigeon", "good"] },
            {
                "type": "shadowsocks", "tag": "method", "server": "127.0.0.1", "server_port": 1,
                "method": "rot13", "password": "hunter22",
            },
            { "type": "vless", "tag": "field", "server": "127.0.0.1", "server_port": 1,
              "uuid": "b831381d-6324-4d53-ad4f-8cda48b30811", "flavour": "none" },
            { "type": "socks", "tag": "behind", "server": "127.0.0.1", "server_port": 1,
              "detour": "pigeon" },
            { "type": "tor", "tag": "late", "executable_path": "/no/such/tor" },
        ],
        "endpoints": [{ "type": "tailscale", "tag": "net" }],
    }))
    .await;
    let found: Vec<_> = problems
        .iter()
        .map(|problem| problem.path.as_str())
        .collect();
    let expected = [
        "outbounds[0]",
        "outbounds[4].flavour",
        "outbounds[3]",
        "endpoints[0]",
        "outbounds[6]",
    ];
    for path in expected {
        assert!(found.contains(&path), "{path} in {problems:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{problems:#?}");
    assert!(
        problems
            .iter()
            .all(|problem| problem.severity == Severity::Warning)
    );
    let words = [
        ("pigeon", "unknown outbound type: carrier-pigeon"),
        ("method", "unknown method: rot13"),
        ("field", "unknown field \"flavour\""),
        ("behind", "its detour `pigeon` cannot be used"),
        ("late", "/no/such/tor"),
        ("net", "not included in this build"),
    ];
    for (tag, words) in words {
        match core.status(tag) {
            Readiness::Unsupported(why) => assert!(why.contains(words), "{tag}: {why}"),
            other => panic!("{tag}: {other:?}"),
        }
    }
    for tag in ["good", "choice"] {
        assert_eq!(core.status(tag), Readiness::Ready, "{tag}");
        assert_eq!(
            answer(&core, tag, &web.url("/generate_204")).await.status,
            204,
            "{tag}"
        );
    }
    let list = core.list();
    assert_eq!(list.len(), 8);
    assert_eq!(list.last().map(|net| net.kind), Some(Kind::Endpoint));
}

#[tokio::test(flavor = "multi_thread")]
async fn f4_what_it_refuses_elsewhere_is_an_error_at_its_place_in_the_file() {
    let direct = json!([{ "type": "direct", "tag": "direct" }]);
    let error = refused(&json!({
        "dns": { "servers": [{ "type": "local", "tag": "a" }, { "type": "pigeon", "tag": "b" }] },
        "outbounds": direct,
    }))
    .await;
    match error {
        SingBoxError::Refused(problems) => {
            let [problem] = problems.as_slice() else {
                panic!("{problems:?}")
            };
            assert_eq!(problem.path, "dns.servers[1]");
            assert_eq!(problem.severity, Severity::Error);
            assert!(problem.message.contains("pigeon"), "{problem:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn something_deprecated_is_allowed_once_more_and_told() {
    let web = Nginx::plain();
    let (core, problems) = core_and_problems(&json!({
        "outbounds": [{ "type": "direct", "tag": "direct", "domain_strategy": "ipv4_only" }],
    }))
    .await;
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].message.contains("deprecated"), "{problems:#?}");
    assert_eq!(
        answer(&core, "direct", &web.url("/generate_204"))
            .await
            .status,
        204
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_no_sing_box_is_told_so() {
    let config = read(&json!({ "outbounds": [{ "type": "direct" }] }));
    for program in ["/bin/true", "/no/such/program"] {
        let error = SingBoxCore::start(program.as_ref(), &config).await.err();
        let said = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(program), "{said}");
    }
}

fn config_of(outbounds: &Value) -> Config {
    read(&json!({ "outbounds": outbounds }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_goes_over_to_another_config_and_keeps_selections() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let choice = json!({ "type": "selector", "tag": "choice", "outbounds": ["one", "two"] });
    let core = core([
        proxy.outbound("one"),
        json!({ "type": "direct", "tag": "two" }),
        choice.clone(),
    ])
    .await;
    core.select("choice", Network::Tcp, "two").unwrap();
    let before = core.process_id();
    let next = config_of(&json!([choice, { "type": "direct", "tag": "two" },
        proxy.outbound("new"), proxy.outbound("one")]));
    assert_eq!(core.reload(&next).await.unwrap(), []);
    let tags: Vec<String> = core
        .list()
        .into_iter()
        .map(|outbound| outbound.tag)
        .collect();
    assert_eq!(tags, ["choice", "two", "new", "one"]);
    assert_eq!(
        core.selected("choice", Network::Tcp).as_deref(),
        Some("two")
    );
    assert_ne!(core.process_id(), before);
    for tag in ["new", "choice"] {
        assert_eq!(
            answer(&core, tag, &web.url("/generate_204")).await.status,
            204,
            "{tag}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_that_is_refused_leaves_all_as_it_was() {
    let web = Nginx::plain();
    let core = core_of(&json!({ "outbounds": [{ "type": "direct", "tag": "direct" }] })).await;
    let before = core.process_id();
    let broken = read(&json!({
        "certificate": { "certificate": ["this is no certificate"] },
        "outbounds": [{ "type": "direct", "tag": "other" }],
    }));
    let error = core.reload(&broken).await.unwrap_err();
    assert!(matches!(error, SingBoxError::Refused(_)), "{error:?}");
    assert_eq!(core.process_id(), before);
    assert_eq!(
        answer(&core, "direct", &web.url("/generate_204"))
            .await
            .status,
        204
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_without_an_api_is_started_anew_to_switch_a_group() {
    let web = Nginx::plain();
    let nobody = Port::reserve();
    let (good, last) = (Microsocks::start(), Microsocks::start());
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("sing-box");
    let real = sing_box_program();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = version ]; then echo 'sing-box version 1.14.0'\n\
         else exec '{}' \"$@\"; fi\n",
        real.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let config = config_of(&json!([
        good.outbound("good"),
        socks("dead", nobody.number()),
        json!({ "type": "selector", "tag": "choice", "outbounds": ["good", "dead"] }),
        through(last.outbound("behind"), "choice"),
    ]));
    let (core, _) = SingBoxCore::start(&program, &config).await.unwrap();
    let before = core.process_id();
    core.select("choice", Network::Tcp, "dead").unwrap();
    let error = fail(&core, "behind", &head(&web.url("/generate_204"))).await;
    assert_failed(&error, Phase::Dial, Cause::Refused, "connection refused");
    assert_ne!(core.process_id(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn d6_many_that_are_refused_among_many_are_all_left_out() {
    let bad = |n: usize| n % 25 == 7;
    let outbounds: Vec<Value> = (0..250)
        .map(|n| {
            let port = if bad(n) { 70_000 } else { 1080 };
            json!({ "type": "socks", "tag": format!("{n}"), "server": "127.0.0.1", "server_port": port })
        })
        .collect();
    let (core, problems) = core_and_problems(&json!({ "outbounds": outbounds })).await;
    let paths: Vec<&str> = problems
        .iter()
        .map(|problem| problem.path.as_str())
        .collect();
    let expected: Vec<String> = (0..250)
        .filter(|n| bad(*n))
        .map(|n| format!("outbounds[{n}].server_port"))
        .collect();
    assert_eq!(paths, expected);
    for n in 0..250 {
        let ready = core.status(&n.to_string()) == Readiness::Ready;
        assert_eq!(ready, !bad(n), "{n}");
    }
}
