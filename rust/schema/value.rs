//! A tree as the `Value` that a schema has to be for the `jsonschema` crate. Built from the entries, never by serde,
//! which turns `{"$serde_json::private::Number":"42"}` into 42 where numbers are exact.

use serde_json::{Number, Value};

use super::tree::{Tree, What};
use crate::limits::OUTLINE;

/// A number with all its digits. Only the spelling of an exponent may change (`1e5` to `1e+5`), never the value.
#[must_use]
pub fn number(text: &str) -> Number {
    text.parse().unwrap_or_else(|_| Number::from(0))
}

impl Tree<'_> {
    /// The whole document.
    #[must_use]
    pub fn to_value(&self) -> Value {
        self.build(0, |tree, index| {
            let entry = &tree.entries[index as usize];
            match entry.what {
                What::Bool(value) => Value::Bool(value),
                What::Number => Value::Number(number(tree.slice(entry))),
                What::String { .. } => Value::String(tree.characters(index).into_owned()),
                _ => Value::Null,
            }
        })
    }

    /// The containers of a document that is not large, with null for everything else: enough to find a place in it.
    #[must_use]
    pub fn outline(&self) -> Value {
        if self.entries.len() > OUTLINE {
            return Value::Null;
        }
        self.build(0, |_, _| Value::Null)
    }

    /// Recurses once a level, and a tree has at most `limits::DEPTH` of them.
    fn build(&self, index: u32, scalar: fn(&Self, u32) -> Value) -> Value {
        let entry = &self.entries[index as usize];
        match entry.what {
            What::Array => self.elements(index).map(|at| self.build(at, scalar)).collect(),
            What::Object => Value::Object(
                self.names(index)
                    .map(|name| (self.characters(name).into_owned(), self.build(name + 1, scalar)))
                    .collect(),
            ),
            _ => scalar(self, index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Tree::parse(text.as_bytes(), 1 << 20).map_or(Value::Null, |tree| tree.to_value())
    }

    #[test]
    fn an_object_that_serde_takes_for_a_number_stays_an_object() {
        let text = r#"{"$serde_json::private::Number":"42"}"#;
        assert!(value(text).is_object());
        assert_eq!(value(text)["$serde_json::private::Number"], "42");
        let raw = r#"{"$serde_json::private::RawValue":"[1]"}"#;
        assert_eq!(value(raw)["$serde_json::private::RawValue"], "[1]");
    }

    #[test]
    fn every_kind_of_value_is_built_as_it_stands() {
        let text =
            "{\"n\":null,\"t\":true,\"f\":false,\"s\":\"a\\u00e9\\n\",\"a\":[1,[],{}],\"o\":{\"x\":[{\"y\":0}]}}";
        let built = value(text);
        assert_eq!(built["n"], Value::Null);
        assert_eq!((&built["t"], &built["f"]), (&Value::Bool(true), &Value::Bool(false)));
        assert_eq!(built["s"], "aé\n");
        assert_eq!(built["a"].as_array().map(Vec::len), Some(3));
        assert_eq!(built["o"]["x"][0]["y"].to_string(), "0");
    }

    #[test]
    fn a_number_keeps_its_digits() {
        for text in [
            "9007199254740993",
            "123456789012345678901234567890",
            "0.12345678901234567890123456789",
            "-0.0",
            "1.50",
        ] {
            assert_eq!(value(text).to_string(), text);
        }
        assert_eq!(value("1E400").to_string().to_lowercase().replace('+', ""), "1e400");
    }
}
