//! Durations as configs of this field write them: `500ms`, `1.5s`, `1m30s`, `1d`.
//! It must not know which option one is for.
//!
//! Written by hand because the crates that read durations take either Go's
//! fractions (`1.5s`) or days (`1d`), and configs have both.

use std::time::Duration;

/// The longest duration that makes sense; longer ones are slips.
pub(crate) const LONGEST: Duration = Duration::from_secs(3650 * 24 * 60 * 60);

/// Names and lengths in nanoseconds, longest first; of two names for one length
/// the first is written.
const UNITS: [(&str, u64); 9] = [
    ("d", 24 * 60 * 60 * 1_000_000_000),
    ("h", 60 * 60 * 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ns", 1),
];

/// So many digits of a fraction are finer than a nanosecond of a day.
const FRACTION_DIGITS: usize = 18;

/// Why a text is not a duration that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is no duration at all.
    Unreadable,
    /// A number stands without a unit.
    NoUnit,
    /// Zero or less.
    NotPositive,
    /// Longer than [`LONGEST`].
    TooLong,
}

/// Reads a duration of more than zero and at most [`LONGEST`].
pub(crate) fn read(text: &str) -> Result<Duration, Wrong> {
    let (nanos, negative) = match text.strip_prefix('-') {
        Some(rest) => (read_parts(rest)?, true),
        None => (read_parts(text)?, false),
    };
    match u64::try_from(nanos).map(Duration::from_nanos) {
        _ if negative => Err(Wrong::NotPositive),
        Ok(Duration::ZERO) => Err(Wrong::NotPositive),
        Ok(duration) if duration <= LONGEST => Ok(duration),
        _ => Err(Wrong::TooLong),
    }
}

/// The sum of at least one part, in nanoseconds.
fn read_parts(text: &str) -> Result<u128, Wrong> {
    let (mut nanos, mut rest) = read_part(text)?;
    while !rest.is_empty() {
        let (part, after) = read_part(rest)?;
        nanos = nanos.saturating_add(part);
        rest = after;
    }
    Ok(nanos)
}

/// One number with its unit, in nanoseconds, and what follows it.
fn read_part(text: &str) -> Result<(u128, &str), Wrong> {
    let is_digit = |c: char| c.is_ascii_digit();
    let (whole, rest) = split_while(text, is_digit);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => split_while(rest, is_digit),
        None => ("", rest),
    };
    let (unit, rest) = split_while(rest, |c| !is_digit(c) && c != '.');
    if whole.is_empty() && fraction.is_empty() {
        return Err(Wrong::Unreadable);
    }
    if unit.is_empty() {
        return Err(if rest.is_empty() {
            Wrong::NoUnit
        } else {
            Wrong::Unreadable
        });
    }
    let &(_, length) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or(Wrong::Unreadable)?;
    let length = u128::from(length);
    let nanos = number(whole).saturating_mul(length);
    // What is smaller than a nanosecond is dropped.
    let fraction = fraction.get(..FRACTION_DIGITS).unwrap_or(fraction);
    let parts = fraction.bytes().fold(1_u128, |parts, _| parts * 10);
    Ok((
        nanos.saturating_add(number(fraction) * length / parts),
        rest,
    ))
}

/// Digits as a number; as the largest one if they are too many.
fn number(digits: &str) -> u128 {
    let digit = |c: char| u128::from(c.to_digit(10).unwrap_or_default());
    digits.chars().fold(0, |sum: u128, c| {
        sum.saturating_mul(10).saturating_add(digit(c))
    })
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// Writes a duration so that it reads back the same: `1m30s`, `1s500ms`.
pub(crate) fn write(duration: Duration) -> String {
    let mut nanos = duration.as_nanos();
    let mut text = String::new();
    for (unit, length) in UNITS {
        let length = u128::from(length);
        if nanos >= length {
            text += &format!("{}{unit}", nanos / length);
            nanos %= length;
        }
    }
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, nanos: u64) {
        assert_eq!(read(text), Ok(Duration::from_nanos(nanos)), "{text}");
    }

    const MS: u64 = 1_000_000;
    const S: u64 = 1000 * MS;

    #[test]
    fn f3_durations_have_a_unit() {
        check("500ms", 500 * MS);
        check("5s", 5 * S);
        check("1m30s", 90 * S);
        check("1h", 3600 * S);
        check("1d", 86_400 * S);
        check("1d2h3m4s5ms6us7ns", 93_784 * S + 5_006_007);
        check("3us", 3000);
        check("3\u{b5}s", 3000);
        check("3\u{3bc}s", 3000);
        check("90m", 5400 * S);
        check("30s1m", 90 * S);
        check("007s", 7 * S);
        check("3650d", 3650 * 86_400 * S);
    }

    #[test]
    fn f3_fractions_are_taken_as_go_takes_them() {
        check("1.5s", 1500 * MS);
        check(".5s", 500 * MS);
        check("1.s", S);
        check("0.1s", 100 * MS);
        check("1.5h", 5400 * S);
        check("0.5d", 43_200 * S);
        check("0.000000001s", 1);
        check("1.0000000009s", S);
        check("0.3333333333333333333333h", 1_199_999_999_999);
        check("1.5m1.5s", 91_500 * MS);
    }

    #[test]
    fn f3_zero_and_less_are_refused() {
        for text in ["0s", "0ms", "0.0s", "0h0m", "-5s", "-0s", "0.1ns"] {
            assert_eq!(read(text), Err(Wrong::NotPositive), "{text}");
        }
    }

    #[test]
    fn f3_what_is_no_duration_is_refused() {
        for text in [
            "", " ", "s", ".", ".s", "-", "-s", "5 s", " 5s", "5s ", "5S", "5M", "5sec", "5w",
            "1,5s", "1.5.5s", "1s-5s", "+5s", "5s5", "5e3s", "0x5s", "٥s", "NaN", "inf", "--5s",
        ] {
            let wrong = read(text);
            let expected = if text == "5s5" {
                Wrong::NoUnit
            } else {
                Wrong::Unreadable
            };
            assert_eq!(wrong, Err(expected), "{text:?}");
        }
        for text in ["5", "0", "1.5", "-1"] {
            assert_eq!(read(text), Err(Wrong::NoUnit), "{text}");
        }
    }

    #[test]
    fn f3_ten_years_are_enough_and_no_number_overflows() {
        let digits = "9".repeat(1000);
        for text in [
            "3650d1ns",
            "3651d",
            "99999999h",
            &format!("{digits}ns"),
            &format!("{digits}d"),
        ] {
            assert_eq!(read(text), Err(Wrong::TooLong), "{text}");
        }
    }

    #[test]
    fn f3_what_is_written_reads_back_the_same() {
        for (nanos, text) in [
            (1, "1ns"),
            (1500, "1us500ns"),
            (500 * MS, "500ms"),
            (1500 * MS, "1s500ms"),
            (5 * S, "5s"),
            (90 * S, "1m30s"),
            (300 * S, "5m"),
            (86_400 * S, "1d"),
            (90_061 * S, "1d1h1m1s"),
            (3650 * 86_400 * S, "3650d"),
        ] {
            assert_eq!(write(Duration::from_nanos(nanos)), text);
            check(text, nanos);
        }
        assert_eq!(write(Duration::ZERO), "0s");
    }
}
