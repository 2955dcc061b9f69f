//! G-1 to G-3: what a config says of groups, and what a person chooses.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Scene, ok};
use crate::config::{self, LoadOptions};
use crate::group::{GroupPlan, Policy};
use crate::proxy_core::SelectError;
use crate::report::Severity;

/// The plans of these outbounds, and what is wrong as `path: message`.
fn plans(outbounds: &Value) -> (Vec<GroupPlan>, Vec<String>) {
    let text = json!({ "outbounds": outbounds }).to_string();
    let read = config::read("c.json", text.as_bytes(), &LoadOptions::default());
    let config = read.config.expect("a config");
    let (plans, problems) = GroupPlan::of_config(&config.entries);
    let problems = problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .map(|problem| format!("{}: {}", problem.path, problem.message));
    (plans, problems.collect())
}

#[test]
fn g1_a_selector_starts_with_its_default_else_its_first_member() {
    let scene = Scene::new(Policy::Selected, &["a", "b"]);
    assert_eq!(scene.lead().as_deref(), Some("a"));
    let plan = GroupPlan {
        default: Some("b".into()),
        ..GroupPlan::new("g", Policy::Selected)
    };
    let scene = Scene::built(plan, scene.members, scene.cache);
    assert_eq!(scene.lead().as_deref(), Some("b"));
}

#[test]
fn g1_a_persons_choice_is_saved_and_no_result_moves_it() {
    let scene = Scene::new(Policy::Selected, &["a", "b"]);
    scene.groups.select("g", "b").unwrap();
    assert_eq!(scene.lead().as_deref(), Some("b"));
    assert!(!scene.hears(&[ok("a", 1, 1)]));
    assert_eq!(scene.tags(["x.test"]), ["b"]);
    assert_eq!(scene.restarted().lead().as_deref(), Some("b"));
}

#[test]
fn g1_what_cannot_be_chosen_says_why() {
    let scene = Scene::new(Policy::Selected, &["a"]);
    let stranger = SelectError::NotAMember {
        group: "g".into(),
        member: "z".into(),
    };
    assert_eq!(scene.groups.select("g", "z"), Err(stranger));
    let none = Err(SelectError::NoSuchGroup("a".into()));
    assert_eq!(scene.groups.select("a", "z"), none);
    let auto = Scene::new(Policy::ConsistentHashing, &["a"]);
    let fixed = Err(SelectError::Fixed("g".into()));
    assert_eq!(auto.groups.select("g", "a"), fixed);
}

#[test]
fn g2_a_urltest_has_a_tolerance_of_50_ms_and_takes_url_and_interval_for_nothing() {
    let (plans, problems) = plans(&json!([
        { "type": "direct", "tag": "a" },
        { "type": "urltest", "tag": "auto", "outbounds": ["a"], "url": "https://x.test/",
            "interval": "3m", "idle_timeout": "30m", "interrupt_exist_connections": true },
        { "type": "urltest", "tag": "exact", "outbounds": ["a"], "tolerance": 0 },
    ]));
    assert_eq!(problems, Vec::<String>::new());
    let lowest = |tolerance_ms| Policy::LowestDelay { tolerance_ms };
    assert_eq!(plans[0].policy, lowest(50));
    assert!(plans[0].interrupts && !plans[1].interrupts);
    assert_eq!(plans[1].policy, lowest(0));
}

#[test]
fn g3_a_balancer_has_four_strategies_and_their_defaults() {
    let balancer = |fields: Value| {
        let mut group = json!({ "type": "balancer", "tag": "g", "outbounds": ["a"] });
        group
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let (plans, problems) = plans(&json!([{ "type": "direct", "tag": "a" }, group]));
        assert_eq!(problems, Vec::<String>::new());
        plans[0].clone()
    };
    let plain = balancer(json!({}));
    assert_eq!(
        plain,
        GroupPlan::new("g", Policy::LowestDelay { tolerance_ms: 50 })
    );
    let exact = balancer(json!({ "strategy": "lowest-delay", "tolerance": 0, "max_retry": 3 }));
    assert_eq!(exact.policy, Policy::LowestDelay { tolerance_ms: 0 });
    assert_eq!(exact.retries, 3);
    let rotating = balancer(json!({ "strategy": "round-robin", "delay_acceptable_ratio": 1.5 }));
    assert_eq!(rotating.policy, Policy::RoundRobin { ratio: 1.5 });
    let hashing = balancer(json!({ "strategy": "consistent-hashing" }));
    assert_eq!(hashing.policy, Policy::ConsistentHashing);
    let sticky = |ttl| Policy::StickySessions {
        ratio: 2.0,
        ttl: Duration::from_secs(ttl),
    };
    assert_eq!(
        balancer(json!({ "strategy": "sticky-sessions" })).policy,
        sticky(600)
    );
    let short = balancer(json!({ "strategy": "sticky-sessions", "ttl": "1m30s" }));
    assert_eq!(short.policy, sticky(90));
}

#[test]
fn f4_an_unknown_field_of_a_group_is_a_warning() {
    let group = json!({ "type": "selector", "outbounds": ["a"], "url": "https://x.test/" });
    let text = json!({ "outbounds": [{ "type": "direct", "tag": "a" }, group] }).to_string();
    let read = config::read("c.json", text.as_bytes(), &LoadOptions::default());
    let (plans, problems) = GroupPlan::of_config(&read.config.expect("a config").entries);
    assert_eq!(plans.len(), 1);
    assert_eq!(
        (problems.len(), problems[0].severity),
        (1, Severity::Warning)
    );
    assert_eq!(problems[0].path, "outbounds[1].url");
}

#[test]
fn g3_wrong_options_of_a_group_name_the_field_and_the_value() {
    let (_, problems) = plans(&json!([
        { "type": "direct", "tag": "a" },
        { "type": "balancer", "outbounds": ["a"], "strategy": "random" },
        { "type": "balancer", "outbounds": ["a"], "delay_acceptable_ratio": 0.5 },
        { "type": "balancer", "outbounds": ["a"], "ttl": "0s" },
        { "type": "urltest", "outbounds": ["a"], "tolerance": -1 },
        { "type": "selector", "outbounds": ["a"], "interrupt_exist_connections": "yes" },
    ]));
    let places = [
        "outbounds[1].strategy",
        "outbounds[2].delay_acceptable_ratio",
        "outbounds[3].ttl",
        "outbounds[4].tolerance",
        "outbounds[5].interrupt_exist_connections",
    ];
    assert_eq!(problems.len(), places.len(), "{problems:#?}");
    for (problem, place) in problems.iter().zip(places) {
        assert!(problem.starts_with(place), "{problem} should be at {place}");
    }
    assert!(problems[1].contains("0.5 is no ratio"), "{}", problems[1]);
}
