//! JSON as people write it: comments, trailing commas, a byte order mark, any kind
//! of line end. It must not know what a config may hold.

mod explain;
mod outline;

use std::collections::HashMap;
use std::str::FromStr;

use jsonc_parser::ast;
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions};
use serde_json::{Map, Number, Value};

use super::findings::Findings;
use super::lines::Lines;
use super::wording::{cut, quoted};

/// Why a text is no JSON document, and where it stops being one.
#[derive(Debug)]
pub(super) struct Fault {
    /// Byte offset.
    pub(super) at: usize,
    /// The innermost value around it.
    pub(super) path: String,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), Some(hint.into()));
        Self {
            at,
            path: String::new(),
            message,
            hint,
        }
    }
}

/// The text in `bytes`, without a byte order mark. When it is none: what can be
/// read of it, and why.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, (String, Fault)> {
    let refuse = |at, message: &str, hint: &str| {
        Err((
            String::from_utf8_lossy(bytes).into_owned(),
            Fault::new(at, message, hint),
        ))
    };
    let bytes = bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(bytes);
    if let [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'{', 0, ..] | [0, b'{', ..] = bytes {
        return refuse(
            0,
            "this is UTF-16 text, not UTF-8",
            "save the file as UTF-8",
        );
    }
    let begins = bytes.trim_ascii_start().first();
    if !matches!(begins, Some(b'{' | b'[')) && bytes.iter().take(512).any(|byte| *byte < 9) {
        return refuse(
            0,
            "this looks like a binary file, not a config",
            "a config is a JSON text; is it the right file, and is it unpacked?",
        );
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => refuse(
            error.valid_up_to(),
            "this byte is not UTF-8 text",
            "save the file as UTF-8",
        ),
    }
}

/// The syntax tree of `text`; none when it holds no value.
pub(super) fn ast(text: &str) -> Result<Option<ast::Value<'_>>, ParseError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options)
        .map(|parsed| parsed.value)
}

/// The document in `text`. A key that an object has twice is a warning.
pub(super) fn parse(text: &str, findings: &mut Findings) -> Result<Value, Fault> {
    let tree = ast(text).map_err(|error| explain::fault(text, &error))?;
    let Some(tree) = tree else {
        return Err(Fault::new(
            0,
            "the file holds nothing but comments",
            "a config is an object with `outbounds`",
        ));
    };
    Reader {
        text,
        path: String::new(),
        findings,
        lines: None,
    }
    .value(tree)
}

/// Turns the syntax tree into values.
struct Reader<'t, 'f> {
    text: &'t str,
    /// Of the value being read.
    path: String,
    findings: &'f mut Findings,
    /// Made when a message names a line.
    lines: Option<Lines>,
}

impl Reader<'_, '_> {
    // The parser has bounded the depth.
    fn value(&mut self, tree: ast::Value<'_>) -> Result<Value, Fault> {
        Ok(match tree {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::NumberLit(literal) => Value::Number(self.number(&literal)?),
            ast::Value::StringLit(literal) => Value::String(self.string(literal)?),
            ast::Value::Array(array) => {
                let mut items = Vec::with_capacity(array.elements.len());
                for (index, item) in array.elements.into_iter().enumerate() {
                    let item = self.inside(&format!("[{index}]"), |reader| reader.value(item))?;
                    items.push(item);
                }
                Value::Array(items)
            }
            ast::Value::Object(object) => Value::Object(self.object(object)?),
        })
    }

    fn object(&mut self, object: ast::Object<'_>) -> Result<Map<String, Value>, Fault> {
        let mut fields = Map::new();
        let mut firsts = HashMap::new();
        for field in object.properties {
            let start = field.range.start;
            let key = match field.name {
                ast::ObjectPropName::String(literal) => self.string(literal)?,
                ast::ObjectPropName::Word(word) => word.value.to_owned(),
            };
            let dot = if self.path.is_empty() { "" } else { "." };
            let first = *firsts.entry(key.clone()).or_insert(start);
            let value = self.inside(&format!("{dot}{key}"), |reader| {
                if first != start {
                    reader.twice(&key, first);
                }
                reader.value(field.value)
            })?;
            fields.insert(key, value);
        }
        Ok(fields)
    }

    fn string(&self, literal: ast::StringLit<'_>) -> Result<String, Fault> {
        match explain::raw_control(self.text, literal.range) {
            Some(fault) => Err(Fault {
                path: self.path.clone(),
                ..fault
            }),
            None => Ok(literal.value.into_owned()),
        }
    }

    fn number(&self, literal: &ast::NumberLit<'_>) -> Result<Number, Fault> {
        Number::from_str(literal.value).map_err(|_| Fault {
            path: self.path.clone(),
            ..Fault::new(
                literal.range.start,
                format!("the number {} is out of range", cut(literal.value)),
                "no field of a config needs such a number",
            )
        })
    }

    fn twice(&mut self, key: &str, first: usize) {
        let lines = self.lines.get_or_insert_with(|| Lines::new(self.text));
        let line = lines.position(self.text, first).line;
        let message = format!(
            "{} is given twice, first on line {line}; only this one counts",
            quoted(key)
        );
        self.findings.warning(&self.path, message).hint = Some("remove one of them".to_owned());
    }

    fn inside<T>(&mut self, step: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(step);
        let result = read(self);
        self.path.truncate(length);
        result
    }
}
