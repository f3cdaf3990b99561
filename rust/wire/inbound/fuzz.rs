//! Whatever a peer sends: no panic, no hang, no growth, and the same frames however the stream is cut.

use super::*;
use crate::json::sample::{Random, rounds};
use crate::json::scan::{Nothing, document};

const WORDS: [&str; 16] = [
    "\"jsonrpc\"",
    "\"2.0\"",
    "\"id\"",
    "\"method\"",
    "\"params\"",
    "\"result\"",
    "\"error\"",
    "\"code\"",
    "\"message\"",
    "1",
    "7.0",
    "\"7\"",
    "null",
    "{}",
    "-32603",
    "\"i\\u0064\"",
];

/// A message, often a whole one.
fn message(random: &mut Random) -> String {
    let mut payload = String::new();
    random.value(3, &WORDS, &mut payload);
    let payload = payload.replace(['\n', '\r'], " ");
    let id = random.pick(&["1", "7.0", "\"7\"", "null", "-3", "1e9", "\"a\"", "[1]", "7.5"]);
    let version = random.pick(&[
        "\"jsonrpc\":\"2.0\",",
        "\"jsonrpc\":\"2.0\",",
        "\"jsonrpc\" : \"2.0\" ,",
        "\"jsonrpc\":2,",
        "",
    ]);
    match random.below(7) {
        0 => format!("{{{version}\"id\":{id},\"result\":{payload}}}"),
        1 => format!("{{\"result\":{{\"content\":[{payload}]}},{version}\"id\":{id}}}"),
        2 => format!("{{{version}\"id\":{id},\"error\":{{\"code\":-1,\"message\":\"m\",\"data\":{payload}}}}}"),
        3 => format!("{{{version}\"id\":{id},\"method\":\"m\",\"params\":{payload}}}"),
        4 => format!("{{{version}\"method\":\"m\",\"params\":{{\"x\":{payload}}}}}"),
        5 => format!("{{{version}\"id\":{id},\"error\":{payload},\"result\":{payload}}}"),
        _ => payload,
    }
}

/// Lines of all kinds, and what stands between them.
fn stream(random: &mut Random) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..random.below(6) {
        let one = message(random);
        let mut piece = match random.below(12) {
            0 => format!("log {{x: 1}} {one}"),
            1 => format!("{one}{}", message(random)),
            2 => format!("[{one},{}]", message(random)),
            3 => one.replace(',', ",\n  ").replace('{', "{\n"),
            4 => format!("\u{FEFF}{one} "),
            5 => "Content-Length: 45\r\n\r".to_owned(),
            6 => random
                .pick(&["{", "}", "", "[", "{\"a\":", "ready", "{\"level\":\"info\"}"])
                .to_owned(),
            _ => one,
        }
        .into_bytes();
        match random.below(8) {
            0 => random.mutate(&mut piece),
            1 => piece.extend(random.soup(4)),
            _ => {}
        }
        stream.extend(piece);
        stream.extend(random.pick(&[&b"\n"[..], b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b""]));
    }
    stream
}

/// All that an observer can see of a stream.
#[derive(Debug, PartialEq)]
struct Seen {
    frames: Vec<(Bytes, Envelope)>,
    counters: Counters,
    noise: Vec<Bytes>,
    lsp_framing: bool,
}

fn read(chunks: impl IntoIterator<Item = impl AsRef<[u8]>>, cap: usize) -> Seen {
    let mut inbound = Inbound::new(cap);
    let mut frames = Vec::new();
    for chunk in chunks {
        frames.extend(inbound.feed(chunk.as_ref()));
        assert!(
            inbound
                .gather
                .as_ref()
                .is_none_or(|gather| gather.text.len() <= 3 * cap + 4)
        );
    }
    frames.extend(inbound.finish());
    assert!(inbound.gather.is_none() && inbound.finish().is_empty());
    Seen {
        frames: frames.into_iter().map(|frame| (frame.text, frame.envelope)).collect(),
        counters: inbound.counters,
        noise: inbound.noise,
        lsp_framing: inbound.lsp_framing,
    }
}

/// It can be read as what it is.
const fn is_whole(envelope: &Envelope) -> bool {
    matches!(
        envelope.kind,
        Kind::Result | Kind::Error | Kind::Request | Kind::Notification
    )
}

fn is_sound(text: &Bytes, envelope: &Envelope) {
    let parts = [
        &envelope.id_span,
        &envelope.method,
        &envelope.params,
        &envelope.result,
        &envelope.error,
    ];
    for span in parts.into_iter().flatten() {
        assert_eq!(
            document(&text[span.clone()], usize::MAX, &mut Nothing),
            Ok((0, span.len()))
        );
    }
    if is_whole(envelope) {
        assert_eq!(document(text, usize::MAX, &mut Nothing), Ok((0, text.len())));
    }
    let starts =
        |span: &Option<std::ops::Range<usize>>, first| span.as_ref().is_some_and(|span| text[span.start] == first);
    match &envelope.kind {
        Kind::Result => assert!(starts(&envelope.result, b'{')),
        Kind::Error => assert!(starts(&envelope.error, b'{')),
        Kind::Request | Kind::Notification => assert!(starts(&envelope.method, b'"')),
        Kind::Broken(fault) | Kind::BrokenRequest(fault) => assert!(!fault.prose().is_empty()),
        Kind::Noise => {}
    }
}

#[test]
fn no_stream_panics_and_no_cut_changes_what_comes_out() {
    let mut random = Random::new(4);
    let mut frames = 0;
    for round in 0..rounds(1_500) {
        let stream = stream(&mut random);
        let cap = random.pick(&[&40, &200, &1_000_000]).to_owned();
        let whole = read([&stream], cap);
        frames += whole.frames.len();
        for (text, envelope) in &whole.frames {
            is_sound(text, envelope);
            let frame = Frame {
                text: text.clone(),
                envelope: envelope.clone(),
            };
            let mended = crate::wire::mend::mended(&frame);
            if is_whole(envelope) {
                assert_eq!(document(&mended, usize::MAX, &mut Nothing), Ok((0, mended.len())));
            }
        }
        let cut = 1 + random.below(20);
        assert_eq!(
            read(stream.chunks(cut), cap),
            whole,
            "{round}, by {cut}: {:?}",
            String::from_utf8_lossy(&stream)
        );
        let mut chunks = Vec::new();
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(random.below(rest.len() + 1));
            chunks.push(chunk);
            rest = after;
        }
        assert_eq!(
            read(chunks, cap),
            whole,
            "{round}: {:?}",
            String::from_utf8_lossy(&stream)
        );
    }
    assert!(frames > 2_000, "{frames}");
}

#[test]
fn no_text_panics_the_envelope() {
    let mut random = Random::new(5);
    for _ in 0..rounds(4_000) {
        let mut text = if random.once_in(2) {
            random.text(&WORDS)
        } else {
            message(&mut random).into_bytes()
        };
        if random.once_in(2) {
            random.mutate(&mut text);
        }
        let _ = (glimpse(&text), last_id(&text));
        let text = String::from_utf8_lossy(&text).into_owned();
        for (start, _) in text.match_indices('{') {
            match envelope::read(text.as_bytes(), start) {
                Ok((envelope, end)) => {
                    assert_eq!(
                        document(&text.as_bytes()[start..end], usize::MAX, &mut Nothing),
                        Ok((0, end - start))
                    );
                    let _ = (envelope.error, envelope.kind);
                }
                Err(error) => assert!((start..=text.len()).contains(&error.offset)),
            }
        }
    }
}

#[test]
fn a_flood_of_any_noise_costs_linear_time_no_stack_and_a_bounded_state() {
    const SIZE: usize = 1 << 18;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for (piece, frames) in [
        ("{", 0),
        ("[", 0),
        ("{\"a\":", 0),
        ("[{\"a\":[", 0),
        ("\"", 0),
        ("}", 0),
        ("{}", 0),
        ("{\"a\":1}", 0),
        ("{\n", 0),
        ("[\n", 0),
        ("{\"id\":7,\n", 0),
        ("x{\"", 0),
        ("\u{FEFF}", 0),
        ("\n", 0),
        ("\r", 0),
        ("log {x} {y}\n", 0),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", 0),
        (answer, SIZE / answer.len()),
    ] {
        let stream = piece.repeat(SIZE / piece.len());
        for cap in [SIZE * 2, 50_000] {
            let seen = read(stream.as_bytes().chunks(65_536), cap);
            assert!(seen.noise.len() <= NOISE_SAMPLES && seen.noise.iter().all(|line| line.len() <= NOISE_CLIP));
            if cap > SIZE {
                let whole = seen.frames.iter().filter(|(_, envelope)| is_whole(envelope)).count();
                assert_eq!(whole, frames, "{piece}");
            }
        }
    }
}

#[test]
fn noise_whose_every_brace_might_start_a_message_is_read_a_bounded_number_of_times() {
    // Each `{` starts a text that can be read to the line's end, in vain: 64 times 6 MB, without a bound.
    let line = "{\"a\":[".repeat(SALVAGE_TRIES) + &"0,".repeat(3 << 20) + "}\n";
    let seen = read([line.as_bytes()], 64 << 20);
    assert_eq!((seen.frames.len(), seen.counters.noise_lines), (0, 1));
}
