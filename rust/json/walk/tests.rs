use super::*;

#[test]
fn members_give_names_and_values_in_order() {
    let text = br#" {"a": 1, "b\"": {"c":[1,2]} ,"d":"x,}"} tail"#;
    let mut members = Members::new(text, 0);
    let mut seen = Vec::new();
    while let Some((name, start)) = members.next() {
        let end = members.extent().end;
        seen.push((name.to_vec(), text[start..end].to_vec()));
    }
    assert_eq!(
        seen,
        [
            (b"a".to_vec(), b"1".to_vec()),
            (b"b\\\"".to_vec(), br#"{"c":[1,2]}"#.to_vec()),
            (b"d".to_vec(), br#""x,}""#.to_vec()),
        ]
    );
    assert!(!members.broken());
    assert_eq!(&text[members.finish()..], b" tail");
}

#[test]
fn a_walk_into_a_value_resumes_behind_it() {
    let text = br#"[{"a":[1]},2, "x" ]"#;
    let mut elements = Elements::new(text, 0);
    let first = elements.next().unwrap_or_default();
    let mut members = Members::new(text, first);
    assert_eq!(members.next().map(|(name, _)| name), Some(&b"a"[..]));
    let end = members.finish();
    elements.resume(end);
    assert_eq!(elements.next().map(|start| &text[start..=start]), Some(&b"2"[..]));
    assert_eq!(
        elements.next().map(|start| &text[start..start + 3]),
        Some(&br#""x""#[..])
    );
    assert_eq!(elements.next(), None);
    assert_eq!(elements.finish(), text.len());
}

#[test]
fn depth_is_that_of_the_value() {
    assert_eq!(skip(b"{\"a\":[[1]]}", 0), Extent { end: 11, depth: 3 });
    assert_eq!(skip(b"1,", 0), Extent { end: 1, depth: 0 });
    assert_eq!(skip(b"[]]", 0), Extent { end: 2, depth: 1 });
}

#[test]
fn unjudged_text_stops_the_walk_without_a_panic() {
    for text in [
        &b"{"[..],
        b"{\"",
        b"{\"a",
        b"{\"a\"",
        b"{\"a\":",
        b"{a:1}",
        b"[1 2]",
        b"[",
        b"",
        b"{\"a\\",
        b"]",
        b"}",
    ] {
        let mut members = Members::new(text, 0);
        while members.next().is_some() {}
        members.finish();
        let mut elements = Elements::new(text, 0);
        while elements.next().is_some() {}
        elements.finish();
        let _ = skip(text, 0);
    }
}
