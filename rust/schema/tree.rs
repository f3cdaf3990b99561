//! A document as a validator reads it: one flat list of entries over its text, in the order of the text. Strings and
//! numbers stay where they stand, so no number is ever converted, and nothing is parsed by serde.
//!
//! Only I-JSON (RFC 7493) becomes a tree: a repeated member name or half of a surrogate pair would be read differently
//! by the validator and by whoever gets the bytes.

use std::borrow::Cow;

use crate::error::{Error, Kind};
use crate::json::scan::{self, Visitor};
use crate::json::walk::skip_string;
use crate::limits::{DEPTH, EXPONENT};

mod names;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Null,
    Bool(bool),
    Number,
    String { escaped: bool },
    Array,
    Object,
}

/// One value or member name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its text, a string's without the quotes.
    pub start: u32,
    pub end: u32,
    /// The entry behind it and all that it holds.
    pub next: u32,
    /// How many elements or members it holds.
    pub count: u32,
    pub what: What,
}

/// The entries of one document. The members of an object follow it as name, value, name, value.
pub struct Tree<'a> {
    pub text: &'a str,
    pub entries: Vec<Entry>,
    /// Levels of containers.
    pub depth: usize,
    /// The large objects, each with its name entries sorted by name.
    sorted: Vec<(u32, Box<[u32]>)>,
}

struct Whole;

impl Visitor for Whole {
    fn lone_surrogate(&mut self, offset: usize) -> Result<(), Error> {
        Err(Error::new(Kind::LoneSurrogate, offset))
    }
}

impl<'a> Tree<'a> {
    /// Judges a whole text and lists its entries.
    ///
    /// # Errors
    /// The text's first fault, repeated names last; `TooLarge` above `limit` bytes.
    pub fn parse(text: &'a [u8], limit: usize) -> Result<Self, Error> {
        let text = scan::checked(text)?;
        if text.len() > limit || u32::try_from(text.len()).is_err() {
            return Err(Error::new(Kind::TooLarge, limit));
        }
        let (start, end) = scan::document(text.as_bytes(), DEPTH, &mut Whole)?;
        let mut tree = Self {
            text,
            // Short documents have an entry in about eight bytes; a long one is mostly long strings.
            entries: Vec::with_capacity((end - start).min(4096) / 8 + 1),
            depth: 0,
            sorted: Vec::new(),
        };
        tree.list(start, end)?;
        // They were met in the order in which they close.
        tree.sorted.sort_unstable_by_key(|(object, _)| *object);
        Ok(tree)
    }

    /// Lists what stands between the offsets of judged text: one pass, no recursion.
    fn list(&mut self, start: usize, end: usize) -> Result<(), Error> {
        let text = self.text.as_bytes();
        // Most documents have no escape at all.
        let any_escape = memchr::memchr(b'\\', text).is_some();
        let mut open = [0_u32; DEPTH];
        let mut depth = 0;
        let mut position = start;
        while position < end {
            let from = position;
            let what = match text[position] {
                b'"' => {
                    position = skip_string(text, position);
                    let escaped = any_escape && memchr::memchr(b'\\', &text[from + 1..position - 1]).is_some();
                    self.push(from + 1, position - 1, What::String { escaped }, &open[..depth]);
                    continue;
                }
                b'}' | b']' => {
                    position += 1;
                    depth -= 1;
                    self.close(open[depth], position)?;
                    continue;
                }
                b'{' => What::Object,
                b'[' => What::Array,
                b't' => What::Bool(true),
                b'f' => What::Bool(false),
                b'n' => What::Null,
                b'-' | b'0'..=b'9' => What::Number,
                _ => {
                    position += 1;
                    continue;
                }
            };
            if matches!(what, What::Object | What::Array) {
                position += 1;
                open[depth] = self.push(from, from, what, &open[..depth]);
                depth += 1;
                self.depth = self.depth.max(depth);
                continue;
            }
            let mut exponent = false;
            while position < end && !matches!(text[position], b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t') {
                exponent |= matches!(text[position], b'e' | b'E');
                position += 1;
            }
            if exponent && what == What::Number && exponent_digits(&text[from..position]) > EXPONENT {
                return Err(Error::new(Kind::HugeExponent, from));
            }
            self.push(from, position, what, &open[..depth]);
        }
        Ok(())
    }

    /// Appends an entry and counts it where it stands; gives its index.
    fn push(&mut self, start: usize, end: usize, what: What, open: &[u32]) -> u32 {
        let index = narrow(self.entries.len());
        self.entries.push(Entry {
            start: narrow(start),
            end: narrow(end),
            next: index + 1,
            count: 0,
            what,
        });
        if let Some(holder) = open.last() {
            self.entries[*holder as usize].count += 1;
        }
        index
    }

    /// Ends a container; an object's names are told apart here.
    fn close(&mut self, index: u32, end: usize) -> Result<(), Error> {
        let next = narrow(self.entries.len());
        let entry = &mut self.entries[index as usize];
        entry.end = narrow(end);
        entry.next = next;
        if entry.what != What::Object {
            return Ok(());
        }
        // Names were counted as well as values.
        entry.count /= 2;
        match self.repeated(index) {
            None => Ok(()),
            Some(name) => Err(Error::new(
                Kind::DuplicateMember,
                self.entries[name as usize].start as usize,
            )),
        }
    }

    /// The text of an entry.
    #[must_use]
    pub fn slice(&self, entry: &Entry) -> &'a str {
        &self.text[entry.start as usize..entry.end as usize]
    }

    /// The characters of the string at an index.
    #[must_use]
    pub fn characters(&self, index: u32) -> Cow<'a, str> {
        let entry = &self.entries[index as usize];
        let inner = self.slice(entry);
        match entry.what {
            What::String { escaped: true } => crate::json::text::decode(inner.as_bytes()),
            _ => Cow::Borrowed(inner),
        }
    }

    /// The element at a position of the array at an index.
    #[must_use]
    pub fn element(&self, array: u32, position: usize) -> Option<u32> {
        self.elements(array).nth(position)
    }

    /// The indices of an array's elements.
    #[must_use]
    pub fn elements(&self, array: u32) -> Steps<'_> {
        self.steps(array, 0)
    }

    /// The indices of an object's names; each value stands behind its name.
    #[must_use]
    pub fn names(&self, object: u32) -> Steps<'_> {
        self.steps(object, 1)
    }

    fn steps(&self, holder: u32, name: u32) -> Steps<'_> {
        Steps {
            entries: &self.entries,
            at: holder + 1,
            end: self.entries[holder as usize].next,
            name,
        }
    }
}

/// The children of a container, in its order.
#[derive(Clone)]
pub struct Steps<'t> {
    entries: &'t [Entry],
    at: u32,
    end: u32,
    /// 1 where a name stands before each value, else 0.
    name: u32,
}

impl Iterator for Steps<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let child = self.at;
        if child >= self.end {
            return None;
        }
        self.at = self.entries[(child + self.name) as usize].next;
        Some(child)
    }
}

/// The digits of a number's exponent, zeros in front not counted.
fn exponent_digits(number: &[u8]) -> usize {
    let Some(at) = memchr::memchr2(b'e', b'E', number) else {
        return 0;
    };
    let digits = &number[at + 1..];
    digits.len()
        - digits
            .iter()
            .take_while(|byte| matches!(byte, b'+' | b'-' | b'0'))
            .count()
}

/// An offset or index of a text that `parse` found short enough.
fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
