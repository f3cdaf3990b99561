//! Whatever a server or a model writes: no panic, no hang, and no span outside of its text. Judged or not.

use bytes::Bytes;

use super::listing::{Span, page};
use super::result::{CallResult, Render};
use super::{call, content, meta};
use crate::json::equal::equal;
use crate::json::sample::{Random, rounds};
use crate::json::scan::{Nothing, checked, document};
use crate::schema;

const LISTING: [&str; 20] = [
    "\"tools\"",
    "\"tools\"",
    "\"nextCursor\"",
    "\"name\"",
    "\"name\"",
    "\"title\"",
    "\"description\"",
    "\"inputSchema\"",
    "\"inputSchema\"",
    "\"outputSchema\"",
    "\"annotations\"",
    "\"readOnlyHint\"",
    "\"_meta\"",
    "\"type\"",
    "\"object\"",
    "\"required\"",
    "\"$ref\"",
    "\"http://x/y\"",
    "{\"type\":\"object\"}",
    "\"t\\u0079pe\"",
];
const RESULT: [&str; 22] = [
    "\"content\"",
    "\"content\"",
    "\"structuredContent\"",
    "\"isError\"",
    "\"_meta\"",
    "\"resultType\"",
    "\"complete\"",
    "\"type\"",
    "\"text\"",
    "\"image\"",
    "\"audio\"",
    "\"resource\"",
    "\"resource_link\"",
    "\"data\"",
    "\"mimeType\"",
    "\"uri\"",
    "\"blob\"",
    "\"AAEC\"",
    "\"AA==\"",
    "\"A\"",
    "{\"type\":\"text\",\"text\":\"x\"}",
    "{\"type\":\"resource\",\"resource\":{\"uri\":\"n://1\",\"text\":\"T\"}}",
];
const META: [&str; 4] = [
    "\"_meta\"",
    "\"io.modelcontextprotocol/protocolVersion\"",
    "\"progressToken\"",
    "1",
];

/// A text around a random core, so that most of them get past the first member.
fn wrapped(random: &mut Random, words: &[&str], frames: &[(&str, &str)]) -> Vec<u8> {
    let (head, tail) = frames[random.below(frames.len())];
    let mut text = head.as_bytes().to_vec();
    text.extend(random.text(words));
    text.extend(tail.as_bytes());
    if random.once_in(3) {
        random.mutate(&mut text);
    }
    text
}

fn is_judged(text: &[u8]) -> bool {
    checked(text).is_ok() && document(text, usize::MAX, &mut Nothing).is_ok()
}

fn is_inside(span: Span, text: &Bytes) {
    if let Some(value) = span.of(text) {
        assert!(value.len() <= text.len());
        assert_eq!(span.slice(text).as_deref(), Some(value));
    }
}

#[test]
fn no_listing_panics_and_a_judged_one_gives_values() {
    const FRAMES: [(&str, &str); 5] = [
        ("{\"tools\":[", "]}"),
        ("{\"tools\":[{\"name\":\"x\",\"inputSchema\":", "}]}"),
        (
            "{\"tools\":[{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"required\":",
            "},\"description\":",
        ),
        ("{\"tools\":[{\"annotations\":{\"readOnlyHint\":", "}}],\"nextCursor\":"),
        ("", ""),
    ];
    let mut random = Random::new(6);
    let mut entries = 0;
    for _ in 0..rounds(4_000) {
        let text = Bytes::from(wrapped(&mut random, &LISTING, &FRAMES));
        let judged = is_judged(&text);
        let start = if random.once_in(8) {
            random.below(text.len() + 1)
        } else {
            0
        };
        let Ok(page) = page(&text, start, judged && start == 0) else {
            continue;
        };
        for entry in &page.entries {
            entries += 1;
            let parts = [
                entry.name,
                entry.title,
                entry.description,
                entry.input_schema,
                entry.output_schema,
                entry.annotations,
                entry.meta,
            ];
            for span in parts {
                is_inside(span, &entry.text);
                let value = span.of(&entry.text).unwrap_or(b"0");
                assert!(!judged || start > 0 || document(value, usize::MAX, &mut Nothing) == Ok((0, value.len())));
            }
            let _ = (entry.name(), entry.warnings(), entry.object_output());
            let _ = entry.fault.as_ref().map(super::listing::Fault::prose);
        }
    }
    assert!(entries > 2_000, "{entries}");
}

#[test]
fn no_result_panics_whatever_shows_it() {
    const FRAMES: [(&str, &str); 5] = [
        ("{\"content\":[", "]}"),
        (
            "{\"content\":[{\"type\":\"text\",\"text\":\"{}\"}],\"structuredContent\":",
            "}",
        ),
        (
            "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"u\",\"blob\":",
            "}}],\"isError\":true}",
        ),
        ("{\"isError\":true,\"structuredContent\":{},\"content\":", "}"),
        ("", ""),
    ];
    let mut random = Random::new(7);
    for _ in 0..rounds(4_000) {
        let text = Bytes::from(wrapped(&mut random, &RESULT, &FRAMES));
        let judged = is_judged(&text);
        let start = if judged { 0 } else { random.below(text.len() + 1) };
        if let Ok(result) = CallResult::read(&text, start) {
            for span in [result.content, result.structured, result.meta] {
                is_inside(span, &result.text);
            }
            for rule in [
                Render::Default,
                Render::Auto,
                Render::Content,
                Render::Structured,
                Render::Both,
            ] {
                let _ = result.render(rule);
            }
            for (start, end) in result.blocks() {
                is_sound(&result.text[start..end]);
            }
            let _ = (result.all_warnings(), result.structured_value());
        }
        is_sound(&text[start..]);
    }
}

fn is_sound(block: &[u8]) {
    let kind = content::read(block);
    let _ = (content::line(&kind, false), content::line(&kind, true));
    if let content::Kind::Media { data, size, .. } = kind {
        assert_eq!(content::decode_base64(data).len(), size);
    }
    if let content::Kind::Resource(content::Resource {
        blob: Some((data, size)),
        ..
    }) = kind
    {
        assert_eq!(content::decode_base64(data).len(), size);
    }
}

#[test]
fn base64_has_the_size_that_was_told() {
    let mut random = Random::new(8);
    let mut accepted = 0;
    for _ in 0..rounds(4_000) {
        let text: String = (0..random.below(14))
            .map(|_| *random.pick(&[&"A", &"z", &"9", &"+", &"\\/", &"=", &"\\u0041"]))
            .collect();
        let _ = content::decode_base64(text.as_bytes());
        if let Some(size) = content::decoded_size(text.as_bytes()) {
            accepted += 1;
            assert_eq!(content::decode_base64(text.as_bytes()).len(), size, "{text}");
        }
    }
    assert!(accepted > 300, "{accepted}");
}

#[test]
fn arguments_are_sent_as_they_came_or_refused_with_a_reason() {
    let mut random = Random::new(9);
    let mut sent = 0;
    for _ in 0..rounds(6_000) {
        let text = wrapped(
            &mut random,
            &LISTING,
            &[("{\"a\":", "}"), ("", ""), ("{\"a\":1,\"b\":[", "]}")],
        );
        match call::check(&text) {
            Ok(checked) => {
                sent += 1;
                let line = call::tools_call(1, b"\"t\"", &checked, b"");
                assert_eq!(line.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count(), 1);
                assert!(checked.starts_with(b"{") && is_judged(&line));
                assert!(*checked == *b"{}" || equal(&checked, &text));
            }
            Err(refusal) => assert!(refusal.prose().len() < 500),
        }
    }
    assert!(sent > 1_000, "{sent}");
}

#[test]
fn no_schema_and_no_meta_panics() {
    let mut random = Random::new(10);
    for _ in 0..rounds(6_000) {
        let text = wrapped(
            &mut random,
            &LISTING,
            &[
                ("{\"type\":\"object\",\"required\":", "}"),
                ("", ""),
                ("{\"$ref\":", "}"),
            ],
        );
        if let Ok((start, end)) = schema::parse(&text) {
            assert_eq!(
                document(&text[start..end], usize::MAX, &mut Nothing),
                Ok((0, end - start))
            );
        }
        let at = random.below(text.len() + 1);
        let (extent, fault) = schema::root(&text, at);
        assert!((at..=text.len()).contains(&extent.end));
        let _ = (
            fault.map(|fault| fault.prose()),
            schema::oddities::warnings(&text),
            schema::has_lone_surrogate(&text),
        );
        let text = wrapped(
            &mut random,
            &META,
            &[
                ("{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":", "}}"),
                ("", ""),
            ],
        );
        if let (Some(learned), true) = (meta::envelope(&text), is_judged(&text)) {
            assert!(is_judged(&[b"{", &learned[..], b"}"].concat()));
        }
    }
}

#[test]
fn a_schema_full_of_oddities_costs_no_more_than_its_size() {
    // Each has its place told by a walk from the start: a hundred thousand of them would take minutes.
    let repeated = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(100_000));
    let remote = format!("[{}0]", "{\"$ref\":\"http://x\"},".repeat(100_000));
    for text in [repeated, remote] {
        let warnings = schema::oddities::warnings(text.as_bytes());
        assert!(
            warnings.len() < 50 && warnings.iter().all(|warning| warning.len() < 1_000),
            "{}",
            warnings.len()
        );
    }
}
