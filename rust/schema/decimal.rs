//! Arithmetic on numbers as they are written: order, wholeness, divisibility. Exact for every digit and exponent, and
//! linear in the text, so that `1e400`, `2^53 + 1` and thirty digits are what they say, and `1e999999999` costs nothing.
//!
//! The texts are judged JSON numbers whose exponent has at most `limits::EXPONENT` digits.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use num_bigint::BigUint;

/// Nine digits at a time: what a 32-bit word holds.
const CHUNK: u32 = 10_u32.pow(9);

/// A number as sign, digits and the power of ten of its first digit. Zero has no digits.
#[derive(Clone, Copy)]
struct Decimal<'a> {
    negative: bool,
    /// From the first digit that is not zero to the last one, with the point where it was written.
    digits: &'a [u8],
    /// The power of ten of the first digit.
    top: i128,
    /// The power of ten of the last digit.
    bottom: i128,
}

impl<'a> Decimal<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.as_bytes();
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (mantissa, exponent) = match memchr::memchr2(b'e', b'E', text) {
            Some(at) => (&text[..at], power(&text[at + 1..])),
            None => (text, 0),
        };
        let is_digit = |byte: &u8| (b'1'..=b'9').contains(byte);
        let Some(first) = mantissa.iter().position(is_digit) else {
            return Self {
                negative: false,
                digits: &[],
                top: 0,
                bottom: 0,
            };
        };
        let last = mantissa.iter().rposition(is_digit).unwrap_or(first);
        let point = memchr::memchr(b'.', mantissa).unwrap_or(mantissa.len());
        let place = |at: usize| {
            let (at, point) = (at as i128, point as i128);
            exponent + if at < point { point - at - 1 } else { point - at }
        };
        Self {
            negative,
            digits: &mantissa[first..=last],
            top: place(first),
            bottom: place(last),
        }
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    fn digits(self) -> impl Iterator<Item = u8> + 'a {
        self.digits.iter().copied().filter(|byte| *byte != b'.')
    }

    /// The digits without sign and power of ten, modulo `divisor`: long division, chunk by chunk.
    fn remainder(self, divisor: &BigUint) -> BigUint {
        let mut remainder = BigUint::ZERO;
        let (mut chunk, mut scale) = (0_u32, 1_u32);
        for digit in self.digits() {
            chunk = chunk * 10 + u32::from(digit - b'0');
            scale *= 10;
            if scale == CHUNK {
                remainder = (remainder * scale + chunk) % divisor;
                (chunk, scale) = (0, 1);
            }
        }
        (remainder * scale + chunk) % divisor
    }
}

fn power(text: &[u8]) -> i128 {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let value = digits.iter().fold(0_i128, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i128::from(digit.wrapping_sub(b'0')))
    });
    if negative { -value } else { value }
}

/// The order of two numbers.
#[must_use]
pub fn compare(left: &str, right: &str) -> Ordering {
    if let (Some(left), Some(right)) = (small(left), small(right)) {
        return left.cmp(&right);
    }
    let (left, right) = (Decimal::new(left), Decimal::new(right));
    let sign = |number: &Decimal<'_>| match (number.is_zero(), number.negative) {
        (true, _) => 0,
        (false, true) => -1,
        (false, false) => 1,
    };
    let magnitude = || {
        left.top
            .cmp(&right.top)
            // A number is longer than another only by digits of which the last is not zero.
            .then_with(|| left.digits().cmp(right.digits()))
    };
    match sign(&left).cmp(&sign(&right)) {
        Ordering::Equal if left.is_zero() => Ordering::Equal,
        Ordering::Equal if left.negative => magnitude().reverse(),
        Ordering::Equal => magnitude(),
        unequal => unequal,
    }
}

/// The value of an integer of at most 18 digits, which is what most numbers are.
#[must_use]
pub fn small(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    if digits.len() > 18 {
        return None;
    }
    let mut value = 0_i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -value } else { value })
}

/// Is the number whole, however it is written (`1.0`, `10e-1`, `1e400`)?
#[must_use]
pub fn is_whole(text: &str) -> bool {
    small(text).is_some() || Decimal::new(text).bottom >= 0
}

/// Equal numbers give equal hashes, however they are written.
pub fn hash(text: &str, hasher: &mut impl Hasher) {
    let number = Decimal::new(text);
    (number.negative, number.top).hash(hasher);
    number.digits().for_each(|digit| hasher.write_u8(digit));
}

/// A divisor that was read once.
pub struct Divisor {
    digits: BigUint,
    bottom: i128,
    /// The same, where it and its power of ten make a small whole number.
    small: Option<i64>,
}

impl Divisor {
    /// `None` for zero, which divides nothing.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let decimal = Decimal::new(text);
        let digits: Vec<u8> = decimal.digits().collect();
        Some(Self {
            digits: BigUint::parse_bytes(&digits, 10).filter(|digits| *digits != BigUint::ZERO)?,
            bottom: decimal.bottom,
            small: small(text).map(i64::abs),
        })
    }

    /// Does it divide the number without a rest?
    #[must_use]
    pub fn divides(&self, text: &str) -> bool {
        if let (Some(divisor), Some(value)) = (self.small, small(text)) {
            return value % divisor == 0;
        }
        let value = Decimal::new(text);
        if value.is_zero() {
            return true;
        }
        // Both without their powers of ten end in a digit that is not zero, so the value's is the larger one or
        // the quotient is no whole number.
        let Ok(shift) = u128::try_from(value.bottom - self.bottom) else {
            return false;
        };
        let tens = BigUint::from(10_u32).modpow(&BigUint::from(shift), &self.digits);
        (value.remainder(&self.digits) * tens) % &self.digits == BigUint::ZERO
    }
}

#[cfg(test)]
mod tests;
