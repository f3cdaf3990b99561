//! Lines to frames, with every leniency that a broken peer needs: each has its counter, none is silent.
//!
//! A line is a message, several, or noise. Noise never ends anything; a broken message that names its request
//! becomes a `Broken` frame, so that the request ends at once; everything else is left to the deadline.

use bytes::Bytes;

use super::envelope::{self, Envelope, Fault, Glimpse, Id, Kind};
use super::lines::{Line, Lines, Text};
use crate::error::Kind as JsonKind;
use crate::json::scan::{self, whitespace};
use crate::json::walk::{Elements, skip_string};
use crate::limits::{NOISE_CLIP, NOISE_SAMPLES, SALVAGE_TRIES};

/// One message with its own text.
#[derive(Debug, Clone)]
pub struct Frame {
    pub text: Bytes,
    pub envelope: Envelope,
}

/// What was forgiven so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub frames: u64,
    pub noise_lines: u64,
    pub salvaged: u64,
    pub bad_utf8: u64,
    pub broken: u64,
    pub multi_line: u64,
    pub oversize: u64,
    pub batches: u64,
}

/// Lines that together may be one message, printed over several lines.
struct Gather {
    text: Vec<u8>,
    depth: i64,
    lines: u64,
}

impl Gather {
    /// Adds a line; a line break can't stand inside a string, so each line starts outside of one.
    fn push(&mut self, line: &[u8]) {
        let mut position = 0;
        while let Some(&byte) = line.get(position) {
            match byte {
                b'"' => position = skip_string(line, position).max(position + 1),
                b'{' | b'[' => (self.depth, position) = (self.depth + 1, position + 1),
                b'}' | b']' => (self.depth, position) = (self.depth - 1, position + 1),
                _ => position += 1,
            }
        }
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.lines += 1;
    }
}

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
    pub const fn new(cap: usize) -> Self {
        Self {
            lines: Lines::new(cap),
            cap,
            gather: None,
            content_length: false,
            lsp_framing: false,
            counters: Counters {
                frames: 0,
                noise_lines: 0,
                salvaged: 0,
                bad_utf8: 0,
                broken: 0,
                multi_line: 0,
                oversize: 0,
                batches: 0,
            },
            noise: Vec::new(),
        }
    }

    /// Takes a chunk; its messages, in order.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        // The lines are borrowed for the time of the walk, since `line` needs all the rest of the state.
        let mut lines = std::mem::replace(&mut self.lines, Lines::new(0));
        lines.feed(chunk, |line| self.line(line, &mut frames));
        self.lines = lines;
        self.counters.frames += frames.len() as u64;
        frames
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
        self.counters.frames += frames.len() as u64;
        frames
    }

    fn line(&mut self, line: Line<'_>, frames: &mut Vec<Frame>) {
        match line {
            Line::Whole(text) => self.whole(&text, frames),
            Line::TooLong { head, tail, length } => {
                self.counters.oversize += 1;
                let mut id = envelope::glimpse(&head).id;
                if id == Id::Absent {
                    id = envelope::last_id(&tail);
                }
                let fault = Fault::TooLong { length, cap: self.cap };
                frames.push(Frame {
                    text: head,
                    envelope: Envelope::broken(fault, id),
                });
            }
        }
    }

    fn whole(&mut self, text: &Text<'_>, frames: &mut Vec<Frame>) {
        if std::str::from_utf8(text.bytes()).is_err() {
            self.counters.bad_utf8 += 1;
            let mended = String::from_utf8_lossy(text.bytes()).into_owned();
            return self.valid(&Text::Owned(mended.into_bytes().into()), frames);
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
            // A blank line behind a header ends the headers: that is how LSP frames.
            self.lsp_framing |= self.content_length;
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
        match envelope::read(line, start) {
            Ok((envelope, end)) => {
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
                if rest < line.len() {
                    // Two messages without a newline between them, or a message with noise behind it.
                    self.counters.salvaged += 1;
                    match line[rest] {
                        b'{' => self.object(text, rest, frames),
                        _ => self.noise(&line[rest..]),
                    }
                }
            }
            Err(_) if self.gather.is_some() => self.other(text, start, frames),
            Err(error) => {
                let Glimpse { id, message } = envelope::glimpse(&line[start..]);
                if message && id != Id::Absent {
                    let fault = Fault::Json(crate::error::Error::new(error.kind, error.offset - start));
                    self.push(text.keep(start, line.len()), Envelope::broken(fault, id), frames);
                } else if error.kind == JsonKind::UnexpectedEnd {
                    let mut gather = Gather {
                        text: Vec::new(),
                        depth: 0,
                        lines: 0,
                    };
                    gather.push(&line[start..]);
                    self.gather = Some(gather);
                } else if !self.salvage(text, start + 1, frames) {
                    self.noise(&line[start..]);
                }
            }
        }
    }

    fn push(&mut self, text: Bytes, envelope: Envelope, frames: &mut Vec<Frame>) {
        if matches!(envelope.kind, Kind::Broken(_)) {
            self.counters.broken += 1;
        }
        frames.push(Frame { text, envelope });
    }

    /// A line that can't start a message.
    fn other(&mut self, text: &Text<'_>, start: usize, frames: &mut Vec<Frame>) {
        let line = text.bytes();
        if let Some(gather) = &mut self.gather {
            gather.push(&line[start..]);
            if gather.depth <= 0 {
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
        for place in places.take(SALVAGE_TRIES) {
            if line.get(whitespace(line, place + 1)) != Some(&b'"') {
                continue;
            }
            if let Ok((envelope, end)) = envelope::read(line, place)
                && whitespace(line, end) == line.len()
                && envelope.kind != Kind::Noise
                && envelope.kind != Kind::Broken(Fault::NoVersion)
            {
                self.counters.salvaged += 1;
                self.noise(&line[start..place]);
                self.push(text.keep(place, end), envelope, frames);
                return true;
            }
        }
        false
    }

    fn batch(&mut self, text: &Text<'_>, start: usize, frames: &mut Vec<Frame>) {
        let line = text.bytes();
        let whole = scan::value(line, start, usize::MAX, &mut scan::Nothing)
            .is_ok_and(|end| whitespace(line, end) == line.len());
        let before = frames.len();
        if whole {
            let mut elements = Elements::new(line, start);
            while let Some(element) = elements.next() {
                if line[element] == b'{'
                    && let Ok((envelope, end)) = envelope::read(line, element)
                    && envelope.kind != Kind::Noise
                {
                    self.push(text.keep(element, end), envelope, frames);
                }
            }
        }
        if frames.len() > before {
            self.counters.batches += 1;
        } else if whole || !self.salvage(text, start, frames) {
            self.noise(&line[start..]);
        }
    }

    /// A message over several lines is complete, or will never be.
    fn give_up(&mut self, gather: &Gather, frames: &mut Vec<Frame>) {
        let Glimpse { id, message } = envelope::glimpse(&gather.text);
        if message && id != Id::Absent {
            self.counters.multi_line += 1;
            let text = Bytes::copy_from_slice(gather.text.trim_ascii_end());
            let fault = if gather.lines > 1 {
                Fault::MultiLine
            } else {
                Fault::Json(crate::error::Error::new(JsonKind::UnexpectedEnd, text.len()))
            };
            self.push(text, Envelope::broken(fault, id), frames);
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
            self.noise.push(Bytes::copy_from_slice(
                &line.trim_ascii_end()[..line.trim_ascii_end().len().min(NOISE_CLIP)],
            ));
        }
    }
}

/// `Content-Length: 45`, as LSP frames its messages.
fn header(line: &[u8]) -> bool {
    const NAME: &[u8] = b"content-length:";
    line.len() > NAME.len()
        && line[..NAME.len()].eq_ignore_ascii_case(NAME)
        && line[NAME.len()..].trim_ascii().iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(stream: &[u8], split: usize) -> (Vec<(Kind, Id, String)>, Counters, bool) {
        let mut inbound = Inbound::new(1 << 20);
        let mut seen = Vec::new();
        for chunk in stream.chunks(split) {
            seen.extend(inbound.feed(chunk));
        }
        seen.extend(inbound.finish());
        let seen = seen.into_iter().map(|frame| {
            (
                frame.envelope.kind,
                frame.envelope.id,
                String::from_utf8_lossy(&frame.text).into_owned(),
            )
        });
        (seen.collect(), inbound.counters, inbound.lsp_framing)
    }

    const ONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const TWO: &str = r#"{"result":{"text":"caf\u00e9"},"jsonrpc":"2.0","id":2}"#;

    #[test]
    fn splitting_never_changes_what_comes_out() {
        let streams: [&[u8]; 14] = [
            format!("Server v1.2 ready\n[INFO] db ok\n\n{ONE}\n").as_bytes(),
            format!("{{\"level\":\"info\"}}\n42\n\"hi\"\n[]\nnull\n{ONE}\n").as_bytes(),
            format!("loading... {ONE}\n{TWO}\n").as_bytes(),
            format!("\u{FEFF}{ONE}\r\n\u{FEFF}{TWO}\r\n\r\n").as_bytes(),
            &[
                TWO.replace("\\u00e9", "X").replace('X', "\u{1}").into_bytes(),
                b"\n".to_vec(),
            ]
            .concat()
            .iter()
            .map(|byte| if *byte == 1 { 0xE9 } else { *byte })
            .collect::<Vec<_>>(),
            b"{\n \"jsonrpc\": \"2.0\",\n \"id\": 5,\n \"result\": {\"content\": []}\n}\n",
            format!("Content-Length: 45\r\n\r\n{ONE}").as_bytes(),
            format!("[{ONE},{TWO}]\n").as_bytes(),
            format!("{ONE}{TWO}\n").as_bytes(),
            format!("{ONE} trailing\n").as_bytes(),
            ONE.as_bytes(),
            &ONE.as_bytes()[..ONE.len() - 1],
            format!("{{\n{ONE}\n").as_bytes(),
            br#"{"jsonrpc":"2.0","id":7,"result":{"content":[],}}"#,
        ]
        .map(|stream: &[u8]| -> &[u8] { Box::leak(stream.to_vec().into_boxed_slice()) });
        for stream in streams {
            let whole = frames(stream, stream.len());
            for split in 1..stream.len().min(64) {
                assert_eq!(
                    frames(stream, split),
                    whole,
                    "{split}: {}",
                    String::from_utf8_lossy(stream)
                );
            }
        }
    }

    #[test]
    fn g1_g2_noise_is_skipped_and_counted_and_the_first_lines_are_kept() {
        let mut inbound = Inbound::new(1000);
        let stream =
            format!("Server v1.2 ready\n[INFO] db ok\n\n{{\"level\":\"info\"}}\n42\n\"hi\"\n[]\nnull\n{ONE}\n");
        assert_eq!(inbound.feed(stream.as_bytes()).len(), 1);
        assert_eq!(inbound.counters.noise_lines, 7);
        assert_eq!(inbound.noise[0], &b"Server v1.2 ready"[..]);
        inbound.feed(b"more noise\n".repeat(20).as_slice());
        assert_eq!((inbound.counters.noise_lines, inbound.noise.len()), (27, NOISE_SAMPLES));
    }

    #[test]
    fn g3_a_message_behind_noise_on_one_line_is_salvaged() {
        let (seen, counters, _) = frames(format!("loading... {ONE}\n").as_bytes(), 1000);
        assert_eq!(seen, [(Kind::Result, Id::Integer(1), ONE.to_string())]);
        assert_eq!((counters.salvaged, counters.noise_lines), (1, 1));
        let (seen, counters, _) = frames(b"{\"a\":{\"a\":{\"a\" x\n", 1000);
        assert_eq!((seen.len(), counters.noise_lines), (0, 1));
    }

    #[test]
    fn g7_bad_utf8_in_a_string_is_replaced_and_flagged() {
        let (seen, counters, _) = frames(b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"t\":\"caf\xE9\"}}\n", 1000);
        assert_eq!(seen[0].0, Kind::Result);
        assert!(seen[0].2.contains("caf\u{FFFD}"));
        assert_eq!(counters.bad_utf8, 1);
    }

    #[test]
    fn g12_a_message_over_several_lines_is_an_error_with_its_id() {
        let (seen, ..) = frames(
            b"{\n \"jsonrpc\": \"2.0\",\n \"id\": 5,\n \"result\": {\"content\": []}\n}\n",
            1000,
        );
        assert_eq!(
            (&seen[0].0, &seen[0].1),
            (&Kind::Broken(Fault::MultiLine), &Id::Integer(5))
        );
    }

    #[test]
    fn g12_a_lone_brace_does_not_swallow_the_next_message() {
        let (seen, counters, _) = frames(format!("{{\n{ONE}\n{TWO}\n").as_bytes(), 1000);
        assert_eq!((seen.len(), counters.noise_lines), (2, 1));
    }

    #[test]
    fn g13_content_length_framing_is_recognised() {
        assert!(frames(format!("Content-Length: 45\r\n\r\n{ONE}").as_bytes(), 1000).2);
        assert!(!frames(format!("Content-Length: 45\r\n{ONE}\n\n").as_bytes(), 1000).2);
    }

    #[test]
    fn g9_a_line_over_the_cap_gives_up_its_id_from_either_end() {
        for line in [
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{{\"text\":\"{}\"}}}}\n",
                "x".repeat(20_000)
            ),
            format!(
                "{{\"result\":{{\"text\":\"{}\"}},\"jsonrpc\":\"2.0\",\"id\":9}}\n",
                "x".repeat(20_000)
            ),
        ] {
            let mut inbound = Inbound::new(10_000);
            let seen: Vec<_> = line
                .as_bytes()
                .chunks(1000)
                .flat_map(|chunk| inbound.feed(chunk))
                .collect();
            assert_eq!(seen[0].envelope.id, Id::Integer(9));
            assert!(matches!(
                seen[0].envelope.kind,
                Kind::Broken(Fault::TooLong { cap: 10_000, .. })
            ));
            assert_eq!(inbound.feed(format!("{ONE}\n").as_bytes()).len(), 1);
        }
    }
}
