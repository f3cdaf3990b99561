//! The judge of JSON text: RFC 8259 grammar and depth, in one pass, without recursion, building nothing.
//!
//! It takes `&str`-valid bytes: UTF-8 is checked at the door (`checked`), where the standard library does it
//! many times faster than any scanner could on the way. What a caller wants to know besides "is it valid"
//! (member names, surrogates) comes through a `Visitor`, which costs nothing where it does nothing.

use super::nesting::Nesting;
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
mod tests;
