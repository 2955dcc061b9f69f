//! The pairs of a cache in memory, within the limits of the contract. It must not
//! know whether they are also kept elsewhere.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::{CacheError, KEY_LIMIT, TOTAL_LIMIT, VALUE_LIMIT};

/// Keys and values in key order.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    values: BTreeMap<Box<str>, Box<[u8]>>,
    /// The bytes of all keys and values.
    total: usize,
}

impl Pairs {
    pub(super) fn get(&self, key: &str) -> Option<&[u8]> {
        self.values.get(key).map(|value| &**value)
    }

    pub(super) fn with_prefix(&self, prefix: &str) -> Vec<(String, Vec<u8>)> {
        self.values
            .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(prefix))
            .map(|(key, value)| (key.to_string(), value.to_vec()))
            .collect()
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.values.keys().map(|key| key.to_string()).collect()
    }

    /// Takes over a pair as it was stored, whatever its size.
    pub(super) fn load(&mut self, key: String, value: Vec<u8>) {
        self.total += size(&key, &value);
        self.values.insert(key.into(), value.into());
    }

    /// Makes all of the change or none; gives the keys whose value is another now, in their
    /// order.
    pub(super) fn update(
        &mut self,
        delete: &[String],
        set: &[(String, Vec<u8>)],
    ) -> Result<Vec<String>, CacheError> {
        let deleted = delete.iter().map(|key| (key.as_str(), None));
        let written = set
            .iter()
            .map(|(key, value)| (key.as_str(), Some(value.as_slice())));
        // Later entries replace earlier ones: what is written wins over what is deleted.
        let mut changes: BTreeMap<_, _> = deleted.chain(written).collect();
        let mut gone = 0;
        changes.retain(|key, value| {
            let old = self.get(key);
            let differs = old != *value;
            if differs {
                gone += old.map_or(0, |old| size(key, old));
            }
            differs
        });
        self.total = self.total_after(gone, &changes)?;
        for (&key, value) in &changes {
            match (value, self.values.get_mut(key)) {
                (Some(value), Some(old)) => *old = (*value).into(),
                (Some(value), None) => {
                    self.values.insert(key.into(), (*value).into());
                }
                (None, _) => {
                    self.values.remove(key);
                }
            }
        }
        Ok(changes.into_keys().map(str::to_owned).collect())
    }

    /// How large everything would be without `gone` bytes and with what is set; an error if
    /// that is too large.
    fn total_after(
        &self,
        gone: usize,
        changes: &BTreeMap<&str, Option<&[u8]>>,
    ) -> Result<usize, CacheError> {
        let mut total = self.total - gone;
        for (key, value) in changes {
            if let Some(value) = value {
                check_size(key, value)?;
                total += size(key, value);
            }
        }
        // What has grown too large elsewhere may still shrink.
        if total > TOTAL_LIMIT && total > self.total {
            let text = format!("{total} bytes in all, more than {TOTAL_LIMIT}");
            return Err(CacheError::TooLarge(text));
        }
        Ok(total)
    }
}

fn size(key: &str, value: &[u8]) -> usize {
    key.len() + value.len()
}

fn check_size(key: &str, value: &[u8]) -> Result<(), CacheError> {
    let too_large = |what, bytes: usize, limit| {
        Err(CacheError::TooLarge(format!(
            "a {what} of {bytes} bytes, more than {limit}"
        )))
    };
    match (key.len(), value.len()) {
        (key, _) if key > KEY_LIMIT => too_large("key", key, KEY_LIMIT),
        (_, value) if value > VALUE_LIMIT => too_large("value", value, VALUE_LIMIT),
        _ => Ok(()),
    }
}
