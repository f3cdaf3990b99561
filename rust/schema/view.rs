//! A tree as the `jsonschema` crate sees an instance: its nodes, read in place.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use serde_json::Value;

use super::decimal;
use super::instance::Instance;
use super::same::{self, equals};
use super::tree::{Steps, What};
use crate::limits::CLIP;

/// The representation of an instance whose numbers stay as they are written.
pub struct Exact;

/// A value of the instance, or one of its member names as `propertyNames` sees it.
#[derive(Clone, Copy)]
pub enum View<'a> {
    Entry(&'a Instance<'a>, u32),
    Name(&'a str),
}

impl<'a> View<'a> {
    /// What it is, as long as the allowance lasts.
    #[inline]
    fn what(&self) -> Option<What> {
        match self {
            View::Entry(instance, index) => instance.spend(1).then(|| instance.tree.entries[*index as usize].what),
            View::Name(_) => Some(What::String { escaped: false }),
        }
    }

    fn holds(&self, what: What) -> Option<Held<'a>> {
        match self {
            View::Entry(instance, index) if self.what() == Some(what) => Some(Held {
                instance,
                index: *index,
            }),
            _ => None,
        }
    }
}

impl Json for Exact {
    type Node<'a> = View<'a>;
    type PreparedKey = Box<str>;
    // A lookup looks at one member after the other, as a pass over the members does.
    const KEYS_PER_LOOKUP: usize = 2;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(View<'_>) -> T) -> T {
        f(View::Name(string))
    }
}

impl<'a> Node<'a, Exact> for View<'a> {
    type Object = Held<'a>;
    type Array = Held<'a>;
    type Number = Number<'a>;

    fn as_object(&self) -> Option<Held<'a>> {
        self.holds(What::Object)
    }

    fn as_array(&self) -> Option<Held<'a>> {
        self.holds(What::Array)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            View::Name(name) => Some(Cow::Borrowed(name)),
            View::Entry(instance, index) => {
                let entry = &instance.tree.entries[*index as usize];
                let seen = matches!(entry.what, What::String { .. })
                    && instance.spend_on_text((entry.end - entry.start) as usize);
                seen.then(|| instance.tree.characters(*index))
            }
        }
    }

    fn as_number(&self) -> Option<Number<'a>> {
        match self {
            View::Entry(instance, index) if self.what() == Some(What::Number) => {
                let text = instance.tree.slice(&instance.tree.entries[*index as usize]);
                // Comparing numbers is the dearest thing that is done after one look.
                instance.spend(4 + text.len() as u64 / 16).then_some(Number(text))
            }
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.what()? {
            What::Bool(value) => Some(value),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        self.what() == Some(What::Null)
    }

    fn is_number(&self) -> bool {
        self.what() == Some(What::Number)
    }

    fn is_string(&self) -> bool {
        matches!(self.what(), Some(What::String { .. }))
    }

    fn json_type(&self) -> JsonType {
        match self.what() {
            Some(What::Bool(_)) => JsonType::Boolean,
            Some(What::Number) => JsonType::Number,
            Some(What::String { .. }) => JsonType::String,
            Some(What::Array) => JsonType::Array,
            Some(What::Object) => JsonType::Object,
            Some(What::Null) | None => JsonType::Null,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match self {
            View::Entry(instance, index) => equals(instance, *index, expected),
            View::Name(name) => expected.as_str() == Some(name),
        }
    }

    /// For error texts alone, and those are written from the tree: a name is kept, and the whole document where the
    /// crate looks for the place of a pattern that it gave up on.
    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(match self {
            View::Name(name) => Value::String(name.chars().take(CLIP).collect()),
            View::Entry(instance, 0) if instance.backtracks() => instance.tree.outline(),
            View::Entry(..) => Value::Null,
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(match self {
            View::Entry(instance, index) => NodeIdentity::tagged(std::ptr::from_ref(*instance).addr(), *index),
            View::Name(name) => NodeIdentity::tagged(name.as_ptr().addr(), u32::MAX),
        })
    }
}

/// An array or object of the instance.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    instance: &'a Instance<'a>,
    index: u32,
}

impl Held<'_> {
    fn count(&self) -> usize {
        self.instance.tree.entries[self.index as usize].count as usize
    }
}

impl<'a> Object<'a, Exact> for Held<'a> {
    type Node = View<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.count()
    }

    fn get(&self, key: &Box<str>) -> Option<View<'a>> {
        // Few members are looked at one by one, many by halves: neither is more than sixteen or so.
        let found = self.instance.tree.member(self.index, key);
        found
            .filter(|_| self.instance.spend(2))
            .map(|index| View::Entry(self.instance, index))
    }

    fn members(&self) -> Members<'a> {
        Members {
            instance: self.instance,
            names: self.instance.tree.names(self.index),
        }
    }
}

/// The members of an object, in its order.
pub struct Members<'a> {
    instance: &'a Instance<'a>,
    names: Steps<'a>,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, View<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.names.next()?;
        let entry = &self.instance.tree.entries[name as usize];
        self.instance
            .spend_on_text((entry.end - entry.start) as usize)
            .then(|| {
                (
                    self.instance.tree.characters(name),
                    View::Entry(self.instance, name + 1),
                )
            })
    }
}

impl<'a> Array<'a, Exact> for Held<'a> {
    type Node = View<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.count()
    }

    fn elements(&self) -> Elements<'a> {
        Elements {
            instance: self.instance,
            steps: self.instance.tree.elements(self.index),
        }
    }

    fn is_unique(&self) -> bool {
        same::all_differ(self.instance, self.index)
    }
}

/// The elements of an array.
pub struct Elements<'a> {
    instance: &'a Instance<'a>,
    steps: Steps<'a>,
}

impl<'a> Iterator for Elements<'a> {
    type Item = View<'a>;

    fn next(&mut self) -> Option<View<'a>> {
        let element = self.steps.next().filter(|_| self.instance.spend(1))?;
        Some(View::Entry(self.instance, element))
    }
}

/// A number, as it is written.
pub struct Number<'a>(pub &'a str);

impl JsonNumber for Number<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        decimal::small(self.0).or_else(|| self.0.parse().ok())
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        // A small one is made without a parser.
        Cow::Owned(decimal::small(self.0).map_or_else(|| super::value::number(self.0), Into::into))
    }

    fn is_integer(&self) -> bool {
        decimal::is_whole(self.0)
    }

    fn is_written_as_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }
}
