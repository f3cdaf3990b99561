use super::super::glimpse::{Glimpse, glimpse};
use super::*;

fn kind(text: &str) -> (Kind, Id) {
    let (message, end) = read(text.as_bytes(), 0).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(end, text.len());
    (message.kind, message.id)
}

#[test]
fn the_four_kinds_are_told_apart() {
    assert_eq!(
        kind(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#),
        (Kind::Request, Id::Integer(1))
    );
    assert_eq!(
        kind(r#"{"method":"m","jsonrpc":"2.0"}"#),
        (Kind::Notification, Id::Absent)
    );
    assert_eq!(
        kind(r#"{"result":{},"jsonrpc":"2.0","id":"a"}"#),
        (Kind::Result, Id::Text("a".into()))
    );
    assert_eq!(
        kind(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"x"}}"#),
        (Kind::Error, Id::Integer(7))
    );
    assert_eq!(
        kind(r#"{"jsonrpc":"2.0","id":7,"result":{},"error":null}"#),
        (Kind::Result, Id::Integer(7))
    );
    assert_eq!(
        kind(r#"{"jsonrpc":"2.0","id":7,"result":null,"error":{"code":1.0}}"#),
        (Kind::Error, Id::Integer(7))
    );
}

#[test]
fn ids_are_read_as_peers_mangle_them() {
    for (text, expected) in [
        ("7", Id::Integer(7)),
        ("7.0", Id::Integer(7)),
        ("\"7\"", Id::Integer(7)),
        ("\"-7\"", Id::Integer(-7)),
        ("1e9", Id::Integer(1_000_000_000)),
        ("null", Id::Null),
        ("7.5", Id::Odd),
        ("true", Id::Odd),
        ("\"a\"", Id::Text("a".into())),
        ("\"+7\"", Id::Text("+7".into())),
        ("[]", Id::Odd),
    ] {
        assert_eq!(id(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn h1_a_right_id_with_a_broken_body_is_broken_and_keeps_its_id() {
    for (text, fault) in [
        (r#"{"jsonrpc":"2.0","id":7}"#, Fault::NoBody),
        (r#"{"jsonrpc":"2.0","id":7,"result":null}"#, Fault::ResultIs("null")),
        (r#"{"jsonrpc":"2.0","id":7,"result":[1]}"#, Fault::ResultIs("array")),
        (r#"{"id":7,"result":{"content":[]}}"#, Fault::NoVersion),
        (r#"{"jsonrpc":2.0,"id":7,"result":{}}"#, Fault::NoVersion),
        (r#"{"jsonrpc":"2.0","id":7,"error":"boom"}"#, Fault::ErrorIs("string")),
        (r#"{"jsonrpc":"2.0","id":7,"error":{"code":"E1"}}"#, Fault::ErrorCode),
    ] {
        assert_eq!(kind(text), (Kind::Broken(fault), Id::Integer(7)), "{text}");
    }
}

#[test]
fn h1_a_broken_request_of_the_peer_is_no_answer_to_ours() {
    for (text, fault) in [
        (r#"{"id":7,"method":"ping"}"#, Fault::NoVersion),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, Fault::MethodIs("number")),
        (r#"{"jsonrpc":"2.0","method":{}}"#, Fault::MethodIs("object")),
    ] {
        assert_eq!(kind(text).0, Kind::BrokenRequest(fault), "{text}");
    }
    assert!(glimpse(br#"{"jsonrpc":"2.0","id":7,"method":"m","params":{,}}"#).asks);
    for text in [
        r#"{"jsonrpc":"2.0","id":7,"method":"m","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":null,"result":{}}"#,
    ] {
        assert_eq!(kind(text), (Kind::Result, Id::Integer(7)), "{text}");
    }
}

#[test]
fn h1_the_id_of_text_that_is_no_json_is_found() {
    for text in [
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te"#,
        r#"{"result":{"content":[{"type":"text","text":"x"}},"jsonrpc":"2.0","id":7}"#,
        r#"{"result":{"x":NaN},"id":7.0,"jsonrpc":"2.0"}"#,
    ] {
        assert_eq!(
            glimpse(text.as_bytes()),
            Glimpse {
                id: Id::Integer(7),
                message: true,
                asks: false
            },
            "{text}"
        );
    }
    for text in [
        r#"{"jsonrpc":"2.0","result":{"rows":[{"id":7,"x":[1"#,
        r#"{"jsonrpc":"2.0","id":7"#,
        r#"{"jsonrpc":"2.0","result":{"id":7},"x":[}"#,
    ] {
        assert_eq!(glimpse(text.as_bytes()).id, Id::Absent, "{text}");
    }
}

#[test]
fn g2_json_that_is_nobodys_message_is_noise() {
    for text in [
        r"{}",
        r#"{"level":"info","msg":"up"}"#,
        r#"{"method":"GET","status":200}"#,
        r#"{"error":"x"}"#,
    ] {
        assert_eq!(kind(text), (Kind::Noise, Id::Absent), "{text}");
    }
}

#[test]
fn only_an_object_is_a_message() {
    for text in ["", "1", "[]", "\"}\"", "\"\\\"id\\\":1}\"", "null"] {
        assert!(read(text.as_bytes(), 0).is_err(), "{text}");
    }
}
