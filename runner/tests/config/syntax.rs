//! Texts that are no JSON: where they stop being it, and what was expected.

use insta::assert_snapshot;

use crate::{check, check_bytes};

#[test]
fn f4_a_missing_comma_is_shown_behind_the_value_it_belongs_to() {
    assert_snapshot!(check("{\n  \"outbounds\": [\n    { \"type\": \"direct\"\n      \"tag\": \"a\" }\n  ]\n}"), @r#"
    c.json:3:23: error: outbounds[0].type: expected a comma after this value
      hint: put a `,` between two values
    "#);
    assert_snapshot!(check("{ \"outbounds\": [ {} {} ] }"), @r#"
    c.json:1:20: error: outbounds[0]: expected a comma after this value
      hint: put a `,` between two values
    "#);
}

#[test]
fn f4_a_forgotten_quote_is_shown_where_the_string_begins() {
    assert_snapshot!(check("{\n  \"outbounds\": [\n    { \"type\": \"direct,\n      \"tag\": \"a\" }\n  ]\n}"), @r#"
    c.json:3:15: error: outbounds[0].type: this string is not closed on its line
      hint: put a `"` at its end; a line break inside a string is written \n
    "#);
    assert_snapshot!(check("{ \"outbounds\": [\"a\n, \"b\n] }"), @r#"
    c.json:1:17: error: outbounds[0]: this string is not closed on its line
      hint: put a `"` at its end; a line break inside a string is written \n
    "#);
    assert_snapshot!(check("{ \"outbounds\": \"never"), @r#"
    c.json:1:16: error: outbounds: this string is not closed
      hint: put a `"` at its end
    "#);
}

#[test]
fn f4_brackets_that_do_not_match_are_told_apart() {
    assert_snapshot!(check("{\n  \"outbounds\": [\n    { \"type\": \"direct\" ]\n}"), @r#"
    c.json:3:24: error: outbounds[0].type: `]` cannot close the `{` of line 3
      hint: close brackets in the order they were opened, each with its own kind
    "#);
    assert_snapshot!(check("{\n  \"outbounds\": [ { \"type\": \"direct\" } }\n}"), @r#"
    c.json:2:39: error: outbounds[0]: `}` cannot close the `[` of line 2
      hint: close brackets in the order they were opened, each with its own kind
    "#);
    assert_snapshot!(check("{\n  \"outbounds\": [\n    { \"type\": \"direct\" }\n"), @r#"
    c.json:2:16: error: outbounds: this `[` is never closed
      hint: the file ends before; is it complete?
    "#);
    assert_snapshot!(check("{\n  \"outbounds\": [],\n  \"log\": {\n"), @r#"
    c.json:3:10: error: log: this `{` is never closed
      hint: the file ends before; is it complete?
    "#);
    assert_snapshot!(check("{ \"outbounds\": [] } }"), @r#"
    c.json:1:21: error: `}` closes nothing
      hint: is there one too many, here or before?
    "#);
    assert_snapshot!(check("{ \"outbounds\": [] } { }"), @r#"
    c.json:1:21: error: expected the end of the file, found `{`
      hint: a config is one object; is it closed too early?
    "#);
}

#[test]
fn f4_one_comma_too_many_is_an_error_unless_it_trails() {
    assert_snapshot!(check("{ \"outbounds\": [ {},, {} ] }"), @r#"
    c.json:1:21: error: outbounds[1]: expected a value, found `,`
      hint: remove the `,`, or put a value before it
    "#);
    assert_snapshot!(check("{ \"log\": {},, \"outbounds\": [] }"), @r#"
    c.json:1:13: error: expected a key in double quotes or a `}`, found `,`
      hint: an object is `{ "key": value, "key": value }`
    "#);
}

#[test]
fn f4_keys_and_texts_stand_in_double_quotes() {
    assert_snapshot!(check("{ outbounds: [] }"), @r#"
    c.json:1:3: error: expected a key in double quotes, found `outbounds`
      hint: write `"key": value`
    "#);
    assert_snapshot!(check("{ 'outbounds': [] }"), @r#"
    c.json:1:3: error: expected double quotes, found a single quote
      hint: write `"text"` in place of `'text'`
    "#);
    assert_snapshot!(check("{ \"log\": { \"disabled\": True } }"), @r#"
    c.json:1:24: error: log.disabled: expected a value, found `True`
      hint: text stands in double quotes; `true`, `false` and `null` are in small letters
    "#);
    assert_snapshot!(check("{ \"outbounds\" [] }"), @r#"
    c.json:1:15: error: outbounds: expected a `:` after the key, found `[`
      hint: write `"key": value`
    "#);
    assert_snapshot!(check("{ \"outbounds\": }"), @r#"
    c.json:1:16: error: outbounds: expected a value, found `}`
      hint: put a value before it
    "#);
    assert_snapshot!(check("{ \"outbounds\": [\"type\": \"direct\"] }"), @r#"
    c.json:1:23: error: outbounds[0]: expected a value or a `,`, found `:`
      hint: `"key": value` stands between `{` and `}`, not between `[` and `]`
    "#);
    assert_snapshot!(check("{ \"outbounds\": (1) }"), @r#"
    c.json:1:16: error: outbounds: expected a value, found `(`
      hint: a value is a text in double quotes, a number, true, false, null, `[...]` or `{...}`
    "#);
}

#[test]
fn f4_a_number_is_a_decimal_one() {
    assert_snapshot!(check("{ \"outbounds\": [{ \"server_port\": 0x50 }] }"), @r#"
    c.json:1:34: error: outbounds[0].server_port: expected a number, found `0x50`
      hint: a number is like 5, -5, 0.5 or 1e5; text stands in double quotes
    "#);
    assert_snapshot!(check("{ \"outbounds\": [{ \"server_port\": 1e }] }"), @r#"
    c.json:1:36: error: outbounds[0].server_port: expected a digit of a number here
      hint: a number is like 5, -5, 0.5 or 1e5; text stands in double quotes
    "#);
    assert_snapshot!(check("{ \"outbounds\": [{ \"server_port\": - }] }"), @r#"
    c.json:1:35: error: outbounds[0].server_port: expected a digit of a number here
      hint: a number is like 5, -5, 0.5 or 1e5; text stands in double quotes
    "#);
    assert_snapshot!(check("{ \"outbounds\": [{ \"server_port\": 1e999 }] }"), @r#"
    c.json:1:34: error: outbounds[0].server_port: the number 1e999 is out of range
      hint: no field of a config needs such a number
    "#);
}

#[test]
fn f4_comments_and_strings_end() {
    assert_snapshot!(check("{ /* never }"), @r#"
    c.json:1:3: error: this comment is never closed
      hint: end it with `*/`
    "#);
    assert_snapshot!(check("// nothing else\n/* here */"), @r#"
    c.json:1:1: error: the file holds nothing but comments
      hint: a config is an object with `outbounds`
    "#);
    assert_snapshot!(check(r#"{ "outbounds": [{ "tag": "a\qb" }] }"#), @r#"
    c.json:1:28: error: outbounds[0].tag: this is no escape sequence: \q
      hint: allowed are \" \\ \/ \b \f \n \r \t and \uXXXX (in pairs for emoji); a backslash itself is written \\
    "#);
    assert_snapshot!(check(r#"{ "outbounds": [{ "tag": "\ud83d alone" }] }"#), @r#"
    c.json:1:27: error: outbounds[0].tag: this is no escape sequence: \ud83d
      hint: allowed are \" \\ \/ \b \f \n \r \t and \uXXXX (in pairs for emoji); a backslash itself is written \\
    "#);
    assert_snapshot!(check("{ \"outbounds\": [{ \"tag\": \"a\u{1b}[2Jb\" }] }"), @r#"
    c.json:1:28: error: outbounds[0].tag: a string holds the control character U+001B
      hint: remove it, or write it as \u001b
    "#);
}

#[test]
fn f4_columns_count_characters_and_any_line_end_counts_once() {
    assert_snapshot!(check("{ \"outbounds\": [{ \"tag\": \"🇩🇪 é\" \"type\": 1 }] }"), @r#"
    c.json:1:32: error: outbounds[0].tag: expected a comma after this value
      hint: put a `,` between two values
    "#);
    assert_snapshot!(check("\u{FEFF}{\r\n\r\n\"outbounds\" [] }"), @r#"
    c.json:3:13: error: outbounds: expected a `:` after the key, found `[`
      hint: write `"key": value`
    "#);
}

#[test]
fn f4_a_key_given_twice_is_a_warning_that_names_both_places() {
    assert_snapshot!(check("{\n  \"outbounds\": [],\n  \"outbounds\": [\n    { \"type\": \"direct\", \"tag\": \"a\",\n      \"tag\": \"b\" }\n  ]\n}"), @r#"
    c.json:3:3: warning: outbounds: "outbounds" is given twice, first on line 2; only this one counts
      hint: remove one of them
    c.json:5:7: warning: outbounds[0].tag: "tag" is given twice, first on line 4; only this one counts
      hint: remove one of them
    "#);
}

#[test]
fn f4_bytes_that_are_no_text_are_shown_where_they_are() {
    assert_snapshot!(check_bytes(b"{ \"outbounds\": [{ \"tag\": \"caf\xe9\" }] }"), @r#"
    c.json:1:30: error: this byte is not UTF-8 text
      hint: save the file as UTF-8
    "#);
    assert_snapshot!(check_bytes(b"\xff\xfe{\0 \0}\0"), @r#"
    c.json:1:1: error: this is UTF-16 text, not UTF-8
      hint: save the file as UTF-8
    "#);
    assert_snapshot!(check_bytes(b"PK\x03\x04\x14\0\0\0"), @r#"
    c.json:1:1: error: this looks like a binary file, not a config
      hint: a config is a JSON text; is it the right file, and is it unpacked?
    "#);
    assert_snapshot!(check_bytes(b"{ \"a\": 1 \0 }"), @r#"
    c.json:1:10: error: a: expected a value, found `\u{0}`
      hint: a value is a text in double quotes, a number, true, false, null, `[...]` or `{...}`
    "#);
}

#[test]
fn f4_deep_nesting_is_an_error_and_no_crash() {
    assert_snapshot!(check(&"[".repeat(100_000)), @r#"
    c.json:1:513: error: [0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: lists and objects are nested too deep
      hint: no config needs more than ten levels; is a bracket missing?
    "#);
    assert_snapshot!(check(&"{\"a\":".repeat(100_000)), @r#"
    c.json:1:1282: error: a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a: lists and objects are nested too deep
      hint: no config needs more than ten levels; is a bracket missing?
    "#);
}
