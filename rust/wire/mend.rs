//! A frame as a stricter parser needs it: the SDK lane gets these bytes where the original would have been refused.

use super::envelope::{Id, Kind};
use super::inbound::Frame;
use crate::error::Error;
use crate::json::scan::{self, Visitor};

/// Collects where halves of surrogate pairs stand.
struct Halves(Vec<usize>);
impl Visitor for Halves {
    fn lone_surrogate(&mut self, offset: usize) -> Result<(), Error> {
        self.0.push(offset);
        Ok(())
    }
}

/// The frame's text; `\ud800` and its like as `\ufffd`, and the id of an answer as the integer that it means.
#[must_use]
pub fn mended(frame: &Frame) -> Vec<u8> {
    let mut text = frame.text.to_vec();
    if frame.envelope.lone_surrogate {
        let mut halves = Halves(Vec::new());
        let _ = scan::document(&frame.text, usize::MAX, &mut halves);
        for offset in halves.0 {
            text[offset..offset + 6].copy_from_slice(b"\\ufffd");
        }
    }
    if matches!(frame.envelope.kind, Kind::Result | Kind::Error)
        && let (Id::Integer(id), Some(span)) = (&frame.envelope.id, &frame.envelope.id_span)
    {
        text.splice(span.clone(), id.to_string().into_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::wire::inbound::Inbound;

    #[test]
    fn halves_are_replaced_and_ids_are_integers() {
        let line = br#"{"id":7.0,"jsonrpc":"2.0","result":{"t":"\ud800x\ud83d\ude00\uDC00"}}"#;
        let frames = Inbound::new(1000).feed(&[&line[..], b"\n"].concat());
        assert_eq!(
            String::from_utf8_lossy(&super::mended(&frames[0])),
            r#"{"id":7,"jsonrpc":"2.0","result":{"t":"\ufffdx\ud83d\ude00\ufffd"}}"#
        );
    }
}
