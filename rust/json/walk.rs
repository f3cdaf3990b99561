//! Steps through the members and elements of text that `scan` has judged, skipping what nobody asks for.
//!
//! It checks nothing again, so it is faster than the judge; on text that was not judged it never panics and
//! never runs past the end, it only stops early and says so with `broken`. Each byte is passed once: a caller
//! that walks into a value tells the outer walk where it ended (`resume`).

use super::scan::whitespace;
use super::search::quoting;

/// The offset behind the string that opens at `position`.
#[inline]
#[must_use]
pub fn skip_string(text: &[u8], position: usize) -> usize {
    let mut position = quoting(text, position + 1);
    loop {
        match text.get(position) {
            Some(b'"') => return position + 1,
            Some(_) => position = quoting(text, position + 2),
            None => return text.len(),
        }
    }
}

/// Where a value ends, and how deep it nests (a scalar: 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub end: usize,
    pub depth: usize,
}

/// Skips the value that starts at `position`, by its brackets and quotes alone.
#[must_use]
pub fn skip(text: &[u8], position: usize) -> Extent {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut position = position;
    while let Some(&byte) = text.get(position) {
        match byte {
            b'"' => {
                position = skip_string(text, position);
                if depth == 0 {
                    return Extent {
                        end: position,
                        depth: deepest,
                    };
                }
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => {
                if depth <= 1 {
                    return Extent {
                        end: position + depth,
                        depth: deepest,
                    };
                }
                depth -= 1;
            }
            b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => {
                return Extent {
                    end: position,
                    depth: 0,
                };
            }
            _ => {}
        }
        position += 1;
    }
    Extent {
        end: text.len(),
        depth: deepest,
    }
}

/// Where a walk stands in its container.
enum Place {
    /// Before the next item (or the closing bracket); `true` for the first.
    Between(usize, bool),
    /// In the item that starts here and whose end nobody has looked for.
    In(usize),
    /// Behind the closing bracket.
    Done(usize),
    /// The text is no container, or ends or breaks here.
    Broken(usize),
}

/// The shared half of both walks: commas, the closing bracket, the current item's end.
struct Walk<'a> {
    text: &'a [u8],
    close: u8,
    place: Place,
}

impl<'a> Walk<'a> {
    fn new(text: &'a [u8], position: usize, open: u8, close: u8) -> Self {
        let start = whitespace(text, position);
        let place = if text.get(start) == Some(&open) {
            Place::Between(start + 1, true)
        } else {
            Place::Broken(start)
        };
        Self { text, close, place }
    }

    /// The offset of the next item, if there is one.
    fn next(&mut self) -> Option<usize> {
        if let Place::In(start) = self.place {
            self.place = Place::Between(skip(self.text, start).end, false);
        }
        let Place::Between(position, first) = self.place else {
            return None;
        };
        let position = whitespace(self.text, position);
        match self.text.get(position) {
            Some(byte) if *byte == self.close => {
                self.place = Place::Done(position + 1);
                None
            }
            Some(b',') if !first => Some(whitespace(self.text, position + 1)),
            Some(_) if first => Some(position),
            _ => {
                self.place = Place::Broken(position);
                None
            }
        }
    }

    /// The extent of the current item.
    fn extent(&mut self) -> Extent {
        match self.place {
            Place::In(start) => {
                let extent = skip(self.text, start);
                self.place = Place::Between(extent.end, false);
                extent
            }
            Place::Between(end, _) | Place::Done(end) | Place::Broken(end) => Extent { end, depth: 0 },
        }
    }

    fn finish(&mut self) -> usize {
        while let Some(start) = self.next() {
            self.place = Place::In(start);
            if self.close == b'}' {
                // A member: skip its name as well.
                let after = whitespace(self.text, skip_string(self.text, start));
                self.place = Place::In(whitespace(self.text, after + 1));
            }
        }
        match self.place {
            Place::Done(end) | Place::Broken(end) | Place::Between(end, _) | Place::In(end) => end,
        }
    }
}

/// The members of the object at an offset: name (between its quotes, escapes as written) and value offset.
pub struct Members<'a>(Walk<'a>);

/// The elements of the array at an offset.
pub struct Elements<'a>(Walk<'a>);

macro_rules! walk {
    ($name:ident) => {
        impl<'a> $name<'a> {
            /// Ends the current item at `end`: its caller has walked through it.
            pub fn resume(&mut self, end: usize) {
                self.0.place = Place::Between(end, false);
            }

            /// The end and the depth of the current item.
            pub fn extent(&mut self) -> Extent {
                self.0.extent()
            }

            /// Walks to the closing bracket; gives the offset behind it.
            pub fn finish(&mut self) -> usize {
                self.0.finish()
            }

            /// The text is not the whole container that the walk needs.
            #[must_use]
            pub fn broken(&self) -> bool {
                matches!(self.0.place, Place::Broken(_))
            }
        }
    };
}
walk!(Members);
walk!(Elements);

impl<'a> Members<'a> {
    #[must_use]
    pub fn new(text: &'a [u8], position: usize) -> Self {
        Self(Walk::new(text, position, b'{', b'}'))
    }

    /// The next member: its name as written, and where its value starts.
    #[allow(
        clippy::should_implement_trait,
        reason = "resume() steers it, which an Iterator adapter would hide"
    )]
    pub fn next(&mut self) -> Option<(&'a [u8], usize)> {
        let text = self.0.text;
        let start = self.0.next()?;
        if text.get(start) != Some(&b'"') {
            self.0.place = Place::Broken(start);
            return None;
        }
        let end = skip_string(text, start);
        let colon = whitespace(text, end);
        if text.get(colon) != Some(&b':') {
            self.0.place = Place::Broken(colon);
            return None;
        }
        let value = whitespace(text, colon + 1);
        self.0.place = Place::In(value);
        Some((text.get(start + 1..end - 1).unwrap_or_default(), value))
    }
}

impl<'a> Elements<'a> {
    #[must_use]
    pub fn new(text: &'a [u8], position: usize) -> Self {
        Self(Walk::new(text, position, b'[', b']'))
    }

    /// Where the next element starts; a text that ends behind its comma has none.
    #[allow(
        clippy::should_implement_trait,
        reason = "resume() steers it, which an Iterator adapter would hide"
    )]
    pub fn next(&mut self) -> Option<usize> {
        let start = self.0.next()?;
        if start >= self.0.text.len() {
            self.0.place = Place::Broken(start);
            return None;
        }
        self.0.place = Place::In(start);
        Some(start)
    }
}

#[cfg(test)]
mod tests;
