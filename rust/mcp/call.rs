//! A model's argument bytes: checked once, then pasted unchanged. What was checked is what is sent.

use std::borrow::Cow;

use crate::error::{Error, Kind};
use crate::json::names::Names;
use crate::json::place::path;
use crate::json::raw::word;
use crate::json::scan::{self, whitespace};
use crate::json::text::quote;
use crate::json::write::paste;
use crate::limits::{ARGUMENTS, DEPTH};

/// Why arguments are refused before the wire. The prose is the model's to read (spec 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Json { error: Error, place: String },
    NotAnObject(&'static str),
    Trailing,
    Repeated { place: String, offset: usize },
    LoneSurrogate { place: String, offset: usize },
    TooLarge(usize),
}

impl Refusal {
    #[must_use]
    pub fn prose(&self) -> String {
        match self {
            Self::Json { error, .. } if error.kind == Kind::UnexpectedEnd => {
                "invalid JSON: unexpected end of input".into()
            }
            Self::Json { error, place } if error.kind == Kind::NotFinite && !place.is_empty() => {
                format!(
                    "invalid JSON at offset {}: field \"{place}\": {}",
                    error.offset + 1,
                    error.kind.prose()
                )
            }
            Self::Json { error, .. } => format!("invalid JSON at offset {}: {}", error.offset + 1, error.kind.prose()),
            Self::NotAnObject(got) => format!("expected object at the top level, got {got}"),
            Self::Trailing => "trailing data after the JSON arguments".into(),
            Self::Repeated { place, offset } => {
                format!(
                    "field \"{place}\": given twice (the second time at offset {})",
                    offset + 1
                )
            }
            Self::LoneSurrogate { place, offset } => {
                format!("field \"{place}\": half of a surrogate pair at offset {}", offset + 1)
            }
            Self::TooLarge(size) => format!("the arguments are {size} bytes long, over the limit of {ARGUMENTS}"),
        }
    }
}

/// Judges arguments; gives the bytes to send: blank and `null` are `{}`.
///
/// # Errors
/// Size first, then syntax, then the root's kind, then what follows it, then repeated names and halves of surrogate pairs.
pub fn check(text: &[u8]) -> Result<Cow<'_, [u8]>, Refusal> {
    if text.len() > ARGUMENTS {
        return Err(Refusal::TooLarge(text.len()));
    }
    let start = whitespace(text, 0);
    let null = text[start..].strip_prefix(b"null");
    if start == text.len() || null.is_some_and(|rest| whitespace(rest, 0) == rest.len()) {
        return Ok(Cow::Borrowed(b"{}"));
    }
    let broken = |error: Error| Refusal::Json {
        error,
        place: path(text, error.offset),
    };
    scan::checked(text).map_err(broken)?;
    let mut names = Names::new(text);
    let end = scan::value(text, start, DEPTH, &mut names).map_err(broken)?;
    // A null by itself was taken above, so this one has something behind it.
    if !matches!(text[start], b'{' | b'n') {
        return Err(Refusal::NotAnObject(word(&text[start..])));
    }
    if text[start] == b'n' || whitespace(text, end) != text.len() {
        return Err(Refusal::Trailing);
    }
    if let Some(&offset) = names.repeated.first() {
        return Err(Refusal::Repeated {
            place: path(text, offset),
            offset,
        });
    }
    if let Some(offset) = names.lone_surrogate {
        return Err(Refusal::LoneSurrogate {
            place: path(text, offset),
            offset,
        });
    }
    Ok(Cow::Borrowed(&text[start..end]))
}

/// One request's line. `params` writes the members of `params`; an empty `meta` leaves `_meta` out.
#[must_use]
pub fn request(id: i64, method: &str, meta: &[u8], size: usize, params: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut line = Vec::with_capacity(size + method.len() + meta.len() + 96);
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    line.extend_from_slice(id.to_string().as_bytes());
    line.extend_from_slice(b",\"method\":");
    quote(method, &mut line);
    line.extend_from_slice(b",\"params\":{");
    let empty = line.len();
    params(&mut line);
    if !meta.is_empty() {
        if line.len() > empty {
            line.push(b',');
        }
        line.extend_from_slice(b"\"_meta\":{");
        paste(meta, &mut line);
        line.push(b'}');
    }
    line.extend_from_slice(b"}}\n");
    line
}

/// A `tools/call` line: the server's own spelling of the name, and the argument bytes that `check` gave.
#[must_use]
pub fn tools_call(id: i64, name: &[u8], arguments: &[u8], meta: &[u8]) -> Vec<u8> {
    request(id, "tools/call", meta, name.len() + arguments.len() + 32, |line| {
        line.extend_from_slice(b"\"name\":");
        paste(name, line);
        line.extend_from_slice(b",\"arguments\":");
        paste(arguments, line);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<String> {
        check(text.as_bytes()).err().map(|refusal| refusal.prose())
    }

    #[test]
    fn c5_blank_and_null_are_an_empty_object() {
        for text in ["", "  \n", "null", " null "] {
            assert_eq!(check(text.as_bytes()).as_deref(), Ok(&b"{}"[..]), "{text:?}");
        }
    }

    #[test]
    fn what_is_sent_is_what_came() {
        for text in [
            r#"{"z":1,"a":[2,3],"nested":{"k":"v"}}"#,
            r#"{"x":1E400,"y":-0,"m":1.50,"é":"\u00e9"}"#,
        ] {
            assert_eq!(check(format!(" {text}\n").as_bytes()).as_deref(), Ok(text.as_bytes()));
        }
    }

    #[test]
    fn each_refusal_names_its_place() {
        for (text, expected) in [
            ("{\"city\":}", "invalid JSON at offset 9: unexpected character"),
            ("{\"city\":", "invalid JSON: unexpected end of input"),
            ("[1]", "expected object at the top level, got array"),
            ("3", "expected object at the top level, got number"),
            ("\"{\\\"a\\\":1}\"", "expected object at the top level, got string"),
            ("true", "expected object at the top level, got bool"),
            ("{\"a\":1}{\"a\":2}", "trailing data after the JSON arguments"),
            ("null null", "trailing data after the JSON arguments"),
            ("{\"a\":1} thanks", "trailing data after the JSON arguments"),
            ("{\"a\":1,}", "invalid JSON at offset 8: unexpected character"),
            (
                "```json\n{\"a\":1}\n```",
                "invalid JSON at offset 1: unexpected character",
            ),
            (
                "{\"x\":{\"z\":NaN}}",
                "invalid JSON at offset 11: field \"x.z\": NaN and Infinity are not JSON",
            ),
            (
                "{\"path\":\"/var/x\",\"path\":\"/etc\"}",
                "field \"path\": given twice (the second time at offset 19)",
            ),
            (
                "{\"o\":[{\"p\":1,\"\\u0070\":2}]}",
                "field \"o.0.p\": given twice (the second time at offset 15)",
            ),
            (
                "{\"msg\":\"cut \\ud83d\"}",
                "field \"msg\": half of a surrogate pair at offset 13",
            ),
        ] {
            assert_eq!(refusal(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(
            check(b"{\"a\":\"\xFF\"}").map_err(|refusal| refusal.prose()),
            Err("invalid JSON at offset 7: invalid UTF-8".into())
        );
        assert!(
            refusal(&("{\"a\":".repeat(257) + "1" + &"}".repeat(257))).is_some_and(|text| text.contains("256 levels"))
        );
    }

    #[test]
    fn a_line_is_one_line() {
        let line = tools_call(7, b"\"a\\u0062\"", b"{\n\"x\":\r1.50}", b"\"k\":1");
        assert_eq!(
            String::from_utf8_lossy(&line),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"a\\u0062\",\"arguments\":{ \"x\": 1.50},\"_meta\":{\"k\":1}}}\n"
        );
        assert_eq!(
            request(1, "tools/list", b"", 0, |_| {}),
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}\n"
        );
    }
}
