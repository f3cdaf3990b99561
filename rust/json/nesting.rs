//! The stack of a scan that does not recurse.

use crate::error::{Error, Kind};

/// Which kinds of container are open: one bit a level, no allocation below 64 levels.
pub struct Nesting {
    word: u64,
    full: Vec<u64>,
    pub depth: usize,
    limit: usize,
}

impl Nesting {
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            word: 0,
            full: Vec::new(),
            depth: 0,
            limit,
        }
    }

    /// # Errors
    /// `TooDeep` beyond the limit.
    #[inline]
    pub fn push(&mut self, object: bool, offset: usize) -> Result<(), Error> {
        if self.depth >= self.limit {
            return Err(Error::new(Kind::TooDeep, offset));
        }
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.full.push(self.word);
        }
        self.word = (self.word << 1) | u64::from(object);
        self.depth += 1;
        Ok(())
    }

    /// Only after a `push` that has not been popped.
    #[inline]
    pub fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0
            && self.depth.is_multiple_of(64)
            && let Some(word) = self.full.pop()
        {
            self.word = word;
        }
    }

    #[inline]
    #[must_use]
    pub const fn in_object(&self) -> bool {
        self.word & 1 == 1
    }
}
