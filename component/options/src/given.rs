//! One value of the text with its path: how each type is read, and what is said
//! when it is wrong. It must not know which fields there are.

use std::collections::BTreeMap;
use std::time::Duration;

use outwatch_engine::ExpectedStatus;

use crate::json::{Fields, Json};
use crate::wording::{found, key_path, quoted};
use crate::{Problem, duration, status, web_address};

/// What reading gives: a value, or everything that is wrong with it.
pub(crate) type Read<T> = Result<T, Vec<Problem>>;

/// One value and where it stands.
pub(crate) struct Given<'a> {
    path: String,
    key: &'a str,
    value: &'a Json,
}

impl<'a> Given<'a> {
    /// Every field of the outermost object.
    pub(crate) fn each(fields: &'a Fields) -> impl Iterator<Item = Self> {
        Self::inside("", fields)
    }

    fn inside(path: &str, fields: &'a Fields) -> impl Iterator<Item = Self> {
        fields.iter().map(move |(key, value)| Self {
            path: key_path(path, key),
            key,
            value,
        })
    }

    /// The key as it was written.
    pub(crate) fn key(&self) -> &'a str {
        self.key
    }

    /// A problem with this value.
    pub(crate) fn problem(&self, message: String, hint: Option<String>) -> Problem {
        Problem {
            path: self.path.clone(),
            message,
            hint,
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self) -> Read<bool> {
        match self.value {
            Json::Bool(flag) => Ok(*flag),
            _ => self.wrong("must be true or false", None),
        }
    }

    /// A whole number from 1 to `most`.
    pub(crate) fn count(&self, most: u32) -> Read<u32> {
        let Json::Number(number) = self.value else {
            return self.wrong(&format!("must be a whole number from 1 to {most}"), None);
        };
        match number.as_u64().and_then(|count| u32::try_from(count).ok()) {
            Some(count) if (1..=most).contains(&count) => Ok(count),
            _ if number.as_f64().is_some_and(|number| number < 1.0) => {
                self.wrong("must be at least 1", None)
            }
            _ if number
                .as_f64()
                .is_some_and(|number| number > f64::from(most)) =>
            {
                self.wrong(&format!("must be at most {most}"), None)
            }
            _ => self.wrong(&format!("must be a whole number from 1 to {most}"), None),
        }
    }

    /// A text with a unit, more than zero and at most ten years.
    pub(crate) fn duration(&self) -> Read<Duration> {
        const FORM: &str = r#"must be a duration such as "500ms", "5s", "1m30s", "1h" or "1d""#;
        let text = match self.value {
            Json::Text(text) => text,
            Json::Number(number) => {
                let hint = format!(r#"write the unit too: "{number}s" or "{number}ms""#);
                return self.wrong(FORM, Some(hint));
            }
            _ => return self.wrong(FORM, None),
        };
        duration::read(text).or_else(|wrong| match wrong {
            duration::Wrong::Unreadable => self.wrong(FORM, None),
            duration::Wrong::NoUnit => {
                let hint = "write the unit too: ns, us, ms, s, m, h or d".to_owned();
                self.wrong(FORM, Some(hint))
            }
            duration::Wrong::NotPositive => self.wrong("must be more than zero", None),
            duration::Wrong::TooLong => self.wrong("must be at most ten years (3650d)", None),
        })
    }

    /// A list of at least one item; a single item is a list of one (SPEC F-5).
    pub(crate) fn list<T>(&self, item: impl Fn(&Self) -> Read<T>) -> Read<Vec<T>> {
        match self.value {
            Json::List(items) if items.is_empty() => {
                self.wrong("must have at least one item", None)
            }
            Json::List(items) => all(items.iter().enumerate().map(|(index, value)| {
                let path = format!("{}[{index}]", self.path);
                item(&Self {
                    path,
                    key: self.key,
                    value,
                })
            })),
            Json::Text(_) => item(self).map(|one| vec![one]),
            _ => self.wrong("must be a list of strings", None),
        }
    }

    /// An object of flags by tag.
    pub(crate) fn flags(&self) -> Read<BTreeMap<String, bool>> {
        match self.value {
            Json::Object(fields) => Ok(all(Self::inside(&self.path, fields)
                .map(|given| given.flag().map(|flag| (given.key.to_owned(), flag))))?
            .into_iter()
            .collect()),
            _ => self.wrong(
                r#"must be an object of tags, such as { "my tag": true }"#,
                None,
            ),
        }
    }

    /// An address to open.
    pub(crate) fn web_address(&self) -> Read<String> {
        let Json::Text(text) = self.value else {
            return self.wrong("must be a string with an http or https address", None);
        };
        web_address::check(text)
            .map(|()| text.clone())
            .or_else(|wrong| match wrong {
                web_address::Wrong::NoScheme if text.contains('.') && !text.contains("//") => self
                    .wrong(
                        "must start with http:// or https://",
                        Some(format!(
                            "write {}",
                            quoted(&format!("https://{}", text.trim()))
                        )),
                    ),
                web_address::Wrong::NoScheme | web_address::Wrong::OtherScheme => {
                    self.wrong("must start with http:// or https://", None)
                }
                web_address::Wrong::Host => self.wrong("must name a host after http(s)://", None),
                web_address::Wrong::Port => {
                    self.wrong("must have a port from 1 to 65535 or none", None)
                }
                web_address::Wrong::Character => self.wrong(
                    "must not contain spaces, control characters or backslashes",
                    Some("write a space as %20".to_owned()),
                ),
            })
    }

    /// An address, or nothing for an empty text.
    pub(crate) fn optional_web_address(&self) -> Read<Option<String>> {
        match self.value {
            Json::Text(text) if text.is_empty() => Ok(None),
            _ => self.web_address().map(Some),
        }
    }

    /// The statuses that count as an answer.
    pub(crate) fn expected_status(&self) -> Read<ExpectedStatus> {
        const FORM: &str = r#"must be "auto", "any" or statuses from 100 to 599 such as "200/204", "200,302" or "400-499""#;
        match self.value {
            Json::Text(text) => match status::read(text) {
                Some(expected) => Ok(expected),
                None => self.wrong(FORM, None),
            },
            Json::Number(number) => self.wrong(FORM, Some(format!(r#"write "{number}""#))),
            _ => self.wrong(FORM, None),
        }
    }

    /// The value breaks a rule.
    fn wrong<T>(&self, rule: &str, hint: Option<String>) -> Read<T> {
        Err(vec![self.problem(
            format!("{rule} (found {})", found(self.value)),
            hint,
        )])
    }
}

/// All values, or all problems of all of them.
fn all<T>(reads: impl Iterator<Item = Read<T>>) -> Read<Vec<T>> {
    let mut values = Vec::new();
    let mut problems = Vec::new();
    for read in reads {
        match read {
            Ok(value) => values.push(value),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok(values)
    } else {
        Err(problems)
    }
}
