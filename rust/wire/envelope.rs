//! One JSON-RPC message: one pass gives its kind, its id and the spans of its parts; a broken one gives up
//! its id by a tolerant scan, so that its request can end at once.

use std::ops::Range;

use crate::error::{Error, Kind as JsonKind};
use crate::json::number;
use crate::json::raw::{article, word};
use crate::json::scan::{self, Visitor, whitespace};
use crate::json::text::{decode, unescape};
use crate::json::walk::{Members, skip_string};

/// A request's name for itself. Whole floats (`7.0`) and digits in quotes (`"7"`) are the integer: peers mangle ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Id {
    #[default]
    Absent,
    Null,
    Integer(i64),
    Text(String),
    /// A fraction, a container or a boolean: no request of ours has it.
    Odd,
}

/// Why a message is none, in the order in which it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Json(Error),
    NoVersion,
    NoBody,
    ResultIs(&'static str),
    ErrorIs(&'static str),
    ErrorCode,
    MethodIs(&'static str),
    MultiLine,
    TooLong { length: usize, cap: usize },
}

impl Fault {
    /// The fault in prose: the peer's message is the subject.
    #[must_use]
    pub fn prose(&self) -> String {
        match self {
            Self::Json(error) => format!("the server's message is not JSON: {error}"),
            Self::NoVersion => "the server's message lacks \"jsonrpc\": \"2.0\"".into(),
            Self::NoBody => "the server's answer has neither a result nor an error".into(),
            Self::ResultIs(word) => format!("the server's result is {}, not an object", article(word)),
            Self::ErrorIs(word) => format!("the server's error is {}, not an object", article(word)),
            Self::ErrorCode => "the server's error has no integer code".into(),
            Self::MethodIs(word) => format!("the method of the server's request is {}, not a string", article(word)),
            Self::MultiLine => "the server sent a multi-line message; over stdio a message is one line".into(),
            Self::TooLong { length, cap } => {
                format!("the server's message of {length} bytes is over the line limit of {cap} bytes")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Request,
    Notification,
    Result,
    Error,
    /// It names a request, or tries to, and can't be read as its answer.
    Broken(Fault),
    /// The peer asks for something, and it can't be read what: its id is the peer's own, and answers nothing.
    BrokenRequest(Fault),
    /// JSON, but nobody's message.
    Noise,
}

/// Spans are offsets into the message's text; values are judged, names as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    pub kind: Kind,
    pub id: Id,
    pub id_span: Option<Range<usize>>,
    pub method: Option<Range<usize>>,
    pub params: Option<Range<usize>>,
    pub result: Option<Range<usize>>,
    pub error: Option<Range<usize>>,
    /// A half of a surrogate pair is written somewhere: other parsers refuse the whole message.
    pub lone_surrogate: bool,
    /// It came with bytes that are no UTF-8: what stands in their place is not what the peer wrote.
    pub bad_utf8: bool,
    /// Only JSON-RPC's own members are there, each once.
    pub plain: bool,
}

impl Envelope {
    /// A message of which only the id could be read.
    #[must_use]
    pub const fn broken(fault: Fault, id: Id) -> Self {
        Self {
            kind: Kind::Broken(fault),
            id,
            id_span: None,
            method: None,
            params: None,
            result: None,
            error: None,
            lone_surrogate: false,
            bad_utf8: false,
            plain: false,
        }
    }
}

struct Surrogates(bool);
impl Visitor for Surrogates {
    fn lone_surrogate(&mut self, _: usize) -> Result<(), Error> {
        self.0 = true;
        Ok(())
    }
}

/// Reads the object at `start`: the message, and the offset behind it. Spans count from the object's own start, since
/// that is where its text begins once it is cut out.
///
/// # Errors
/// The text's first fault as JSON.
pub fn read(text: &[u8], start: usize) -> Result<(Envelope, usize), Error> {
    match message(text.get(start..).unwrap_or_default()) {
        Ok((message, end)) => Ok((message, start + end)),
        Err(error) => Err(Error::new(error.kind, start + error.offset)),
    }
}

fn message(text: &[u8]) -> Result<(Envelope, usize), Error> {
    if text.first() != Some(&b'{') {
        return Err(Error::new(JsonKind::UnexpectedByte, 0));
    }
    let mut surrogates = Surrogates(false);
    let mut message = Envelope::broken(Fault::NoBody, Id::Absent);
    let mut version = None;
    message.plain = true;
    let mut position = whitespace(text, 1);
    if text.get(position) == Some(&b'}') {
        position += 1;
    } else {
        loop {
            let name = position;
            let value = whitespace(text, scan::name(text, name, &mut surrogates)?);
            position = scan::value(text, value, usize::MAX, &mut surrogates)?;
            let part = match &*unescape(&text[name + 1..skip_string(text, name) - 1]) {
                b"jsonrpc" => Some(&mut version),
                b"id" => {
                    message.id = id(&text[value..position]);
                    Some(&mut message.id_span)
                }
                b"method" => Some(&mut message.method),
                b"params" => Some(&mut message.params),
                b"result" => Some(&mut message.result),
                b"error" => Some(&mut message.error),
                _ => None,
            };
            let repeated = part.is_none_or(|part| part.replace(value..position).is_some());
            message.plain &= !repeated;
            position = whitespace(text, position);
            match text.get(position) {
                Some(b',') => position = whitespace(text, position + 1),
                Some(b'}') => break position += 1,
                Some(_) => return Err(Error::new(JsonKind::UnexpectedByte, position)),
                None => return Err(Error::new(JsonKind::UnexpectedEnd, position)),
            }
        }
    }
    message.lone_surrogate = surrogates.0;
    message.kind = classify(
        text,
        &mut message,
        version.is_some_and(|span| &text[span] == b"\"2.0\""),
    );
    Ok((message, position))
}

fn classify(text: &[u8], message: &mut Envelope, versioned: bool) -> Kind {
    let first = |span: &Option<Range<usize>>| span.as_ref().and_then(|span| text.get(span.start).copied());
    // A null beside the other body is how some servers write "none"; so is a null method.
    if first(&message.error) == Some(b'n') {
        message.error = None;
    }
    if first(&message.method) == Some(b'n') {
        message.method = None;
    }
    if first(&message.result) == Some(b'n') && message.error.is_some() {
        message.result = None;
    }
    let answers = message.result.is_some() || message.error.is_some();
    let asks = message.method.is_some() && !answers;
    if message.method.is_none() && !answers && (!versioned || message.id == Id::Absent) {
        return Kind::Noise;
    }
    if !versioned {
        // Without a version and without an id it is a log line that happens to have a `method` or an `error`.
        return if message.id == Id::Absent {
            Kind::Noise
        } else {
            broken(Fault::NoVersion, asks)
        };
    }
    if let Some(span) = message.method.as_ref().filter(|_| asks) {
        let named = text[span.start] == b'"';
        return match message.id {
            Id::Absent | Id::Null if named => Kind::Notification,
            _ if named => Kind::Request,
            _ => broken(Fault::MethodIs(word(&text[span.clone()])), asks),
        };
    }
    if let Some(span) = &message.error {
        return match text[span.start] {
            b'{' if error_code(text, span.start).is_some() => Kind::Error,
            b'{' => Kind::Broken(Fault::ErrorCode),
            _ => Kind::Broken(Fault::ErrorIs(word(&text[span.clone()]))),
        };
    }
    match &message.result {
        Some(span) if text[span.start] == b'{' => Kind::Result,
        Some(span) => Kind::Broken(Fault::ResultIs(word(&text[span.clone()]))),
        None => Kind::Broken(Fault::NoBody),
    }
}

pub(super) fn broken(fault: Fault, asks: bool) -> Kind {
    if asks {
        Kind::BrokenRequest(fault)
    } else {
        Kind::Broken(fault)
    }
}

/// The integer code of the error object at `start`.
#[must_use]
pub fn error_code(text: &[u8], start: usize) -> Option<i64> {
    let mut members = Members::new(text, start);
    let mut code = None;
    while let Some((name, value)) = members.next() {
        if &*unescape(name) == b"code" {
            code = number::whole(&text[value..members.extent().end]);
        }
    }
    code
}

/// Reads an id's value.
#[must_use]
pub fn id(value: &[u8]) -> Id {
    match value.first() {
        Some(b'"') => {
            let text = decode(&value[1..value.len() - 1]);
            let digits = text.strip_prefix('-').unwrap_or(&text);
            if !digits.is_empty()
                && digits.bytes().all(|byte| byte.is_ascii_digit())
                && let Ok(number) = text.parse()
            {
                return Id::Integer(number);
            }
            Id::Text(text.into_owned())
        }
        Some(b'-' | b'0'..=b'9') => number::whole(value).map_or(Id::Odd, Id::Integer),
        Some(b'n') => Id::Null,
        _ => Id::Odd,
    }
}

#[cfg(test)]
mod tests;
