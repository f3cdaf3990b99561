//! The answer to a `tools/call`: its members by span, and the text that a model reads (spec 1.4, design 4.4).
//! Blocks are read when somebody looks; nothing that the server sent is dropped.

use std::borrow::Cow;

use bytes::Bytes;

use super::content;
use super::listing::{Span, string};
use crate::json::equal::equal;
use crate::json::text::unescape;
use crate::json::walk::{Elements, Extent, Members, skip};
use crate::json::write::compact;
use crate::limits::{BLOCK_WARNINGS, BLOCKS, DEPTH, SPELLING};
use crate::schema::has_lone_surrogate;

/// Warns of a result or a listing whose bytes are not all the server's own.
pub const BAD_UTF8: &str = "bytes that are no UTF-8 were replaced by U+FFFD";

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
        let mut result = Self {
            content: Span::default(),
            structured: Span::default(),
            meta: Span::default(),
            is_error: false,
            result_type: None,
            warnings: Vec::new(),
            text: Bytes::new(),
        };
        let (mut content, mut deepest) = (None, 0);
        let mut members = Members::new(frame, start);
        while let Some((name, at)) = members.next() {
            let Extent { end, depth } = members.extent();
            deepest = deepest.max(depth + 1);
            let span = Span::new(at - start, end - start);
            match &*unescape(name) {
                b"content" => content = Some((frame[at], span)),
                b"structuredContent" => result.structured = span,
                b"_meta" => result.meta = span,
                b"isError" => match &frame[at..end] {
                    b"true" => result.is_error = true,
                    b"false" | b"null" => result.is_error = false,
                    odd => {
                        // Whoever writes anything there but a spelling of "no" means to report an error.
                        result.is_error = !matches!(odd, b"0" | b"\"\"" | b"\"false\"");
                        result.warnings.push("isError is not a boolean");
                    }
                },
                b"resultType" => match &frame[at..end] {
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
            Some((b'[', span)) => result.content = span,
            Some((b'n', _)) => result.warnings.push("content is null"),
            Some((_, span)) => {
                result.content = span;
                result.warnings.push("content is not a list");
            }
        }
        // A value that is no object has no members to end it.
        let end = if members.broken() {
            skip(frame, start).end
        } else {
            members.finish()
        };
        result.text = frame.slice(start..end);
        if deepest > DEPTH { Err(deepest) } else { Ok(result) }
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
        if has_lone_surrogate(&self.text) {
            out.push("half of a surrogate pair in a string".into());
        }
        let (own, mut more) = (out.len(), 0_usize);
        self.each(|index, kind| {
            let why = match kind {
                content::Kind::Broken(why) => why,
                kind if content::is_spaced(&kind) => "white space in base64".into(),
                _ => return,
            };
            if out.len() - own < BLOCK_WARNINGS {
                out.push(format!("content[{index}]: {why}"));
            } else {
                more += 1;
            }
        });
        if more > 0 {
            out.push(format!("{more} more blocks of the content are broken or odd"));
        }
        out
    }

    /// Reads each block in turn, and all of them in one walk. A content that is no list is one block, which is broken.
    fn each<'a>(&'a self, mut visit: impl FnMut(usize, content::Kind<'a>)) {
        let Some(content) = self.content.of(&self.text) else {
            return;
        };
        if content[0] != b'[' {
            return visit(0, content::read(content));
        }
        let (mut elements, mut index) = (Elements::new(content, 0), 0);
        while let Some(at) = elements.next() {
            if index == BLOCKS {
                return visit(index, content::Kind::Broken(content::too_many()));
            }
            let (kind, end) = content::read_at(content, at);
            elements.resume(end);
            visit(index, kind);
            index += 1;
        }
    }

    /// The text that the model reads: a single block's own, where it is written without escapes.
    #[must_use]
    pub fn render(&self, rule: Render) -> Cow<'_, str> {
        let structured = self.structured_value();
        match rule {
            Render::Default if self.is_error => self.joined(false, structured, true),
            Render::Auto => self.joined(true, structured, true),
            Render::Both => self.joined(false, structured, false),
            Render::Content => self.joined(false, None, false),
            Render::Default | Render::Structured => {
                structured.map_or_else(|| self.joined(false, None, false), |value| compacted(value).into())
            }
        }
    }

    /// One line a block, and behind them the structured value, unless `once` and a text block is that value. `auto` shows
    /// the text of a text resource, and leaves a value out that is nothing but a text block under the name `result`.
    fn joined(&self, auto: bool, structured: Option<&[u8]>, once: bool) -> Cow<'_, str> {
        let mut out = Cow::Borrowed("");
        let mut shown = false;
        self.each(|index, kind| {
            let line = content::line(&kind, auto);
            if let (true, false, Some(value), content::Kind::Text(_)) = (once, shown, structured, &kind) {
                shown = same_value(line.as_bytes(), value) || (auto && is_wrapped(&line, value));
            }
            if index == 0 {
                out = line;
            } else {
                let out = out.to_mut();
                out.push('\n');
                out.push_str(&line);
            }
        });
        if let Some(value) = structured.filter(|_| !shown) {
            if !out.is_empty() {
                out.to_mut().push('\n');
            }
            out.to_mut().push_str(&compacted(value));
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

/// Is a value `{"result": …}` around what a text says, as servers wrap a result that is no object? Fault D5.
fn is_wrapped(text: &str, value: &[u8]) -> bool {
    let mut members = Members::new(value, 0);
    let Some((b"result", start)) = members.next().filter(|_| text.len() >= value.len() / SPELLING) else {
        return false;
    };
    let inner = &value[start..members.extent().end];
    members.next().is_none() && (same_value(text.as_bytes(), inner) || string(Some(inner)).is_some_and(|it| it == text))
}

fn compacted(value: &[u8]) -> String {
    let mut out = Vec::new();
    compact(value, &mut out);
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests;
