//! What IP services and whoever answers in their place may say. It must not know
//! what counts.

use crate::random::Random;

/// Bodies with an address that counts.
const GOOD: [&str; 4] = [
    r#"{"ip":"8.8.8.8","query":"8.8.8.8","status":"success","country_code":"us","city":"A\u001b[31mB"}"#,
    r#"{"ip":"9.9.9.9","query":"9.9.9.9","status":"success","connection":{"asn":"AS19281 Quad9"}}"#,
    "ip=1.1.1.1\nloc=DE\nip=10.0.0.1\n",
    r#"{"ip":"::ffff:8.8.4.4","query":"2606:4700::1111","status":"success"}"#,
];

/// Bodies of services that are tired, broken, lying or none at all.
const HOSTILE: [&str; 16] = [
    "",
    "null",
    "[]",
    "\"8.8.8.8\"",
    "{\"ip\":\"8.8.8.8\"",
    "<html><title>Login</title>",
    r#"{"ip":"10.0.0.1","query":"10.0.0.1"}"#,
    r#"{"ip":"127.0.0.1","query":"127.0.0.1"}"#,
    r#"{"ip":"8.8.8.8","query":"8.8.8.8","bogon":true}"#,
    r#"{"ip":"8.8.8.8","query":"8.8.8.8","success":false}"#,
    r#"{"ip":"8.8.8.8","query":"8.8.8.8","status":403}"#,
    r#"{"ip":{"ip":[]},"query":7}"#,
    r#"{"ip":"8.8.8.8\u0000","query":"8.8.8.8 "}"#,
    r#"{"ip":"::","query":"ff02::1","country_code":"\ud83c"}"#,
    "ip=\nloc=XX\n",
    "\u{feff}\u{202e}{}",
];

pub(super) fn good(random: &mut Random) -> Vec<u8> {
    random.pick(&GOOD).into()
}

pub(super) fn hostile(random: &mut Random) -> Vec<u8> {
    let good = good(random);
    match random.below(20) {
        // Longer than is read.
        0 => b" ".repeat(65_537),
        1 => b"[".repeat(2_000),
        2 => vec![0xff, 0xfe, 0x00],
        // A cut or a broken byte.
        3 => {
            let end = usize::try_from(random.below(good.len() as u64)).expect("short");
            good[..end].to_vec()
        }
        _ => random.pick(&HOSTILE).into(),
    }
}
