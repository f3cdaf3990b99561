use super::*;

fn judge(text: &str) -> Result<(usize, usize), Error> {
    document(text.as_bytes(), 256, &mut Nothing)
}

#[test]
fn accepts_what_rfc_8259_accepts() {
    for text in [
        "0",
        "-0",
        "1.50",
        "1e3",
        "1E+3",
        "-1.0e-10",
        "123456789012345678901234567890",
        "1E400",
        "true",
        "false",
        "null",
        "\"\"",
        "\"\\u0041\\n\\/\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud800\"",
        "[]",
        "{}",
        "[1,2]",
        " [ 1 , 2 ] ",
        "{\"a\":{\"b\":[{}]}}",
        "\t{\"a\" :\r\n1}",
        "\"é漢😀\"",
        "\"eight bytes and more \\\" quote\"",
    ] {
        assert!(judge(text).is_ok(), "{text}: {:?}", judge(text));
    }
}

#[test]
fn refuses_with_the_kind_and_the_place() {
    for (text, kind, offset) in [
        ("", Kind::UnexpectedEnd, 0),
        ("{", Kind::UnexpectedEnd, 1),
        ("[1,]", Kind::UnexpectedByte, 3),
        ("{\"a\":1,}", Kind::UnexpectedByte, 7),
        ("{'a':1}", Kind::UnexpectedByte, 1),
        ("01", Kind::BadNumber, 1),
        ("1.", Kind::UnexpectedEnd, 2),
        ("-", Kind::UnexpectedEnd, 1),
        ("1.x", Kind::BadNumber, 2),
        ("NaN", Kind::NotFinite, 0),
        ("[-Infinity]", Kind::NotFinite, 1),
        ("nul", Kind::UnexpectedEnd, 3),
        ("nulL", Kind::UnexpectedByte, 3),
        ("\"\\x\"", Kind::BadEscape, 2),
        ("\"\\u12G4\"", Kind::BadEscape, 5),
        ("\"a\nb\"", Kind::ControlCharacter, 2),
        ("{} {}", Kind::TrailingText, 3),
        ("[}", Kind::UnexpectedByte, 1),
        ("[1}", Kind::UnexpectedByte, 2),
        ("{\"a\" 1}", Kind::UnexpectedByte, 5),
    ] {
        assert_eq!(judge(text), Err(Error::new(kind, offset)), "{text}");
    }
}

#[test]
fn every_truncation_of_a_document_is_an_unexpected_end() {
    let text = "{\"a\":[1.5e-3,true,null,{\"b\\u00e9\":\"x\\n\"}],\"c\":{}}";
    assert!(judge(text).is_ok());
    for end in 0..text.len() {
        let error = judge(&text[..end]).map_or_else(|error| error, |_| panic!("accepted {}", &text[..end]));
        assert_eq!(
            (error.kind, error.offset),
            (Kind::UnexpectedEnd, end),
            "{}",
            &text[..end]
        );
    }
}

#[test]
fn depth_is_bounded_without_recursion() {
    for depth in [1, 63, 64, 65, 128, 129, 255, 256] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        assert!(judge(&text).is_ok(), "{depth}");
        let mixed = "{\"a\":[".repeat(depth / 2) + &"]}".repeat(depth / 2);
        assert!(depth < 2 || judge(&mixed).is_ok(), "{depth}");
    }
    let text = "[".repeat(257) + &"]".repeat(257);
    assert_eq!(judge(&text), Err(Error::new(Kind::TooDeep, 256)));
    let deep = "[".repeat(1_000_000);
    assert!(document(deep.as_bytes(), usize::MAX, &mut Nothing).is_err());
}
