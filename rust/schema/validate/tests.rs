use super::super::compile::{Fault, compile, compile_all};
use super::*;

fn verdict(schema: &str, value: &str) -> String {
    let compiled = match compile(schema.as_bytes()) {
        Ok(compiled) => compiled,
        Err(Fault::Json(error)) => return format!("not JSON: {error}"),
        Err(Fault::Schema(prose)) => return format!("no schema: {prose}"),
    };
    match compiled.judge(value.as_bytes()) {
        Ok(Verdict::Fits) => "fits".into(),
        Ok(Verdict::Misfits(problems)) => explain::text(&problems),
        Ok(Verdict::Undecided) => TOO_COSTLY.into(),
        Err(error) => format!("not JSON: {error}"),
    }
}

#[test]
fn a_problem_says_where_what_was_expected_and_what_came() {
    for (schema, value, expected) in [
        (r#"{"type":"integer"}"#, "1.0", "fits"),
        (r#"{"type":"integer"}"#, "1.5", "expected integer, got number 1.5"),
        (r#"{"type":"integer"}"#, "\"x\"", "expected integer, got string \"x\""),
        (
            r#"{"type":["null","integer"]}"#,
            "[]",
            "expected integer or null, got array",
        ),
        (
            r#"{"properties":{"a":{"items":{"minimum":0}}}}"#,
            r#"{"a":[1,-1]}"#,
            "field \"a.1\": expected at least 0, got -1",
        ),
        (r#"{"required":["q"]}"#, "{}", "field \"q\": required"),
        (
            r#"{"properties":{"a":{"required":["b"]}}}"#,
            r#"{"a":{}}"#,
            "field \"a.b\": required",
        ),
        (
            r#"{"additionalProperties":false}"#,
            r#"{"x":1}"#,
            "field \"x\": not in the schema",
        ),
        (
            r#"{"properties":{"a":{}},"unevaluatedProperties":false}"#,
            r#"{"b":1}"#,
            "field \"b\": not in the schema",
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            "1",
            "expected string or null, got number 1",
        ),
        (
            r#"{"enum":["a","b"]}"#,
            "\"c\"",
            "expected one of \"a\", \"b\", got \"c\"",
        ),
        (
            r#"{"const":9007199254740993}"#,
            "9007199254740992",
            "expected 9007199254740993, got 9007199254740992",
        ),
        (r#"{"minLength":2}"#, "\"é\"", "expected at least 2 characters, got 1"),
        (r#"{"maxItems":1}"#, "[1,2]", "expected at most 1 item, got 2"),
        (
            r#"{"multipleOf":0.01}"#,
            "0.005",
            "expected a multiple of 0.01, got 0.005",
        ),
        (
            r#"{"format":"date"}"#,
            "\"x\"",
            "expected a string of the format \"date\", got \"x\"",
        ),
        (
            r#"{"pattern":"^a$"}"#,
            "\"b\"",
            "expected a string that matches ^a$, got \"b\"",
        ),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            "the member name \"ab\": expected at most 1 character",
        ),
        (
            r#"{"oneOf":[{"type":"integer"},{"minimum":2}]}"#,
            "3",
            "expected to fit one alternative, and it fits several",
        ),
        (
            r#"{"required":["a","b","c","d","e"]}"#,
            "{}",
            "field \"a\": required; field \"b\": required; field \"c\": required; and 2 more",
        ),
    ] {
        assert_eq!(verdict(schema, value), expected, "{schema} {value}");
    }
}

#[test]
fn of_alternatives_the_one_that_was_meant_is_told() {
    let schema = r#"{"anyOf":[
        {"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind","n"]},
        {"type":"object","properties":{"kind":{"const":"b"},"s":{"type":"string"}},"required":["kind","s"]},
        {"type":"null"}]}"#;
    assert_eq!(
        verdict(schema, r#"{"kind":"b","s":1}"#),
        "field \"s\": expected string, got number 1"
    );
    assert_eq!(verdict(schema, r#"{"kind":"a"}"#), "field \"n\": required");
    assert_eq!(
        verdict(schema, r#"{"kind":"c","n":1}"#),
        "fits none of 3 alternatives; the nearest: field \"kind\": expected \"a\", got \"c\""
    );
}

#[test]
fn a_text_has_a_bound_whatever_schema_and_value_say() {
    let long = "x".repeat(10_000);
    let options: Vec<_> = (0..5_000).map(|index| format!("\"{long}{index}\"")).collect();
    let schema = format!("{{\"properties\":{{\"{long}\":{{\"enum\":[{}]}}}}}}", options.join(","));
    let value = format!("{{\"{long}\":\"{long}\"}}");
    let compiled = compile(
        format!(
            "{{\"properties\":{{\"{long}\":{{\"enum\":[{}]}}}}}}",
            options[..700].join(",")
        )
        .as_bytes(),
    );
    let Ok(Ok(Verdict::Misfits(problems))) = compiled.map(|compiled| compiled.judge(value.as_bytes())) else {
        panic!("it does not fit");
    };
    assert!(explain::text(&problems).len() < 1_000);
    assert!(
        matches!(compile(schema.as_bytes()), Err(Fault::Json(error)) if error.kind == crate::error::Kind::TooLarge)
    );
}

#[test]
fn what_does_not_compile_says_why() {
    for (schema, expected) in [
        ("[]", "no schema: expected boolean or object, got array"),
        (
            r#"{"properties":{"a":{"type":"strin"}}}"#,
            "no schema: \"properties.a.type\": expected one of \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\", \"string\" or array, got string \"strin\"",
        ),
        (
            r#"{"minLength":-1}"#,
            "no schema: \"minLength\": expected at least 0, got -1",
        ),
        (
            r#"{"pattern":"("}"#,
            "no schema: \"pattern\" is no regular expression, or one too large",
        ),
        (
            r#"{"$ref":"http://169.254.1.1/s.json"}"#,
            "no schema: the reference \"http://169.254.1.1/s.json\" leads out of the schema, and nothing is fetched",
        ),
        (
            r##"{"$ref":"#/$defs/x"}"##,
            "no schema: the reference \"/$defs/x\" leads nowhere",
        ),
        (
            r#"{"$schema":"https://example.com/own"}"#,
            "no schema: \"$schema\": \"https://example.com/own\" is no draft that is known here, and nothing is fetched",
        ),
        (
            r#"{"multipleOf":0}"#,
            "no schema: \"multipleOf\": expected more than 0, got 0",
        ),
        (
            r#"{"type":"object","type":"object"}"#,
            "not JSON: member name given twice at byte 18",
        ),
    ] {
        assert_eq!(verdict(schema, "1"), expected, "{schema}");
    }
}

#[test]
fn a_deep_value_of_a_deep_recursive_schema_is_checked_on_a_stack_of_its_own() {
    let mut inner = r##"{"$ref":"#/$defs/N"}"##.to_owned();
    for _ in 0..100 {
        inner = format!("{{\"allOf\":[{inner}]}}");
    }
    let schema = format!(
        "{{\"$defs\":{{\"N\":{{\"type\":[\"object\",\"null\"],\"properties\":{{\"a\":{inner}}}}}}},\"$ref\":\"#/$defs/N\"}}"
    );
    let nested = |core: &str| "{\"a\":".repeat(250) + core + &"}".repeat(250);
    assert_eq!(verdict(&schema, &nested("null")), "fits");
    assert!(verdict(&schema, &nested("1")).ends_with("expected object or null, got number 1"));
}

#[test]
fn recursion_that_doubles_at_each_level_of_the_value_has_a_bound() {
    let schema = r##"{"$defs":{"N":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/N"}},"required":["x"]},
        {"properties":{"a":{"$ref":"#/$defs/N"}},"required":["y"]}]}},"$ref":"#/$defs/N"}"##;
    let value = "{\"a\":".repeat(200) + "{}" + &"}".repeat(200);
    assert_ne!(verdict(schema, &value), "fits");
}

#[test]
fn a_pattern_that_was_given_up_on_is_no_yes_and_no_no() {
    let costly = r#""pattern":"^(a|aa|aaa)+(b)\\2\\2$""#;
    let value = format!("\"{}\"", "a".repeat(5_000));
    for schema in [format!("{{{costly}}}"), format!("{{\"not\":{{{costly}}}}}")] {
        assert_eq!(
            verdict(&schema, &value),
            "its pattern takes too long to check",
            "{schema}"
        );
    }
    let within = format!("{{\"properties\":{{\"q\":{{\"items\":{{{costly}}}}}}}}}");
    assert_eq!(
        verdict(&within, &format!("{{\"q\":[\"abbb\",{value}]}}")),
        "field \"q.1\": its pattern takes too long to check"
    );
}

#[test]
fn many_are_compiled_as_each_alone_is() {
    let deep = "{\"not\":".repeat(200) + "true" + &"}".repeat(200);
    let texts = [
        r#"{"type":"string"}"#,
        "{",
        r#"{"type":3}"#,
        deep.as_str(),
        r##"{"$ref":"#"}"##,
        "true",
    ];
    let together = compile_all(&texts);
    assert_eq!(together.len(), texts.len());
    for (text, outcome) in texts.iter().zip(together) {
        assert_eq!(outcome.err(), compile(text.as_bytes()).err(), "{text}");
    }
    assert!(compile_all(&[""; 0]).is_empty());
}
