use super::*;

fn result(text: &str) -> CallResult {
    CallResult::read(&Bytes::copy_from_slice(text.as_bytes()), 0).unwrap_or_else(|depth| panic!("{depth}"))
}

fn shown(text: &str, rule: Render) -> String {
    result(text).render(rule).into_owned()
}

#[test]
fn rows_d4_to_d17_of_the_spec() {
    for (text, expected) in [
        (r#"{"content":[{"type":"text","text":"3 hits"}]}"#, "3 hits"),
        (
            r#"{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
            "one\ntwo",
        ),
        (
            r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{ "a": 1.50 }}"#,
            r#"{"a":1.50}"#,
        ),
        (r#"{"content":[{"type":"text","text":"t"}],"structuredContent":0}"#, "0"),
        (
            r#"{"content":[{"type":"text","text":"t"}],"structuredContent":false}"#,
            "false",
        ),
        (
            r#"{"content":[{"type":"text","text":"t"}],"structuredContent":""}"#,
            r#""""#,
        ),
        (
            r#"{"content":[{"type":"text","text":"t"}],"structuredContent":[]}"#,
            "[]",
        ),
        (
            r#"{"content":[{"type":"text","text":"t"}],"structuredContent":{}}"#,
            "{}",
        ),
        (
            r#"{"content":[{"type":"text","text":"t"}],"structuredContent":null}"#,
            "t",
        ),
        (r#"{"content":[]}"#, ""),
        (
            r#"{"content":[],"isError":true,"structuredContent":{"code":5}}"#,
            r#"{"code":5}"#,
        ),
        (
            r#"{"content":[{"type":"text","text":"quota"}],"isError":true,"structuredContent":{"retry_s":30}}"#,
            "quota\n{\"retry_s\":30}",
        ),
        (
            r#"{"content":[{"type":"text","text":"a"},{"type":"video"},{"type":"text","text":"b"}]}"#,
            "a\n[unsupported block: video]\nb",
        ),
    ] {
        assert_eq!(shown(text, Render::Default), expected, "{text}");
    }
}

#[test]
fn d2_d3_auto_shows_the_structured_value_once() {
    let summary = r#"{"content":[{"type":"text","text":"2 rows"}],"structuredContent":{"rows":[1,2]}}"#;
    assert_eq!(shown(summary, Render::Auto), "2 rows\n{\"rows\":[1,2]}");
    assert_eq!(shown(summary, Render::Content), "2 rows");
    assert_eq!(shown(summary, Render::Structured), "{\"rows\":[1,2]}");
    let twice = r#"{"content":[{"type":"text","text":"{\"a\": 1.0}"}],"structuredContent":{"a":1}}"#;
    assert_eq!(shown(twice, Render::Auto), "{\"a\": 1.0}");
    assert_eq!(shown(twice, Render::Both), "{\"a\": 1.0}\n{\"a\":1}");
}

#[test]
fn d5_auto_shows_a_wrapped_value_as_its_content_does() {
    for (text, value, expected) in [
        ("5", r#"{"result":5}"#, "5"),
        ("5.0", r#"{ "result" : 5 }"#, "5.0"),
        (r#"a \"b\""#, r#"{"result":"a \u0022b\""}"#, r#"a "b""#),
        ("[1]", r#"{"result":[1]}"#, "[1]"),
        ("", r#"{"result":""}"#, ""),
        ("6", r#"{"result":5}"#, "6\n{\"result\":5}"),
        ("5", r#"{"result":5,"more":6}"#, "5\n{\"result\":5,\"more\":6}"),
        ("5", r#"{"value":5}"#, "5\n{\"value\":5}"),
        ("5", r#"[{"result":5}]"#, "5\n[{\"result\":5}]"),
    ] {
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{value}}}"#);
        assert_eq!(shown(&result, Render::Auto), expected, "{result}");
        assert!(shown(&result, Render::Both).ends_with(['}', ']']), "{result}");
    }
}

#[test]
fn d9_a_result_without_content_is_read_with_a_warning() {
    let missing = result(r#"{"structuredContent":{"a":1}}"#);
    assert_eq!(
        (&*missing.render(Render::Default), missing.all_warnings()),
        ("{\"a\":1}", vec!["content is missing".into()])
    );
    assert_eq!(result(r#"{"content":null}"#).all_warnings(), ["content is null"]);
    let odd = result(r#"{"content":"hello"}"#);
    assert_eq!(
        odd.all_warnings(),
        ["content is not a list", "content[0]: a string, not an object"]
    );
    assert_eq!(
        result(r#"{"toolResult":{"content":[]}}"#).all_warnings(),
        ["content is missing"]
    );
}

#[test]
fn an_odd_type_or_error_flag_is_never_read_as_absent() {
    for (text, result_type, is_error, warnings) in [
        (r#"{"content":[],"resultType":null}"#, None, false, 1),
        (r#"{"content":[],"resultType":5}"#, Some("5"), false, 0),
        (
            r#"{"content":[],"result\u0054ype":"input_required"}"#,
            Some("input_required"),
            false,
            0,
        ),
        (r#"{"content":[],"isError":"true"}"#, None, true, 1),
        (r#"{"content":[],"isError":1}"#, None, true, 1),
        (r#"{"content":[],"isError":0}"#, None, false, 1),
        (r#"{"content":[],"is\u0045rror":true}"#, None, true, 0),
        (r#"{"content":[],"isError":true,"isError":false}"#, None, false, 0),
    ] {
        let read = result(text);
        assert_eq!(
            (read.result_type.as_deref(), read.is_error, read.all_warnings().len()),
            (result_type, is_error, warnings),
            "{text}"
        );
    }
}

#[test]
fn a_result_over_the_depth_is_refused_with_its_depth() {
    let text = "{\"structuredContent\":".to_owned() + &"[".repeat(300) + &"]".repeat(300) + "}";
    assert_eq!(CallResult::read(&Bytes::from(text), 0).err(), Some(301));
}

#[test]
fn many_short_texts_beside_a_large_value_do_not_each_cost_a_walk_through_it() {
    let value = format!("[{}0]", "{\"a\":[1]},".repeat(100_000));
    let texts = r#"{"type":"text","text":"[]"},"#.repeat(10_000);
    let text = format!(r#"{{"content":[{texts}{{"type":"text","text":"[]"}}],"structuredContent":{value}}}"#);
    assert!(shown(&text, Render::Auto).ends_with(&value));
    let wrapped = format!(r#"{{"result":{value}}}"#);
    assert!(shown(&text.replace(&value, &wrapped), Render::Auto).ends_with(&wrapped));
}

#[test]
fn blocks_beyond_the_bound_are_one_broken_block_and_their_warnings_are_counted() {
    let many = vec!["0"; crate::limits::BLOCKS + 50].join(",");
    let read = result(&format!("{{\"content\":[{many}]}}"));
    assert_eq!(read.blocks().len(), crate::limits::BLOCKS + 1);
    let warnings = read.all_warnings();
    assert_eq!(warnings.len(), crate::limits::BLOCK_WARNINGS + 1);
    assert!(warnings[crate::limits::BLOCK_WARNINGS].contains("more blocks"));
    let text = read.render(Render::Default);
    assert!(
        text.ends_with("over 200000 blocks, the rest is in the raw result]"),
        "{}",
        &text[text.len() - 80..]
    );
}
