use super::*;

fn shown(block: &str, expand: bool) -> String {
    line(&read(block.as_bytes()), expand).into_owned()
}

#[test]
fn every_block_has_its_line() {
    for (block, expected) in [
        (r#"{"type":"text","text":"a\nb"}"#, "a\nb"),
        (
            r#"{"type":"image","data":"AAECAwQFBgcI","mimeType":"image/png"}"#,
            "[image image/png, 9 bytes]",
        ),
        (
            r#"{"mimeType":"audio/wav","data":"UklGRg==","type":"audio"}"#,
            "[audio audio/wav, 4 bytes]",
        ),
        (
            r#"{"type":"image","data":"AA\/+","mimeType":"image/png"}"#,
            "[image image/png, 3 bytes]",
        ),
        (
            r#"{"type":"resource","resource":{"uri":"n://1","text":"T"}}"#,
            "[resource n://1]",
        ),
        (
            r#"{"type":"resource","resource":{"uri":"n://2","blob":"AAEC"}}"#,
            "[resource n://2]",
        ),
        (r#"{"type":"resource"}"#, "[resource ]"),
        (
            r#"{"type":"resource_link","uri":"n://3","name":"r"}"#,
            "[resource n://3]",
        ),
        (r#"{"type":"video","data":"AA=="}"#, "[unsupported block: video]"),
        (r#"{"text":"x"}"#, "[broken block: no type]"),
        (r#"{"type":"text"}"#, "[broken block: no text]"),
        (
            r#"{"type":"text","text":5}"#,
            "[broken block: text is a number, not a string]",
        ),
        (
            r#"{"type":"image","data":"A","mimeType":"image/png"}"#,
            "[broken block: data is not base64]",
        ),
        (
            r#"{"type":"image","data":"A*==","mimeType":"image/png"}"#,
            "[broken block: data is not base64]",
        ),
        (r#"{"type":"image","data":"AAEC"}"#, "[broken block: no mimeType]"),
        (
            r#"{"type":"resource","resource":7}"#,
            "[broken block: resource is a number, not an object]",
        ),
        (
            r#"{"type":"resource","resource":{"uri":"n://1","text":5}}"#,
            "[broken block: text is a number, not a string]",
        ),
        (
            r#"{"type":"resource","resource":{"uri":"n://1","text":null,"blob":["AA=="]}}"#,
            "[broken block: blob is an array, not a string]",
        ),
        (r#"{"t\u0079pe":"text","te\u0078t":"x"}"#, "x"),
        ("7", "[broken block: a number, not an object]"),
        ("null", "[broken block: null, not an object]"),
    ] {
        assert_eq!(shown(block, false), expected, "{block}");
    }
    assert_eq!(
        shown(r##"{"type":"resource","resource":{"uri":"n://1","text":"# T"}}"##, true),
        "[resource n://1]\n# T"
    );
}

#[test]
fn base64_is_checked_and_decoded() {
    for (text, bytes) in [
        ("", &b""[..]),
        ("AA==", b"\0"),
        ("AA", b"\0"),
        ("UklGRg==", b"RIFF"),
        ("+/+/", b"\xfb\xff\xbf"),
        ("Ukl\\r\\nGRg==\\n", b"RIFF"),
        ("AA AA", b"\0\0\0"),
    ] {
        assert_eq!(decoded_size(text.as_bytes()), Some(bytes.len()), "{text}");
        assert_eq!(decode_base64(text.as_bytes()), bytes, "{text}");
    }
    for text in ["A", "AAAAA", "AA=", "=", "A===", "A=A=", "-_-_", "AAAA A"] {
        assert_eq!(decoded_size(text.as_bytes()), None, "{text}");
    }
}
