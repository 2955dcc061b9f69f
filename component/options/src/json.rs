//! A JSON text as it was written: fields in their order, and keys that are given
//! twice noticed. It must not know which fields there are.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::Problem;
use crate::wording::{found, key_path};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Self>),
    /// In the order of the text.
    Object(Fields),
}

/// The fields of an object.
pub(crate) type Fields = Vec<(String, Json)>;

/// Reads a text that holds one object; empty text is an empty one. The second
/// half are warnings: of a key given twice only the last one is kept.
pub(crate) fn object(text: &str) -> Result<(Fields, Vec<Problem>), Problem> {
    let whole = |message, hint: &str| {
        let hint = Some(hint.to_owned());
        Problem {
            path: String::new(),
            message,
            hint,
        }
    };
    if text.trim().is_empty() {
        return Ok((Fields::new(), Vec::new()));
    }
    match serde_json::from_str(text) {
        Ok(Json::Object(mut fields)) => {
            let mut warnings = Vec::new();
            drop_repeated(&mut fields, "", &mut warnings);
            Ok((fields, warnings))
        }
        Ok(other) => Err(whole(
            format!("must be an object (found {})", found(&other)),
            r#"write { "interval": "5m" }, or leave it out to use the defaults"#,
        )),
        Err(error) => Err(whole(
            format!("must be JSON, but it is not: {error}"),
            "comments and trailing commas are for files only",
        )),
    }
}

/// Keeps the last of each key, here and further inside.
fn drop_repeated(fields: &mut Fields, path: &str, warnings: &mut Vec<Problem>) {
    let mut seen = HashSet::new();
    let mut repeated = HashSet::new();
    let keep: Vec<bool> = fields
        .iter()
        .rev()
        .map(|(key, _)| seen.insert(key.clone()))
        .collect();
    let mut keep = keep.into_iter().rev();
    fields.retain(|(key, _)| {
        let last = keep.next().unwrap_or(true);
        if !last && repeated.insert(key.clone()) {
            warnings.push(Problem {
                path: key_path(path, key),
                message: "is given more than once; only the last one counts".to_owned(),
                hint: Some("remove the others".to_owned()),
            });
        }
        last
    });
    for (key, value) in fields {
        let path = key_path(path, key);
        drop_repeated_inside(value, &path, warnings);
    }
}

fn drop_repeated_inside(value: &mut Json, path: &str, warnings: &mut Vec<Problem>) {
    match value {
        Json::Object(fields) => drop_repeated(fields, path, warnings),
        Json::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                drop_repeated_inside(item, &format!("{path}[{index}]"), warnings);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AsWritten)
    }
}

/// Takes whatever comes.
struct AsWritten;

impl<'de> Visitor<'de> for AsWritten {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        // JSON has no number that is not finite.
        Ok(serde_json::Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields = Fields::new();
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_fields_keep_their_order_and_values_their_type() {
        let (fields, warnings) =
            object(r#"{"z":1,"a":[null,true,-2,1.5,"x"],"m":{}}"#).expect("an object");
        let list = vec![
            Json::Null,
            Json::Bool(true),
            Json::Number((-2).into()),
            Json::Number(serde_json::Number::from_f64(1.5).expect("finite")),
            Json::Text("x".to_owned()),
        ];
        let expected = [
            ("z", Json::Number(1.into())),
            ("a", Json::List(list)),
            ("m", Json::Object(Fields::new())),
        ];
        assert_eq!(fields, expected.map(|(key, value)| (key.to_owned(), value)));
        assert_eq!(warnings, []);
    }

    #[test]
    fn f3_of_a_key_given_twice_the_last_one_counts_everywhere() {
        let (fields, warnings) =
            object(r#"{"a":1,"b":{"x":1,"x y":1,"x y":2},"a":2,"a":3,"c":[{"k":1,"k":2}]}"#)
                .expect("an object");
        let keys: Vec<_> = fields.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        assert_eq!(fields[1].1, Json::Number(3.into()));
        let paths: Vec<_> = warnings
            .iter()
            .map(|warning| warning.path.as_str())
            .collect();
        assert_eq!(paths, ["a", r#"b["x y"]"#, "c[0].k"]);
    }

    #[test]
    fn f3_text_without_end_is_refused_and_nothing_overflows() {
        let deep = format!(r#"{{"a":{}"#, "[".repeat(100_000));
        let problem = object(&deep).expect_err("too deep");
        assert!(
            problem.message.contains("recursion limit"),
            "{}",
            problem.message
        );
    }
}
