//! Several messages in one array: each is judged on its own, so that a broken one costs its own request only.

use super::{Inbound, envelope, glimpse};
use crate::error::{Error, Kind as JsonKind};
use crate::json::scan::whitespace;
use crate::json::walk::Elements;
use crate::wire::envelope::{Fault, Id, Kind};
use crate::wire::frame::Frame;
use crate::wire::gather::Gather;
use crate::wire::lines::Text;

impl Inbound {
    /// A line that starts like a batch, whole or not.
    pub(super) fn batch(&mut self, text: &Text<'_>, start: usize, frames: &mut Vec<Frame>) {
        let line = text.bytes();
        let before = frames.len();
        let mut elements = Elements::new(line, start);
        while let Some(element) = elements.next() {
            if line[element] != b'{' {
                continue;
            }
            match envelope::read(line, element) {
                Ok((envelope, end)) => {
                    elements.resume(end);
                    if envelope.kind != Kind::Noise {
                        self.push(text.keep(element, end), envelope, frames);
                    }
                }
                Err(error) => {
                    let end = elements.extent().end;
                    self.broken_element(text, element, end, error, frames);
                }
            }
        }
        let rest = whitespace(line, elements.finish());
        if frames.len() > before {
            self.counters.batches += 1;
            if let Some(&first) = line.get(rest) {
                // A message or noise behind it, without a newline or a comma between them.
                self.counters.salvaged += 1;
                match first {
                    b'{' => self.object(text, rest, frames),
                    _ => self.noise(&line[rest..]),
                }
            }
        } else if self.gather.is_none() && !self.salvage(text, start, frames) {
            self.noise(&line[start..]);
        }
    }

    /// An element that is no JSON; a request that it names ends, and an unfinished one may go on in the next line.
    fn broken_element(&mut self, text: &Text<'_>, start: usize, end: usize, error: Error, frames: &mut Vec<Frame>) {
        let line = text.bytes();
        let seen = glimpse(&line[start..end]);
        if seen.message && seen.id != Id::Absent {
            let fault = Fault::Json(Error::new(error.kind, error.offset - start));
            self.push(text.keep(start, end), seen.envelope(fault), frames);
        } else if error.kind == JsonKind::UnexpectedEnd {
            self.gather = Some(Gather::new(&line[start..]));
        }
    }
}
