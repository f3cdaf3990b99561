//! The answer to a `tools/call`: its members by span, and the text that a model reads (spec 1.4, design 4.4).
//! Blocks are read when somebody looks; nothing that the server sent is dropped.

use bytes::Bytes;

use super::content;
use super::listing::{Span, string};
use crate::json::equal::equal;
use crate::json::text::unescape;
use crate::json::walk::{Members, skip};
use crate::json::write::compact;
use crate::limits::{DEPTH, SPELLING};

/// Which parts of a result its text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Render {
    /// The structured value if it is not null, else the blocks; of an error, both.
    Default,
    /// The blocks, then the structured value unless a text block equals it; a text resource with its text.
    Auto,
    /// The blocks alone.
    Content,
    /// The structured value alone, the blocks where there is none.
    Structured,
    /// The blocks, then the structured value.
    Both,
}

/// A result's own text, and where its members stand in it.
#[derive(Debug, Clone)]
pub struct CallResult {
    pub text: Bytes,
    pub content: Span,
    pub structured: Span,
    pub meta: Span,
    pub is_error: bool,
    pub result_type: Option<String>,
    pub warnings: Vec<&'static str>,
}

impl CallResult {
    /// Reads the result at `start` of a judged frame.
    ///
    /// # Errors
    /// Its depth, when it nests deeper than anything may.
    pub fn read(frame: &Bytes, start: usize) -> Result<Self, usize> {
        let extent = skip(frame, start);
        if extent.depth > DEPTH {
            return Err(extent.depth);
        }
        let text = frame.slice(start..extent.end);
        let mut result = Self {
            content: Span::default(),
            structured: Span::default(),
            meta: Span::default(),
            is_error: false,
            result_type: None,
            warnings: Vec::new(),
            text: Bytes::new(),
        };
        let mut content = None;
        let mut members = Members::new(&text, 0);
        while let Some((name, at)) = members.next() {
            let end = members.extent().end;
            match &*unescape(name) {
                b"content" => content = Some((at, end)),
                b"structuredContent" => result.structured = Span::new(at, end),
                b"_meta" => result.meta = Span::new(at, end),
                b"isError" => match &text[at..end] {
                    b"true" => result.is_error = true,
                    b"false" | b"null" => result.is_error = false,
                    odd => {
                        // Whoever writes anything there but a spelling of "no" means to report an error.
                        result.is_error = !matches!(odd, b"0" | b"\"\"" | b"\"false\"");
                        result.warnings.push("isError is not a boolean");
                    }
                },
                b"resultType" => match &text[at..end] {
                    b"null" => result.warnings.push("resultType is null"),
                    // A type that is no string is an unknown type, never an absent one.
                    odd => {
                        let word = string(Some(odd));
                        result.result_type = word.or_else(|| Some(String::from_utf8_lossy(odd).into_owned()));
                    }
                },
                _ => {}
            }
        }
        match content {
            None => result.warnings.push("content is missing"),
            Some((at, end)) => match text.get(at) {
                Some(b'[') => result.content = Span::new(at, end),
                Some(b'n') => result.warnings.push("content is null"),
                _ => {
                    result.content = Span::new(at, end);
                    result.warnings.push("content is not a list");
                }
            },
        }
        result.text = text;
        Ok(result)
    }

    /// The blocks' spans in `text`. A content that is no list is one block, which is broken.
    #[must_use]
    pub fn blocks(&self) -> Vec<(usize, usize)> {
        let Some(content) = self.content.of(&self.text) else {
            return Vec::new();
        };
        let start = content.as_ptr() as usize - self.text.as_ptr() as usize;
        if content[0] == b'[' {
            content::blocks(&self.text, start)
        } else {
            vec![(start, start + content.len())]
        }
    }

    /// The structured value, unless it is absent or null.
    #[must_use]
    pub fn structured_value(&self) -> Option<&[u8]> {
        self.structured.of(&self.text).filter(|value| *value != b"null")
    }

    /// Warnings: the result's own, then one for each block that is broken or was forgiven something.
    #[must_use]
    pub fn all_warnings(&self) -> Vec<String> {
        let mut out: Vec<_> = self.warnings.iter().map(|text| (*text).to_owned()).collect();
        for (index, (start, end)) in self.blocks().into_iter().enumerate() {
            match content::read(&self.text[start..end]) {
                content::Kind::Broken(why) => out.push(format!("content[{index}]: {why}")),
                kind if content::is_spaced(&kind) => out.push(format!("content[{index}]: white space in base64")),
                _ => {}
            }
        }
        out
    }

    /// The text that the model reads.
    #[must_use]
    pub fn render(&self, rule: Render) -> String {
        let structured = self.structured_value();
        match rule {
            Render::Default if self.is_error => self.joined(false, structured, true),
            Render::Auto => self.joined(true, structured, true),
            Render::Both => self.joined(false, structured, false),
            Render::Content => self.joined(false, None, false),
            Render::Default | Render::Structured => {
                structured.map_or_else(|| self.joined(false, None, false), compacted)
            }
        }
    }

    /// One line a block, and behind them the structured value, unless a text block is that value.
    fn joined(&self, expand: bool, structured: Option<&[u8]>, once: bool) -> String {
        let mut out = String::new();
        let mut shown = false;
        for (index, (start, end)) in self.blocks().into_iter().enumerate() {
            let kind = content::read(&self.text[start..end]);
            if index > 0 {
                out.push('\n');
            }
            let line = content::line(&kind, expand);
            if let (true, false, Some(value), content::Kind::Text(_)) = (once, shown, structured, &kind) {
                shown = same_value(line.as_bytes(), value);
            }
            out.push_str(&line);
        }
        if let Some(value) = structured.filter(|_| !shown) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&compacted(value));
        }
        out
    }
}

/// Is a text the JSON of a value?
fn same_value(text: &[u8], value: &[u8]) -> bool {
    use crate::json::scan::{Nothing, document};
    // A text far shorter than the value is not looked at: many of them would each cost a walk through all of it.
    text.len() >= value.len() / SPELLING && document(text, DEPTH, &mut Nothing).is_ok() && equal(text, value)
}

fn compacted(value: &[u8]) -> String {
    let mut out = Vec::new();
    compact(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests;
