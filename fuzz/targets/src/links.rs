//! Lists of share links as people and their providers make them. It must not know any kind
//! of link.

use std::collections::HashSet;

use outwatch::links::{Why, read};

use crate::is_clean;

/// The longest reason there is.
const LONGEST: usize = 128;

/// Any bytes are read, each line once at most; what is read has a tag of its own, and what
/// is not a reason on one line; all that is left becomes a config.
///
/// # Panics
///
/// When that does not hold.
pub fn links(data: &[u8]) {
    let links = read(data);
    let mut tags = HashSet::from(["select", "auto"]);
    let mut lines = HashSet::new();
    for shared in &links.shared {
        assert!(
            !shared.tag.is_empty() && tags.insert(&shared.tag),
            "F-5: {:?}",
            shared.tag
        );
        assert!(
            lines.insert(shared.line),
            "line {} is there twice",
            shared.line
        );
        assert!(shared.doubts.iter().all(|doubt| is_clean(doubt, LONGEST)));
    }
    for left in &links.left_out {
        assert!(lines.insert(left.line), "line {} is there twice", left.line);
        assert!(is_clean(&left.scheme, 16), "{:?}", left.scheme);
        if let Why::Wrong(why) = &left.why {
            assert!(!why.is_empty() && is_clean(why, LONGEST), "{why:?}");
        }
    }
    let config = links.config();
    let listed = |section: &str| config[section].as_array().map_or(0, Vec::len);
    let groups = if links.shared.is_empty() { 0 } else { 2 };
    let all = listed("outbounds") + listed("endpoints");
    assert_eq!(all, links.shared.len() + groups, "{config}");
}
