//! Where each value of a JSON text stands. It must not know what the values are.

use std::collections::HashMap;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;

/// A value and those inside it, without what they are.
#[derive(Debug)]
pub(super) struct Place {
    /// Byte offset of the value, or of its key where it has one.
    at: usize,
    inside: Inside,
}

#[derive(Debug)]
enum Inside {
    Nothing,
    Items(Vec<Place>),
    Fields(HashMap<String, Place>),
}

/// A key with more dots and brackets than this is not looked for.
const KEY_PARTS: usize = 32;

impl Place {
    pub(super) fn of(value: ast::Value<'_>) -> Self {
        Self::with_start(value.start(), value)
    }

    fn with_start(at: usize, value: ast::Value<'_>) -> Self {
        let inside = match value {
            ast::Value::Array(array) => {
                Inside::Items(array.elements.into_iter().map(Self::of).collect())
            }
            ast::Value::Object(object) => Inside::Fields(
                object
                    .properties
                    .into_iter()
                    .map(|field| (field.range.start, field))
                    .map(|(at, field)| {
                        (field.name.into_string(), Self::with_start(at, field.value))
                    })
                    .collect(),
            ),
            _ => Inside::Nothing,
        };
        Self { at, inside }
    }

    /// Byte offset of the value at `path`, such as `outbounds[3].tls.alpn[0]`, or of
    /// the nearest value around it.
    pub(super) fn find(&self, path: &str) -> usize {
        let mut here = self;
        let mut rest = path;
        while let Some((next, after)) = here.step(rest) {
            (here, rest) = (next, after);
        }
        here.at
    }

    /// One step along `path`, and what is left of it.
    fn step<'p>(&self, path: &'p str) -> Option<(&Self, &'p str)> {
        match &self.inside {
            Inside::Nothing => None,
            Inside::Items(items) => {
                let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
                Some((items.get(index.parse::<usize>().ok()?)?, rest))
            }
            Inside::Fields(fields) => {
                let path = path.strip_prefix('.').unwrap_or(path);
                // A key may itself hold dots and brackets: the shortest that exists.
                ends(path).take(KEY_PARTS).find_map(|end| {
                    let (key, rest) = path.split_at_checked(end)?;
                    Some((fields.get(key)?, rest))
                })
            }
        }
    }
}

/// Where a key at the start of `path` may end.
fn ends(path: &str) -> impl Iterator<Item = usize> {
    path.match_indices(['.', '['])
        .map(|(at, _)| at)
        .chain([path.len()])
}
