//! The serving side of `tools/call`: what a call must look like to be certain, and the answer's bytes.

use crate::json::text::{decode, quote};
use crate::json::walk::Members;
use crate::json::write::paste;

/// What reserved members of a `_meta` begin with.
const RESERVED: &[u8] = b"io.modelcontextprotocol/";

/// A call with nothing in it that could end differently elsewhere. Slices are of the params' text.
#[derive(Debug, PartialEq, Eq)]
pub struct Call<'a> {
    pub name: String,
    /// The arguments' object; `None` where they are absent or null.
    pub arguments: Option<&'a [u8]>,
    pub meta: Option<&'a [u8]>,
    /// The reserved members of `_meta`, as they would be pasted.
    pub envelope: Vec<u8>,
    /// The progress token's JSON.
    pub token: Option<&'a [u8]>,
}

/// Reads the judged params of a `tools/call`. `None` for anything that the SDK might see otherwise: members beside
/// `name`, `arguments` and `_meta`, repeated ones, values of other kinds.
#[must_use]
pub fn call(params: &[u8]) -> Option<Call<'_>> {
    let (mut name, mut arguments, mut meta) = (None, None, None);
    let mut members = Members::new(params, 0);
    while let Some((member, start)) = members.next() {
        let slot = match member {
            b"name" => &mut name,
            b"arguments" => &mut arguments,
            b"_meta" => &mut meta,
            _ => return None,
        };
        let value = &params[start..members.extent().end];
        if slot.replace(value).is_some() {
            return None;
        }
    }
    let name = match name? {
        [b'"', inner @ .., b'"'] => decode(inner).into_owned(),
        _ => return None,
    };
    let arguments = match arguments {
        Some(value) if value[0] == b'{' => Some(value),
        None | Some(b"null") => None,
        Some(_) => return None,
    };
    let mut call = Call {
        name,
        arguments,
        meta,
        envelope: Vec::new(),
        token: None,
    };
    if let Some(meta) = meta {
        if meta[0] != b'{' {
            return None;
        }
        read_meta(meta, &mut call)?;
    }
    Some(call)
}

fn read_meta<'a>(meta: &'a [u8], call: &mut Call<'a>) -> Option<()> {
    let mut members = Members::new(meta, 0);
    while let Some((member, start)) = members.next() {
        let value = &meta[start..members.extent().end];
        if member.contains(&b'\\') {
            // A name that is written with escapes could be any of those below.
            return None;
        }
        if member == b"progressToken" {
            let plain = value[0] == b'"' || value.iter().all(u8::is_ascii_digit);
            if !plain || call.token.replace(value).is_some() {
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
pub fn reserved(params: &[u8]) -> Option<Vec<u8>> {
    let mut members = Members::new(params, 0);
    let mut meta = None;
    while let Some((name, start)) = members.next() {
        if name == b"_meta" {
            meta = Some(&params[start..members.extent().end]);
        }
    }
    let mut call = Call {
        name: String::new(),
        arguments: None,
        meta,
        envelope: Vec::new(),
        token: None,
    };
    if let Some(meta) = meta {
        read_meta(meta, &mut call)?;
    }
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

/// A result with one text block.
#[must_use]
pub fn text_result(text: &str, facts: Facts<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + facts.structured.map_or(0, <[u8]>::len) + 192);
    out.extend_from_slice(b"{\"content\":[{\"type\":\"text\",\"text\":");
    quote(text, &mut out);
    out.extend_from_slice(b"}]");
    finish(out, facts)
}

/// A result with the blocks of `content`, a JSON array.
#[must_use]
pub fn content_result(content: &[u8], facts: Facts<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + facts.structured.map_or(0, <[u8]>::len) + 192);
    out.extend_from_slice(b"{\"content\":");
    paste(content, &mut out);
    finish(out, facts)
}

fn finish(mut out: Vec<u8>, facts: Facts<'_>) -> Vec<u8> {
    if let Some(value) = facts.structured {
        out.extend_from_slice(b",\"structuredContent\":");
        paste(value, &mut out);
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
            paste(meta, &mut out);
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
    out
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

/// The line that answers a request; `member` is `result` or `error`.
#[must_use]
pub fn answer(id: &[u8], member: &str, value: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(value.len() + id.len() + 48);
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    line.extend_from_slice(id);
    line.extend_from_slice(b",\"");
    line.extend_from_slice(member.as_bytes());
    line.extend_from_slice(b"\":");
    paste(value, &mut line);
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
        let read = call(params).unwrap_or_else(|| panic!("declined"));
        assert_eq!(
            (read.name.as_str(), read.arguments, read.token),
            ("na", Some(&br#"{"x":1.50}"#[..]), Some(&b"7"[..]))
        );
        assert_eq!(
            read.envelope,
            br#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#
        );
        assert_eq!(
            call(br#"{"name":"a","arguments":null}"#).and_then(|read| read.arguments),
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
            assert_eq!(call(params.as_bytes()), None, "{params}");
        }
    }

    #[test]
    fn a_result_says_what_its_era_needs() {
        let facts = Facts {
            structured: Some(b"{\"a\":1.50}"),
            ..Facts::default()
        };
        assert_eq!(
            String::from_utf8_lossy(&text_result("a\"b", facts)),
            r#"{"content":[{"type":"text","text":"a\"b"}],"structuredContent":{"a":1.50},"isError":false}"#
        );
        let facts = Facts {
            is_error: true,
            meta: Some(b"\"k\":1"),
            stamp: Some(b"{\"name\":\"s\"}"),
            structured: None,
        };
        assert_eq!(
            String::from_utf8_lossy(&answer(b"\"x\"", "result", &content_result(b"[]", facts))),
            "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"content\":[],\"isError\":true,\"resultType\":\"complete\",\
             \"_meta\":{\"k\":1,\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\"}}}}\n"
        );
        assert_eq!(
            meta_members(br#"{"a":1,"io.modelcontextprotocol/serverInfo":{},"b":null}"#),
            br#""a":1,"b":null"#
        );
    }
}
