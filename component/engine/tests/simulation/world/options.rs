//! Random options, each within its range. It must not know what they do.

use std::time::Duration;

use outwatch_engine::{ExpectedStatus, Options, StatusRange};

use crate::random::Random;

pub(super) fn options(random: &mut Random) -> Options {
    let urls = [
        "http://one.test/generate_204",
        "http://two.test/",
        "http://three.test/",
    ]
    .map(String::from);
    let many = usize::try_from(random.below(3) + 1).expect("small");
    let own = [
        None,
        Some("http://own.test/ip"),
        Some("http://127.0.0.1/ip"),
    ];
    let declared = [("t1", true), ("t2", false)];
    let declared = declared.map(|(tag, carries)| (tag.to_string(), carries));
    Options {
        interval: Duration::from_secs(random.pick(&[5, 10, 60, 300])),
        urls: urls[..many].to_vec(),
        ipinfo_url: random.pick(&own).map(String::from),
        verify_ipv6: random.one_in(2),
        ipv6_declared: declared.into_iter().filter(|_| random.one_in(2)).collect(),
        workers: random.pick(&[1, 1, 2, 3, 10]),
        url_test_timeout: Duration::from_millis(random.pick(&[800, 5_000, 5_000])),
        on_demand_timeouts: marks(random),
        idle_timeout: Duration::from_secs(random.pick(&[5, 60, 600])),
        debounce_window: Duration::from_millis(random.pick(&[10, 500, 4_000])),
        expected_status: expected_status(random),
        unified_delay: random.one_in(3),
        ip_lookup: !random.one_in(4),
        immediate_limit: random.pick(&[1, 1, 2, 4, 32]),
    }
}

/// One mark, the usual three, or many.
fn marks(random: &mut Random) -> Vec<Duration> {
    let marks: [&[u64]; 4] = [
        &[2_000],
        &[1_000, 3_000, 10_000],
        &[1_000, 3_000, 10_000],
        &[100, 500, 900, 1_500, 2_500, 4_000, 9_000, 20_000],
    ];
    let marks = random.pick(&marks);
    marks.iter().copied().map(Duration::from_millis).collect()
}

fn expected_status(random: &mut Random) -> ExpectedStatus {
    let range = |first, last| StatusRange { first, last };
    random.pick(&[
        ExpectedStatus::Auto,
        ExpectedStatus::Auto,
        ExpectedStatus::Any,
        ExpectedStatus::List(vec![range(204, 204), range(400, 499)]),
    ])
}
