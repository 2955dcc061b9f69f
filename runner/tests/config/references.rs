//! Tags and what they lead to: duplicates, members, defaults, detours, loops.

use insta::assert_snapshot;
use outwatch::config::LoadOptions;

use crate::{PLAIN, accept, accept_with, check, tags};

const DEDUPE: LoadOptions = LoadOptions {
    dedupe_tags: true,
    ..PLAIN
};

#[test]
fn f5_a_duplicate_tag_is_an_error_naming_both() {
    assert_snapshot!(check("{ \"outbounds\": [\n { \"type\": \"direct\", \"tag\": \"a\" },\n { \"type\": \"direct\", \"tag\": \"a\" } ],\n\"endpoints\": [ { \"type\": \"wireguard\", \"tag\": \"a\" } ] }"), @r#"
    c.json:3:22: error: outbounds[1].tag: the tag "a" of outbounds[1] is taken by outbounds[0]
      hint: give each its own tag, or load with --dedupe-tags
    c.json:4:39: error: endpoints[0].tag: the tag "a" of endpoints[0] is taken by outbounds[0]
      hint: give each its own tag, or load with --dedupe-tags
    "#);
}

#[test]
fn f5_deduped_tags_skip_those_that_are_taken() {
    let config = accept_with(
        r#"{ "outbounds": [
            { "type": "direct", "tag": "a" }, { "type": "direct", "tag": "a" },
            { "type": "direct", "tag": "a" }, { "type": "direct", "tag": "a #2" },
            { "type": "selector", "tag": "s", "outbounds": ["a", "a #3"] } ] }"#,
        &DEDUPE,
    );
    assert_eq!(tags(&config), ["a", "a #3", "a #4", "a #2", "s"]);
}

#[test]
fn f5_an_untagged_outbound_gets_its_index_and_an_untagged_endpoint_its_path() {
    let config = accept(
        r#"{ "outbounds": [{ "type": "direct" }, { "type": "direct", "tag": "" }],
             "endpoints": [{ "type": "wireguard", "tag": null }, { "type": "wireguard", "tag": "0 " }] }"#,
    );
    assert_eq!(tags(&config), ["0", "1", "endpoints[0]", "0 "]);
}

#[test]
fn f5_a_made_up_tag_gives_way_to_one_of_the_file() {
    let config = accept(
        r#"{ "outbounds": [{ "type": "direct" }, { "type": "direct", "tag": "0" }, { "type": "direct", "tag": "0 #2" }] }"#,
    );
    assert_eq!(tags(&config), ["0 #3", "0", "0 #2"]);
}

#[test]
fn f5_tags_are_opaque() {
    let tag = "🇮🇷 سریع / #1 %20 \u{200f}e\u{301}";
    let config = accept(&format!(
        r#"{{ "outbounds": [{{ "type": "direct", "tag": "{tag}" }}, {{ "type": "direct", "tag": "{tag} " }},
             {{ "type": "urltest", "tag": "auto", "outbounds": ["{tag}", "{tag} "] }}] }}"#
    ));
    assert_eq!(config.entries[0].tag, tag);
    assert_eq!(
        config.entries[2].members,
        [tag.to_owned(), format!("{tag} ")]
    );
}

#[test]
fn f5_members_that_do_not_exist_are_errors_with_a_suggestion() {
    assert_snapshot!(check("{ \"outbounds\": [\n { \"type\": \"direct\", \"tag\": \"Frankfurt\" },\n { \"type\": \"selector\", \"tag\": \"s\", \"outbounds\": [\n   \"Frankfrut\", \"frankfurt\", \"Paris\", 5 ] } ] }"), @r#"
    c.json:4:4: error: outbounds[1].outbounds[0]: there is no outbound or endpoint "Frankfrut"
      hint: did you mean "Frankfurt"?
    c.json:4:17: error: outbounds[1].outbounds[1]: there is no outbound or endpoint "frankfurt"
      hint: did you mean "Frankfurt"?
    c.json:4:30: error: outbounds[1].outbounds[2]: there is no outbound or endpoint "Paris"
      hint: correct the tag, or remove it from the group
    c.json:4:39: error: outbounds[1].outbounds[3]: expected the tag of an outbound (found 5)
    "#);
}

#[test]
fn f5_a_repeated_member_is_dropped_with_a_warning() {
    assert_snapshot!(check(r#"{ "outbounds": [{ "type": "direct", "tag": "a" }, { "type": "urltest", "tag": "u", "outbounds": ["a", "a"] }] }"#), @r#"
    c.json:1:103: warning: outbounds[1].outbounds[1]: "a" is already member 0 of this group; this one is dropped
      hint: remove one of them
    "#);
}

#[test]
fn f5_a_group_needs_members() {
    assert_snapshot!(check("{ \"outbounds\": [\n { \"type\": \"selector\", \"tag\": \"s\" },\n { \"type\": \"urltest\", \"outbounds\": [] },\n { \"type\": \"balancer\", \"outbounds\": null },\n { \"type\": \"selector\", \"outbounds\": { \"a\": 1 } } ] }"), @r#"
    c.json:2:2: error: outbounds[0]: the group "s" has no members
      hint: list the tags of at least one outbound in `outbounds`
    c.json:3:2: error: outbounds[1]: the group "1" has no members
      hint: list the tags of at least one outbound in `outbounds`
    c.json:4:2: error: outbounds[2]: the group "2" has no members
      hint: list the tags of at least one outbound in `outbounds`
    c.json:5:24: error: outbounds[3].outbounds: expected a list of tags (found an object)
    "#);
}

#[test]
fn f5_a_bare_string_is_a_list_of_one() {
    let config = accept(
        r#"{ "outbounds": [{ "type": "direct", "tag": "a" }, { "type": "selector", "outbounds": "a", "default": "a" }] }"#,
    );
    assert_eq!(config.entries[1].members, ["a"]);
    assert_snapshot!(check(r#"{ "outbounds": [{ "type": "selector", "outbounds": "b" }] }"#), @r#"
    c.json:1:39: error: outbounds[0].outbounds: there is no outbound or endpoint "b"
      hint: correct the tag, or remove it from the group
    "#);
}

#[test]
fn f5_a_default_is_a_member() {
    assert_snapshot!(check(r#"{ "outbounds": [{ "type": "direct", "tag": "a1" }, { "type": "direct", "tag": "b" },
 { "type": "selector", "outbounds": ["a1"], "default": "b" },
 { "type": "selector", "outbounds": ["a1"], "default": "a2" },
 { "type": "selector", "outbounds": ["a1"], "default": 1 }] }"#), @r#"
 c.json:2:45: error: outbounds[2].default: "b" is not a member of this group
   hint: the default is one of the tags in `outbounds`
 c.json:3:45: error: outbounds[3].default: "a2" is not a member of this group
   hint: did you mean "a1"?
 c.json:4:45: error: outbounds[4].default: expected a text in double quotes (found 1)
 "#);
}

#[test]
fn d5_a_detour_that_names_nothing_is_a_warning_and_stays() {
    let text = r#"{ "outbounds": [{ "type": "socks", "tag": "a", "detour": "entry-2" }, { "type": "socks", "tag": "entry-1" }] }"#;
    assert_snapshot!(check(text), @r#"
    c.json:1:48: warning: outbounds[0].detour: there is no outbound or endpoint "entry-2" to dial through
      hint: did you mean "entry-1"?
    "#);
    let config = outwatch::config::read("c.json", text.as_bytes(), &PLAIN)
        .config
        .unwrap();
    assert_eq!(config.entries[0].detour.as_deref(), Some("entry-2"));
}

#[test]
fn f5_a_group_has_no_detour() {
    assert_snapshot!(check(r#"{ "outbounds": [{ "type": "direct", "tag": "a" }, { "type": "selector", "outbounds": ["a"], "detour": "a" }] }"#), @r#"
    c.json:1:93: warning: outbounds[1].detour: a group does not dial, so its detour is ignored
      hint: set the detour at the members
    "#);
}

#[test]
fn f5_a_loop_is_an_error_that_prints_the_way() {
    assert_snapshot!(check(r#"{ "outbounds": [{ "type": "socks", "tag": "A", "detour": "B" }, { "type": "socks", "tag": "B", "detour": "A" }] }"#), @r#"
    c.json:1:48: error: outbounds[0].detour: a loop: A -> B -> A
      hint: a member or a detour must not lead back; remove one of these links
    "#);
    assert_snapshot!(check(r#"{ "outbounds": [{ "type": "socks", "tag": "self", "detour": "self" }] }"#), @r#"
    c.json:1:51: error: outbounds[0].detour: a loop: self -> self
      hint: a member or a detour must not lead back; remove one of these links
    "#);
    assert_snapshot!(check(r#"{ "outbounds": [{ "type": "selector", "tag": "G", "outbounds": ["G"] }] }"#), @r#"
    c.json:1:51: error: outbounds[0].outbounds: a loop: G -> G
      hint: a member or a detour must not lead back; remove one of these links
    "#);
}

#[test]
fn f5_a_loop_through_members_and_detours_is_one_too() {
    assert_snapshot!(check(r#"{ "outbounds": [
 { "type": "selector", "tag": "all", "outbounds": ["x", "auto"] },
 { "type": "urltest", "tag": "auto", "outbounds": ["de"] },
 { "type": "socks", "tag": "de", "detour": "all" },
 { "type": "direct", "tag": "x" }] }"#), @r#"
 c.json:2:38: error: outbounds[0].outbounds: a loop: all -> auto -> de -> all
   hint: a member or a detour must not lead back; remove one of these links
 "#);
}

#[test]
fn f5_each_loop_is_reported_once() {
    assert_snapshot!(check(r#"{ "outbounds": [
 { "type": "socks", "tag": "in", "detour": "A" },
 { "type": "selector", "tag": "A", "outbounds": ["B", "C", "x"] },
 { "type": "socks", "tag": "B", "detour": "A" },
 { "type": "socks", "tag": "C", "detour": "A" },
 { "type": "socks", "tag": "also in", "detour": "C" },
 { "type": "direct", "tag": "x" }] }"#), @r#"
 c.json:3:36: error: outbounds[1].outbounds: a loop: A -> B -> A
   hint: a member or a detour must not lead back; remove one of these links
 c.json:3:36: error: outbounds[1].outbounds: a loop: A -> C -> A
   hint: a member or a detour must not lead back; remove one of these links
 "#);
}

#[test]
fn f5_a_long_loop_is_cut_in_the_middle() {
    let chain: Vec<_> = (0..1000)
        .map(|n| {
            format!(
                r#"{{ "type": "socks", "tag": "n{n}", "detour": "n{}" }}"#,
                (n + 1) % 1000
            )
        })
        .collect();
    assert_snapshot!(check(&format!("{{ \"outbounds\": [{}] }}", chain.join(","))), @r#"
    c.json:1:49: error: outbounds[0].detour: a loop: n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> (988 more) -> n994 -> n995 -> n996 -> n997 -> n998 -> n999 -> n0
      hint: a member or a detour must not lead back; remove one of these links
    "#);
}

#[test]
fn f5_members_of_entries_that_are_wrong_themselves_are_no_second_error() {
    assert_snapshot!(check(r#"{ "outbounds": [{ "tag": "a" }, { "type": "selector", "outbounds": ["a"] }] }"#), @r#"
    c.json:1:17: error: outbounds[0]: the field `type` is missing
      hint: the type is a word such as "socks", "http", "direct" or "selector"
    "#);
}
