//! A schema made ready once: judged, measured, and compiled by the `jsonschema` crate over `instance`.
//!
//! Whatever is wrong is found here and is the fault of this one schema. Nothing is ever fetched: the crate is built
//! without resolvers, and the one that it is given refuses.

use std::collections::HashSet;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::expansion::{self, Unfolded};
use super::explain;
use super::keywords;
use super::tree::Tree;
use super::view::Exact;
use super::words;
use crate::error::Error;
use crate::limits::{
    BACKTRACKS, CHAIN, COMPILE_STACK, EXPANSIONS, FOLLOWED, HERE, PATTERN, PATTERN_CACHE, PATTERNS, REFERENCES, SCHEMA,
    SCHEMAS, SHALLOW,
};

/// Why a text is no schema to validate with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is not I-JSON.
    Json(Error),
    /// It is, and does not compile; the prose says why and where.
    Schema(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Json(error)
    }
}

/// A compiled schema. It holds nothing of the text that it came from.
pub struct Compiled {
    pub(super) validator: Validator<Exact>,
    /// Schemas within schemas at one place of a value, at most.
    pub(super) chain: usize,
    /// It has a pattern that is tried by backtracking.
    pub(super) backtracks: bool,
}

/// Compiles a schema's text.
///
/// # Errors
/// Its first fault.
pub fn compile(text: &[u8]) -> Result<Compiled, Fault> {
    let measured = Measured::read(text)?;
    if measured.levels() <= SHALLOW {
        return measured.build();
    }
    // The compiler recurses a few kilobytes a level, and nobody knows how much of this stack is left.
    thread::scope(|scope| {
        let worker = roomy().spawn_scoped(scope, || measured.build());
        match worker.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(compiled)) => compiled,
            _ => Err(no_thread()),
        }
    })
}

/// Compiles many texts, side by side where there are processors for it; what came of each, in their order.
pub fn compile_all(texts: &[impl AsRef<[u8]> + Sync]) -> Vec<Result<Compiled, Fault>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(index) else { return done };
            done.push((
                index,
                Measured::read(text.as_ref()).and_then(|measured| measured.build()),
            ));
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(texts.len());
    let mut outcomes: Vec<_> = texts.iter().map(|_| Err(no_thread())).collect();
    thread::scope(|scope| {
        let started: Vec<_> = (0..workers)
            .filter_map(|_| roomy().spawn_scoped(scope, work).ok())
            .collect();
        for worker in started {
            for (index, outcome) in worker.join().unwrap_or_default() {
                outcomes[index] = outcome;
            }
        }
    });
    outcomes
}

fn roomy() -> thread::Builder {
    thread::Builder::new().stack_size(COMPILE_STACK)
}

fn no_thread() -> Fault {
    Fault::Schema("no thread could be had to compile it".into())
}

/// A schema that was judged and measured, and may be compiled.
struct Measured<'t> {
    tree: Tree<'t>,
    schema: Value,
    draft: Draft,
    unfolded: Unfolded,
}

impl<'t> Measured<'t> {
    fn read(text: &'t [u8]) -> Result<Self, Fault> {
        let tree = Tree::parse(text, SCHEMA)?;
        let schema = tree.to_value();
        let draft = draft(&schema)?;
        let unfolded =
            guarded(|| expansion::measure(&schema, draft).map_err(|error| Fault::Schema(explain::reference(&error))))?;
        bound(&unfolded)?;
        Ok(Self {
            tree,
            schema,
            draft,
            unfolded,
        })
    }

    /// How deep the compiler may recurse: it follows some references in their places, and puts the rest off.
    fn levels(&self) -> usize {
        let followed = self.unfolded.deep.min(FOLLOWED);
        self.tree
            .depth
            .saturating_mul(1 + usize::try_from(followed).unwrap_or(usize::MAX))
    }

    fn build(&self) -> Result<Compiled, Fault> {
        guarded(|| build(&self.tree, &self.schema, self.draft, &self.unfolded))
    }
}

/// The crate holds many an expectation about schemas that others write; one that fails is the schema's fault.
fn guarded<T>(step: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| Err(Fault::Schema("the compiler broke on it".into())))
}

/// The draft that `$schema` names; 2020-12 where it is absent.
fn draft(schema: &Value) -> Result<Draft, Fault> {
    match Draft::default().detect(schema) {
        Draft::Unknown => {
            let named = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
            Err(Fault::Schema(format!(
                "\"$schema\": {} is no draft that is known here, and nothing is fetched",
                words::quoted(named)
            )))
        }
        draft => Ok(draft),
    }
}

fn build(tree: &Tree<'_>, schema: &Value, draft: Draft, unfolded: &Unfolded) -> Result<Compiled, Fault> {
    let patterns = Patterns::of(schema);
    let share = (PATTERNS / patterns.heavy.len().max(1)).min(PATTERN);
    let engine = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACKS)
        .size_limit(share)
        .dfa_size_limit(share.min(PATTERN_CACHE));
    let options = jsonschema::options_for::<Exact>()
        .with_draft(draft)
        .offline()
        .should_validate_formats(true)
        // Annotations in every draft: what a string decodes to is not checked.
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .with_pattern_options(engine);
    let validator = keywords::exact(options)
        .build(schema)
        .map_err(|error| Fault::Schema(explain::fault(tree, &error)))?;
    Ok(Compiled {
        validator,
        chain: usize::try_from(unfolded.chain).unwrap_or(usize::MAX),
        backtracks: patterns.backtrack,
    })
}

fn bound(unfolded: &Unfolded) -> Result<(), Fault> {
    let over = |what: String| Err(Fault::Schema(what));
    if unfolded.endless {
        return over("a reference leads back to itself at one and the same value".into());
    }
    if unfolded.schemas > SCHEMAS {
        return over(format!("it holds more than {SCHEMAS} schemas, which is over the limit"));
    }
    if unfolded.deep > REFERENCES {
        return over(format!(
            "more than {REFERENCES} references lead from one to the next, which is over the limit"
        ));
    }
    if unfolded.references > EXPANSIONS {
        return over(format!(
            "its references unfold to more than {EXPANSIONS} schemas, which is over the limit"
        ));
    }
    if unfolded.here > HERE {
        return over(format!(
            "more than {HERE} schemas apply to one and the same value, which is over the limit"
        ));
    }
    if unfolded.chain > CHAIN {
        return over(format!(
            "schemas stand more than {CHAIN} deep within each other at one and the same value, which is over the limit"
        ));
    }
    Ok(())
}

/// The patterns of a schema, as far as they are dear.
#[derive(Default)]
struct Patterns<'v> {
    /// Those that may compile to much more than their text: counted repetition, classes of Unicode.
    heavy: HashSet<&'v str>,
    /// One may need backtracking.
    backtrack: bool,
}

impl<'v> Patterns<'v> {
    fn of(schema: &'v Value) -> Self {
        let mut patterns = Self::default();
        patterns.collect(schema);
        patterns
    }

    fn collect(&mut self, schema: &'v Value) {
        match schema {
            Value::Object(members) => {
                for (name, value) in members {
                    match (name.as_str(), value) {
                        ("pattern", Value::String(pattern)) => self.add(pattern),
                        ("patternProperties", Value::Object(patterns)) => {
                            patterns.keys().for_each(|pattern| self.add(pattern));
                        }
                        _ => {}
                    }
                    self.collect(value);
                }
            }
            Value::Array(elements) => elements.iter().for_each(|value| self.collect(value)),
            _ => {}
        }
    }

    fn add(&mut self, pattern: &'v str) {
        if pattern.contains('{') || pattern.contains("\\p") || pattern.contains("\\P") {
            self.heavy.insert(pattern);
        }
        let pairs = || pattern.as_bytes().windows(2);
        // Look-around and named groups, references back, and quantifiers that hold on to what they took.
        self.backtrack |= pattern.replace("(?:", "").contains("(?")
            || pairs().any(|pair| matches!(pair, [b'\\', b'1'..=b'9' | b'k']))
            || pairs().any(|pair| matches!(pair, [b'+' | b'*' | b'?' | b'}', b'+']));
    }
}
