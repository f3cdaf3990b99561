//! Server-Sent Events out of any split of chunks: linear in the bytes, bounded in memory, and blind to what an event says.
//!
//! The grammar is WHATWG's, to the letter. Two things are ours: a bound on an event, and that an event which the end of
//! the stream cut off is still given where its data is one whole JSON object or array. A blank line before that end
//! would have added nothing to it.

use bytes::Bytes;

use self::pending::Pending;
use crate::limits::OVERSIZE_CLIP;

mod pending;

const MARK: &[u8] = "\u{FEFF}".as_bytes();

/// The longest name of a field is five bytes; a line without a colon among its first six has none that is known.
const NAME: usize = 6;

/// What the stream gives, an event at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Empty where the event has none, which means `message`.
    pub name: String,
    /// The data lines, joined by line feeds; nothing says that they are UTF-8. Of an event over the limit, its first and
    /// its last bytes.
    pub data: Bytes,
    /// The id that this event itself carries.
    pub id: Option<String>,
    /// Bytes of an event that is over the limit.
    pub oversize: Option<usize>,
    /// The stream ended before the event did.
    pub cut: bool,
}

#[derive(Clone, Copy)]
enum Field {
    Event,
    Id,
    Retry,
}

/// Where in its line the stream stands.
enum Part {
    /// In the name of the field, which lies in `line`.
    Name,
    /// In a value that goes straight to the data.
    Data,
    /// In a value that is read when it is whole, and lies in `line`.
    Value(Field),
    /// In such a value of an event over the limit, too long to be kept.
    Lost,
    /// In a comment, or in a field that nobody knows.
    Skipped,
}

/// The state between two chunks.
pub struct Events {
    limit: usize,
    part: Part,
    line: Vec<u8>,
    /// The next byte of a value is dropped if it is a space.
    space: bool,
    /// The last byte was a carriage return: a line feed next belongs to the same line end.
    returned: bool,
    /// Bytes of the byte order mark seen at the stream's start.
    marked: usize,
    event: Pending,
    last_id: String,
    retry: Option<u64>,
}

impl Events {
    /// `limit`: the largest event that is kept, in bytes of its values.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            part: Part::Name,
            line: Vec::new(),
            space: false,
            returned: false,
            marked: 0,
            event: Pending::default(),
            last_id: String::new(),
            retry: None,
        }
    }

    /// The id of the last event that ended, or of one before it: what a reader names to go on from there.
    #[must_use]
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// Milliseconds that the peer wants a reader to wait before it comes again.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Bytes kept of the event that has not ended.
    #[must_use]
    pub const fn kept(&self) -> usize {
        self.event.data.len() + self.event.tail.len() + self.line.len()
    }

    /// The events that `chunk` ends, in order.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = self.past_mark(chunk);
        while !rest.is_empty() {
            if std::mem::take(&mut self.returned) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', rest) else {
                self.push(rest);
                break;
            };
            self.push(&rest[..end]);
            self.returned = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line());
        }
        events
    }

    /// The stream has ended: its last event, if the end cut it where nothing of its data was missing, or if it is over
    /// the limit. What is fed next is the beginning of another stream; the last id and the time to wait stay.
    pub fn finish(&mut self) -> Option<Event> {
        // A line without an end counts only as data: an id or a name may have been longer.
        let given = self.event.over || (self.event.has_data && self.event.is_whole());
        let event = if given { self.end_event() } else { None };
        (self.part, self.returned, self.marked) = (Part::Name, false, 0);
        self.line.clear();
        self.event = Pending::default();
        event.map(|event| Event { cut: true, ..event })
    }

    /// Drops a byte order mark at the stream's start.
    fn past_mark<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        let mut rest = chunk;
        while self.marked < MARK.len()
            && let Some((byte, after)) = rest.split_first()
        {
            if *byte == MARK[self.marked] {
                self.marked += 1;
                rest = after;
            } else {
                if self.marked > 0 {
                    // It was no mark but the beginning of a field's name, and no known one begins so.
                    self.part = Part::Skipped;
                }
                self.marked = MARK.len();
            }
        }
        rest
    }

    /// Adds bytes without a line end.
    fn push(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        if matches!(self.part, Part::Name) {
            let name = &bytes[..bytes.len().min(NAME - self.line.len())];
            let Some(colon) = memchr::memchr(b':', name) else {
                self.line.extend_from_slice(name);
                if self.line.len() == NAME {
                    self.part = Part::Skipped;
                    self.line.clear();
                }
                return;
            };
            self.line.extend_from_slice(&name[..colon]);
            self.begin_value();
            bytes = &bytes[colon + 1..];
        }
        if self.space && !bytes.is_empty() {
            self.space = false;
            bytes = bytes.strip_prefix(b" ").unwrap_or(bytes);
        }
        match self.part {
            Part::Data => {
                self.event.count(bytes.len(), self.limit);
                self.event.push(bytes);
            }
            Part::Value(_) => {
                self.event.count(bytes.len(), self.limit);
                self.line.extend_from_slice(bytes);
                if self.event.over && self.line.len() > OVERSIZE_CLIP {
                    self.part = Part::Lost;
                    self.line = Vec::new();
                }
            }
            Part::Lost => self.event.count(bytes.len(), self.limit),
            Part::Name | Part::Skipped => {}
        }
    }

    /// The name of the field is whole.
    fn begin_value(&mut self) {
        self.part = match &self.line[..] {
            b"data" => Part::Data,
            b"event" => Part::Value(Field::Event),
            b"id" => Part::Value(Field::Id),
            b"retry" => Part::Value(Field::Retry),
            _ => Part::Skipped,
        };
        self.line.clear();
        self.space = true;
        if matches!(self.part, Part::Data) && std::mem::replace(&mut self.event.has_data, true) {
            self.event.count(1, self.limit);
            self.event.push(b"\n");
        }
    }

    fn end_line(&mut self) -> Option<Event> {
        if matches!(self.part, Part::Name) {
            if self.line.is_empty() {
                return self.end_event();
            }
            self.begin_value();
        }
        if let Part::Value(field) = self.part {
            self.read(field);
        }
        self.part = Part::Name;
        self.line.clear();
        self.space = false;
        None
    }

    fn read(&mut self, field: Field) {
        let text = || String::from_utf8_lossy(&self.line).into_owned();
        match field {
            Field::Event => self.event.name = text(),
            Field::Id if !self.line.contains(&0) => self.event.id = Some(text()),
            Field::Retry if !self.line.is_empty() && self.line.iter().all(u8::is_ascii_digit) => {
                self.retry = Some(text().parse().unwrap_or(u64::MAX));
            }
            Field::Id | Field::Retry => {}
        }
    }

    /// A blank line: an event without data is none, and yet its id counts.
    fn end_event(&mut self) -> Option<Event> {
        let mut event = std::mem::take(&mut self.event);
        if let Some(id) = &event.id {
            self.last_id.clone_from(id);
        }
        event.trim();
        event.data.append(&mut event.tail);
        (event.has_data || event.over).then(|| Event {
            name: event.name,
            data: event.data.into(),
            id: event.id,
            oversize: event.over.then_some(event.size),
            cut: false,
        })
    }
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
