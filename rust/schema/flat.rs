//! How far a schema unfolds that refers to nothing: it is the tree that it looks like, and no registry has to be built.

use referencing::Draft;
use serde_json::Value;

use super::expansion::{Unfolded, children};

/// What a schema unfolds to; `None` where it may refer to something, or hold a resource of its own.
#[must_use]
pub fn measure(schema: &Value, draft: Draft) -> Option<Unfolded> {
    if !plain(schema, true) {
        return None;
    }
    let mut unfolded = Unfolded::default();
    count(schema, draft, &mut unfolded);
    Some(unfolded)
}

/// Is there no member at all that references, anchors or resources are made of? One that only looks like it counts too.
fn plain(schema: &Value, root: bool) -> bool {
    match schema {
        Value::Object(members) => members.iter().all(|(name, value)| {
            let harmless = match name.as_str() {
                "$schema" => root,
                "$defs" | "$comment" => true,
                "id" => !value.is_string(),
                name => !name.starts_with('$'),
            };
            harmless && plain(value, false)
        }),
        Value::Array(elements) => elements.iter().all(|value| plain(value, false)),
        _ => true,
    }
}

/// Counts a schema and those within it; how many of them apply to its own value, and how deep those stand.
/// Recurses once a level, and a document has at most `limits::DEPTH` of them.
fn count(schema: &Value, draft: Draft, unfolded: &mut Unfolded) -> (u64, u64) {
    unfolded.schemas += 1;
    let (mut here, mut chain) = (1, 1);
    if let Value::Object(members) = schema {
        for (keyword, value) in members {
            if !draft.is_known_keyword(keyword) {
                continue;
            }
            for (step, child) in children(keyword, value) {
                let (applied, depth) = count(child, draft, unfolded);
                if !step {
                    here += applied;
                    chain = chain.max(depth + 1);
                }
            }
        }
    }
    unfolded.here = unfolded.here.max(here);
    unfolded.chain = unfolded.chain.max(chain);
    (here, chain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::expansion;
    use crate::schema::tree::Tree;

    fn value(text: &str) -> Value {
        Tree::parse(text.as_bytes(), 1 << 20).unwrap().to_value()
    }

    #[test]
    fn a_schema_without_references_is_counted_as_a_followed_one_is() {
        for text in [
            "true",
            "{}",
            r#"{"type":"object","properties":{"id":{"type":"string"},"a":{"anyOf":[{"type":"null"},{"items":{}}]}}}"#,
            r#"{"allOf":[{"not":{"if":{},"then":{"oneOf":[{},true]}}},{"properties":{"x":{"allOf":[{}]}}}]}"#,
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":{"not":{}},"b":["a"]},
                "items":[{},{"contains":{}}],"additionalItems":false,"prefixItems":[{},{}],"$defs":{"n":{"not":{}}}}"#,
            r#"{"patternProperties":{"x":{}},"additionalProperties":{"anyOf":[{},{}]},"propertyNames":{"not":true},
                "dependentSchemas":{"d":{"not":{}}},"unevaluatedProperties":{},"enum":[{"allOf":[{}]}],"allOf":3}"#,
        ] {
            let schema = value(text);
            let draft = Draft::default().detect(&schema);
            assert_eq!(
                measure(&schema, draft),
                expansion::follow(&schema, draft).ok(),
                "{text}"
            );
        }
    }

    #[test]
    fn whatever_may_refer_is_left_to_be_followed() {
        for text in [
            r##"{"items":{"$ref":"#"}}"##,
            r##"{"$dynamicRef":"#x"}"##,
            r##"{"$recursiveRef":"#"}"##,
            r#"{"$id":"::"}"#,
            r#"{"properties":{"a":{"id":"b"}}}"#,
            r#"{"properties":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}}}"#,
            r#"{"not":[{"$anchor":"a"}]}"#,
        ] {
            assert_eq!(measure(&value(text), Draft::default()), None, "{text}");
        }
    }
}
