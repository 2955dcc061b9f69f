//! Accounts and keys as links write them: plain or in base64. It must not know what they
//! open.

use crate::config::base64;
use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;

/// Bytes of a key of Curve25519.
const KEY: usize = 32;

/// The text inside base64, if it is that.
pub(super) fn unpacked(text: &str) -> Option<String> {
    String::from_utf8(base64::decode(text)?).ok()
}

/// `name:password`, plain or in base64; one without a colon is a name.
pub(super) fn user_and_password(account: &str) -> (String, Option<String>) {
    let unpacked = (!account.contains(':'))
        .then(|| unpacked(account))
        .flatten()
        .filter(|plain| plain.contains(':') && !plain.contains(char::is_control));
    let plain = unpacked.as_deref().unwrap_or(account);
    match plain.split_once(':') {
        Some((user, password)) => (user.to_owned(), Some(password.to_owned())),
        None => (plain.to_owned(), None),
    }
}

/// A key of so many bytes.
pub(super) fn is_key(text: &str, bytes: usize) -> bool {
    base64::decode(text).is_some_and(|key| key.len() == bytes)
}

/// A key of Curve25519, as configs write it. The link may have it in either alphabet.
pub(super) fn curve_key(text: &str) -> Option<String> {
    let key = base64::decode(text).filter(|key| key.len() == KEY)?;
    Some(STANDARD.encode(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read_plain_and_in_base64() {
        let read = |account| {
            let (user, password) = user_and_password(account);
            format!("{user} {}", password.as_deref().unwrap_or("-"))
        };
        assert_eq!(read("ann:open:sesame"), "ann open:sesame");
        assert_eq!(read("YW5uOm9wZW4="), "ann open");
        assert_eq!(read("YW5uOm9wZW4"), "ann open");
        // A name that is base64 of nothing that looks like an account.
        assert_eq!(read("annabell"), "annabell -");
    }

    #[test]
    fn a_key_has_its_length_in_either_alphabet() {
        let standard = "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=";
        let other = "__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA";
        assert_eq!(curve_key(other).as_deref(), Some(standard));
        assert_eq!(curve_key("c2hvcnQ="), None);
        assert!(is_key("MDEyMzQ1Njc4OWFiY2RlZg==", 16));
    }
}
