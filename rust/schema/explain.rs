//! Why a value does not fit its schema, in words for a model: where, what was expected, what came. A schema is never
//! shown, a value never whole.

use std::borrow::Cow;
use std::fmt::Write;

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{ReferencingError, ValidationError};

use super::tree::{Tree, What};
use super::words::{clipped, expectation, got, quoted, value};
use crate::limits::{CLIP, PROBLEMS};

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place as member names and positions with points between (`items.0.qty`); empty for the whole value.
    pub path: String,
    pub message: String,
    /// The entry that it is about, for the order.
    at: u32,
}

/// Problems as one text, the first few of them.
#[must_use]
pub fn text(problems: &[Problem]) -> String {
    let mut text = String::new();
    for problem in problems.iter().take(PROBLEMS) {
        if !text.is_empty() {
            text.push_str("; ");
        }
        problem.tell(&mut text);
    }
    if problems.is_empty() {
        text.push_str("does not fit its schema");
    }
    if let more @ 1.. = problems.len().saturating_sub(PROBLEMS) {
        let _ = write!(text, "; and {more} more");
    }
    text
}

impl Problem {
    fn tell(&self, text: &mut String) {
        if !self.path.is_empty() {
            text.push_str("field \"");
            text.push_str(&self.path);
            text.push_str("\": ");
        }
        text.push_str(&self.message);
    }
}

/// What the validator found, in the order of the value, each thing once.
#[must_use]
pub fn problems<'e>(tree: &Tree<'_>, errors: impl IntoIterator<Item = &'e ValidationError<'e>>) -> Vec<Problem> {
    let mut found = Vec::new();
    for error in errors {
        explain(tree, error, &mut found);
    }
    found.sort_by_key(|problem: &Problem| problem.at);
    found.dedup_by(|later, kept| later.path == kept.path && later.message == kept.message);
    found
}

/// Why a schema does not compile.
#[must_use]
pub fn fault(tree: &Tree<'_>, error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Referencing(error) => reference(error),
        Kind::Format { format } if format == "regex" => {
            format!(
                "\"{}\" is no regular expression, or one too large",
                place(tree, error.instance_path().as_str()).0
            )
        }
        _ => {
            let problems = problems(tree, [error]);
            problems.first().map_or_else(String::new, |problem| {
                if problem.path.is_empty() {
                    problem.message.clone()
                } else {
                    format!("\"{}\": {}", problem.path, problem.message)
                }
            })
        }
    }
}

/// Why a reference can't be followed.
#[must_use]
pub fn reference(error: &ReferencingError) -> String {
    match error {
        ReferencingError::Unretrievable { uri, .. } => {
            format!(
                "the reference {} leads out of the schema, and nothing is fetched",
                quoted(uri)
            )
        }
        ReferencingError::PointerToNowhere { pointer } => format!("the reference {} leads nowhere", quoted(pointer)),
        ReferencingError::NoSuchAnchor { anchor } => format!("there is no anchor {}", quoted(anchor)),
        other => clipped(&other.to_string()).into_owned(),
    }
}

/// The dotted path of a location, and the entry there (or the last one on the way).
fn place(tree: &Tree<'_>, location: &str) -> (String, u32) {
    let (mut path, mut at) = (String::new(), 0);
    let mut lost = false;
    for segment in location.split('/').skip(1) {
        let segment = if segment.contains('~') {
            Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
        } else {
            Cow::Borrowed(segment)
        };
        step(&mut path, &segment);
        let next = match tree.entries[at as usize].what {
            What::Object => tree.member(at, &segment),
            What::Array => segment.parse().ok().and_then(|position| tree.element(at, position)),
            _ => None,
        };
        match next {
            Some(next) if !lost => at = next,
            _ => lost = true,
        }
    }
    (path, at)
}

fn step(path: &mut String, name: &str) {
    if path.len() > CLIP {
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
    if path.len() > CLIP
        && let Some((end, _)) = path.char_indices().nth(CLIP)
    {
        path.truncate(end);
        path.push('…');
    }
}

fn explain(tree: &Tree<'_>, error: &ValidationError<'_>, found: &mut Vec<Problem>) {
    let (path, at) = place(tree, error.instance_path().as_str());
    let mut below = |names: &[String], message: &str| {
        for name in names {
            let mut path = path.clone();
            step(&mut path, name);
            let at = tree.member(at, name).unwrap_or(at);
            found.push(Problem {
                path,
                message: message.into(),
                at,
            });
        }
    };
    let message = match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default().to_owned();
            return below(&[name], "required");
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            return below(unexpected, "not in the schema");
        }
        // `additionalProperties: false` where nothing else allows a member.
        Kind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => {
            let names: Vec<_> = match tree.entries[at as usize].what {
                What::Object => tree
                    .names(at)
                    .take(PROBLEMS)
                    .map(|name| tree.characters(name).into_owned())
                    .collect(),
                _ => Vec::new(),
            };
            return below(&names, "not in the schema");
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            return alternatives(tree, error, context, found);
        }
        Kind::PropertyNames { error } => {
            let name = error.instance().as_str().map(quoted).unwrap_or_default();
            format!("the member name {name}: {}", expectation(error.kind()))
        }
        kind => {
            let got = got(tree, at, kind);
            let expected = expectation(kind);
            if got.is_empty() {
                expected
            } else {
                format!("{expected}, got {got}")
            }
        }
    };
    found.push(Problem { path, message, at });
}

/// The alternative that the value was meant for, if that can be seen; else how many there are.
fn alternatives(
    tree: &Tree<'_>,
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    found: &mut Vec<Problem>,
) {
    let here = error.instance_path().as_str();
    let (path, at) = place(tree, here);
    let at_root = |error: &&ValidationError<'_>| {
        error.instance_path().as_str() == here
            && matches!(
                error.kind(),
                Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. }
            )
    };
    // Another kind of value, or a `type` member that names another alternative.
    let marked = |error: &&ValidationError<'_>| {
        let place = error.instance_path().as_str();
        matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
            && place.len() > here.len()
            && place.starts_with(here)
            && !place[here.len() + 1..].contains('/')
    };
    let fitting: Vec<_> = context
        .iter()
        .filter(|errors| !errors.iter().any(|error| at_root(&error)))
        .collect();
    let meant: Vec<_> = fitting
        .iter()
        .copied()
        .filter(|errors| !errors.iter().any(|error| marked(&error)))
        .collect();
    let message = match (fitting.as_slice(), meant.as_slice()) {
        ([only], _) | (_, [only]) => return only.iter().for_each(|error| explain(tree, error, found)),
        ([], _) => {
            let mut expected = Vec::new();
            for error in context.iter().filter_map(|errors| errors.iter().find(at_root)) {
                let text = expectation(error.kind());
                let text = text.strip_prefix("expected ").unwrap_or(&text).to_owned();
                if !expected.contains(&text) {
                    expected.push(text);
                }
            }
            let mut expected = expected.join(" or ");
            if let Some((end, _)) = expected.char_indices().nth(CLIP) {
                expected.truncate(end);
                expected.push('…');
            }
            format!("expected {expected}, got {}", value(tree, at))
        }
        (fitting, _) => {
            let nearest = fitting.iter().min_by_key(|errors| errors.len());
            let nearest = nearest.map(|errors| problems(tree, errors.iter())).unwrap_or_default();
            let mut text = format!("fits none of {} alternatives; the nearest: ", context.len());
            if let Some(problem) = nearest.first() {
                problem.tell(&mut text);
            }
            text
        }
    };
    found.push(Problem { path, message, at });
}
