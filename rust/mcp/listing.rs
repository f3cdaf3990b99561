//! A page of `tools/list`: entries, each judged on its own, so that a bad one costs itself and nothing else.

use bytes::Bytes;

use super::annotations;

use crate::json::raw::{article, word};
use crate::json::scan;
use crate::json::text::{decode, unescape};
use crate::json::walk::{Elements, Members};
use crate::schema;

/// A span of an entry's text: 4 GiB are far over the line limit. An empty one is "absent": no value is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span(u32, u32);

impl Span {
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self(
            u32::try_from(start).unwrap_or_default(),
            u32::try_from(end).unwrap_or_default(),
        )
    }

    #[must_use]
    pub fn of<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        (self.1 > self.0).then(|| &text[self.0 as usize..self.1 as usize])
    }

    #[must_use]
    pub fn slice(&self, text: &Bytes) -> Option<Bytes> {
        (self.1 > self.0).then(|| text.slice(self.0 as usize..self.1 as usize))
    }
}

/// Why an entry is no tool. The prose is pinned by the spec (1.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Nil,
    EmptyName,
    NameIs(&'static str),
    EntryIs(&'static str),
    NameSurrogate,
    Json(crate::error::Error),
    Schema(schema::Fault),
}

impl Fault {
    #[must_use]
    pub fn prose(&self) -> String {
        match self {
            Self::Nil => "nil entry in the tool list".into(),
            Self::EmptyName => "empty name".into(),
            Self::NameIs(word) => format!("the name is {}, not a string", article(word)),
            Self::EntryIs(word) => format!("the entry is {}, not an object", article(word)),
            Self::NameSurrogate => "the name holds half of a surrogate pair".into(),
            Self::Json(error) => format!("the entry is not JSON: {error}"),
            Self::Schema(fault) => fault.prose(),
        }
    }
}

/// One listed tool: its text and where its members stand in it.
#[derive(Debug, Clone)]
pub struct Entry {
    pub text: Bytes,
    /// With its quotes, as the server spells it: that is how it is called.
    pub name: Span,
    pub title: Span,
    pub description: Span,
    pub input_schema: Span,
    pub output_schema: Span,
    pub annotations: Span,
    pub meta: Span,
    pub read_only: bool,
    pub fault: Option<Fault>,
}

/// A page: its entries in order, and where the next one is.
#[derive(Debug, Clone)]
pub struct Page {
    pub entries: Vec<Entry>,
    /// The cursor as written, with its quotes; `""` is a cursor. Absent and null end the listing.
    pub next_cursor: Option<Bytes>,
    pub warnings: Vec<String>,
    /// The page speaks of HTTP headers somewhere, so that schemas have to be looked at for them.
    pub names_headers: bool,
}

/// Reads the result at `start` of a frame's text. `judged`: the whole text is known to be JSON; where it is
/// not, each entry is judged by itself.
///
/// # Errors
/// Prose, when there is no list of tools to read.
pub fn page(text: &Bytes, start: usize, judged: bool) -> Result<Page, String> {
    let mut page = Page {
        entries: Vec::new(),
        next_cursor: None,
        warnings: Vec::new(),
        names_headers: memchr::memmem::find(text, b"x-mcp-header").is_some(),
    };
    let mut found = false;
    let mut members = Members::new(text, start);
    while let Some((name, value)) = members.next() {
        match &*unescape(name) {
            b"tools" => {
                found = true;
                match text.get(value) {
                    Some(b'[') => {}
                    Some(b'n') => page.warnings.push("the server's list of tools is null".into()),
                    _ => return Err("the server's tools are not a list".into()),
                }
                page.entries.clear();
                let mut elements = Elements::new(text, value);
                while let Some(at) = elements.next() {
                    let (entry, end) = entry(text, at, judged);
                    page.entries.push(entry);
                    elements.resume(end);
                }
                let end = elements.finish();
                members.resume(if text[value] == b'[' { end } else { value + 4 });
            }
            b"nextCursor" => {
                let cursor = text.slice(value..members.extent().end);
                page.next_cursor = None;
                match cursor.first() {
                    Some(b'"') => page.next_cursor = Some(cursor),
                    Some(b'n') => {}
                    _ => page.warnings.push(format!(
                        "the server's nextCursor is {}, not a string",
                        article(word(&cursor))
                    )),
                }
            }
            _ => {}
        }
    }
    if found {
        Ok(page)
    } else {
        Err("the server's answer has no list of tools".into())
    }
}

/// Reads the entry at `start`; gives the offset behind it.
fn entry(text: &Bytes, start: usize, judged: bool) -> (Entry, usize) {
    let mut entry = Entry {
        text: Bytes::new(),
        name: Span::default(),
        title: Span::default(),
        description: Span::default(),
        input_schema: Span::default(),
        output_schema: Span::default(),
        annotations: Span::default(),
        meta: Span::default(),
        read_only: false,
        fault: None,
    };
    let mut schema_fault = Some(schema::Fault::Empty);
    let mut members = Members::new(text, start);
    while let Some((name, value)) = members.next() {
        let first = text.get(value).copied();
        let span = |end: usize| {
            if first == Some(b'n') {
                Span::default()
            } else {
                Span::new(value - start, end - start)
            }
        };
        match &*unescape(name) {
            b"name" => {
                let end = members.extent().end;
                entry.name = Span::new(value - start, end - start);
            }
            b"inputSchema" => {
                let (extent, fault) = schema::root(text, value);
                members.resume(extent.end);
                entry.input_schema = span(extent.end);
                schema_fault = if first == Some(b'n') {
                    Some(schema::Fault::Empty)
                } else {
                    fault
                };
            }
            b"title" => entry.title = span(members.extent().end),
            b"description" => entry.description = span(members.extent().end),
            b"outputSchema" => entry.output_schema = span(members.extent().end),
            b"_meta" => entry.meta = span(members.extent().end),
            b"annotations" => {
                entry.annotations = span(members.extent().end);
                entry.read_only = annotations::read_only(text, value);
            }
            _ => {}
        }
    }
    let end = if text.get(start) == Some(&b'{') {
        members.finish()
    } else {
        crate::json::walk::skip(text, start).end
    };
    entry.text = text.slice(start..end);
    entry.fault = fault(&entry, judged, schema_fault);
    (entry, end)
}

/// The checks of the spec (1.2), in its order; repeated names are the caller's, who sees all pages.
fn fault(entry: &Entry, judged: bool, schema_fault: Option<schema::Fault>) -> Option<Fault> {
    let text = &entry.text;
    if !judged && let Err(error) = scan::document(text, usize::MAX, &mut scan::Nothing) {
        return Some(Fault::Json(error));
    }
    match text.first() {
        Some(b'{') => {}
        Some(b'n') => return Some(Fault::Nil),
        _ => return Some(Fault::EntryIs(word(text))),
    }
    match entry.name.of(text) {
        None | Some(b"\"\"") => return Some(Fault::EmptyName),
        Some(name) if name[0] != b'"' => return Some(Fault::NameIs(word(name))),
        Some(name) if schema::has_lone_surrogate(name) => return Some(Fault::NameSurrogate),
        Some(_) => {}
    }
    schema_fault.map(Fault::Schema)
}

impl Entry {
    /// The name decoded; empty where there is none.
    #[must_use]
    pub fn name(&self) -> String {
        string(self.name.of(&self.text)).unwrap_or_default()
    }

    /// What is odd about the entry and kept all the same.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let text = &self.text;
        let mut out = Vec::new();
        let description = self.description.of(text);
        if let Some(value) = description.filter(|value| value[0] != b'"') {
            out.push(format!("the description is {}, not a string", article(word(value))));
        }
        for (value, word) in [(self.title.of(text), "title"), (description, "description")] {
            if value.is_some_and(schema::has_lone_surrogate) {
                out.push(format!("the {word} holds half of a surrogate pair"));
            }
        }
        if let Some(value) = self.annotations.of(text) {
            out.extend(annotations::oddities(value));
        }
        if let Some(Fault::Schema(fault)) = &self.fault {
            out.push(fault.prose());
        }
        if let Some(value) = self.input_schema.of(text) {
            out.extend(schema::oddities::warnings(value));
        }
        out
    }

    /// The output schema, where its root is an object's: any other is legal, and no promise of a structured object.
    #[must_use]
    pub fn object_output(&self) -> Option<&[u8]> {
        let value = self.output_schema.of(&self.text)?;
        schema::root(value, 0).1.is_none().then_some(value)
    }
}

/// A string value's characters; `None` for anything else.
#[must_use]
pub fn string(value: Option<&[u8]>) -> Option<String> {
    match value? {
        [b'"', inner @ .., b'"'] => Some(decode(inner).into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
