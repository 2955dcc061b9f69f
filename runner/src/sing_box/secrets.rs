//! Keeps an outbound's secrets out of words that people and logs will see.
//! It must not know who says the words.

use serde_json::{Map, Value};

/// Fields whose value nobody but the server may learn, in any outbound type.
const SECRET: [&str; 12] = [
    "auth",
    "auth_key",
    "auth_str",
    "obfs",
    "passphrase",
    "password",
    "pre_shared_key",
    "private_key",
    "private_key_passphrase",
    "private_key_path",
    "token",
    "uuid",
];

/// Shorter ones are words that may stand in a message by chance.
const SHORTEST: usize = 4;

/// `words` with every secret of `options` blotted out.
pub(super) fn without(options: &Map<String, Value>, words: &str) -> String {
    let mut clean = words.to_owned();
    each(options, &mut |secret| {
        if secret.len() >= SHORTEST && clean.contains(secret) {
            clean = clean.replace(secret, "…");
        }
    });
    clean
}

fn each(fields: &Map<String, Value>, found: &mut impl FnMut(&str)) {
    for (key, value) in fields {
        let secret = SECRET.contains(&key.as_str());
        match value {
            Value::String(text) if secret => found(text),
            Value::Object(fields) => each(fields, found),
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::String(text) if secret => found(text),
                        Value::Object(fields) => each(fields, found),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_at_any_depth_are_blotted_out_and_other_words_stay() {
        let options = json!({
            "password": "hunter22", "server": "proxy.example", "obfs": { "password": "salamander1" },
            "peers": [{ "pre_shared_key": "c2VjcmV0" }], "private_key": ["line one", "abc"],
        });
        let options = options.as_object().unwrap();
        let words = "proxy.example: hunter22, salamander1, c2VjcmV0, line one, abc";
        assert_eq!(without(options, words), "proxy.example: …, …, …, …, abc");
    }
}
