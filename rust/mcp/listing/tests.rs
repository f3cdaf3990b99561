use super::*;

fn read(text: &str, judged: bool) -> Page {
    page(&Bytes::copy_from_slice(text.as_bytes()), 0, judged).unwrap_or_else(|prose| panic!("{prose}"))
}

#[test]
fn a7_each_bad_entry_costs_itself() {
    let page = read(
        r#"{"tools":[{"name":"ok","inputSchema":{"type":"object"}},{"name":"b1"},{"name":"b2","inputSchema":true},
        {"name":"b3","inputSchema":null},{"name":"b4","inputSchema":{"type":"object","required":null}},
        {"name":7,"inputSchema":{"type":"object"}},{"name":"b6","inputSchema":{"type":"object"},
        "annotations":{"readOnlyHint":"yes"}},"b7",null,{"name":"","inputSchema":{"type":"object"}}],"nextCursor":""}"#,
        true,
    );
    let faults: Vec<_> = page
        .entries
        .iter()
        .map(|entry| entry.fault.as_ref().map(Fault::prose))
        .collect();
    let expected = [
        None,
        Some("toolwire: ParseSchema: empty schema"),
        Some("toolwire: ParseSchema: the document is not a JSON object"),
        Some("toolwire: ParseSchema: empty schema"),
        None,
        Some("the name is a number, not a string"),
        None,
        Some("the entry is a string, not an object"),
        Some("nil entry in the tool list"),
        Some("empty name"),
    ];
    assert_eq!(faults, expected.map(|fault| fault.map(str::to_owned)));
    assert_eq!(
        page.entries[4].warnings(),
        ["schema: \"required\" is not a list of names"]
    );
    assert_eq!(
        page.entries[6].warnings(),
        ["the annotation readOnlyHint is a string, not a boolean"]
    );
    assert_eq!(page.next_cursor.as_deref(), Some(&b"\"\""[..]));
}

#[test]
fn members_keep_their_bytes_in_any_order() {
    let schema = r#"{"z":1.50,"type":"object","a":{"maximum":9007199254740993}}"#;
    let page = read(
        &format!(
            r#"{{"nextCursor":null,"tools":[{{"inputSchema": {schema} ,"description":"d\u00e9","name":"n\u0061",
        "annotations":{{"readOnlyHint":true}},"outputSchema":{{"type":"integer"}},"_meta":{{"k":1}},"title":"T"}}]}}"#
        ),
        true,
    );
    let entry = &page.entries[0];
    assert_eq!(
        (entry.fault.as_ref(), entry.read_only, entry.name().as_str()),
        (None, true, "na")
    );
    assert_eq!(entry.name.of(&entry.text), Some(&br#""n\u0061""#[..]));
    assert_eq!(entry.input_schema.of(&entry.text), Some(schema.as_bytes()));
    assert_eq!(entry.output_schema.of(&entry.text), Some(&br#"{"type":"integer"}"#[..]));
    assert_eq!(string(entry.description.of(&entry.text)).as_deref(), Some("dé"));
    assert_eq!(page.next_cursor, None);
}

#[test]
fn text_that_is_no_json_costs_the_entry_in_which_it_breaks() {
    let page = read(
        r#"{"tools":[{"name":"a","inputSchema":{"type":"object","default":NaN}},{"name":"b","inputSchema":{"type":"object"}}]}"#,
        false,
    );
    assert!(matches!(page.entries[0].fault, Some(Fault::Json(_))));
    assert_eq!(
        (page.entries[1].fault.as_ref(), page.entries[1].name()),
        (None, "b".into())
    );
}

#[test]
fn a_page_without_a_list_is_an_error() {
    for text in ["{}", r#"{"tools":{}}"#, r#"{"tools":"x"}"#] {
        assert!(
            page(&Bytes::copy_from_slice(text.as_bytes()), 0, true).is_err(),
            "{text}"
        );
    }
    assert_eq!(read(r#"{"tools":null,"nextCursor":5}"#, true).warnings.len(), 2);
}

#[test]
fn a_listing_cut_anywhere_gives_the_entries_that_it_holds_whole() {
    let text = r#"{"tools":[{"name":"a","inputSchema":{"type":"object","required":["x",1]},"description":5},
        {"name":"b","title":null,"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}},7],"nextCursor":"c"}"#;
    let ends: Vec<_> = memchr::memmem::find_iter(text.as_bytes(), "},\n")
        .chain(text.find("},7"))
        .collect();
    let mut last = 0;
    for cut in 10..=text.len() {
        let page = read(&text[..cut], false);
        let whole = page.entries.iter().filter(|entry| entry.fault.is_none()).count();
        assert_eq!(whole, ends.iter().filter(|end| cut > **end).count(), "{}", &text[..cut]);
        assert!(whole >= last);
        last = whole;
        for entry in page.entries {
            let _ = (entry.name(), entry.warnings(), entry.object_output());
        }
    }
}
