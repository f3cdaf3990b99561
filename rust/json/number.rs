//! Numbers as the exact values they spell: `1.0`, `1`, `10e-1` are one number, and no digit is ever lost.

use std::borrow::Cow;

/// A number as sign, digits without zeros at either end, and the power of ten of its last digit.
#[derive(Debug, PartialEq, Eq)]
pub struct Exact<'a> {
    negative: bool,
    digits: Cow<'a, [u8]>,
    exponent: i128,
}

/// Reads a number's text. `None` where its exponent itself has more digits than any use of it (over 36), or where it
/// holds what no number does: such a text is then only equal to itself.
#[must_use]
pub fn exact(text: &[u8]) -> Option<Exact<'_>> {
    let (negative, rest) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, mut exponent) = match rest.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&rest[..at], power(&rest[at + 1..])),
        None => (rest, Some(0)),
    };
    let mut digits = match mantissa.iter().position(|byte| *byte == b'.') {
        Some(point) => {
            let fraction = &mantissa[point + 1..];
            exponent = exponent.and_then(|power| power.checked_sub(fraction.len() as i128));
            Cow::Owned([&mantissa[..point], fraction].concat())
        }
        None => Cow::Borrowed(mantissa),
    };
    let leading = digits.iter().take_while(|digit| **digit == b'0').count();
    let trailing = digits[leading..]
        .iter()
        .rev()
        .take_while(|digit| **digit == b'0')
        .count();
    let end = digits.len() - trailing;
    digits = match digits {
        Cow::Borrowed(digits) => Cow::Borrowed(&digits[leading..end]),
        Cow::Owned(digits) => Cow::Owned(digits[leading..end].to_vec()),
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    if digits.is_empty() {
        // Zero is zero, whatever its sign and exponent.
        return Some(Exact {
            negative: false,
            digits,
            exponent: 0,
        });
    }
    Some(Exact {
        negative,
        digits,
        exponent: exponent?.checked_add(trailing as i128)?,
    })
}

fn power(text: &[u8]) -> Option<i128> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let digits = &digits[digits.iter().take_while(|digit| **digit == b'0').count()..];
    if digits.len() > 36 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits
        .iter()
        .fold(0_i128, |value, digit| value * 10 + i128::from(digit - b'0'));
    Some(if negative { -value } else { value })
}

/// Equal as exact values.
#[must_use]
pub fn equal(left: &[u8], right: &[u8]) -> bool {
    left == right || matches!((exact(left), exact(right)), (Some(left), Some(right)) if left == right)
}

/// The whole number that a value's text spells (`7`, `7.0`, `70e-1`), if it is one that fits.
#[must_use]
pub fn whole(text: &[u8]) -> Option<i64> {
    if !matches!(text.first(), Some(b'-' | b'0'..=b'9')) {
        return None;
    }
    if let Ok(value) = std::str::from_utf8(text).ok()?.parse() {
        return Some(value);
    }
    let exact = exact(text)?;
    let zeros = usize::try_from(exact.exponent)
        .ok()
        .filter(|zeros| exact.digits.len().saturating_add(*zeros) <= 19)?;
    let mut value = 0_i64;
    for digit in exact.digits.iter().copied().chain(std::iter::repeat_n(b'0', zeros)) {
        let digit = i64::from(digit - b'0');
        value = value
            .checked_mul(10)?
            .checked_add(if exact.negative { -digit } else { digit })?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_many_spellings() {
        for (left, right) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("1e3", "1000"),
            ("1E+3", "1000.00"),
            ("-0", "0"),
            ("-0.0e9", "0"),
            ("0.1", "1e-1"),
            ("1E400", "10e399"),
            ("1e99999999999999999999", "10e99999999999999999998"),
            ("123456789012345678901234567890", "123456789012345678901234567890.0"),
        ] {
            assert!(equal(left.as_bytes(), right.as_bytes()), "{left} {right}");
        }
        for (left, right) in [
            ("1", "-1"),
            ("9007199254740993", "9007199254740992"),
            ("1E400", "1E401"),
            ("0.1", "0.10000000000000001"),
            (
                "1e99999999999999999999999999999999999999",
                "1e99999999999999999999999999999999999998",
            ),
        ] {
            assert!(!equal(left.as_bytes(), right.as_bytes()), "{left} {right}");
        }
    }

    #[test]
    fn a_whole_number_is_found_in_any_spelling() {
        for (text, value) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            ("70e-1", Some(7)),
            ("-1e3", Some(-1000)),
            ("0.0", Some(0)),
            ("1000000007.0", Some(1_000_000_007)),
            ("7.5", None),
            ("1e30", None),
            ("9223372036854775808", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("-9223372036854775808.0", Some(i64::MIN)),
            ("1e18446744073709551615", None),
            ("0e18446744073709551615", Some(0)),
            ("1e-170141183460469231731687303715884105728", None),
        ] {
            assert_eq!(whole(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_equal_to_itself_alone() {
        for text in ["x", "1x", "x1", "1ex", "1e1x", "1.x", "--1", "1.1.", "é"] {
            assert!(equal(text.as_bytes(), text.as_bytes()), "{text}");
            assert!(!equal(text.as_bytes(), b"1"), "{text}");
        }
    }
}
