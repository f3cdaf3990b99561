//! The words in which problems are told: what a keyword wants, what came instead, each cut where it is long.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::tree::{Tree, What};
use crate::limits::{CLIP, QUOTE};

/// What a keyword wants.
#[must_use]
pub fn expectation(kind: &Kind) -> String {
    match kind {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => format!("expected {kind}"),
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => {
            let mut kinds: Vec<_> = kinds.iter().map(JsonType::as_str).collect();
            // As people say it: integer or null.
            kinds.sort_by_key(|kind| *kind == "null");
            format!("expected {}", kinds.join(" or "))
        }
        Kind::Enum { options } => match options.as_array().map(Vec::as_slice) {
            Some([only]) => format!("expected {}", literal(only)),
            Some(options) => {
                format!("expected one of {}", listed(options))
            }
            None => "expected another value".into(),
        },
        Kind::Constant { expected_value } => format!("expected {}", literal(expected_value)),
        // Our own keywords about numbers; the crate's judge schemas.
        Kind::Custom { message, .. } => message.clone(),
        Kind::Minimum { limit } => format!("expected at least {}", literal(limit)),
        Kind::Maximum { limit } => format!("expected at most {}", literal(limit)),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {}", literal(limit)),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {}", literal(limit)),
        Kind::MinLength { limit } => format!("expected at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("expected at most {}", counted(*limit, "character")),
        Kind::MinItems { limit } => format!("expected at least {}", counted(*limit, "item")),
        Kind::MaxItems { limit } => format!("expected at most {}", counted(*limit, "item")),
        Kind::AdditionalItems { limit } => format!("expected at most {}", counted(*limit as u64, "item")),
        Kind::MinProperties { limit } => format!("expected at least {}", counted(*limit, "member")),
        Kind::MaxProperties { limit } => format!("expected at most {}", counted(*limit, "member")),
        Kind::Pattern { pattern } => format!("expected a string that matches {}", clipped(pattern)),
        Kind::Format { format } => format!("expected a string of the format {}", quoted(format)),
        Kind::UniqueItems => "expected items that all differ".into(),
        Kind::Contains => "expected other items: too few or too many of them fit \"contains\"".into(),
        Kind::Not { .. } => "expected another value: this one fits what \"not\" rules out".into(),
        Kind::OneOfMultipleValid { .. } => "expected to fit one alternative, and it fits several".into(),
        Kind::FalseSchema => "expected nothing here: no value is allowed".into(),
        Kind::UnevaluatedItems { .. } => "expected fewer items: some are not in the schema".into(),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "its pattern takes too long to check".into()
        }
        kind => format!("does not fit {}", quoted(kind.keyword())),
    }
}

/// What came instead, as far as the keyword is about it.
#[must_use]
pub fn got(tree: &Tree<'_>, at: u32, kind: &Kind) -> String {
    let entry = &tree.entries[at as usize];
    match kind {
        Kind::MinLength { .. } | Kind::MaxLength { .. } => tree.characters(at).chars().count().to_string(),
        Kind::MinItems { .. }
        | Kind::MaxItems { .. }
        | Kind::AdditionalItems { .. }
        | Kind::MinProperties { .. }
        | Kind::MaxProperties { .. } => entry.count.to_string(),
        Kind::Type { .. } => value(tree, at),
        Kind::Enum { .. }
        | Kind::Constant { .. }
        | Kind::Custom { .. }
        | Kind::Minimum { .. }
        | Kind::Maximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::ExclusiveMaximum { .. }
        | Kind::Pattern { .. }
        | Kind::Format { .. } => bare(tree, at),
        _ => String::new(),
    }
}

/// What a value is in the words of the error texts, a scalar with what it says.
#[must_use]
pub fn value(tree: &Tree<'_>, at: u32) -> String {
    let word = match tree.entries[at as usize].what {
        What::Bool(_) => "bool ",
        What::Number => "number ",
        What::String { .. } => "string ",
        _ => "",
    };
    format!("{word}{}", bare(tree, at))
}

/// A scalar as it is written, a container by its word.
fn bare(tree: &Tree<'_>, at: u32) -> String {
    let entry = &tree.entries[at as usize];
    match entry.what {
        What::String { .. } => format!("\"{}\"", clipped(tree.slice(entry))),
        What::Array => "array".into(),
        What::Object => "object".into(),
        _ => clipped(tree.slice(entry)).into_owned(),
    }
}

/// The first of the options, as many as fit into a sentence, and the number of the others.
fn listed(options: &[Value]) -> String {
    let mut text = String::new();
    for (index, option) in options.iter().enumerate() {
        if text.len() > CLIP {
            return format!("{text} or {} more", options.len() - index);
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&literal(option));
    }
    text
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
        scalar => clipped(&scalar.to_string()).into_owned(),
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A text as JSON, cut where it is long.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    crate::json::text::quote(&clipped(text), &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// A text, cut where it is long.
#[must_use]
pub fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTE) {
        Some((end, _)) if text.len() > QUOTE => Cow::Owned(format!("{}…", &text[..end])),
        _ => Cow::Borrowed(text),
    }
}
