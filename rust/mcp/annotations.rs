//! The hints of a tool: one is read, and an odd one is named.

use crate::json::raw::{article, word};
use crate::json::scan::whitespace;
use crate::json::text::{decode, unescape};
use crate::json::walk::Members;

/// The value of `readOnlyHint` in the annotations at `start`; anything but `true` is no promise.
#[must_use]
pub fn read_only(text: &[u8], start: usize) -> bool {
    let mut members = Members::new(text, start);
    let mut found = false;
    while let Some((name, value)) = members.next() {
        if &*unescape(name) == b"readOnlyHint" {
            found = &text[value..members.extent().end] == b"true";
        }
    }
    found
}

/// What is odd about the annotations.
#[must_use]
pub fn oddities(value: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    let mut members = Members::new(value, whitespace(value, 0));
    while let Some((name, start)) = members.next() {
        let hint = &value[start..members.extent().end];
        if name.ends_with(b"Hint") && !matches!(hint, b"true" | b"false" | b"null") {
            out.push(format!(
                "the annotation {} is {}, not a boolean",
                decode(name),
                article(word(hint))
            ));
        }
    }
    if members.broken() {
        out.push(format!("the annotations are {}, not an object", article(word(value))));
    }
    out
}
