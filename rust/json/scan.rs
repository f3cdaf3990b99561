//! The judge of JSON text: RFC 8259 grammar and depth, in one pass, without recursion, building nothing.
//!
//! It takes `&str`-valid bytes: UTF-8 is checked at the door (`checked`), where the standard library does it
//! many times faster than any scanner could on the way. What a caller wants to know besides "is it valid"
//! (member names, surrogates) comes through a `Visitor`, which costs nothing where it does nothing.

use super::search::special;
use crate::error::{Error, Kind};

/// What a walk tells its caller on the way. Offsets are from the start of the text.
pub trait Visitor {
    /// A container opens at `offset`; `object` says which kind.
    ///
    /// # Errors
    /// Any error ends the scan.
    #[inline]
    fn open(&mut self, object: bool, offset: usize) -> Result<(), Error> {
        let _ = (object, offset);
        Ok(())
    }
    /// The innermost container closes.
    #[inline]
    fn close(&mut self) {}
    /// A member name: `start..end` is its text between the quotes, escapes as written.
    ///
    /// # Errors
    /// Any error ends the scan.
    #[inline]
    fn name(&mut self, start: usize, end: usize) -> Result<(), Error> {
        let _ = (start, end);
        Ok(())
    }
    /// Half of a surrogate pair is written as an escape at `offset`: legal grammar, no character.
    ///
    /// # Errors
    /// Any error ends the scan.
    #[inline]
    fn lone_surrogate(&mut self, offset: usize) -> Result<(), Error> {
        let _ = offset;
        Ok(())
    }
}

/// The visitor that wants to know nothing.
pub struct Nothing;
impl Visitor for Nothing {}

/// Which kinds of container are open: one bit a level, no allocation below 64 levels.
struct Nesting {
    word: u64,
    full: Vec<u64>,
    depth: usize,
    limit: usize,
}

impl Nesting {
    const fn new(limit: usize) -> Self {
        Self {
            word: 0,
            full: Vec::new(),
            depth: 0,
            limit,
        }
    }

    #[inline]
    fn push(&mut self, object: bool, offset: usize) -> Result<(), Error> {
        if self.depth >= self.limit {
            return Err(Error::new(Kind::TooDeep, offset));
        }
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.full.push(self.word);
        }
        self.word = (self.word << 1) | u64::from(object);
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0
            && self.depth.is_multiple_of(64)
            && let Some(word) = self.full.pop()
        {
            self.word = word;
        }
    }

    #[inline]
    const fn in_object(&self) -> bool {
        self.word & 1 == 1
    }
}

/// UTF-8, checked once for a whole text.
///
/// # Errors
/// `BadUtf8` at the first byte that belongs to no character.
pub fn checked(text: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(text).map_err(|error| Error::new(Kind::BadUtf8, error.valid_up_to()))
}

/// The whole text is one value, with white space around it. Gives the value's span.
///
/// # Errors
/// The first fault in the order of the text; `TrailingText` when a second value or anything else follows.
pub fn document<V: Visitor>(text: &[u8], limit: usize, visitor: &mut V) -> Result<(usize, usize), Error> {
    let start = whitespace(text, 0);
    let end = value(text, start, limit, visitor)?;
    let rest = whitespace(text, end);
    if rest == text.len() {
        Ok((start, end))
    } else {
        Err(Error::new(Kind::TrailingText, rest))
    }
}

/// Walks the one value that starts at `position`; gives the offset behind it.
///
/// # Errors
/// The first fault in the order of the text.
pub fn value<V: Visitor>(text: &[u8], position: usize, limit: usize, visitor: &mut V) -> Result<usize, Error> {
    let mut nesting = Nesting::new(limit);
    let mut position = position;
    loop {
        position = whitespace(text, position);
        match text.get(position) {
            Some(b'"') => position = string(text, position, visitor)?,
            Some(b'{') => {
                nesting.push(true, position)?;
                visitor.open(true, position)?;
                position = whitespace(text, position + 1);
                if text.get(position) == Some(&b'}') {
                    nesting.pop();
                    visitor.close();
                    position += 1;
                } else {
                    position = name(text, position, visitor)?;
                    continue;
                }
            }
            Some(b'[') => {
                nesting.push(false, position)?;
                visitor.open(false, position)?;
                position = whitespace(text, position + 1);
                if text.get(position) == Some(&b']') {
                    nesting.pop();
                    visitor.close();
                    position += 1;
                } else {
                    continue;
                }
            }
            Some(b'-' | b'0'..=b'9') => position = number(text, position)?,
            Some(_) => position = literal(text, position)?,
            None => return Err(Error::new(Kind::UnexpectedEnd, position)),
        }
        loop {
            if nesting.depth == 0 {
                return Ok(position);
            }
            position = whitespace(text, position);
            match text.get(position) {
                Some(b',') => {
                    position += 1;
                    if nesting.in_object() {
                        position = name(text, whitespace(text, position), visitor)?;
                    }
                    break;
                }
                Some(b'}') if nesting.in_object() => position += 1,
                Some(b']') if !nesting.in_object() => position += 1,
                Some(_) => return Err(Error::new(Kind::UnexpectedByte, position)),
                None => return Err(Error::new(Kind::UnexpectedEnd, position)),
            }
            nesting.pop();
            visitor.close();
        }
    }
}

/// A member name and its colon; gives the offset behind the colon.
///
/// # Errors
/// The first fault in the order of the text.
pub fn name<V: Visitor>(text: &[u8], position: usize, visitor: &mut V) -> Result<usize, Error> {
    match text.get(position) {
        Some(b'"') => {}
        Some(_) => return Err(Error::new(Kind::UnexpectedByte, position)),
        None => return Err(Error::new(Kind::UnexpectedEnd, position)),
    }
    let end = string(text, position, visitor)?;
    visitor.name(position + 1, end - 1)?;
    let colon = whitespace(text, end);
    match text.get(colon) {
        Some(b':') => Ok(colon + 1),
        Some(_) => Err(Error::new(Kind::UnexpectedByte, colon)),
        None => Err(Error::new(Kind::UnexpectedEnd, colon)),
    }
}

/// The offset of the first byte that is not JSON white space.
#[inline]
#[must_use]
pub fn whitespace(text: &[u8], position: usize) -> usize {
    let mut position = position;
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(position) {
        position += 1;
    }
    position
}

/// Walks a string from its opening quote; gives the offset behind the closing one.
#[inline]
fn string<V: Visitor>(text: &[u8], position: usize, visitor: &mut V) -> Result<usize, Error> {
    let mut position = special(text, position + 1);
    loop {
        match text.get(position) {
            Some(b'"') => return Ok(position + 1),
            Some(b'\\') => position = special(text, escape(text, position, visitor)?),
            Some(_) => return Err(Error::new(Kind::ControlCharacter, position)),
            None => return Err(Error::new(Kind::UnexpectedEnd, position)),
        }
    }
}

fn escape<V: Visitor>(text: &[u8], position: usize, visitor: &mut V) -> Result<usize, Error> {
    match text.get(position + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(position + 2),
        Some(b'u') => match unit(text, position)? {
            0xD800..=0xDBFF
                if text.get(position + 6..position + 8) == Some(b"\\u")
                    && matches!(unit(text, position + 6)?, 0xDC00..=0xDFFF) =>
            {
                Ok(position + 12)
            }
            0xD800..=0xDFFF => {
                visitor.lone_surrogate(position)?;
                Ok(position + 6)
            }
            _ => Ok(position + 6),
        },
        Some(_) => Err(Error::new(Kind::BadEscape, position + 1)),
        None => Err(Error::new(Kind::UnexpectedEnd, position + 1)),
    }
}

/// The code unit of the `\uXXXX` at `position`.
///
/// # Errors
/// `BadEscape` at the first byte that is no hexadecimal digit.
pub fn unit(text: &[u8], position: usize) -> Result<u16, Error> {
    let mut unit = 0;
    for offset in position + 2..position + 6 {
        let digit = match text.get(offset) {
            Some(digit @ b'0'..=b'9') => digit - b'0',
            Some(digit @ b'a'..=b'f') => digit - b'a' + 10,
            Some(digit @ b'A'..=b'F') => digit - b'A' + 10,
            Some(_) => return Err(Error::new(Kind::BadEscape, offset)),
            None => return Err(Error::new(Kind::UnexpectedEnd, offset)),
        };
        unit = unit << 4 | u16::from(digit);
    }
    Ok(unit)
}

#[inline]
fn digits(text: &[u8], position: usize) -> Result<usize, Error> {
    let mut end = position;
    while let Some(b'0'..=b'9') = text.get(end) {
        end += 1;
    }
    match text.get(end) {
        _ if end > position => Ok(end),
        Some(_) => Err(Error::new(Kind::BadNumber, end)),
        None => Err(Error::new(Kind::UnexpectedEnd, end)),
    }
}

fn number(text: &[u8], position: usize) -> Result<usize, Error> {
    let mut position = position;
    if text.get(position) == Some(&b'-') {
        position += 1;
        if text.get(position) == Some(&b'I') {
            return Err(Error::new(Kind::NotFinite, position - 1));
        }
    }
    if text.get(position) == Some(&b'0') {
        position += 1;
        if let Some(b'0'..=b'9') = text.get(position) {
            return Err(Error::new(Kind::BadNumber, position));
        }
    } else {
        position = digits(text, position)?;
    }
    if text.get(position) == Some(&b'.') {
        position = digits(text, position + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(position) {
        position += 1;
        if let Some(b'+' | b'-') = text.get(position) {
            position += 1;
        }
        position = digits(text, position)?;
    }
    Ok(position)
}

fn literal(text: &[u8], position: usize) -> Result<usize, Error> {
    let word: &[u8] = match text.get(position) {
        Some(b't') => b"true",
        Some(b'f') => b"false",
        Some(b'n') => b"null",
        Some(b'N') if text.get(position..position + 3) == Some(b"NaN") => {
            return Err(Error::new(Kind::NotFinite, position));
        }
        Some(b'I') if text.get(position..position + 8) == Some(b"Infinity") => {
            return Err(Error::new(Kind::NotFinite, position));
        }
        _ => return Err(Error::new(Kind::UnexpectedByte, position)),
    };
    for (index, expected) in word.iter().enumerate() {
        match text.get(position + index) {
            Some(byte) if byte == expected => {}
            Some(_) => return Err(Error::new(Kind::UnexpectedByte, position + index)),
            None => return Err(Error::new(Kind::UnexpectedEnd, position + index)),
        }
    }
    Ok(position + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str) -> Result<(usize, usize), Error> {
        document(text.as_bytes(), 256, &mut Nothing)
    }

    #[test]
    fn accepts_what_rfc_8259_accepts() {
        for text in [
            "0",
            "-0",
            "1.50",
            "1e3",
            "1E+3",
            "-1.0e-10",
            "123456789012345678901234567890",
            "1E400",
            "true",
            "false",
            "null",
            "\"\"",
            "\"\\u0041\\n\\/\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud800\"",
            "[]",
            "{}",
            "[1,2]",
            " [ 1 , 2 ] ",
            "{\"a\":{\"b\":[{}]}}",
            "\t{\"a\" :\r\n1}",
            "\"é漢😀\"",
            "\"eight bytes and more \\\" quote\"",
        ] {
            assert!(judge(text).is_ok(), "{text}: {:?}", judge(text));
        }
    }

    #[test]
    fn refuses_with_the_kind_and_the_place() {
        for (text, kind, offset) in [
            ("", Kind::UnexpectedEnd, 0),
            ("{", Kind::UnexpectedEnd, 1),
            ("[1,]", Kind::UnexpectedByte, 3),
            ("{\"a\":1,}", Kind::UnexpectedByte, 7),
            ("{'a':1}", Kind::UnexpectedByte, 1),
            ("01", Kind::BadNumber, 1),
            ("1.", Kind::UnexpectedEnd, 2),
            ("-", Kind::UnexpectedEnd, 1),
            ("1.x", Kind::BadNumber, 2),
            ("NaN", Kind::NotFinite, 0),
            ("[-Infinity]", Kind::NotFinite, 1),
            ("nul", Kind::UnexpectedEnd, 3),
            ("nulL", Kind::UnexpectedByte, 3),
            ("\"\\x\"", Kind::BadEscape, 2),
            ("\"\\u12G4\"", Kind::BadEscape, 5),
            ("\"a\nb\"", Kind::ControlCharacter, 2),
            ("{} {}", Kind::TrailingText, 3),
            ("[}", Kind::UnexpectedByte, 1),
            ("[1}", Kind::UnexpectedByte, 2),
            ("{\"a\" 1}", Kind::UnexpectedByte, 5),
        ] {
            assert_eq!(judge(text), Err(Error::new(kind, offset)), "{text}");
        }
    }

    #[test]
    fn every_truncation_of_a_document_is_an_unexpected_end() {
        let text = "{\"a\":[1.5e-3,true,null,{\"b\\u00e9\":\"x\\n\"}],\"c\":{}}";
        assert!(judge(text).is_ok());
        for end in 0..text.len() {
            let error = judge(&text[..end]).map_or_else(|error| error, |_| panic!("accepted {}", &text[..end]));
            assert_eq!(
                (error.kind, error.offset),
                (Kind::UnexpectedEnd, end),
                "{}",
                &text[..end]
            );
        }
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        for depth in [1, 63, 64, 65, 128, 129, 255, 256] {
            let text = "[".repeat(depth) + &"]".repeat(depth);
            assert!(judge(&text).is_ok(), "{depth}");
            let mixed = "{\"a\":[".repeat(depth / 2) + &"]}".repeat(depth / 2);
            assert!(depth < 2 || judge(&mixed).is_ok(), "{depth}");
        }
        let text = "[".repeat(257) + &"]".repeat(257);
        assert_eq!(judge(&text), Err(Error::new(Kind::TooDeep, 256)));
        let deep = "[".repeat(1_000_000);
        assert!(document(deep.as_bytes(), usize::MAX, &mut Nothing).is_err());
    }
}
