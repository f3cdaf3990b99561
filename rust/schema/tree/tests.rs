use super::*;
use crate::json::sample::{Random, rounds};

const LIMIT: usize = 1 << 20;

fn fault(text: &str) -> Option<(Kind, usize)> {
    Tree::parse(text.as_bytes(), LIMIT)
        .err()
        .map(|error| (error.kind, error.offset))
}

#[test]
fn a_document_is_listed_in_the_order_of_its_text() {
    let tree = Tree::parse(br#" {"a":[1,{"b":null}],"c":"x\ny","d":-1.50e+3} "#, LIMIT).unwrap();
    let texts: Vec<_> = tree
        .entries
        .iter()
        .map(|entry| (entry.what, tree.slice(entry)))
        .collect();
    let plain = What::String { escaped: false };
    assert_eq!(
        texts[1..],
        [
            (plain, "a"),
            (What::Array, r#"[1,{"b":null}]"#),
            (What::Number, "1"),
            (What::Object, r#"{"b":null}"#),
            (plain, "b"),
            (What::Null, "null"),
            (plain, "c"),
            (What::String { escaped: true }, r"x\ny"),
            (plain, "d"),
            (What::Number, "-1.50e+3"),
        ]
    );
    assert_eq!((tree.entries[0].count, tree.entries[2].count, tree.depth), (3, 2, 3));
    let named = |name| tree.member(0, name).map(|at| tree.characters(at).into_owned());
    assert_eq!(named("c").as_deref(), Some("x\ny"));
    assert_eq!(named("e"), None);
    assert_eq!(tree.element(2, 1), Some(4));
    assert_eq!(tree.element(2, 2), None);
}

#[test]
fn only_i_json_becomes_a_tree() {
    for (text, expected) in [
        ("", (Kind::UnexpectedEnd, 0)),
        ("{", (Kind::UnexpectedEnd, 1)),
        ("1 2", (Kind::TrailingText, 2)),
        ("NaN", (Kind::NotFinite, 0)),
        (r#"{"a":1,"a":1}"#, (Kind::DuplicateMember, 8)),
        (r#"{"a":1,"\u0061":2}"#, (Kind::DuplicateMember, 8)),
        (r#"[{"x":{"k":1,"l":2,"k":3}}]"#, (Kind::DuplicateMember, 20)),
        (r#"["\ud800"]"#, (Kind::LoneSurrogate, 2)),
        (r#"{"\udfff":1}"#, (Kind::LoneSurrogate, 2)),
        ("1e1234567890123456789012345678901234567", (Kind::HugeExponent, 0)),
    ] {
        assert_eq!(fault(text), Some(expected), "{text}");
    }
    for text in [
        "1E400",
        "-0",
        r#"["\ud83d\ude00"]"#,
        "1e+00000000000000000000000000000000000000000007",
        "\"1e99\"",
    ] {
        assert_eq!(fault(text), None, "{text}");
    }
    assert_eq!(
        Tree::parse(b"[1]", 2).err().map(|error| error.kind),
        Some(Kind::TooLarge)
    );
    assert_eq!(fault(&("[".repeat(257) + &"]".repeat(257))), Some((Kind::TooDeep, 256)));
    assert_eq!(fault(&("[".repeat(256) + &"]".repeat(256))), None);
}

#[test]
fn the_members_of_a_large_object_are_found_and_told_apart() {
    for count in [1, 15, 16, 17, 18, 300] {
        let members: Vec<_> = (0..count)
            .map(|index| format!("\"k\\u0031{index}\":{{\"in\":{index}}}"))
            .collect();
        let members = members.join(",");
        let text = format!("{{\"big\":{{{members}}},\"other\":{{{members}}}}}");
        let tree = Tree::parse(text.as_bytes(), LIMIT).unwrap();
        for holder in ["big", "other"] {
            let object = tree.member(0, holder).unwrap();
            for index in 0..count {
                let value = tree.member(object, &format!("k1{index}")).unwrap();
                assert_eq!(tree.slice(&tree.entries[value as usize]), format!("{{\"in\":{index}}}"));
            }
            assert_eq!(tree.member(object, "k1"), None);
        }
        let again = format!("{{{members},\"k1{}\":0}}", count / 2);
        assert_eq!(
            fault(&again).map(|fault| fault.0),
            Some(Kind::DuplicateMember),
            "{count}"
        );
    }
}

#[test]
fn whatever_the_text_no_panic_and_no_span_outside_of_it() {
    let mut random = Random::new(9);
    let mut trees = 0;
    for _ in 0..rounds(5_000) {
        let text = random.text(&["\"a\"", "\"\\u0061\"", "\"b\"", "\"\""]);
        let Ok(tree) = Tree::parse(&text, LIMIT) else {
            continue;
        };
        trees += 1;
        assert_eq!(tree.entries[0].next as usize, tree.entries.len());
        let mut back = Vec::new();
        crate::json::write::compact(&text, &mut back);
        let value = tree.to_value().to_string();
        assert!(crate::json::equal::equal(value.as_bytes(), &back), "{value}");
    }
    assert!(trees > 500, "{trees}");
}
