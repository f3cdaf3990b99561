//! What can be seen of a message that is no JSON: the tolerant scan for its id, and what it was meant to be.

use super::envelope::{Envelope, Fault, Id, broken, id};
use crate::json::scan::{self, whitespace};
use crate::json::walk::{Members, skip};

/// What a broken message lets be seen of itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Glimpse {
    pub id: Id,
    /// It has a version or a body: somebody meant it as a message.
    pub message: bool,
    /// It has a method and no body: it is no answer.
    pub asks: bool,
}

impl Glimpse {
    /// The message as far as it could be seen.
    #[must_use]
    pub fn envelope(self, fault: Fault) -> Envelope {
        let mut envelope = Envelope::broken(Fault::NoBody, self.id);
        envelope.kind = broken(fault, self.asks);
        envelope
    }
}

/// Looks at a text that is no message, by its quotes and brackets alone.
#[must_use]
pub fn glimpse(text: &[u8]) -> Glimpse {
    let mut seen = Glimpse {
        id: Id::Absent,
        message: false,
        asks: false,
    };
    let (mut method, mut body) = (false, false);
    let mut members = Members::new(text, 0);
    while let Some((name, start)) = members.next() {
        let end = members.extent().end;
        match name {
            b"id" => seen.id = id_at(text, start, end),
            b"jsonrpc" => seen.message = true,
            b"result" | b"error" => (seen.message, body) = (true, true),
            b"method" => method = true,
            _ => {}
        }
    }
    seen.asks = method && !body;
    if seen.id == Id::Absent {
        seen.id = last_id(text);
    }
    seen
}

/// The id of a message whose brackets don't match: the last `"id"` with nothing but scalars behind it.
#[must_use]
pub fn last_id(text: &[u8]) -> Id {
    let Some(found) = memchr::memmem::rfind(text, b"\"id\"") else {
        return Id::Absent;
    };
    let colon = whitespace(text, found + 4);
    if text.get(colon) != Some(&b':') {
        return Id::Absent;
    }
    let start = whitespace(text, colon + 1);
    let end = skip(text, start).end;
    if text[end..].iter().any(|byte| matches!(byte, b'{' | b'[')) {
        Id::Absent
    } else {
        id_at(text, start, end)
    }
}

/// An id is only believed when its value is itself whole.
fn id_at(text: &[u8], start: usize, end: usize) -> Id {
    match scan::value(text, start, 1, &mut scan::Nothing) {
        Ok(judged) if judged == end && (end < text.len() || text[start] == b'"') => id(&text[start..end]),
        _ => Id::Absent,
    }
}
