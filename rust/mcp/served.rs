//! The serving side of `tools/call`: what a call must look like to be certain, and the answer's bytes.

use std::ops::Range;

use crate::json::scan::{self, Nothing};
use crate::json::text::{decode, quote};
use crate::json::walk::Members;
use crate::json::write::paste;
use crate::limits::DEPTH;

/// What reserved members of a `_meta` begin with.
const RESERVED: &[u8] = b"io.modelcontextprotocol/";

/// A call with nothing in it that could end differently elsewhere. Spans are of the text that its params stand in.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    /// The arguments' object; `None` where they are absent or null.
    pub arguments: Option<Range<usize>>,
    pub meta: Option<Range<usize>>,
    /// The reserved members of `_meta`, as they would be pasted.
    pub envelope: Vec<u8>,
    /// The progress token's JSON.
    pub token: Option<Range<usize>>,
}

/// Reads the judged params of a `tools/call`, which stand at `start`. `None` for anything that the SDK might see
/// otherwise: members beside `name`, `arguments` and `_meta`, repeated ones, values of other kinds or too deep.
#[must_use]
pub fn call(text: &[u8], start: usize) -> Option<Call> {
    let (mut name, mut arguments, mut meta) = (None, None, None);
    let mut members = Members::new(text, start);
    while let Some((member, start)) = members.next() {
        let slot = match member {
            b"name" => &mut name,
            b"arguments" => &mut arguments,
            b"_meta" => &mut meta,
            _ => return None,
        };
        let span = start..members.extent().end;
        if !shallow(text, &span) || slot.replace(span).is_some() {
            return None;
        }
    }
    let name = match &text[name?] {
        [b'"', inner @ .., b'"'] => decode(inner).into_owned(),
        _ => return None,
    };
    let arguments = match arguments {
        Some(span) if text[span.start] == b'{' => Some(span),
        Some(span) if &text[span.clone()] != b"null" => return None,
        _ => None,
    };
    let mut call = Call {
        name,
        arguments,
        meta,
        ..Call::default()
    };
    read_meta(text, &mut call)?;
    Some(call)
}

/// Nothing nests deeper than a value may; a short one can't.
fn shallow(text: &[u8], span: &Range<usize>) -> bool {
    span.len() < 2 * DEPTH || scan::value(text, span.start, DEPTH, &mut Nothing).is_ok()
}

fn read_meta(text: &[u8], call: &mut Call) -> Option<()> {
    let Some(meta) = &call.meta else { return Some(()) };
    if text[meta.start] != b'{' {
        return None;
    }
    let mut members = Members::new(text, meta.start);
    while let Some((member, start)) = members.next() {
        let span = start..members.extent().end;
        let value = &text[span.clone()];
        if member.contains(&b'\\') {
            // A name that is written with escapes could be any of those below.
            return None;
        }
        if member == b"progressToken" {
            let plain = value[0] == b'"' || value.iter().all(u8::is_ascii_digit);
            if !plain || call.token.replace(span).is_some() {
                return None;
            }
        } else if member.starts_with(RESERVED) {
            if !call.envelope.is_empty() {
                call.envelope.push(b',');
            }
            call.envelope.push(b'"');
            call.envelope.extend_from_slice(member);
            call.envelope.extend_from_slice(b"\":");
            call.envelope.extend_from_slice(value);
        }
    }
    Some(())
}

/// The reserved members of the `_meta` in a request's judged params; `None` where their names can't be told for certain.
#[must_use]
pub fn reserved(text: &[u8], start: usize) -> Option<Vec<u8>> {
    let mut call = Call::default();
    let mut members = Members::new(text, start);
    while let Some((name, start)) = members.next() {
        if name == b"_meta" {
            call.meta = Some(start..members.extent().end);
        }
    }
    read_meta(text, &mut call)?;
    Some(call.envelope)
}

/// What a result says beside its content.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    pub structured: Option<&'a [u8]>,
    pub is_error: bool,
    /// The members of the result's own `_meta`.
    pub meta: Option<&'a [u8]>,
    /// The server's stamp, on a session of 2026-07-28: then the result says that it is complete, too.
    pub stamp: Option<&'a [u8]>,
}

/// Writes a result with one text block.
pub fn text_result(text: &str, facts: Facts<'_>, out: &mut Vec<u8>) {
    out.reserve(text.len() + facts.structured.map_or(0, <[u8]>::len) + facts.stamp.map_or(0, <[u8]>::len) + 192);
    out.extend_from_slice(b"{\"content\":[{\"type\":\"text\",\"text\":");
    quote(text, out);
    out.extend_from_slice(b"}]");
    finish(out, facts);
}

/// Writes a result with the blocks of `content`, a JSON array.
pub fn content_result(content: &[u8], facts: Facts<'_>, out: &mut Vec<u8>) {
    out.reserve(content.len() + facts.structured.map_or(0, <[u8]>::len) + facts.stamp.map_or(0, <[u8]>::len) + 192);
    out.extend_from_slice(b"{\"content\":");
    paste(content, out);
    finish(out, facts);
}

fn finish(out: &mut Vec<u8>, facts: Facts<'_>) {
    if let Some(value) = facts.structured {
        out.extend_from_slice(b",\"structuredContent\":");
        paste(value, out);
    }
    out.extend_from_slice(if facts.is_error {
        b",\"isError\":true"
    } else {
        b",\"isError\":false"
    });
    let meta = facts.meta.filter(|meta| !meta.is_empty());
    if facts.stamp.is_some() {
        out.extend_from_slice(b",\"resultType\":\"complete\"");
    }
    if meta.is_some() || facts.stamp.is_some() {
        out.extend_from_slice(b",\"_meta\":{");
        if let Some(meta) = meta {
            paste(meta, out);
        }
        if let Some(stamp) = facts.stamp {
            if meta.is_some() {
                out.push(b',');
            }
            out.extend_from_slice(b"\"io.modelcontextprotocol/serverInfo\":");
            out.extend_from_slice(stamp);
        }
        out.push(b'}');
    }
    out.push(b'}');
}

/// The members of a `_meta` object but its server stamp, as they would be pasted.
#[must_use]
pub fn meta_members(meta: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut members = Members::new(meta, 0);
    while let Some((name, start)) = members.next() {
        let end = members.extent().end;
        if name == b"io.modelcontextprotocol/serverInfo" {
            continue;
        }
        if !out.is_empty() {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(name);
        out.extend_from_slice(b"\":");
        out.extend_from_slice(&meta[start..end]);
    }
    out
}

/// The line that answers a request; `member` is `result` or `error`, and `value` writes what it is.
#[must_use]
pub fn answer(id: &[u8], member: &str, value: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut line = Vec::with_capacity(id.len() + 320);
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    line.extend_from_slice(id);
    line.extend_from_slice(b",\"");
    line.extend_from_slice(member.as_bytes());
    line.extend_from_slice(b"\":");
    value(&mut line);
    line.extend_from_slice(b"}\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certain_call_is_read_by_span() {
        let params = br#"{"arguments":{"x":1.50},"name":"n\u0061","_meta":{"progressToken":7,"k":null,
            "io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        let read = call(params, 0).unwrap_or_else(|| panic!("declined"));
        let part = |span: Option<Range<usize>>| span.map(|span| &params[span]);
        assert_eq!(
            (read.name.as_str(), part(read.arguments), part(read.token)),
            ("na", Some(&br#"{"x":1.50}"#[..]), Some(&b"7"[..]))
        );
        assert_eq!(
            read.envelope,
            br#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#
        );
        assert_eq!(
            call(br#"{"name":"a","arguments":null}"#, 0).and_then(|read| read.arguments),
            None
        );
    }

    #[test]
    fn anything_else_is_declined() {
        for params in [
            r"{}",
            r#"{"name":1}"#,
            r#"{"name":"a","x":1}"#,
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":"a","_meta":null}"#,
            r#"{"name":"a","_meta":{"progressToken":1.5}}"#,
            r#"{"name":"a","_meta":{"progressToken":1,"progressToken":2}}"#,
            r#"{"name":"a","_meta":{"progressToke\u006e":1}}"#,
            r#"{"name":"a","_meta":{"progressToken":true}}"#,
            "[]",
            "null",
        ] {
            assert_eq!(call(params.as_bytes(), 0), None, "{params}");
        }
    }

    #[test]
    fn a_value_may_nest_as_deep_as_any_and_no_deeper() {
        let nested = |member: &str, levels: usize| {
            let (open, close) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
            call(
                format!(r#"{{"name":"a","{member}":{{"n":{open}{close}}}}}"#).as_bytes(),
                0,
            )
            .is_some()
        };
        for member in ["arguments", "_meta"] {
            assert!(nested(member, DEPTH));
            assert!(!nested(member, DEPTH + 1));
        }
    }

    #[test]
    fn a_result_says_what_its_era_needs() {
        let facts = Facts {
            structured: Some(b"{\"a\":1.50}"),
            ..Facts::default()
        };
        assert_eq!(
            String::from_utf8_lossy(&answer(b"1", "result", |out| text_result("a\"b", facts, out))),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\\\"b\"}],\
             \"structuredContent\":{\"a\":1.50},\"isError\":false}}\n"
        );
        let facts = Facts {
            is_error: true,
            meta: Some(b"\"k\":1"),
            stamp: Some(b"{\"name\":\"s\"}"),
            structured: None,
        };
        assert_eq!(
            String::from_utf8_lossy(&answer(b"\"x\"", "result", |out| content_result(b"[]", facts, out))),
            "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"content\":[],\"isError\":true,\"resultType\":\"complete\",\
             \"_meta\":{\"k\":1,\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\"}}}}\n"
        );
        assert_eq!(
            meta_members(br#"{"a":1,"io.modelcontextprotocol/serverInfo":{},"b":null}"#),
            br#""a":1,"b":null"#
        );
    }
}
