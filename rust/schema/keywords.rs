//! The keywords about numbers, exact: the crate's own go through floats and fractions for some of them.

use std::cmp::Ordering;

use jsonschema::json::Node;
use jsonschema::paths::Location;
use jsonschema::{Keyword, Retrieve, ValidationError, ValidationOptions};
use serde_json::{Map, Value};
use std::sync::Arc;

use super::decimal::{self, Divisor};
use super::view::{Exact, View};
use super::words::clipped;
use crate::limits::DIVISOR;

type Options<'i> = ValidationOptions<'i, Arc<dyn Retrieve>, Exact>;
type Made<'a> = Result<Box<dyn for<'i> Keyword<'i, Exact>>, ValidationError<'a>>;

/// Puts the exact keywords in the place of the crate's.
#[must_use]
pub fn exact(options: Options<'_>) -> Options<'_> {
    options
        .with_keyword("minimum", |parent, value, _| {
            Ok(bound(value, Ordering::Less, is_exclusive(parent, "exclusiveMinimum")))
        })
        .with_keyword("maximum", |parent, value, _| {
            Ok(bound(
                value,
                Ordering::Greater,
                is_exclusive(parent, "exclusiveMaximum"),
            ))
        })
        .with_keyword("exclusiveMinimum", |_, value, _| Ok(bound(value, Ordering::Less, true)))
        .with_keyword("exclusiveMaximum", |_, value, _| {
            Ok(bound(value, Ordering::Greater, true))
        })
        .with_keyword("multipleOf", multiple)
}

/// In draft 4 a bound is made exclusive by a boolean beside it.
fn is_exclusive(parent: &Map<String, Value>, keyword: &str) -> bool {
    parent.get(keyword) == Some(&Value::Bool(true))
}

/// Holds for everything that is no number.
struct Bound {
    limit: Box<str>,
    /// The order of a number to the limit that is wrong.
    wrong: Ordering,
    exclusive: bool,
}

/// Nothing to check: the boolean of draft 4, whose bound checks it.
struct Free;

fn bound(limit: &Value, wrong: Ordering, exclusive: bool) -> Box<dyn for<'i> Keyword<'i, Exact>> {
    match limit {
        Value::Number(limit) => Box::new(Bound {
            limit: limit.as_str().into(),
            wrong,
            exclusive,
        }),
        _ => Box::new(Free),
    }
}

impl Bound {
    fn holds(&self, number: &str) -> bool {
        match decimal::compare(number, &self.limit) {
            Ordering::Equal => !self.exclusive,
            order => order != self.wrong,
        }
    }

    fn expected(&self) -> String {
        let limit = clipped(&self.limit);
        match (self.wrong, self.exclusive) {
            (Ordering::Less, false) => format!("expected at least {limit}"),
            (Ordering::Less, true) => format!("expected more than {limit}"),
            (_, false) => format!("expected at most {limit}"),
            (_, true) => format!("expected less than {limit}"),
        }
    }
}

struct Multiple {
    divisor: Divisor,
    text: Box<str>,
}

fn multiple<'a>(_: &'a Map<String, Value>, value: &'a Value, _: Location) -> Made<'a> {
    let Value::Number(text) = value else {
        return Ok(Box::new(Free));
    };
    let text = text.as_str();
    if text.len() > DIVISOR {
        return Err(ValidationError::custom(format!(
            "a divisor of more than {DIVISOR} digits"
        )));
    }
    let divisor = Divisor::new(text).ok_or_else(|| ValidationError::custom("nothing is a multiple of 0"))?;
    Ok(Box::new(Multiple {
        divisor,
        text: text.into(),
    }))
}

macro_rules! keyword {
    ($kind:ty, $self:ident, $number:ident, $holds:expr, $expected:expr) => {
        impl<'i> Keyword<'i, Exact> for $kind {
            fn validate(&self, instance: View<'i>) -> Result<(), ValidationError<'i>> {
                if Keyword::<Exact>::is_valid(self, instance) {
                    return Ok(());
                }
                let $self = self;
                Err(ValidationError::custom($expected))
            }

            fn is_valid(&self, instance: View<'i>) -> bool {
                let $self = self;
                instance.as_number().is_none_or(|$number| $holds)
            }
        }
    };
}
keyword!(Bound, keyword, number, keyword.holds(number.0), keyword.expected());
keyword!(
    Multiple,
    keyword,
    number,
    keyword.divisor.divides(number.0),
    format!("expected a multiple of {}", clipped(&keyword.text))
);

impl<'i> Keyword<'i, Exact> for Free {
    fn validate(&self, _: View<'i>) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: View<'i>) -> bool {
        true
    }
}
