//! Saved results (P): what is written is sound, and what worked is known to the next
//! run. It must not know when results are saved.

use outwatch_engine::{Kind, Monitor, Now, SAVED_PREFIX, State, View};

use crate::world::NEWER;

pub(crate) fn is_sound(delete: &[String], set: &[(String, Vec<u8>)]) {
    assert!(!delete.is_empty() || !set.is_empty(), "P-3: an empty write");
    for (key, value) in set {
        assert!(
            key.starts_with(SAVED_PREFIX) && !delete.contains(key),
            "P-2"
        );
        let value: serde_json::Value = serde_json::from_slice(value).expect("P-3: JSON");
        assert!(value["delay_ms"].as_u64() >= Some(1), "P-1: {value}");
        assert!(value.get("error").is_none(), "P-1: {value}");
    }
    for key in delete {
        assert!(key != NEWER.0, "P-3: a newer pair is not ours to remove");
    }
}

pub(crate) fn survived(old: &Monitor, new: &Monitor, now: Now) {
    for before in old.reports(View::Confirmed, now) {
        let after = new
            .report(&before.tag, View::Confirmed, now)
            .expect("a known tag");
        let of_old_run = matches!(after.state, State::Ok | State::Failed | State::NotReady);
        assert!(!of_old_run, "P-1: {after:?}");
        if before.kind == Kind::Group || before.state != State::Ok {
            continue;
        }
        assert_eq!(after.state, State::Cached);
        assert_eq!((after.delay_ms, after.url), (before.delay_ms, before.url));
        assert_eq!(
            (after.last_ok_at, &after.ip),
            (before.last_ok_at, &before.ip)
        );
        assert_eq!(after.ip_from_cache, before.ip.is_some());
    }
}
