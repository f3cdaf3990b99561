use std::fmt::Write;

use super::*;
use crate::schema::tree::Tree;

fn measured(schema: &str) -> Unfolded {
    let schema = Tree::parse(schema.as_bytes(), 1 << 20).unwrap().to_value();
    measure(&schema, Draft::default().detect(&schema)).unwrap()
}

/// Definitions that each refer twice to the next one.
fn doubled(levels: usize, twice: impl Fn(&str) -> String) -> String {
    let mut definitions = String::new();
    for level in 0..levels {
        let next = format!("{{\"$ref\":\"#/$defs/l{}\"}}", level + 1);
        let _ = write!(definitions, "\"l{level}\":{},", twice(&next));
    }
    format!("{{\"$ref\":\"#/$defs/l0\",\"$defs\":{{{definitions}\"l{levels}\":{{}}}}}}")
}

#[test]
fn doubled_references_are_counted_and_not_followed() {
    let in_place = measured(&doubled(28, |next| format!("{{\"allOf\":[{next},{next}]}}")));
    assert_eq!(in_place.references, (1 << 29) - 1);
    assert!(in_place.here > 1 << 29);
    let steps = measured(&doubled(28, |next| {
        format!("{{\"properties\":{{\"a\":{next},\"b\":{next}}}}}")
    }));
    assert_eq!(steps.references, (1 << 29) - 1);
    assert_eq!((steps.here, steps.chain), (2, 2));
    assert_eq!(
        measured(&doubled(300, |next| format!("{{\"anyOf\":[{next},{next}]}}"))).references,
        u64::MAX
    );
}

#[test]
fn recursion_is_no_unfolding() {
    let tree = r##"{"$ref":"#/$defs/N","$defs":{"N":{"properties":{"kids":{"items":{"$ref":"#/$defs/N"}}}}}}"##;
    assert_eq!(
        measured(tree),
        Unfolded {
            schemas: 4,
            deep: 2,
            references: 2,
            here: 2,
            chain: 2,
            endless: false
        }
    );
    assert_eq!(
        measured(r##"{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}}}"##).references,
        2
    );
}

#[test]
fn a_reference_that_takes_no_step_is_endless() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"not":{"$ref":"#"}}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"if":{"$ref":"#/$defs/a"}}}}"##,
        r##"{"dependentSchemas":{"x":{"$ref":"#"}}}"##,
    ] {
        assert!(measured(schema).endless, "{schema}");
    }
    for schema in [
        r##"{"properties":{"a":{"$ref":"#"}},"items":{"anyOf":[{"$ref":"#"}]}}"##,
        // Nobody comes here.
        r##"{"$defs":{"a":{"$ref":"#/$defs/a"}}}"##,
        // Up to draft-07 a reference stands alone.
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":{"$ref":"#/definitions/d","not":{"$ref":"#"}}},"definitions":{"d":{}}}"##,
    ] {
        assert!(!measured(schema).endless, "{schema}");
    }
}

#[test]
fn a_dynamic_reference_counts_what_it_may_mean() {
    let schema = r##"{"$id":"http://localhost/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,
        "$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","properties":{"kids":{"items":{"$dynamicRef":"#node"}}}}}}"##;
    let unfolded = measured(schema);
    assert!(!unfolded.endless);
    assert!(unfolded.references >= 3, "{unfolded:?}");
}

#[test]
fn what_only_looks_like_a_schema_is_not_followed() {
    for schema in [
        r##"{"enum":[{"$ref":"#/nowhere"}],"const":{"$ref":"http://x.invalid/"},"default":{"allOf":[{"$ref":"#"}]}}"##,
        r#"{"properties":{"$ref":{"type":"string"},"allOf":{"type":"array"}}}"#,
        r##"{"examples":[{"$id":"::","$dynamicRef":"#x"}]}"##,
    ] {
        let unfolded = measured(schema);
        assert_eq!((unfolded.references, unfolded.endless), (0, false), "{schema}");
    }
}

#[test]
fn references_are_resolved_as_the_compiler_resolves_them() {
    let schema = r##"{"$id":"http://localhost/root.json","$ref":"sub/x.json#/$defs/u","$defs":{"t":{"$id":"sub/x.json",
        "$defs":{"u":{"allOf":[{"$ref":"#/$defs/v"},{"$ref":"x.json#v"}]},"v":{"$anchor":"v"}}}}}"##;
    assert_eq!(measured(schema).references, 3);
    let leads_out = Tree::parse(br#"{"items":{"$ref":"http://x.invalid/"}}"#, 100)
        .unwrap()
        .to_value();
    assert!(measure(&leads_out, Draft::default()).is_err());
}
