//! Lines out of any split of chunks: linear in the bytes, bounded in memory, and blind to what a line says.

use bytes::Bytes;

use crate::limits::OVERSIZE_CLIP;

/// A line's bytes: borrowed where it lay whole in one chunk, owned where it had to be put together.
pub enum Text<'a> {
    Borrowed(&'a [u8]),
    Owned(Bytes),
}

impl Text<'_> {
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }

    /// A part of the line that outlives the chunk: shared with an owned line that it is most of, else copied, so that
    /// a small message never keeps a long line alive.
    #[must_use]
    pub fn keep(&self, start: usize, end: usize) -> Bytes {
        match self {
            Self::Owned(bytes) if end - start > bytes.len() / 2 => bytes.slice(start..end),
            text => Bytes::copy_from_slice(&text.bytes()[start..end]),
        }
    }
}

/// What the stream gives, a line at a time.
pub enum Line<'a> {
    /// A line without its newline.
    Whole(Text<'a>),
    /// A line over the cap, drained: its first and its last bytes, and its full length.
    TooLong { head: Bytes, tail: Bytes, length: usize },
}

/// A line over the cap, while its rest is drained.
struct Drain {
    head: Vec<u8>,
    tail: Vec<u8>,
    length: usize,
}

impl Drain {
    fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        self.head
            .extend_from_slice(&bytes[..bytes.len().min(OVERSIZE_CLIP - self.head.len())]);
        self.tail
            .extend_from_slice(&bytes[bytes.len().saturating_sub(OVERSIZE_CLIP)..]);
        // Not at each push: a drip of single bytes would move the whole tail for each of them.
        if self.tail.len() > 2 * OVERSIZE_CLIP {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let excess = self.tail.len().saturating_sub(OVERSIZE_CLIP);
        self.tail.drain(..excess);
    }

    fn line(mut self) -> Line<'static> {
        self.trim();
        Line::TooLong {
            head: self.head.into(),
            tail: self.tail.into(),
            length: self.length,
        }
    }
}

/// The state between two chunks: the line that has no newline yet.
pub struct Lines {
    partial: Vec<u8>,
    drain: Option<Drain>,
    cap: usize,
}

impl Lines {
    /// `cap`: the longest line that is kept, in bytes without its newline.
    #[must_use]
    pub const fn new(cap: usize) -> Self {
        Self {
            partial: Vec::new(),
            drain: None,
            cap,
        }
    }

    /// Cuts the next line off the chunk's front. `None`: the chunk ends no more line, and what was left of it is kept.
    pub fn cut<'a>(&mut self, chunk: &mut &'a [u8]) -> Option<Line<'a>> {
        let Some(newline) = memchr::memchr(b'\n', chunk) else {
            self.push(std::mem::take(chunk));
            return None;
        };
        let line = &chunk[..newline];
        *chunk = &chunk[newline + 1..];
        if self.partial.is_empty() && self.drain.is_none() && line.len() <= self.cap {
            return Some(Line::Whole(Text::Borrowed(line)));
        }
        self.push(line);
        Some(match self.drain.take() {
            Some(drain) => drain.line(),
            None => Line::Whole(Text::Owned(std::mem::take(&mut self.partial).into())),
        })
    }

    /// Bytes kept of the line that has no newline yet.
    #[must_use]
    pub const fn kept(&self) -> usize {
        self.partial.len()
    }

    /// The stream has ended: what it left without a newline.
    pub fn finish(&mut self) -> Option<Line<'static>> {
        if let Some(drain) = self.drain.take() {
            return Some(drain.line());
        }
        let partial = std::mem::take(&mut self.partial);
        (!partial.is_empty()).then(|| Line::Whole(Text::Owned(partial.into())))
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.drain.is_none() && self.partial.len() + bytes.len() > self.cap {
            let mut drain = Drain {
                head: Vec::new(),
                tail: Vec::new(),
                length: 0,
            };
            drain.push(&std::mem::take(&mut self.partial));
            self.drain = Some(drain);
        }
        match &mut self.drain {
            Some(drain) => drain.push(bytes),
            None => self.partial.extend_from_slice(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(stream: &[u8], split: usize, cap: usize) -> Vec<String> {
        let mut lines = Lines::new(cap);
        let mut seen = Vec::new();
        let show = |line: Line<'_>| match line {
            Line::Whole(text) => String::from_utf8_lossy(text.bytes()).into_owned(),
            Line::TooLong { head, tail, length } => {
                format!(
                    "{length}:{}…{}",
                    String::from_utf8_lossy(&head),
                    String::from_utf8_lossy(&tail)
                )
            }
        };
        for chunk in stream.chunks(split) {
            let mut rest = chunk;
            while let Some(line) = lines.cut(&mut rest) {
                seen.push(show(line));
            }
        }
        seen.extend(lines.finish().map(show));
        seen
    }

    #[test]
    fn any_split_gives_the_same_lines() {
        let stream = "one\n\ntwo é 😀\r\n{\"a\":1}\nlast without newline".as_bytes();
        let whole = lines(stream, stream.len(), 100);
        assert_eq!(whole, ["one", "", "two é 😀\r", "{\"a\":1}", "last without newline"]);
        for split in 1..stream.len() {
            assert_eq!(lines(stream, split, 100), whole, "{split}");
        }
    }

    #[test]
    fn a_line_over_the_cap_is_drained_and_the_next_one_stands() {
        let stream = b"0123456789\nabcde\nabcdef\nend";
        for split in 1..stream.len() {
            let seen = lines(stream, split, 5);
            assert_eq!(
                seen,
                ["10:0123456789…0123456789", "abcde", "6:abcdef…abcdef", "end"],
                "{split}"
            );
        }
    }

    #[test]
    fn memory_is_bounded_by_the_cap_when_no_newline_ever_comes() {
        let mut lines = Lines::new(1000);
        for _ in 0..1000 {
            assert!(lines.cut(&mut &[b'x'; 1000][..]).is_none(), "no line has ended");
            assert!(lines.partial.capacity() <= 2000);
            assert!(
                lines
                    .drain
                    .as_ref()
                    .is_none_or(|drain| drain.tail.len() <= 2 * OVERSIZE_CLIP)
            );
        }
        match lines.finish() {
            Some(Line::TooLong { length, head, .. }) => assert_eq!((length, head.len()), (1_000_000, OVERSIZE_CLIP)),
            _ => panic!("the line is over the cap"),
        }
    }
}
