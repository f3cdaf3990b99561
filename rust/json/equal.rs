//! Equality of two JSON values: numbers by their exact value, strings by their characters, objects whatever
//! the order of their members, and a repeated name by its last value. `true` is not `1`.
//!
//! Both texts must have been judged with a bounded depth: the comparison recurses once a level.

use std::borrow::Cow;

use super::number;
use super::scan::whitespace;
use super::text::unescape;
use super::walk::{Elements, Members, skip, skip_string};

/// Containers of more bytes have their ends remembered: else each level of nesting would look for them again.
const LARGE: usize = 256;

/// Are the values that start at these offsets equal?
#[must_use]
pub fn equal(left: &[u8], right: &[u8]) -> bool {
    value(
        &Side::new(left),
        whitespace(left, 0),
        &Side::new(right),
        whitespace(right, 0),
    )
}

/// One of the two texts, and where its large containers start and end, in the order of their starts.
struct Side<'a> {
    text: &'a [u8],
    large: Vec<(usize, usize)>,
}

impl<'a> Side<'a> {
    fn new(text: &'a [u8]) -> Self {
        let (mut large, mut open) = (Vec::new(), Vec::new());
        let mut position = if text.len() > LARGE { 0 } else { text.len() };
        while let Some(&byte) = text.get(position) {
            match byte {
                b'"' => {
                    position = skip_string(text, position);
                    continue;
                }
                b'{' | b'[' => {
                    open.push(large.len());
                    large.push((position, text.len()));
                }
                b'}' | b']' => {
                    if let Some(index) = open.pop() {
                        large[index].1 = position + 1;
                        if position + 1 - large[index].0 <= LARGE {
                            // Nothing large can be inside, so it is the last one.
                            large.truncate(index);
                        }
                    }
                }
                _ => {}
            }
            position += 1;
        }
        Self { text, large }
    }

    fn end(&self, start: usize) -> usize {
        match self.large.binary_search_by_key(&start, |span| span.0) {
            Ok(index) => self.large[index].1,
            Err(_) => skip(self.text, start).end,
        }
    }

    /// The members of the object at `start` by name, the last of each.
    fn members(&self, start: usize) -> Vec<(Cow<'a, [u8]>, usize)> {
        let mut members = Vec::new();
        let mut walk = Members::new(self.text, start);
        while let Some((name, at)) = walk.next() {
            members.push((unescape(name), at));
            walk.resume(self.end(at));
        }
        // A stable sort keeps repeated names in order; from the back, the first of each is then the last one.
        members.sort_by(|left, right| left.0.cmp(&right.0));
        members.reverse();
        members.dedup_by(|later, kept| later.0 == kept.0);
        members
    }
}

fn value(left: &Side<'_>, left_at: usize, right: &Side<'_>, right_at: usize) -> bool {
    let (left_text, right_text) = (
        left.text.get(left_at..left.end(left_at)),
        right.text.get(right_at..right.end(right_at)),
    );
    let (Some(left_text), Some(right_text)) = (left_text, right_text) else {
        return false;
    };
    if left_text == right_text {
        return true;
    }
    match (left_text.first(), right_text.first()) {
        (Some(b'{'), Some(b'{')) => objects(left, left_at, right, right_at),
        (Some(b'['), Some(b'[')) => arrays(left, left_at, right, right_at),
        (Some(b'"'), Some(b'"')) => unescape(inner(left_text)) == unescape(inner(right_text)),
        (Some(b'-' | b'0'..=b'9'), Some(b'-' | b'0'..=b'9')) => number::equal(left_text, right_text),
        _ => false,
    }
}

/// What stands between a string's quotes.
fn inner(string: &[u8]) -> &[u8] {
    string.get(1..string.len() - 1).unwrap_or_default()
}

fn arrays(left: &Side<'_>, left_at: usize, right: &Side<'_>, right_at: usize) -> bool {
    let (mut left_items, mut right_items) = (Elements::new(left.text, left_at), Elements::new(right.text, right_at));
    loop {
        match (left_items.next(), right_items.next()) {
            (None, None) => return true,
            (Some(left_at), Some(right_at)) if value(left, left_at, right, right_at) => {
                left_items.resume(left.end(left_at));
                right_items.resume(right.end(right_at));
            }
            _ => return false,
        }
    }
}

fn objects(left: &Side<'_>, left_at: usize, right: &Side<'_>, right_at: usize) -> bool {
    let (left_members, right_members) = (left.members(left_at), right.members(right_at));
    left_members.len() == right_members.len()
        && left_members
            .iter()
            .zip(&right_members)
            .all(|((left_name, left_at), (right_name, right_at))| {
                left_name == right_name && value(left, *left_at, right, *right_at)
            })
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

    #[test]
    fn a_large_text_is_compared_in_time_that_its_depth_does_not_multiply() {
        let text = |last: &str| {
            let items = "[0,{\"b\":\"x\",\"a\":[1]}],".repeat(20_000);
            "{\"n\":[".repeat(120) + &items + last + &"]}".repeat(120)
        };
        assert!(equal(text("1.0").as_bytes(), text("1").as_bytes()));
        assert!(equal(text(" 1e0 ").as_bytes(), text("1").as_bytes()));
        assert!(!equal(text("1").as_bytes(), text("2").as_bytes()));
        assert!(!equal(text("1").as_bytes(), text("1,1").as_bytes()));
        let members: Vec<_> = (0..2000)
            .map(|index| format!("\"k{index}\":{{\"v\":[{index}]}}"))
            .collect();
        let turned: Vec<_> = members.iter().rev().cloned().collect();
        assert!(equal(
            format!("{{{}}}", members.join(",")).as_bytes(),
            format!("{{{}}}", turned.join(", ")).as_bytes()
        ));
    }
}
