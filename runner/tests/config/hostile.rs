//! Any bytes at all: reading never panics, and what is shown stays one line a
//! problem.

use crate::{PLAIN, check};
use outwatch::config;

const GOOD: &str = r#"// a config
{
  "log": { "level": "info" },
  "outbounds": [
    { "type": "selector", "tag": "🇩🇪 a", "outbounds": ["b", "c"], "default": "b" },
    { "type": "socks", "tag": "b", "server": "192.0.2.1", "server_port": 1080, "detour": "c" },
    { "type": "http", "tag": "c", "tls": { "enabled": true, "alpn": ["h2", "http/1.1"] } }, /* d */
    { "type": "direct", "tag": "\u00e9\ud83d\ude00\n" },
  ],
  "endpoints": [{ "type": "wireguard", "peers": [{ "port": 51820, "keep": -1.5e3 }] }],
  "experimental": { "monitoring": { "workers": 4, "urls": "http://x/generate_204" } },
}
"#;

/// A small generator (SplitMix64): the same seed, the same bytes.
struct Seed(u64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 7
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Pieces that mean something to a reader of JSON.
const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ":",
    "//",
    "/*",
    "*/",
    "\n",
    "\r",
    "\0",
    "\\ud83d",
    "\u{FEFF}",
    "null",
    "1e999",
    "-",
    "\"tag\":\"b\",",
    "\"outbounds\":",
    "{\"type\":\"direct\"},",
    "🇩🇪",
    "'",
];

fn mutate(seed: &mut Seed) -> Vec<u8> {
    let mut bytes = GOOD.as_bytes().to_vec();
    for _ in 0..=seed.below(4) {
        let at = seed.below(bytes.len());
        let until = (at + seed.below(20)).min(bytes.len());
        match seed.below(6) {
            0 => drop(bytes.drain(at..until)),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, seed.next() as u8),
            3 => {
                let piece = PIECES[seed.below(PIECES.len())];
                drop(bytes.splice(at..at, piece.bytes()));
            }
            4 => {
                let piece = PIECES[seed.below(PIECES.len())];
                drop(bytes.splice(at..until, piece.bytes()));
            }
            _ => {
                let copy = bytes[at..until].to_vec();
                let to = seed.below(bytes.len());
                drop(bytes.splice(to..to, copy));
            }
        }
    }
    bytes
}

#[test]
fn f4_no_bytes_make_reading_panic() {
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..6000 {
        let text = mutate(&mut Seed(number));
        let loaded = config::read("c.json", &text, &PLAIN);
        let shown = loaded.source.render(&loaded.problems);
        let lines = loaded
            .problems
            .iter()
            .map(|problem| 1 + usize::from(problem.hint.is_some()))
            .sum::<usize>();
        assert_eq!(shown.lines().count(), lines, "seed {number}: {shown}");
        for problem in &loaded.problems {
            let position = loaded
                .source
                .position(&problem.path)
                .expect("everything in a text has a place");
            assert!(position.line >= 1 && position.column >= 1, "seed {number}");
        }
        match loaded.config {
            Some(_) => accepted += 1,
            None => refused += 1,
        }
    }
    assert!(
        accepted > 300 && refused > 3000,
        "the mutations reach both ends: {accepted}, {refused}"
    );
}

#[test]
fn f4_every_beginning_of_a_config_is_read_without_a_panic() {
    for end in 0..GOOD.len() {
        let loaded = config::read("c.json", &GOOD.as_bytes()[..end], &PLAIN);
        let whole = GOOD.rfind('}').unwrap() < end;
        assert_eq!(
            loaded.config.is_some(),
            whole,
            "{}",
            String::from_utf8_lossy(&GOOD.as_bytes()[..end])
        );
    }
}

#[test]
fn the_config_that_is_mutated_is_a_good_one() {
    assert_eq!(check(GOOD), "");
}
