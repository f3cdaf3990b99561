//! A frame as a stricter parser needs it: the SDK lane gets these bytes where the original would have been refused.

use std::borrow::Cow;
use std::ops::Range;

use super::envelope::{Envelope, Id, Kind, error_code};
use super::inbound::Frame;
use crate::error::Error;
use crate::json::scan::{self, Visitor};
use crate::json::text::{quote, unescape};
use crate::json::walk::Members;

/// Collects where halves of surrogate pairs stand.
struct Halves(Vec<usize>);
impl Visitor for Halves {
    fn lone_surrogate(&mut self, offset: usize) -> Result<(), Error> {
        self.0.push(offset);
        Ok(())
    }
}

/// The frame's text with these changes, each only where it is needed: `\ud800` and its like as `\ufffd`; the id as the
/// integer that it means; an answer without the method that would make it a request elsewhere; an error with an id and
/// a message that is a string.
#[must_use]
pub fn mended(frame: &Frame) -> Vec<u8> {
    let (envelope, text) = (&frame.envelope, without_halves(frame));
    let answers = matches!(envelope.kind, Kind::Result | Kind::Error);
    if let (Some(error), Kind::Error) = (&envelope.error, &envelope.kind) {
        let parts = ErrorParts::read(&text, error.start);
        if envelope.method.is_some() || envelope.id_span.is_none() || !parts.is_named() {
            return rebuilt(envelope, &text, b"error", |out| {
                parts.write(error_code(&text, error.start), out);
            });
        }
    }
    if let (Some(result), Kind::Result, Some(_)) = (&envelope.result, &envelope.kind, &envelope.method) {
        return rebuilt(envelope, &text, b"result", |out| {
            out.extend_from_slice(&text[result.clone()]);
        });
    }
    let mut text = text.into_owned();
    if let (Id::Integer(id), Some(span)) = (&envelope.id, &envelope.id_span)
        // The id of a request is the peer's own: in quotes it stays so.
        && (answers || text[span.start] != b'"')
    {
        text.splice(span.clone(), id.to_string().into_bytes());
    }
    text
}

/// A replacement is as long as what it replaces, so all spans stand.
fn without_halves(frame: &Frame) -> Cow<'_, [u8]> {
    if !frame.envelope.lone_surrogate {
        return Cow::Borrowed(&frame.text);
    }
    let mut halves = Halves(Vec::new());
    let _ = scan::document(&frame.text, usize::MAX, &mut halves);
    let mut text = frame.text.to_vec();
    for offset in halves.0 {
        text[offset..offset + 6].copy_from_slice(b"\\ufffd");
    }
    Cow::Owned(text)
}

/// An answer with nothing in it but what an answer has.
fn rebuilt(envelope: &Envelope, text: &[u8], name: &[u8], body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 64);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    match (&envelope.id, &envelope.id_span) {
        (Id::Integer(id), _) => out.extend_from_slice(id.to_string().as_bytes()),
        (_, Some(span)) => out.extend_from_slice(&text[span.clone()]),
        (_, None) => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name);
    out.extend_from_slice(b"\":");
    body(&mut out);
    out.push(b'}');
    out
}

/// An error object's message and data.
struct ErrorParts<'a> {
    text: &'a [u8],
    message: Option<Range<usize>>,
    data: Option<Range<usize>>,
}

impl<'a> ErrorParts<'a> {
    fn read(text: &'a [u8], start: usize) -> Self {
        let mut parts = Self {
            text,
            message: None,
            data: None,
        };
        let mut members = Members::new(text, start);
        while let Some((name, value)) = members.next() {
            let slot = match &*unescape(name) {
                b"message" => &mut parts.message,
                b"data" => &mut parts.data,
                _ => continue,
            };
            *slot = Some(value..members.extent().end);
        }
        parts
    }

    fn is_named(&self) -> bool {
        self.message.as_ref().is_some_and(|span| self.text[span.start] == b'"')
    }

    fn write(&self, code: Option<i64>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"code\":");
        out.extend_from_slice(code.unwrap_or_default().to_string().as_bytes());
        out.extend_from_slice(b",\"message\":");
        match self.message.as_ref().map(|span| &self.text[span.clone()]) {
            Some(message) if message[0] == b'"' => out.extend_from_slice(message),
            None | Some(b"null") => out.extend_from_slice(b"\"\""),
            Some(other) => quote(&String::from_utf8_lossy(other), out),
        }
        if let Some(data) = &self.data {
            out.extend_from_slice(b",\"data\":");
            out.extend_from_slice(&self.text[data.clone()]);
        }
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::inbound::Inbound;

    fn mended(line: &str) -> String {
        let frames = Inbound::new(1000).feed(format!("{line}\n").as_bytes());
        String::from_utf8_lossy(&super::mended(&frames[0])).into_owned()
    }

    #[test]
    fn halves_are_replaced_and_ids_are_integers() {
        for (line, expected) in [
            (
                r#"{"id":7.0,"jsonrpc":"2.0","result":{"t":"\ud800x\ud83d\ude00\uDC00"}}"#,
                r#"{"id":7,"jsonrpc":"2.0","result":{"t":"\ufffdx\ud83d\ude00\ufffd"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"7","result":{}}"#,
                r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7e0,"method":"m"}"#,
                r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"7","method":"m"}"#,
                r#"{"jsonrpc":"2.0","id":"7","method":"m"}"#,
            ),
        ] {
            assert_eq!(mended(line), expected);
        }
    }

    #[test]
    fn an_answer_that_names_a_method_is_an_answer_and_nothing_else() {
        assert_eq!(
            mended(r#"{"method":"m","id":"7","jsonrpc":"2.0","x":1,"result":{"a":1.50},"error":null}"#),
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":1.50}}"#
        );
    }

    #[test]
    fn an_error_has_an_id_and_a_message() {
        for (error, expected) in [
            (
                r#""id":1,"error":{"code":-1.0}"#,
                r#""id":1,"error":{"code":-1,"message":""}"#,
            ),
            (
                r#""id":"a","error":{"code":-1,"message":{"m":"x"},"data":[1.50]}"#,
                r#""id":"a","error":{"code":-1,"message":"{\"m\":\"x\"}","data":[1.50]}"#,
            ),
            (
                r#""error":{"code":-1,"message":"\udc00"}"#,
                r#""id":null,"error":{"code":-1,"message":"\ufffd"}"#,
            ),
            (
                r#""id":1,"error":{"code":5,"message":null}"#,
                r#""id":1,"error":{"code":5,"message":""}"#,
            ),
        ] {
            assert_eq!(
                mended(&format!("{{\"jsonrpc\":\"2.0\",{error}}}")),
                format!("{{\"jsonrpc\":\"2.0\",{expected}}}")
            );
        }
        let whole = r#"{"jsonrpc":"2.0","error":{"message":"m","code":1},"id":1}"#;
        assert_eq!(mended(whole), whole);
    }
}
