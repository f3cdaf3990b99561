//! Lines that together may be one message, printed over several of them.

use crate::json::walk::skip_string;

/// At least one line, each with a line break behind it.
pub struct Gather {
    pub text: Vec<u8>,
    pub lines: u64,
    depth: i64,
}

impl Gather {
    #[must_use]
    pub fn new(line: &[u8]) -> Self {
        let mut gather = Self {
            text: Vec::new(),
            lines: 0,
            depth: 0,
        };
        gather.push(line);
        gather
    }

    /// Adds a line; a line break can't stand inside a string, so each line starts outside of one.
    pub fn push(&mut self, line: &[u8]) {
        let mut position = 0;
        while let Some(&byte) = line.get(position) {
            match byte {
                b'"' => {
                    position = skip_string(line, position);
                    continue;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
            position += 1;
        }
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.lines += 1;
    }

    /// Every bracket is closed.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.depth <= 0
    }
}
