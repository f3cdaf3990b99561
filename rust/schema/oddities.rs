//! What is odd about a schema that is kept all the same: said once, as a warning, when somebody asks.

use crate::error::Error;
use crate::json::names::Names;
use crate::json::place::path;
use crate::json::scan::{self, Visitor};
use crate::json::text::{decode, unescape};
use crate::json::walk::{Elements, Members, skip};
use crate::limits::{CLIP, ODDITIES};

/// Repeated names and surrogates, and where a `$ref` stands.
struct Oddities<'a> {
    text: &'a [u8],
    names: Names<'a>,
    /// Offsets behind the closing quote of each `$ref`.
    references: Vec<usize>,
}

impl Visitor for Oddities<'_> {
    fn open(&mut self, object: bool, offset: usize) -> Result<(), Error> {
        self.names.open(object, offset)
    }

    fn close(&mut self) {
        self.names.close();
    }

    fn name(&mut self, start: usize, end: usize) -> Result<(), Error> {
        if matches!(&*unescape(&self.text[start..end]), b"$ref" | b"$dynamicRef") {
            self.references.push(end + 1);
        }
        self.names.name(start, end)
    }

    fn lone_surrogate(&mut self, offset: usize) -> Result<(), Error> {
        self.names.lone_surrogate(offset)
    }
}

/// Warnings about a schema, each naming its place.
#[must_use]
pub fn warnings(text: &[u8]) -> Vec<String> {
    let mut seen = Oddities {
        text,
        names: Names::new(text),
        references: Vec::new(),
    };
    let _ = scan::document(text, usize::MAX, &mut seen);
    let (mut out, mut untold) = (Vec::new(), 0_usize);
    let mut tell = |before: &str, at: usize, after: &str| {
        if out.len() < ODDITIES {
            out.push(format!("schema: {before} \"{}\"{after}", path(text, at)));
        } else {
            untold += 1;
        }
    };
    for at in seen.names.repeated {
        tell("member", at, " is given twice");
    }
    for at in seen.references {
        if let Some(target) = remote(text, at) {
            tell(&format!("remote ref {target:?} at"), at, " is never fetched");
        }
    }
    if let Some(at) = seen.names.lone_surrogate {
        tell("half of a surrogate pair at", at, "");
    }
    if untold > 0 {
        out.push(format!("schema: {untold} more of this kind"));
    }
    out.extend(odd_required(text));
    out
}

/// The target of the reference whose name ends before `at`, when it points out of its document.
fn remote(text: &[u8], at: usize) -> Option<String> {
    let colon = scan::whitespace(text, at);
    let value = scan::whitespace(text, colon + 1);
    let end = skip(text, value).end;
    let inner = text
        .get(value + 1..end.checked_sub(1)?)
        .filter(|_| text[value] == b'"')?;
    let target = decode(inner);
    (!target.is_empty() && !target.starts_with('#')).then(|| target.chars().take(CLIP).collect())
}

fn odd_required(text: &[u8]) -> Option<String> {
    let mut members = Members::new(text, scan::whitespace(text, 0));
    while let Some((name, start)) = members.next() {
        if &*unescape(name) != b"required" {
            continue;
        }
        let mut names = Elements::new(text, start);
        let mut strings = true;
        while let Some(at) = names.next() {
            strings &= text.get(at) == Some(&b'"');
        }
        if names.broken() || !strings {
            return Some("schema: \"required\" is not a list of names".into());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::warnings;

    #[test]
    fn each_oddity_is_named_with_its_place() {
        for (text, expected) in [
            (
                r#"{"type":"object","type":"object"}"#,
                "schema: member \"type\" is given twice",
            ),
            (
                r#"{"p":{"$ref":"http://169.254.1.1/s.json"}}"#,
                "schema: remote ref \"http://169.254.1.1/s.json\" at \"p.$ref\" is never fetched",
            ),
            (
                r#"{"p":{"title":"\ud800"}}"#,
                "schema: half of a surrogate pair at \"p.title\"",
            ),
            (r#"{"required":null}"#, "schema: \"required\" is not a list of names"),
            (r#"{"required":["a",1]}"#, "schema: \"required\" is not a list of names"),
        ] {
            assert_eq!(warnings(text.as_bytes()), [expected], "{text}");
        }
        let clean =
            br##"{"type":"object","properties":{"$ref":{"type":"string"},"x":{"$ref":"#/$defs/x"}},"required":["x"]}"##;
        assert_eq!(warnings(clean), [] as [String; 0]);
    }
}
