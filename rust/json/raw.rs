//! One valid JSON value that keeps its bytes: a reference into the text it came in, never a copy.

use bytes::Bytes;

use super::scan::{Visitor, checked, document};
use super::walk::{Extent, skip};
use crate::error::Error;

/// Invariant: `text` is exactly one JSON value, valid UTF-8, without white space around it.
#[derive(Clone, Debug)]
pub struct RawValue {
    text: Bytes,
}

impl RawValue {
    /// Judges a whole text.
    ///
    /// # Errors
    /// The text's first fault, at its offset in `text`.
    pub fn parse<V: Visitor>(text: &Bytes, depth: usize, visitor: &mut V) -> Result<Self, Error> {
        checked(text)?;
        let (start, end) = document(text, depth, visitor)?;
        Ok(Self {
            text: text.slice(start..end),
        })
    }

    /// The value at an offset of a text that was judged: the caller vouches for it.
    #[must_use]
    pub fn within(judged: &Bytes, start: usize) -> (Self, Extent) {
        let extent = skip(judged, start);
        (
            Self {
                text: judged.slice(start.min(extent.end)..extent.end),
            },
            extent,
        )
    }

    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.text
    }

    /// Its first byte says what it is.
    #[must_use]
    pub fn is(&self, first: u8) -> bool {
        self.text.first() == Some(&first)
    }

    /// The word that error texts use for what this is.
    #[must_use]
    pub fn word(&self) -> &'static str {
        word(&self.text)
    }
}

/// What a value is, by its first byte, in the words of the error texts.
#[must_use]
pub fn word(value: &[u8]) -> &'static str {
    match value.first() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "bool",
        Some(b'n') => "null",
        _ => "number",
    }
}

/// The same word as a sentence needs it.
#[must_use]
pub fn article(word: &str) -> String {
    match word {
        "null" => "null".into(),
        "array" | "object" => format!("an {word}"),
        _ => format!("a {word}"),
    }
}
