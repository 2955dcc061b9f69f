//! Reads what sing-box says when it does not take a config, or does not start with it:
//! where, and in which words. It must not know how its config came about.

/// Said before the name of something deprecated that it would take once more.
const ALLOW: &str = "set environment variable ";

/// What such names begin with; no other variable is ever set.
const DEPRECATED: &str = "ENABLE_DEPRECATED_";

/// More of its words than this are no help.
const WORDS: usize = 400;

/// What it calls one item, and the list that the item is in.
const LISTS: [(&str, &str); 4] = [
    ("outbound", "outbounds"),
    ("endpoint", "endpoints"),
    ("dns server", "dns.servers"),
    ("dns rule", "dns.rules"),
];

/// Why it does not go on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) place: Place,
    /// Its own words.
    pub(super) words: String,
}

/// What it speaks of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A value of its config.
    Path(String),
    /// The outbound or endpoint with this tag.
    Tag(String),
    /// Something deprecated, taken when this variable is set.
    Deprecated(String),
    Unknown,
}

impl Refusal {
    /// From all that it wrote. `is_tag` knows the tags of its config.
    pub(super) fn read(written: &str, is_tag: impl Fn(&str) -> bool) -> Self {
        let said = last_words(written);
        if let Some(name) = allowed(&said) {
            let before = written.lines().rev().find_map(|line| level(line, "ERROR"));
            return Self {
                place: Place::Deprecated(name),
                words: cut(before.unwrap_or(&said)),
            };
        }
        let (place, words) = locate(&said, is_tag);
        Self {
            place,
            words: cut(words.strip_prefix("json: ").unwrap_or(words)),
        }
    }
}

/// What it said last before it ended; what it calls fatal comes before all else.
pub(super) fn last_words(written: &str) -> String {
    let of = |name| written.lines().rev().find_map(|line| level(line, name));
    let crash = || {
        let mut lines = written.lines();
        lines.find(|line| line.starts_with("panic: ") || line.starts_with("fatal error: "))
    };
    of("FATAL")
        .or_else(crash)
        .or_else(|| of("ERROR"))
        .or_else(|| written.lines().rev().find(|line| !line.trim().is_empty()))
        .unwrap_or("it gave no reason")
        .to_owned()
}

/// The rest of a line such as `FATAL[0000] …`.
fn level<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line
        .strip_prefix(name)?
        .strip_prefix('[')?
        .split_once("] ")?;
    Some(rest)
}

fn allowed(said: &str) -> Option<String> {
    let (_, rest) = said.split_once(ALLOW)?;
    let (name, _) = rest.split_once("=true")?;
    let of_ours =
        name.starts_with(DEPRECATED) && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    of_ours.then(|| name.to_owned())
}

/// Goes through `start service: start outbound/tor[b]: …` from cause to cause, and stops
/// at the first that names a place.
fn locate(said: &str, is_tag: impl Fn(&str) -> bool) -> (Place, &str) {
    let mut rest = said;
    while let Some((cause, after)) = rest.split_once(": ") {
        if let Some(tag) = tagged(rest, &is_tag) {
            let words = rest.split_once(&format!("[{tag}]: "));
            return (
                Place::Tag(tag.to_owned()),
                words.map_or(after, |(_, words)| words),
            );
        }
        if let Some(path) = path(cause) {
            return (Place::Path(path), after);
        }
        rest = after;
    }
    (Place::Unknown, said)
}

/// The tag in `start outbound/socks[tag]: …` and `initialize endpoint/wireguard[tag]: …`.
/// A tag may hold anything, so all ends it may have are tried.
fn tagged<'a>(said: &'a str, is_tag: &impl Fn(&str) -> bool) -> Option<&'a str> {
    let (verb, named) = said.split_once(' ')?;
    let kind = ["outbound/", "endpoint/"]
        .into_iter()
        .find_map(|kind| named.strip_prefix(kind))?;
    if verb.contains(':') {
        return None;
    }
    let (_, after) = kind.split_once('[')?;
    after
        .match_indices("]: ")
        .filter_map(|(end, _)| after.get(..end))
        .find(|tag| is_tag(tag))
}

/// A path in `outbounds[3].tls`, `initialize outbound[3]` or `parse dns server[0]`.
fn path(cause: &str) -> Option<String> {
    const SECTIONS: [&str; 7] = [
        "certificate",
        "dns",
        "endpoints",
        "http_clients",
        "ntp",
        "outbounds",
        "route",
    ];
    let first = cause.split(['.', '[']).next()?;
    if SECTIONS.contains(&first) && !cause.contains(' ') {
        return Some(cause.to_owned());
    }
    let (name, index) = cause.strip_suffix(']')?.split_once('[')?;
    let index: usize = index.parse().ok()?;
    let name = name.to_ascii_lowercase();
    let list = LISTS.iter().find(|(word, _)| {
        let verb = name.strip_suffix(word);
        verb.is_some_and(|verb| verb.is_empty() || verb.ends_with(' '))
    });
    list.map(|(_, list)| format!("{list}[{index}]"))
}

fn cut(words: &str) -> String {
    words
        .chars()
        .filter(|c| !c.is_control())
        .take(WORDS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &str) -> (Place, String) {
        let Refusal { place, words } =
            Refusal::read(written, |tag| ["b", "a]: b", "de"].contains(&tag));
        (place, words)
    }

    fn at(path: &str, words: &str) -> (Place, String) {
        (Place::Path(path.to_owned()), words.to_owned())
    }

    #[test]
    fn f4_the_place_in_a_config_that_cannot_be_decoded_is_found() {
        let said = "FATAL[0000] decode config at stdin: outbounds[1].servre: json: unknown field \"servre\"";
        assert_eq!(
            read(said),
            at("outbounds[1].servre", "unknown field \"servre\"")
        );
        let said =
            "FATAL[0000] decode config at stdin: outbounds[1]: unknown outbound type: nope\n";
        assert_eq!(
            read(said),
            at("outbounds[1]", "unknown outbound type: nope")
        );
        let said = "FATAL[0000] decode config at stdin: dns.servers[0]: legacy DNS server formats";
        assert_eq!(
            read(said),
            at("dns.servers[0]", "legacy DNS server formats")
        );
    }

    #[test]
    fn f4_the_outbound_that_cannot_be_made_or_started_is_found() {
        let said = "INFO[0000] network: updated\nFATAL[0000] initialize outbound[12]: uTLS is not included in this build";
        assert_eq!(
            read(said),
            at("outbounds[12]", "uTLS is not included in this build")
        );
        let said = "FATAL[0000] initialize dns router: dns rule[2]: rule-set not found: a";
        assert_eq!(read(said), at("dns.rules[2]", "rule-set not found: a"));
        let said = "FATAL[0000] initialize DNS server[0]: missing server_name";
        assert_eq!(read(said), at("dns.servers[0]", "missing server_name"));
        let said = "FATAL[0000] create service: initialize endpoint[0]: decode private key: bad";
        assert_eq!(read(said), at("endpoints[0]", "decode private key: bad"));
        let said = "FATAL[0000] start service: start outbound: start endpoint/tor[b]: exec: no tor";
        let tor = (Place::Tag("b".to_owned()), "exec: no tor".to_owned());
        assert_eq!(read(said), tor);
        let said = "FATAL[0000] start service: start outbound/ssh[a]: b]: no: such key";
        let odd = (Place::Tag("a]: b".to_owned()), "no: such key".to_owned());
        assert_eq!(read(said), odd);
    }

    #[test]
    fn f4_what_names_no_place_keeps_all_of_its_words() {
        let said = "FATAL[0000] initializing certificate store: invalid certificate PEM strings";
        let words = "initializing certificate store: invalid certificate PEM strings";
        assert_eq!(read(said), (Place::Unknown, words.to_owned()));
        assert_eq!(read(""), (Place::Unknown, "it gave no reason".to_owned()));
        assert_eq!(
            read("panic: oh\n\ngoroutine 1"),
            (Place::Unknown, "panic: oh".to_owned())
        );
    }

    #[test]
    fn f4_something_deprecated_is_told_in_the_words_that_explain_it() {
        let said = "ERROR[0000] legacy domain strategy options is deprecated\nFATAL[0000] to continuing \
                    using this feature, set environment variable ENABLE_DEPRECATED_LEGACY_X=true";
        let name = "ENABLE_DEPRECATED_LEGACY_X".to_owned();
        let words = "legacy domain strategy options is deprecated".to_owned();
        assert_eq!(read(said), (Place::Deprecated(name), words));
        let other = "FATAL[0000] set environment variable LD_PRELOAD=true";
        assert!(matches!(read(other).0, Place::Unknown));
    }
}
