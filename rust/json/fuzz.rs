//! Whatever the text: no panic, no hang, no span outside of it; and what is judged valid is walked, compared and
//! pasted alike by every part of the room.

use bytes::Bytes;

use super::equal::equal;
use super::names::Names;
use super::number;
use super::place::path;
use super::raw::RawValue;
use super::sample::{Random, rounds};
use super::scan::{Nothing, Visitor, checked, document};
use super::text::{decode, quote, unescape};
use super::walk::{Elements, Members, skip};
use super::write::{compact, paste};
use crate::error::{Error, Kind};
use crate::limits::DEPTH;

const WORDS: [&str; 5] = [
    "\"a\"",
    "\"\\u0061\"",
    "\"type\"",
    "\"long enough for two words and more\"",
    "\"\"",
];

/// How deep a text nests, by what the scanner tells.
#[derive(Default)]
struct Depth(usize, usize);
impl Visitor for Depth {
    fn open(&mut self, _: bool, _: usize) -> Result<(), Error> {
        self.0 += 1;
        self.1 = self.1.max(self.0);
        Ok(())
    }
    fn close(&mut self) {
        self.0 -= 1;
    }
}

/// Walks everything that can be walked, and asks for each extent in one of three ways.
fn walk(text: &[u8], position: usize, random: &mut Random) -> usize {
    match text.get(position) {
        Some(b'{') => {
            let mut members = Members::new(text, position);
            while let Some((name, value)) = members.next() {
                assert!(value <= text.len());
                let _ = decode(name);
                match random.below(3) {
                    0 => members.resume(walk(text, value, random)),
                    1 => assert!((value..=text.len()).contains(&members.extent().end)),
                    _ => {}
                }
            }
            if members.broken() { text.len() } else { members.finish() }
        }
        Some(b'[') => {
            let mut elements = Elements::new(text, position);
            while let Some(value) = elements.next() {
                match random.below(3) {
                    0 => elements.resume(walk(text, value, random)),
                    1 => assert!((value..=text.len()).contains(&elements.extent().end)),
                    _ => {}
                }
            }
            if elements.broken() {
                text.len()
            } else {
                elements.finish()
            }
        }
        _ => skip(text, position).end,
    }
}

fn is_valid(text: &[u8], start: usize, end: usize, random: &mut Random) {
    let mut depth = Depth::default();
    let mut names = Names::new(text);
    assert_eq!(document(text, usize::MAX, &mut depth), Ok((start, end)));
    assert_eq!(document(text, usize::MAX, &mut names), Ok((start, end)));
    let extent = skip(text, start);
    assert_eq!((extent.end, extent.depth), (end, depth.1));
    assert!(document(text, depth.1, &mut Nothing).is_ok());
    assert!(depth.1 == 0 || document(text, depth.1 - 1, &mut Nothing).is_err_and(|error| error.kind == Kind::TooDeep));
    assert_eq!(walk(text, start, random), end);
    for at in names.repeated.iter().chain(&names.lone_surrogate) {
        let _ = path(text, *at);
    }
    let (mut short, mut again, mut line) = (Vec::new(), Vec::new(), Vec::new());
    compact(text, &mut short);
    compact(&short, &mut again);
    paste(text, &mut line);
    assert_eq!(short, again);
    assert!(!line.contains(&b'\n') && !line.contains(&b'\r') && line.len() == text.len());
    assert!(equal(text, &short) && equal(&line, text));
    let raw = RawValue::parse(&Bytes::copy_from_slice(text), usize::MAX, &mut Nothing).map(|raw| raw.bytes().clone());
    assert_eq!(raw.as_deref(), Ok(&text[start..end]));
    // Each shorter text of a container ends where it should go on, unless it is cut before the value.
    if text[start] == b'{' || text[start] == b'[' {
        let cut = start + random.below(end - start);
        let kind =
            document(&text[..cut], usize::MAX, &mut Nothing).map_or_else(|error| error.kind, |_| Kind::TrailingText);
        assert_eq!(kind, Kind::UnexpectedEnd);
    }
}

#[test]
fn no_text_panics_hangs_or_gives_a_span_outside_of_itself() {
    let mut random = Random::new(1);
    let mut valid = 0;
    for _ in 0..rounds(6_000) {
        let text = random.text(&WORDS);
        let at = random.below(text.len() + 1);
        assert!((at..=text.len()).contains(&skip(&text, at).end));
        walk(&text, at, &mut random);
        assert!(path(&text, at).len() <= crate::limits::CLIP + 3);
        let _ = (
            unescape(&text),
            number::exact(&text),
            number::whole(&text),
            number::equal(&text, &text[at..]),
        );
        let (mut out, mut names) = (Vec::new(), Names::new(&text));
        compact(&text, &mut out);
        let _ = (
            equal(&text, &out),
            equal(&text[at..], &text),
            equal(&random.text(&WORDS), &text),
        );
        match (checked(&text), document(&text, DEPTH, &mut names)) {
            (Ok(_), Ok((start, end))) => {
                valid += 1;
                is_valid(&text, start, end, &mut random);
            }
            (Err(error), _) | (_, Err(error)) => {
                assert!(error.offset <= text.len());
                let _ = path(&text, error.offset);
            }
        }
    }
    assert!(valid > 2_000, "{valid}");
}

#[test]
fn a_number_is_equal_to_every_spelling_of_itself() {
    let mut random = Random::new(2);
    for _ in 0..rounds(5_000) {
        let text = random.number();
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let Ok(exponent) = exponent.trim_start_matches('+').parse::<i64>() else {
            continue;
        };
        let padding = random.below(30);
        let zeros = "0".repeat(padding);
        let shifted = if mantissa.contains('.') {
            format!("{mantissa}{zeros}e{exponent}")
        } else {
            format!(
                "{mantissa}{zeros}E{}",
                exponent - i64::try_from(padding).unwrap_or_default()
            )
        };
        assert!(number::equal(text.as_bytes(), shifted.as_bytes()), "{text} {shifted}");
        let value = number::whole(text.as_bytes());
        assert_eq!(value, number::whole(shifted.as_bytes()), "{text} {shifted}");
        assert!(
            value.is_none_or(|value| number::equal(text.as_bytes(), value.to_string().as_bytes())),
            "{text}"
        );
    }
}

#[test]
fn any_text_survives_quoting() {
    let mut random = Random::new(3);
    for _ in 0..rounds(2_000) {
        let text = String::from_utf8_lossy(&random.text(&WORDS)).into_owned();
        let mut quoted = Vec::new();
        quote(&text, &mut quoted);
        assert_eq!(document(&quoted, 0, &mut Nothing), Ok((0, quoted.len())));
        assert_eq!(decode(&quoted[1..quoted.len() - 1]), text);
    }
}

#[test]
fn a_flood_of_brackets_quotes_and_names_costs_linear_time_and_no_stack() {
    for piece in [
        "[",
        "{",
        "{\"a\":",
        "[{\"a\":[",
        "\"",
        "\\\"",
        "[\"",
        ",",
        "]",
        "{\"\":0,",
        "1",
        "-",
        "{{\"",
        "\"a\":0,\"a\":0,",
    ] {
        let text = piece.repeat(300_000 / piece.len());
        let text = text.as_bytes();
        let mut names = Names::new(text);
        assert!(document(text, DEPTH, &mut names).is_err() || piece == "1");
        let error = document(text, usize::MAX, &mut Names::new(text)).err();
        assert!(error.is_none_or(|error| error.offset <= text.len()));
        assert!(path(text, text.len()).len() <= crate::limits::CLIP + 3);
        assert_eq!(skip(text, text.len()).end, text.len());
        let _ = skip(text, 0);
        Members::new(text, 0).finish();
        Elements::new(text, 0).finish();
        compact(text, &mut Vec::new());
    }
}
