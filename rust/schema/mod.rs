//! A tool's schema: verbatim bytes, the few facts of its root, what is odd about it, and its fingerprint.
//!
//! Nothing in this file changes a schema, follows a reference or compiles one; `compile` and `validate` do, for who asks.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::error::{Error, Kind};
use crate::json::scan::{self, Visitor};
use crate::json::text::{decode, unescape};
use crate::json::walk::{Extent, Members};
use crate::limits;

pub mod compile;
mod decimal;
mod expansion;
pub mod explain;
mod flat;
mod instance;
mod keywords;
pub mod oddities;
mod same;
mod tree;
pub mod validate;
mod value;
mod view;
mod words;

/// Why a text can't be a tool's input schema. The prose is pinned by the spec (2.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Empty,
    Json(Error),
    Trailing,
    NotAnObject,
    /// The root's `type`, `""` when it is missing or no string.
    Type(String),
    TooDeep(usize),
    TooLarge(usize),
}

impl Fault {
    #[must_use]
    pub fn prose(&self) -> String {
        let cause: Cow<'_, str> = match self {
            Self::Empty => "empty schema".into(),
            Self::Json(error) => error.to_string().into(),
            Self::Trailing => "trailing data after the schema".into(),
            Self::NotAnObject => "the document is not a JSON object".into(),
            Self::Type(got) => {
                let mut quoted = Vec::new();
                crate::json::text::quote(got, &mut quoted);
                format!(
                    "top-level type must be \"object\", got {}",
                    String::from_utf8_lossy(&quoted)
                )
                .into()
            }
            Self::TooDeep(depth) => format!("nested {depth} levels deep, over the limit of {}", limits::DEPTH).into(),
            Self::TooLarge(size) => format!("{size} bytes long, over the limit of {}", limits::SCHEMA).into(),
        };
        format!("toolwire: ParseSchema: {cause}")
    }

    /// The schema stands in the way of nothing but its root's shape, so `any_root` may keep it.
    #[must_use]
    pub const fn is_root_shape(&self) -> bool {
        matches!(self, Self::Empty | Self::NotAnObject | Self::Type(_))
    }
}

/// Judges a whole text as a tool's schema; gives the schema's span.
///
/// # Errors
/// The first of the spec's refusals that applies (2.6).
pub fn parse(text: &[u8]) -> Result<(usize, usize), Fault> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(Fault::Empty);
    }
    scan::checked(text).map_err(Fault::Json)?;
    let (start, end) = scan::document(text, usize::MAX, &mut scan::Nothing).map_err(|error| match error.kind {
        Kind::TrailingText => Fault::Trailing,
        _ => Fault::Json(error),
    })?;
    root(text, start).1.map_or(Ok((start, end)), Err)
}

/// The facts of the schema at `start` of a judged text: its extent, and what is wrong with its root.
#[must_use]
pub fn root(text: &[u8], start: usize) -> (Extent, Option<Fault>) {
    let mut found = None;
    let mut depth = 0;
    let mut members = Members::new(text, start);
    while let Some((name, value)) = members.next() {
        let extent = members.extent();
        depth = depth.max(extent.depth);
        if &*unescape(name) == b"type" {
            // Where a name is repeated, the last one counts, for every reader of JSON that there is.
            found = Some(value..extent.end);
        }
    }
    if members.broken() {
        let extent = crate::json::walk::skip(text, start);
        let fault = match text.get(start) {
            Some(b'n') => Fault::Type(String::new()),
            _ => Fault::NotAnObject,
        };
        return (extent, Some(fault));
    }
    let extent = Extent {
        end: members.finish(),
        depth: depth + 1,
    };
    let fault = match found.map(|span| &text[span]) {
        _ if extent.depth > limits::DEPTH => Some(Fault::TooDeep(extent.depth)),
        _ if extent.end - start > limits::SCHEMA => Some(Fault::TooLarge(extent.end - start)),
        Some(b"\"object\"") => None,
        Some([b'"', word @ .., b'"']) => match decode(word) {
            word if word == "object" => None,
            word => Some(Fault::Type(word.into_owned())),
        },
        _ => Some(Fault::Type(String::new())),
    };
    (extent, fault)
}

/// SHA-256 over parts that can't run into each other: each is preceded by its length.
#[must_use]
pub fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest
        .finalize()
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            for nibble in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(nibble), 16).unwrap_or_default());
            }
            text
        })
}

/// Does a text hold half of a surrogate pair anywhere?
#[must_use]
pub fn has_lone_surrogate(judged: &[u8]) -> bool {
    struct Found(bool);
    impl Visitor for Found {
        fn lone_surrogate(&mut self, _: usize) -> Result<(), Error> {
            self.0 = true;
            Ok(())
        }
    }
    // Without a `\u` there is none. Most texts are short and have no backslash at all, so that is asked first.
    let mut found = Found(false);
    memchr::memchr(b'\\', judged).is_some_and(|at| memchr::memmem::find(&judged[at..], b"\\u").is_some())
        && scan::document(judged, usize::MAX, &mut found).is_ok()
        && found.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<String> {
        parse(text.as_bytes())
            .err()
            .map(|fault| fault.prose().replace("toolwire: ParseSchema: ", ""))
    }

    #[test]
    fn rows_a1_to_a19_of_the_spec() {
        const GOT_NOTHING: &str = "top-level type must be \"object\", got \"\"";
        for (text, expected) in [
            ("", "empty schema"),
            ("  \n", "empty schema"),
            ("{", "unexpected end of input"),
            ("{} {}", "trailing data after the schema"),
            ("{\"type\":\"object\"} x", "trailing data after the schema"),
            ("[\"object\"]", "the document is not a JSON object"),
            ("true", "the document is not a JSON object"),
            ("\"s\"", "the document is not a JSON object"),
            ("5", "the document is not a JSON object"),
            ("null", GOT_NOTHING),
            ("{\"properties\":{}}", GOT_NOTHING),
            ("{\"type\":[\"object\",\"null\"]}", GOT_NOTHING),
            (
                "{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"type\":\"object\"}}}",
                GOT_NOTHING,
            ),
            ("{\"type\":5}", GOT_NOTHING),
            (
                "{\"type\":\"string\"}",
                "top-level type must be \"object\", got \"string\"",
            ),
        ] {
            assert_eq!(refusal(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "{\"type\":\"object\"}",
            " {\"type\":\"object\",\"$ref\":\"#/$defs/x\"} ",
            "{\"type\":\"object\",\"required\":\"x\"}",
            "{\"type\":\"string\",\"type\":\"object\"}",
            "{\"type\":\"\\u006fbject\"}",
            "{\"t\\u0079pe\":\"object\"}",
        ] {
            assert_eq!(refusal(text), None, "{text}");
        }
    }

    #[test]
    fn a16_a_schema_over_the_depth_is_refused_with_its_depth() {
        let text = |pairs: usize| "{\"type\":\"object\",\"p\":".repeat(pairs) + "1" + &"}".repeat(pairs);
        assert_eq!(refusal(&text(256)), None);
        assert_eq!(
            refusal(&text(300)).as_deref(),
            Some("nested 300 levels deep, over the limit of 256")
        );
    }

    #[test]
    fn a_fingerprint_tells_where_one_part_ends() {
        assert_ne!(fingerprint([&b"ab"[..], b"c"]), fingerprint([&b"a"[..], b"bc"]));
        assert_eq!(fingerprint([&b"a"[..]]).len(), 64);
    }
}
