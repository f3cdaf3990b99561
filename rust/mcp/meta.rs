//! The three `_meta` members that a 2026-07-28 session carries in each request, learned from the SDK's own
//! requests as bytes. Everything else in a `_meta` belongs to one call and is never reused.

use crate::json::walk::Members;

/// The reserved names of the envelope.
pub const RESERVED: [&[u8]; 3] = [
    b"io.modelcontextprotocol/protocolVersion",
    b"io.modelcontextprotocol/clientInfo",
    b"io.modelcontextprotocol/clientCapabilities",
];

/// The envelope members of the `_meta` in the judged `params`, as they would be pasted into another `_meta`.
/// `None` without a protocol version: then it is no such session.
#[must_use]
pub fn envelope(params: &[u8]) -> Option<Vec<u8>> {
    let mut members = Members::new(params, 0);
    let mut meta = None;
    while let Some((name, start)) = members.next() {
        if name == b"_meta" {
            meta = Some(start);
        }
    }
    let mut out = Vec::new();
    let mut versioned = false;
    let mut members = Members::new(params, meta?);
    while let Some((name, start)) = members.next() {
        let end = members.extent().end;
        if RESERVED.contains(&name) {
            versioned |= name == RESERVED[0];
            if !out.is_empty() {
                out.push(b',');
            }
            out.push(b'"');
            out.extend_from_slice(name);
            out.extend_from_slice(b"\":");
            out.extend_from_slice(&params[start..end]);
        }
    }
    versioned.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::envelope;

    #[test]
    fn only_the_reserved_members_are_learned() {
        let params = br#"{"name":"x","_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "traceparent":"00","io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/clientInfo":{"name":"n"}}}"#;
        assert_eq!(
            envelope(params)
                .map(|text| String::from_utf8_lossy(&text).into_owned())
                .as_deref(),
            Some(
                r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"n"}"#
            )
        );
        for params in [
            &br#"{"_meta":{"progressToken":1}}"#[..],
            b"{}",
            b"[]",
            br#"{"_meta":null}"#,
        ] {
            assert_eq!(envelope(params), None);
        }
    }
}
