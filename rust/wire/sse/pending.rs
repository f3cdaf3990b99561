//! An event as far as the stream has come.

use crate::json::scan::{Nothing, document, whitespace};
use crate::limits::OVERSIZE_CLIP;

/// The event that has no blank line yet.
#[derive(Default)]
pub struct Pending {
    pub name: String,
    pub id: Option<String>,
    pub data: Vec<u8>,
    pub has_data: bool,
    /// Bytes of all its values, line feeds between data lines included.
    pub size: usize,
    /// It is over the limit: `data` holds its first bytes, `tail` its last.
    pub over: bool,
    pub tail: Vec<u8>,
}

impl Pending {
    /// Adds to its size; beyond the limit it lets go of all but its ends.
    pub fn count(&mut self, bytes: usize, limit: usize) {
        self.size += bytes;
        if self.size > limit && !self.over {
            self.over = true;
            let data = std::mem::take(&mut self.data);
            self.push(&data);
        }
    }

    /// Adds to its data.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.over {
            return self.data.extend_from_slice(bytes);
        }
        let (head, tail) = bytes.split_at(bytes.len().min(OVERSIZE_CLIP - self.data.len()));
        self.data.extend_from_slice(head);
        self.tail
            .extend_from_slice(&tail[tail.len().saturating_sub(OVERSIZE_CLIP)..]);
        // Not at each push: a drip of single bytes would move the whole tail for each of them.
        if self.tail.len() > 2 * OVERSIZE_CLIP {
            self.trim();
        }
    }

    /// Cuts the tail to its length.
    pub fn trim(&mut self) {
        let excess = self.tail.len().saturating_sub(OVERSIZE_CLIP);
        self.tail.drain(..excess);
    }

    /// Its data is a value that says itself where it ends.
    pub fn is_whole(&self) -> bool {
        let first = self.data.get(whitespace(&self.data, 0));
        matches!(first, Some(b'{' | b'[')) && document(&self.data, usize::MAX, &mut Nothing).is_ok()
    }
}
