//! Equality of two JSON values: numbers by their exact value, strings by their characters, objects whatever
//! the order of their members, and a repeated name by its last value. `true` is not `1`.
//!
//! Both texts must have been judged with a bounded depth: the comparison recurses once a level.

use std::borrow::Cow;

use super::number;
use super::scan::whitespace;
use super::text::unescape;
use super::walk::{Elements, Members, skip};

/// Are the values that start at these offsets equal?
#[must_use]
pub fn equal(left: &[u8], right: &[u8]) -> bool {
    value(left, whitespace(left, 0), right, whitespace(right, 0))
}

fn value(left: &[u8], left_at: usize, right: &[u8], right_at: usize) -> bool {
    let (left_end, right_end) = (skip(left, left_at).end, skip(right, right_at).end);
    let (Some(left_text), Some(right_text)) = (left.get(left_at..left_end), right.get(right_at..right_end)) else {
        return false;
    };
    if left_text == right_text {
        return true;
    }
    match (left_text.first(), right_text.first()) {
        (Some(b'{'), Some(b'{')) => objects(left_text, right_text),
        (Some(b'['), Some(b'[')) => arrays(left_text, right_text),
        (Some(b'"'), Some(b'"')) => unescape(inner(left_text)) == unescape(inner(right_text)),
        (Some(b'-' | b'0'..=b'9'), Some(b'-' | b'0'..=b'9')) => number::equal(left_text, right_text),
        _ => false,
    }
}

/// What stands between a string's quotes.
fn inner(string: &[u8]) -> &[u8] {
    string.get(1..string.len() - 1).unwrap_or_default()
}

fn arrays(left: &[u8], right: &[u8]) -> bool {
    let (mut left_items, mut right_items) = (Elements::new(left, 0), Elements::new(right, 0));
    loop {
        match (left_items.next(), right_items.next()) {
            (None, None) => return true,
            (Some(left_at), Some(right_at)) if value(left, left_at, right, right_at) => {}
            _ => return false,
        }
    }
}

fn objects(left: &[u8], right: &[u8]) -> bool {
    let (left_members, right_members) = (sorted(left), sorted(right));
    left_members.len() == right_members.len()
        && left_members
            .iter()
            .zip(&right_members)
            .all(|((left_name, left_at), (right_name, right_at))| {
                left_name == right_name && value(left, *left_at, right, *right_at)
            })
}

/// The members by name, the last of each.
fn sorted(text: &[u8]) -> Vec<(Cow<'_, [u8]>, usize)> {
    let mut members = Vec::new();
    let mut walk = Members::new(text, 0);
    while let Some((name, at)) = walk.next() {
        members.push((unescape(name), at));
    }
    // A stable sort keeps repeated names in order; from the back, the first of each is then the last one.
    members.sort_by(|left, right| left.0.cmp(&right.0));
    members.reverse();
    members.dedup_by(|later, kept| later.0 == kept.0);
    members
}

#[cfg(test)]
mod tests {
    use super::equal;

    #[test]
    fn values_are_equal_whatever_their_spelling() {
        for (left, right) in [
            (
                "{\"a\":1,\"b\":[1.0,\"x\"]}",
                "{ \"b\" : [ 1 , \"\\u0078\" ], \"a\" : 10e-1 }",
            ),
            ("{\"a\":1,\"a\":2}", "{\"a\":2}"),
            ("[]", " [ ] "),
            ("\"\\ud83d\\ude00\"", "\"😀\""),
            ("null", "null"),
        ] {
            assert!(equal(left.as_bytes(), right.as_bytes()), "{left} {right}");
            assert!(equal(right.as_bytes(), left.as_bytes()), "{left} {right}");
        }
        for (left, right) in [
            ("true", "1"),
            ("null", "0"),
            ("\"1\"", "1"),
            ("{}", "[]"),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            ("{\"a\":1}", "{\"b\":1}"),
            ("{\"a\":1}", "{\"a\":1,\"b\":1}"),
            ("\"\\ud800\"", "\"\u{fffd}\""),
            ("{\"a\":2,\"a\":1}", "{\"a\":2}"),
            ("9007199254740993", "9007199254740992"),
        ] {
            assert!(!equal(left.as_bytes(), right.as_bytes()), "{left} {right}");
        }
    }
}
