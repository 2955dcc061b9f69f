//! I and V: IP information and IPv6.

use outwatch_engine::{Cause, ErrorKind, Input, Ipv6, Ipv6Source, Outbound, State};

use crate::world::{Reply, World, address, body, ok, outbound, refused, silent, status};

const MINUTE: u64 = 60_000;

/// A world with one outbound whose lookups get this reply, and an own service.
fn world(lookups: Reply) -> World {
    World::new()
        .options(|options| {
            options.ip_lookup = true;
            options.ipinfo_url = Some("https://own.test/me".into());
        })
        .outbound("a", [lookups])
        .url_reply("a", "generate_204", [ok(50)])
}

/// The hosts asked through an outbound, in order.
fn hosts(world: &World, tag: &str) -> Vec<String> {
    let host = |url: &str| url.split('/').nth(2).expect("a host").to_string();
    world
        .lookups(tag)
        .iter()
        .map(|sent| host(&sent.probe.request.url))
        .collect()
}

#[test]
fn i1_own_service_then_the_round_from_a_random_start_then_the_last_resort_once_each() {
    let mut world = world(refused(10)).start();
    world.run_to(MINUTE);
    let hosts = hosts(&world, "a");
    assert_eq!(hosts[0], "own.test");
    assert_eq!(hosts.len(), 11);
    let mut round = hosts[1..8].to_vec();
    round.sort();
    round.dedup();
    assert_eq!(round.len(), 7);
    assert_eq!(
        hosts[8..],
        ["cloudflare.com", "api.country.is", "api.my-ip.io"]
    );
    assert_eq!(world.confirmed("a").ip, None);
}

#[test]
fn i1_the_first_answer_ends_the_lookup_and_each_request_is_bounded() {
    let mut world = world(silent()).url_reply("a", "own.test", [silent()]);
    for service in [
        "ipapi", "ip-api", "ipinfo", "ip.sb", "ipwho", "country", "my-ip",
    ] {
        let answer = r#"{"ip":"8.8.8.8","query":"8.8.8.8","status":"success","success":true}"#;
        world.replies_for("a", service, [body(30, answer)]);
    }
    let mut world = world.start();
    world.run_to(MINUTE);
    assert_eq!(world.lookups("a").len(), 2);
    let request = &world.lookups("a")[0].probe.request;
    assert_eq!(request.deadline.as_secs(), 5);
    assert!(!request.head && !request.repeat && request.body_limit >= 64 * 1024);
    assert_eq!(
        world.confirmed("a").ip.map(|ip| ip.ip),
        Some("8.8.8.8".into())
    );
}

#[test]
fn t7_the_display_view_says_whether_a_lookup_is_still_to_come() {
    for (reply, found) in [(body(30, &address("8.8.8.8")), true), (refused(30), false)] {
        let mut world = world(reply).start();
        assert!(!world.shown("a").ip_pending);
        let ticket = world.ask("a");
        world.run_to(50);
        assert!(world.answer(ticket).is_some(), "answered before the lookup");
        assert!(world.shown("a").ip_pending && !world.confirmed("a").ip_pending);
        world.run_to(MINUTE);
        assert!(!world.shown("a").ip_pending);
        assert_eq!(world.shown("a").ip.is_some(), found);
    }
}

#[test]
fn i3_an_answer_that_does_not_count_moves_to_the_next_service() {
    for answer in [
        status(10, 500),
        body(10, "<html>"),
        body(10, r#"{"error":true,"ip":"8.8.8.8"}"#),
        body(10, r#"{"ip":"192.168.1.1"}"#),
    ] {
        let mut world = world(refused(10))
            .url_reply("a", "own.test", [answer])
            .start();
        world.run_to(MINUTE);
        assert_eq!(world.lookups("a").len(), 11);
    }
}

#[test]
fn i5_a_lookup_of_the_same_address_keeps_what_it_lacks_and_of_another_does_not() {
    let full = body(
        10,
        r#"{"ip":"9.9.9.9","country_code":"de","city":"Berlin"}"#,
    );
    let mut first = world(full).start();
    first.run_to(MINUTE);
    for (ip, city) in [("9.9.9.9", Some("Berlin")), ("8.8.8.8", None)] {
        let mut second = world(body(10, &address(ip))).saved(&first.pairs).start();
        second.run_to(MINUTE);
        assert_eq!(
            second.confirmed("a").ip.and_then(|ip| ip.city).as_deref(),
            city
        );
    }
}

#[test]
fn i6_loaded_information_stays_marked_until_a_lookup_of_this_run_succeeds() {
    let mut first = world(body(10, &address("9.9.9.9"))).start();
    first.run_to(MINUTE);
    let mut second = world(refused(10)).saved(&first.pairs).start();
    assert!(second.confirmed("a").ip_from_cache);
    second.run_to(MINUTE);
    let report = second.confirmed("a");
    assert!(
        report.ip_from_cache && !report.from_cache,
        "they are two things"
    );
    second.replies_for("a", "own.test", [refused(1), body(10, &address("9.9.9.9"))]);
    second.ask("a");
    second.run_to(2 * MINUTE);
    assert!(!second.confirmed("a").ip_from_cache);
}

#[test]
fn i6_a_failed_test_changes_neither_the_information_nor_its_mark() {
    let mut first = world(body(10, &address("9.9.9.9"))).start();
    first.run_to(MINUTE);
    let mut second = world(refused(10))
        .url_reply("a", "generate_204", [refused(10)])
        .saved(&first.pairs)
        .start();
    second.run_to(MINUTE);
    let report = second.confirmed("a");
    assert_eq!(
        (report.state, report.ip.map(|ip| ip.ip)),
        (State::Failed, Some("9.9.9.9".into()))
    );
    assert!(report.ip_from_cache);
}

#[test]
fn i7_a_service_that_answered_429_is_skipped_for_its_time() {
    let tired = Reply::Status {
        after: 5,
        status: 429,
        headers: vec![("retry-after", "120".into())],
        body: String::new(),
    };
    let mut world = world(refused(10))
        .url_reply("a", "own.test", [tired])
        .start();
    world.run_to(MINUTE);
    world.ask("a");
    world.run_to(2 * MINUTE + 30_000);
    world.ask("a");
    world.run_to(4 * MINUTE);
    let own: Vec<u64> = world
        .lookups("a")
        .iter()
        .filter(|sent| sent.probe.request.url.contains("own"))
        .map(|sent| sent.at)
        .collect();
    assert_eq!(own, [50, 2 * MINUTE + 30_050]);
}

#[test]
fn i7_after_a_network_change_the_address_of_direct_is_unconfirmed_and_looked_up_again() {
    let direct = Outbound {
        exit_follows_host: true,
        ..outbound("direct")
    };
    let mut world = World::new()
        .options(|options| options.ip_lookup = true)
        .entry(direct)
        .url_reply("direct", "generate_204", [ok(50)])
        .outbound("a", [body(10, &address("8.8.8.8"))])
        .url_reply("a", "generate_204", [ok(50)]);
    let both = r#"{"ip":"9.9.9.9","query":"9.9.9.9","status":"success","success":true}"#;
    world.replies("direct", [body(10, both)]);
    world.replies("a", [body(10, both)]);
    let mut world = world.start();
    world.run_to(MINUTE);
    world.input([Input::NetworkChanged]);
    assert!(world.confirmed("direct").ip_from_cache && !world.confirmed("a").ip_from_cache);
    world.run_to(2 * MINUTE);
    assert!(!world.confirmed("direct").ip_from_cache);
    assert_eq!(
        (world.lookups("direct").len(), world.lookups("a").len()),
        (2, 1)
    );
}

#[test]
fn i7_an_address_of_direct_found_in_the_old_network_does_not_count() {
    let direct = Outbound {
        exit_follows_host: true,
        ..outbound("direct")
    };
    let mut world = World::new()
        .options(|options| {
            options.ip_lookup = true;
            options.ipinfo_url = Some("https://own.test/me".into());
        })
        .entry(direct)
        .url_reply("direct", "generate_204", [ok(50)])
        .url_reply(
            "direct",
            "own.test",
            [
                body(1_000, &address("9.9.9.9")),
                body(10, &address("8.8.8.8")),
            ],
        )
        .start();
    world.run_to(500);
    world.input([Input::NetworkChanged]);
    world.run_to(1_500);
    assert_eq!(world.confirmed("direct").ip, None);
    world.run_to(MINUTE);
    assert_eq!(
        world.confirmed("direct").ip.map(|ip| ip.ip),
        Some("8.8.8.8".into())
    );
}

#[test]
fn i8_i9_lookups_ask_for_no_redirect_and_the_hosts_are_known() {
    let mut world = world(refused(10)).start();
    world.run_to(MINUTE);
    let known: Vec<&str> = outwatch_engine::service_hosts().collect();
    let asked = hosts(&world, "a");
    assert!(
        asked
            .iter()
            .skip(1)
            .all(|host| known.contains(&host.as_str())),
        "{asked:?}"
    );
    assert!(
        world
            .lookups("a")
            .iter()
            .all(|sent| sent.probe.request.response_headers == ["retry-after"])
    );
}

#[test]
fn f2_without_ip_lookup_no_service_is_asked() {
    let mut world = world(refused(10))
        .options(|options| options.ip_lookup = false)
        .start();
    world.run_to(20 * MINUTE);
    assert!(world.lookups("a").is_empty());
}

#[test]
fn i1_a_lost_lookup_is_given_up_and_the_next_service_asked() {
    let mut world = world(refused(10))
        .url_reply("a", "own.test", [Reply::Stuck(None)])
        .start();
    world.run_to(MINUTE);
    assert_eq!(world.lookups("a")[1].at, 17_050);
    assert_eq!(world.canceled.len(), 1);
}

#[test]
fn v1_a_declaration_is_known_from_the_start_and_not_probed() {
    let mut world = World::new()
        .options(|options| {
            options.verify_ipv6 = true;
            options.ipv6_declared = [("a".into(), true)].into();
        })
        .outbound("a", [ok(50)])
        .start();
    assert_eq!(world.confirmed("a").ipv6, Ipv6::Yes);
    world.run_to(MINUTE);
    assert_eq!(world.sent.len(), 1);
    assert_eq!(world.confirmed("a").ipv6_source, Some(Ipv6Source::Declared));
}

#[test]
fn v2_after_a_success_the_url_is_fetched_over_ipv6_once_per_run_outside_the_delay() {
    for (reply, ipv6) in [(ok(900), Ipv6::Yes), (refused(10), Ipv6::No)] {
        let mut world = World::new()
            .options(|options| options.verify_ipv6 = true)
            .outbound("a", [ok(50), reply, ok(50)])
            .start();
        world.run_to(6 * MINUTE);
        let report = world.confirmed("a");
        assert_eq!(
            (report.ipv6, report.ipv6_source),
            (ipv6, Some(Ipv6Source::Verified))
        );
        assert_eq!((report.state, report.stats.failed), (State::Ok, 0));
        assert_eq!(world.ipv6_checks(), 1);
    }
}

#[test]
fn v2_without_an_ipv6_address_it_is_unknown_and_tried_with_the_next_success() {
    let none = Reply::Fail {
        after: 5,
        kind: ErrorKind::DnsFail,
    };
    let mut world = World::new()
        .options(|options| options.verify_ipv6 = true)
        .outbound("a", [ok(50), none.clone(), ok(50), none])
        .start();
    world.run_to(MINUTE);
    assert_eq!(world.confirmed("a").ipv6, Ipv6::Unknown);
    world.connection_failed("a", Cause::Member);
    world.run_to(2 * MINUTE);
    assert_eq!(world.ipv6_checks(), 2);
}

#[test]
fn v2_after_a_failure_nothing_is_checked() {
    let mut world = World::new()
        .options(|options| options.verify_ipv6 = true)
        .outbound("a", [refused(50)])
        .start();
    world.run_to(MINUTE);
    assert!(world.sent.iter().all(|sent| !sent.probe.request.ipv6_only));
}
