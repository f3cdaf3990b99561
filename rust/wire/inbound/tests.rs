use super::*;

fn frames(stream: &[u8], split: usize) -> (Vec<(Kind, Id, String)>, Counters, bool) {
    let mut inbound = Inbound::new(1 << 20);
    let mut seen = Vec::new();
    for chunk in stream.chunks(split) {
        seen.extend(inbound.feed(chunk));
    }
    seen.extend(inbound.finish());
    let seen = seen.into_iter().map(|frame| {
        (
            frame.envelope.kind,
            frame.envelope.id,
            String::from_utf8_lossy(&frame.text).into_owned(),
        )
    });
    (seen.collect(), inbound.counters, inbound.lsp_framing)
}

const ONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const TWO: &str = r#"{"result":{"text":"caf\u00e9"},"jsonrpc":"2.0","id":2}"#;

#[test]
fn splitting_never_changes_what_comes_out() {
    let streams: [&[u8]; 17] = [
        format!("Server v1.2 ready\n[INFO] db ok\n\n{ONE}\n").as_bytes(),
        format!("{{\"level\":\"info\"}}\n42\n\"hi\"\n[]\nnull\n{ONE}\n").as_bytes(),
        format!("loading... {ONE}\n{TWO}\n").as_bytes(),
        format!("\u{FEFF}{ONE}\r\n\u{FEFF}{TWO}\r\n\r\n").as_bytes(),
        &[
            TWO.replace("\\u00e9", "X").replace('X', "\u{1}").into_bytes(),
            b"\n".to_vec(),
        ]
        .concat()
        .iter()
        .map(|byte| if *byte == 1 { 0xE9 } else { *byte })
        .collect::<Vec<_>>(),
        b"{\n \"jsonrpc\": \"2.0\",\n \"id\": 5,\n \"result\": {\"content\": []}\n}\n",
        format!("Content-Length: 45\r\n\r\n{ONE}").as_bytes(),
        format!("[{ONE},{TWO}]\n").as_bytes(),
        format!("[{ONE},{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":[}}}},{TWO}]\n").as_bytes(),
        format!("[{ONE}] {TWO}\n").as_bytes(),
        format!("[{{\"jsonrpc\":\"2.0\",\n\"id\":3,\"result\":{{}}}}]\n{ONE}\n").as_bytes(),
        format!("{ONE}{TWO}\n").as_bytes(),
        format!("{ONE} trailing\n").as_bytes(),
        ONE.as_bytes(),
        &ONE.as_bytes()[..ONE.len() - 1],
        format!("{{\n{ONE}\n").as_bytes(),
        br#"{"jsonrpc":"2.0","id":7,"result":{"content":[],}}"#,
    ]
    .map(|stream: &[u8]| -> &[u8] { Box::leak(stream.to_vec().into_boxed_slice()) });
    for stream in streams {
        let whole = frames(stream, stream.len());
        for split in 1..stream.len().min(64) {
            assert_eq!(
                frames(stream, split),
                whole,
                "{split}: {}",
                String::from_utf8_lossy(stream)
            );
        }
    }
}

#[test]
fn g1_g2_noise_is_skipped_and_counted_and_the_first_lines_are_kept() {
    let mut inbound = Inbound::new(1000);
    let stream = format!("Server v1.2 ready\n[INFO] db ok\n\n{{\"level\":\"info\"}}\n42\n\"hi\"\n[]\nnull\n{ONE}\n");
    assert_eq!(inbound.feed(stream.as_bytes()).len(), 1);
    assert_eq!(inbound.counters.noise_lines, 7);
    assert_eq!(inbound.noise[0], &b"Server v1.2 ready"[..]);
    inbound.feed(b"more noise\n".repeat(20).as_slice());
    assert_eq!((inbound.counters.noise_lines, inbound.noise.len()), (27, NOISE_SAMPLES));
}

#[test]
fn g3_a_message_behind_noise_on_one_line_is_salvaged() {
    let (seen, counters, _) = frames(format!("loading... {ONE}\n").as_bytes(), 1000);
    assert_eq!(seen, [(Kind::Result, Id::Integer(1), ONE.to_string())]);
    assert_eq!((counters.salvaged, counters.noise_lines), (1, 1));
    let (seen, counters, _) = frames(b"{\"a\":{\"a\":{\"a\" x\n", 1000);
    assert_eq!((seen.len(), counters.noise_lines), (0, 1));
}

#[test]
fn g7_bad_utf8_in_a_string_is_replaced_and_flagged() {
    let (seen, counters, _) = frames(b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"t\":\"caf\xE9\"}}\n", 1000);
    assert_eq!(seen[0].0, Kind::Result);
    assert!(seen[0].2.contains("caf\u{FFFD}"));
    assert_eq!(counters.bad_utf8, 1);
}

#[test]
fn g12_a_message_over_several_lines_is_an_error_with_its_id() {
    let (seen, ..) = frames(
        b"{\n \"jsonrpc\": \"2.0\",\n \"id\": 5,\n \"result\": {\"content\": []}\n}\n",
        1000,
    );
    assert_eq!(
        (&seen[0].0, &seen[0].1),
        (&Kind::Broken(Fault::MultiLine), &Id::Integer(5))
    );
}

#[test]
fn g12_a_lone_brace_does_not_swallow_the_next_message() {
    let (seen, counters, _) = frames(format!("{{\n{ONE}\n{TWO}\n").as_bytes(), 1000);
    assert_eq!((seen.len(), counters.noise_lines), (2, 1));
}

#[test]
fn g13_content_length_framing_is_recognised() {
    assert!(frames(format!("Content-Length: 45\r\n\r\n{ONE}").as_bytes(), 1000).2);
    assert!(!frames(format!("Content-Length: 45\r\n{ONE}\n\n").as_bytes(), 1000).2);
    assert!(!frames(format!("{ONE}\nContent-Length: 45\r\n\r\n{TWO}\n").as_bytes(), 1000).2);
}

#[test]
fn g9_a_line_over_the_cap_gives_up_its_id_from_either_end() {
    for line in [
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{{\"text\":\"{}\"}}}}\n",
            "x".repeat(20_000)
        ),
        format!(
            "{{\"result\":{{\"text\":\"{}\"}},\"jsonrpc\":\"2.0\",\"id\":9}}\n",
            "x".repeat(20_000)
        ),
    ] {
        let mut inbound = Inbound::new(10_000);
        let seen: Vec<_> = line
            .as_bytes()
            .chunks(1000)
            .flat_map(|chunk| inbound.feed(chunk))
            .collect();
        assert_eq!(seen[0].envelope.id, Id::Integer(9));
        assert!(matches!(
            seen[0].envelope.kind,
            Kind::Broken(Fault::TooLong { cap: 10_000, .. })
        ));
        assert_eq!(inbound.feed(format!("{ONE}\n").as_bytes()).len(), 1);
    }
}

#[test]
fn the_spans_of_a_message_are_its_own_wherever_it_stood_on_the_line() {
    let answer = r#"{"jsonrpc":"2.0","id":7.0,"result":{"a":[1]}}"#;
    for line in [
        format!("  {answer}"),
        format!("\u{FEFF}{answer}"),
        format!("loading... {answer}"),
        format!("{answer}{answer}"),
        format!("[{answer}, {answer}]"),
    ] {
        for frame in Inbound::new(1000).feed(format!("{line}\n").as_bytes()) {
            let part = |span: &Option<std::ops::Range<usize>>| span.clone().map(|span| frame.text.slice(span));
            assert_eq!(
                part(&frame.envelope.result).as_deref(),
                Some(&br#"{"a":[1]}"#[..]),
                "{line}"
            );
            assert_eq!(part(&frame.envelope.id_span).as_deref(), Some(&b"7.0"[..]), "{line}");
        }
    }
}

#[test]
fn h1_each_message_of_a_batch_stands_for_itself() {
    let broken = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],}}"#;
    let cut = r#"{"jsonrpc":"2.0","id":7,"result":{"con"#;
    for (line, expected, noise) in [
        (format!("[{broken}]"), vec![7], 0),
        (format!("[{broken},{ONE}]"), vec![7, 1], 0),
        (format!("[{ONE},{broken},{{]"), vec![1, 7], 0),
        (format!("[{ONE},{cut}"), vec![1, 7], 0),
        (format!("[{ONE},,NaN,{ONE}"), vec![1, 1], 0),
        (format!("[{ONE}]{ONE}"), vec![1, 1], 0),
        (format!("[{ONE}] trailing"), vec![1], 1),
        (format!("[{ONE} {ONE}]"), vec![1, 1], 1),
        (format!("[INFO] {ONE}"), vec![1], 1),
        (format!("[{{\"level\":1}}] {ONE}"), vec![1], 1),
        ("[{\"level\":1},{\"a\":}]".to_string(), vec![], 1),
        (format!("[{{\"level\":\n{ONE}"), vec![1], 1),
        (
            "[{\"jsonrpc\":\"2.0\",\n\"id\":7,\"result\":{}}]".to_string(),
            vec![7],
            0,
        ),
    ] {
        let (seen, counters, _) = frames(format!("{line}\n").as_bytes(), 1000);
        let got: Vec<_> = seen
            .into_iter()
            .map(|(kind, id, _)| match (kind, id) {
                (Kind::Broken(_), Id::Integer(7)) => 7,
                (Kind::Result, Id::Integer(1)) => 1,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!((got, counters.noise_lines), (expected, noise), "{line}");
    }
}
