//! The text of the monitoring options, as anybody may write it. It must not know how it
//! is read.

use outwatch_engine::{ExpectedStatus, Options};
use outwatch_options::{Problem, read, write};

/// Any text is read or refused with reasons; what is read keeps the stated ranges (F-1
/// to F-3) and comes back the same when it is written.
///
/// # Panics
///
/// When that does not hold.
pub fn options(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match read(&text) {
        Ok((options, warnings)) => {
            is_in_range(&options);
            warnings.iter().for_each(is_told);
            let (again, warnings) = read(&write(&options)).expect("what was written is read");
            assert_eq!(again, options, "written and read is something else");
            assert_eq!(warnings, [], "what was written is doubtful");
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            problems.iter().for_each(is_told);
        }
    }
}

fn is_told(problem: &Problem) {
    assert!(!problem.message.is_empty(), "F-3: {problem:?}");
}

fn is_in_range(options: &Options) {
    let durations = [
        options.interval,
        options.url_test_timeout,
        options.idle_timeout,
        options.debounce_window,
    ];
    let marks = &options.on_demand_timeouts;
    let positive = durations.iter().chain(marks).all(|one| !one.is_zero());
    assert!(positive, "F-3: a duration of zero");
    assert!(!marks.is_empty() && marks.is_sorted_by(|a, b| a < b), "F-3");
    assert!(options.workers > 0 && options.immediate_limit > 0, "F-3");
    assert!(!options.urls.is_empty(), "F-3: no URL");
    for url in options.urls.iter().chain(&options.ipinfo_url) {
        let scheme = url.split(':').next().unwrap_or_default();
        let is_web = ["http", "https"].map(|one| scheme.eq_ignore_ascii_case(one));
        assert!(is_web.contains(&true), "F-3: {url}");
    }
    if let ExpectedStatus::List(ranges) = &options.expected_status {
        let ok = ranges
            .iter()
            .all(|range| 100 <= range.first && range.first <= range.last && range.last <= 599);
        assert!(ok && !ranges.is_empty(), "T-5: {ranges:?}");
    }
}
