//! Lines to frames, with every leniency that a broken peer needs: each has its counter, none is silent.
//!
//! A line is a message, several, or noise. Noise never ends anything; a broken message that names its request
//! becomes a `Broken` frame, so that the request ends at once; everything else is left to the deadline.

use bytes::Bytes;

use super::envelope::{self, Envelope, Fault, Id, Kind};
pub use super::frame::{Counters, Frame};
use super::gather::Gather;
use super::glimpse::{glimpse, last_id};
use super::lines::{Line, Lines, Text};
use crate::error::{Error, Kind as JsonKind};
use crate::json::scan::whitespace;
use crate::limits::{NOISE_CLIP, NOISE_SAMPLES, SALVAGE_BYTES, SALVAGE_TRIES};

/// The state between two chunks.
pub struct Inbound {
    lines: Lines,
    cap: usize,
    gather: Option<Gather>,
    content_length: bool,
    /// The peer frames with `Content-Length` headers, as LSP does: nothing it says can be read.
    pub lsp_framing: bool,
    pub counters: Counters,
    pub noise: Vec<Bytes>,
}

impl Inbound {
    #[must_use]
    pub fn new(cap: usize) -> Self {
        Self {
            lines: Lines::new(cap),
            cap,
            gather: None,
            content_length: false,
            lsp_framing: false,
            counters: Counters::default(),
            noise: Vec::new(),
        }
    }

    /// Takes a chunk; its messages, in order.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut rest = chunk;
        while let Some(line) = self.lines.cut(&mut rest) {
            self.line(line, &mut frames);
        }
        frames
    }

    /// Bytes of the line that has no newline yet.
    #[must_use]
    pub const fn kept(&self) -> usize {
        self.lines.kept()
    }

    /// The stream has ended: a last line counts when it is complete.
    pub fn finish(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        if let Some(line) = self.lines.finish() {
            self.line(line, &mut frames);
        }
        if let Some(gather) = self.gather.take() {
            self.give_up(&gather, &mut frames);
        }
        frames
    }

    fn line(&mut self, line: Line<'_>, frames: &mut Vec<Frame>) {
        match line {
            Line::Whole(text) => self.whole(&text, frames),
            Line::TooLong { head, tail, length } => {
                self.counters.oversize += 1;
                let mut seen = glimpse(&head);
                if seen.id == Id::Absent {
                    seen.id = last_id(&tail);
                }
                let envelope = seen.envelope(Fault::TooLong { length, cap: self.cap });
                self.counters.frames += 1;
                frames.push(Frame { text: head, envelope });
            }
        }
    }

    fn whole(&mut self, text: &Text<'_>, frames: &mut Vec<Frame>) {
        if std::str::from_utf8(text.bytes()).is_err() {
            self.counters.bad_utf8 += 1;
            let mended = String::from_utf8_lossy(text.bytes()).into_owned();
            let before = frames.len();
            self.valid(&Text::Owned(mended.into_bytes().into()), frames);
            for frame in &mut frames[before..] {
                frame.envelope.bad_utf8 = memchr::memmem::find(&frame.text, REPLACEMENT).is_some();
            }
            return;
        }
        self.valid(text, frames);
    }

    /// A line that is valid UTF-8.
    fn valid(&mut self, text: &Text<'_>, frames: &mut Vec<Frame>) {
        let line = text.bytes();
        let mut start = 0;
        while line[start..].starts_with("\u{FEFF}".as_bytes()) {
            start += 3;
        }
        start = whitespace(line, start);
        let Some(&first) = line.get(start) else {
            // A blank line behind a header ends the headers: that is how LSP frames. Who has framed by lines before
            // has only logged somebody's headers.
            self.lsp_framing |= self.content_length && self.counters.frames == 0;
            return;
        };
        match first {
            b'{' => self.object(text, start, frames),
            b'[' if self.gather.is_none() => self.batch(text, start, frames),
            _ => self.other(text, start, frames),
        }
    }

    /// A line that starts like a message; more may stand behind it.
    fn object(&mut self, text: &Text<'_>, start: usize, frames: &mut Vec<Frame>) {
        let line = text.bytes();
        let mut start = start;
        loop {
            let (envelope, end) = match envelope::read(line, start) {
                Ok(read) => read,
                Err(_) if self.gather.is_some() => return self.other(text, start, frames),
                Err(error) => return self.broken(text, start, error, frames),
            };
            let rest = whitespace(line, end);
            let noise = envelope.kind == Kind::Noise;
            if noise && (self.gather.is_some() || rest < line.len()) {
                return self.other(text, start, frames);
            }
            self.content_length = false;
            if noise {
                return self.noise(&line[start..]);
            }
            self.drop_gather();
            self.push(text.keep(start, end), envelope, frames);
            let Some(&first) = line.get(rest) else { return };
            // Two messages without a newline between them, or a message with noise behind it.
            self.counters.salvaged += 1;
            if first != b'{' {
                return self.noise(&line[rest..]);
            }
            start = rest;
        }
    }

    /// A line that starts like a message and is no JSON.
    fn broken(&mut self, text: &Text<'_>, start: usize, error: Error, frames: &mut Vec<Frame>) {
        let line = text.bytes();
        let seen = glimpse(&line[start..]);
        if seen.message && seen.id != Id::Absent {
            let fault = Fault::Json(Error::new(error.kind, error.offset - start));
            self.push(text.keep(start, line.len()), seen.envelope(fault), frames);
        } else if error.kind == JsonKind::UnexpectedEnd {
            self.gather = Some(Gather::new(&line[start..]));
        } else if !self.salvage(text, start + 1, frames) {
            self.noise(&line[start..]);
        }
    }

    fn push(&mut self, text: Bytes, envelope: Envelope, frames: &mut Vec<Frame>) {
        if matches!(envelope.kind, Kind::Broken(_) | Kind::BrokenRequest(_)) {
            self.counters.broken += 1;
        }
        self.counters.frames += 1;
        frames.push(Frame { text, envelope });
    }

    /// A line that can't start a message.
    fn other(&mut self, text: &Text<'_>, start: usize, frames: &mut Vec<Frame>) {
        let line = text.bytes();
        if let Some(gather) = &mut self.gather {
            gather.push(&line[start..]);
            if gather.is_closed() {
                if let Some(gather) = self.gather.take() {
                    self.give_up(&gather, frames);
                }
            } else if gather.text.len() > self.cap {
                self.drop_gather();
            }
            return;
        }
        if header(&line[start..]) {
            self.content_length = true;
        } else if self.salvage(text, start, frames) {
            return;
        }
        self.noise(&line[start..]);
    }

    /// Takes a message that stands at the end of a line behind noise.
    fn salvage(&mut self, text: &Text<'_>, start: usize, frames: &mut Vec<Frame>) -> bool {
        let line = text.bytes();
        let places = memchr::memchr_iter(b'{', &line[start..]).map(|found| start + found);
        let mut in_vain = 0;
        for place in places.take(SALVAGE_TRIES) {
            if line.get(whitespace(line, place + 1)) != Some(&b'"') {
                continue;
            }
            let end = match envelope::read(line, place) {
                Ok((envelope, end))
                    if whitespace(line, end) == line.len()
                        && envelope.kind != Kind::Noise
                        && !matches!(
                            envelope.kind,
                            Kind::Broken(Fault::NoVersion) | Kind::BrokenRequest(Fault::NoVersion)
                        ) =>
                {
                    self.counters.salvaged += 1;
                    self.noise(&line[start..place]);
                    self.push(text.keep(place, end), envelope, frames);
                    return true;
                }
                Ok((_, end)) => end,
                Err(error) => error.offset,
            };
            in_vain += end - place;
            if in_vain > SALVAGE_BYTES {
                break;
            }
        }
        false
    }

    /// A message over several lines is complete, or will never be.
    fn give_up(&mut self, gather: &Gather, frames: &mut Vec<Frame>) {
        let seen = glimpse(&gather.text);
        if seen.message && seen.id != Id::Absent {
            self.counters.multi_line += 1;
            let text = Bytes::copy_from_slice(gather.text.trim_ascii_end());
            let fault = if gather.lines > 1 {
                Fault::MultiLine
            } else {
                Fault::Json(Error::new(JsonKind::UnexpectedEnd, text.len()))
            };
            self.push(text, seen.envelope(fault), frames);
        } else {
            self.noise_of(gather);
        }
    }

    fn drop_gather(&mut self) {
        if let Some(gather) = self.gather.take() {
            self.noise_of(&gather);
        }
    }

    fn noise_of(&mut self, gather: &Gather) {
        self.noise(gather.text.trim_ascii_end());
        self.counters.noise_lines += gather.lines - 1;
    }

    fn noise(&mut self, line: &[u8]) {
        self.counters.noise_lines += 1;
        if self.noise.len() < NOISE_SAMPLES {
            let line = line.trim_ascii_end();
            self.noise
                .push(Bytes::copy_from_slice(&line[..line.len().min(NOISE_CLIP)]));
        }
    }
}

/// U+FFFD, which stands where the bytes were no UTF-8.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// `Content-Length: 45`, as LSP frames its messages.
fn header(line: &[u8]) -> bool {
    const NAME: &[u8] = b"content-length:";
    line.len() > NAME.len()
        && line[..NAME.len()].eq_ignore_ascii_case(NAME)
        && line[NAME.len()..].trim_ascii().iter().all(u8::is_ascii_digit)
}

mod batch;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
