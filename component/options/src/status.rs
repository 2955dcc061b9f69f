//! `expected_status`: `auto`, `any`, or a list such as `200/204` and `400-499`
//! (SPEC T-5). It must not know what a status is compared with.

use outwatch_engine::{ExpectedStatus, StatusRange};

/// Reads the three forms; `None` for anything else.
pub(crate) fn read(text: &str) -> Option<ExpectedStatus> {
    match text.trim() {
        "auto" => Some(ExpectedStatus::Auto),
        "any" => Some(ExpectedStatus::Any),
        list => list
            .split(['/', ','])
            .map(range)
            .collect::<Option<_>>()
            .map(ExpectedStatus::List),
    }
}

/// Writes what [`read`] reads back the same.
pub(crate) fn write(expected: &ExpectedStatus) -> String {
    match expected {
        ExpectedStatus::Auto => "auto".to_owned(),
        ExpectedStatus::Any => "any".to_owned(),
        ExpectedStatus::List(ranges) => {
            let ranges: Vec<_> = ranges
                .iter()
                .map(|&StatusRange { first, last }| match last == first {
                    true => format!("{first}"),
                    false => format!("{first}-{last}"),
                })
                .collect();
            ranges.join(",")
        }
    }
}

fn range(text: &str) -> Option<StatusRange> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (status(first)?, status(last)?);
    (first <= last).then_some(StatusRange { first, last })
}

fn status(text: &str) -> Option<u16> {
    let digits = text.trim();
    let plain = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .parse()
        .ok()
        .filter(|status| plain && (100..=599).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, ranges: &[(u16, u16)]) {
        let ranges = ranges
            .iter()
            .map(|&(first, last)| StatusRange { first, last })
            .collect();
        let expected = ExpectedStatus::List(ranges);
        assert_eq!(read(text), Some(expected.clone()), "{text}");
        assert_eq!(
            read(&write(&expected)),
            Some(expected),
            "{text} written and read"
        );
    }

    #[test]
    fn t5_auto_and_any_are_words() {
        for (text, expected) in [("auto", ExpectedStatus::Auto), ("any", ExpectedStatus::Any)] {
            assert_eq!(read(text), Some(expected.clone()));
            assert_eq!(write(&expected), text);
        }
    }

    #[test]
    fn t5_a_list_has_slashes_commas_and_ranges() {
        check("200", &[(200, 200)]);
        check("200/204", &[(200, 200), (204, 204)]);
        check("200,302", &[(200, 200), (302, 302)]);
        check("400-499", &[(400, 499)]);
        check("204, 300-399 / 404", &[(204, 204), (300, 399), (404, 404)]);
        check("100-599", &[(100, 599)]);
    }

    #[test]
    fn t5_anything_else_is_refused() {
        for text in [
            "",
            " ",
            "Auto",
            "all",
            "2xx",
            "20",
            "2000",
            "099",
            "600",
            "200-",
            "-200",
            "300-200",
            "200//204",
            "200,",
            ",200",
            "200 204",
            "200-204-208",
            "auto,200",
            "+20",
            "２００",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
