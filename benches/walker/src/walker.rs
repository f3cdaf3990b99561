//! What walks: the crate's own scanner and walk, `jiter`, and `serde_json`'s `RawValue`, from a listing's line to
//! the span of each entry and of each input schema. They must agree before anything is timed.

mod common;

use std::hint::black_box;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use _core::json::scan::{self, Nothing, checked, document, whitespace};
use _core::json::walk::{Elements, Members, skip_string};
use _core::mcp::listing;
use _core::wire::envelope;
use bytes::Bytes;
use common::{megabytes_per_second, race};
use jiter::{Jiter, Peek};
use serde::Deserialize;
use serde_json::value::RawValue;

/// An entry, and its input schema.
type Spans = Vec<(Range<usize>, Range<usize>)>;

const DEPTH: usize = 256;

/// The crate: judge the line once, then walk by quotes and brackets.
fn own(line: &[u8]) -> Option<Spans> {
    checked(line).ok()?;
    let (start, _) = document(line, DEPTH, &mut Nothing).ok()?;
    walk(line, start)
}

fn walk(line: &[u8], start: usize) -> Option<Spans> {
    let mut spans = Vec::new();
    let mut message = Members::new(line, start);
    while let Some((name, result)) = message.next() {
        if name != b"result" {
            continue;
        }
        let mut members = Members::new(line, result);
        while let Some((name, tools)) = members.next() {
            if name != b"tools" {
                continue;
            }
            let mut elements = Elements::new(line, tools);
            while let Some(entry) = elements.next() {
                let mut schema = 0..0;
                let mut parts = Members::new(line, entry);
                while let Some((name, value)) = parts.next() {
                    if name == b"inputSchema" {
                        schema = value..parts.extent().end;
                    }
                }
                let end = parts.finish();
                spans.push((entry..end, schema));
                elements.resume(end);
            }
            members.resume(elements.finish());
        }
        message.resume(members.finish());
    }
    (!message.broken()).then_some(spans)
}

/// The same in one go, judging on the way; nobody may look at a span before the line's end is reached.
fn own_at_once(line: &[u8]) -> Option<Spans> {
    checked(line).ok()?;
    let mut spans = Vec::new();
    let end = object(line, whitespace(line, 0), |name, value| match name {
        b"result" => object(line, value, |name, value| match name {
            b"tools" if line.get(value) == Some(&b'[') => {
                let mut position = whitespace(line, value + 1);
                while line.get(position) != Some(&b']') {
                    let start = position;
                    let mut schema = 0..0;
                    let end = object(line, start, |name, value| {
                        let end = scan::value(line, value, DEPTH, &mut Nothing).ok()?;
                        if name == b"inputSchema" {
                            schema = value..end;
                        }
                        Some(end)
                    })?;
                    spans.push((start..end, schema));
                    position = whitespace(line, end);
                    match line.get(position) {
                        Some(b',') => position = whitespace(line, position + 1),
                        Some(b']') => {}
                        _ => return None,
                    }
                }
                Some(position + 1)
            }
            _ => scan::value(line, value, DEPTH, &mut Nothing).ok(),
        }),
        _ => scan::value(line, value, DEPTH, &mut Nothing).ok(),
    })?;
    (whitespace(line, end) == line.len()).then_some(spans)
}

/// Judges the object at `start`; `value` takes each member and gives the offset behind it.
fn object<'a>(line: &'a [u8], start: usize, mut value: impl FnMut(&'a [u8], usize) -> Option<usize>) -> Option<usize> {
    let mut position = whitespace(line, start + 1);
    if line.get(start) != Some(&b'{') {
        return None;
    }
    if line.get(position) == Some(&b'}') {
        return Some(position + 1);
    }
    loop {
        let name = position;
        let colon = scan::name(line, name, &mut Nothing).ok()?;
        let written = &line[name + 1..skip_string(line, name) - 1];
        position = whitespace(line, value(written, whitespace(line, colon))?);
        match line.get(position) {
            Some(b',') => position = whitespace(line, position + 1),
            Some(b'}') => return Some(position + 1),
            _ => return None,
        }
    }
}

/// The same through `jiter`, which checks grammar as it skips. It leaves UTF-8 to the caller.
fn jiter(line: &[u8], utf8: bool) -> Option<Spans> {
    if utf8 {
        checked(line).ok()?;
    }
    let mut spans = Vec::new();
    let mut reader = Jiter::new(line);
    let mut key = reader.next_object().ok()?.map(|key| key == "result");
    while let Some(result) = key {
        let peek = reader.peek().ok()?;
        if result && peek == Peek::Object {
            let mut key = reader.known_object().ok()?.map(|key| key == "tools");
            while let Some(tools) = key {
                let peek = reader.peek().ok()?;
                if tools && peek == Peek::Array {
                    let mut element = reader.known_array().ok()?;
                    while let Some(peek) = element {
                        spans.push(jiter_entry(&mut reader, peek)?);
                        element = reader.array_step().ok()?;
                    }
                } else {
                    reader.known_skip(peek).ok()?;
                }
                key = reader.next_key().ok()?.map(|key| key == "tools");
            }
        } else {
            reader.known_skip(peek).ok()?;
        }
        key = reader.next_key().ok()?.map(|key| key == "result");
    }
    reader.finish().ok()?;
    Some(spans)
}

/// As the core works: the line is judged when it comes, its entries are asked for later.
fn jiter_twice(line: &[u8]) -> Option<Spans> {
    checked(line).ok()?;
    let mut reader = Jiter::new(line);
    reader.next_skip().ok()?;
    reader.finish().ok()?;
    jiter(line, false)
}

fn jiter_entry(reader: &mut Jiter<'_>, peek: Peek) -> Option<(Range<usize>, Range<usize>)> {
    let start = reader.current_index();
    let mut schema = 0..0;
    if peek != Peek::Object {
        return None;
    }
    let mut key = reader.known_object().ok()?.map(|key| key == "inputSchema");
    while let Some(wanted) = key {
        let peek = reader.peek().ok()?;
        let value = reader.current_index();
        reader.known_skip(peek).ok()?;
        if wanted {
            schema = value..reader.current_index();
        }
        key = reader.next_key().ok()?.map(|key| key == "inputSchema");
    }
    Some((start..reader.current_index(), schema))
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    result: Tools<'a>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    result: &'a RawValue,
}

#[derive(Deserialize)]
struct Tools<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    #[serde(borrow)]
    input_schema: &'a RawValue,
}

/// The same through `serde_json`, which checks grammar and UTF-8 as it skips, and each entry twice.
fn raw_value(line: &[u8]) -> Option<Spans> {
    let message: Message<'_> = serde_json::from_str(checked(line).ok()?).ok()?;
    spans_of(line, &message.result)
}

fn spans_of(line: &[u8], listing: &Tools<'_>) -> Option<Spans> {
    let span = |part: &str| {
        let start = part.as_ptr() as usize - line.as_ptr() as usize;
        start..start + part.len()
    };
    let entries = listing.tools.iter().map(|entry| {
        let tool: Tool<'_> = serde_json::from_str(entry.get()).ok()?;
        Some((span(entry.get()), span(tool.input_schema.get())))
    });
    entries.collect()
}

/// As the core works: the envelope's members first, what is in the result later.
fn raw_value_twice(line: &[u8]) -> Option<Spans> {
    let message: Envelope<'_> = serde_json::from_str(checked(line).ok()?).ok()?;
    let tools: Tools<'_> = serde_json::from_str(message.result.get()).ok()?;
    spans_of(line, &tools)
}

/// The real listings, a line each; empty where the corpus does not stand.
fn corpus() -> Vec<Vec<u8>> {
    let root = std::env::var_os("TOOLWIRE_CORPUS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
        PathBuf::from,
    );
    let Ok(folder) = std::fs::read_dir(root.join("listings")) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = folder.filter_map(Result::ok).map(|file| file.path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            std::fs::read(path)
                .expect("a file of the corpus")
                .trim_ascii_end()
                .to_vec()
        })
        .collect()
}

/// One listing of 1,000 tools of about 120 bytes each.
fn minimal() -> Vec<u8> {
    let tools: Vec<_> = (0..1000)
        .map(|index| {
            format!(
                r#"{{"name":"tool_{index:04}","description":"Adds two.","inputSchema":{{"type":"object","properties":{{"a":{{"type":"number"}}}}}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#,
        tools.join(",")
    )
    .into_bytes()
}

fn main() {
    let wanted = std::env::args().nth(1);
    let corpus = corpus();
    let minimal = vec![minimal()];
    if corpus.is_empty() {
        println!("the corpus is not here: the minimal listing alone");
    }
    for (title, lines) in [("corpus", &corpus), ("minimal", &minimal)] {
        if lines.is_empty() {
            continue;
        }
        let mut tools = 0;
        for line in lines {
            let spans = own(line).expect("a listing");
            assert_eq!(Some(&spans), own_at_once(line).as_ref());
            assert_eq!(Some(&spans), jiter(line, true).as_ref());
            assert_eq!(Some(&spans), raw_value(line).as_ref());
            assert!(spans.iter().all(|(_, schema)| line[schema.start] == b'{'));
            tools += spans.len();
        }
        let bytes: usize = lines.iter().map(Vec::len).sum();
        println!(
            "{title}: {} listings, {tools} tools, {bytes} bytes; all three give the same spans",
            lines.len()
        );
        let shared: Vec<_> = lines.iter().map(|line| Bytes::copy_from_slice(line)).collect();
        let each = |run: &dyn Fn(&[u8])| lines.iter().for_each(|line| run(black_box(line)));
        let mut candidates: Vec<(&str, Box<dyn FnMut() + '_>)> = vec![
            (
                "toolwire: judge on the way",
                Box::new(|| each(&|line| drop(black_box(own_at_once(line))))),
            ),
            (
                "jiter: skip, UTF-8 beside it",
                Box::new(|| each(&|line| drop(black_box(jiter(line, true))))),
            ),
            (
                "serde_json: RawValue",
                Box::new(|| each(&|line| drop(black_box(raw_value(line))))),
            ),
            ("", Box::new(|| {})),
            (
                "toolwire: judge, then walk",
                Box::new(|| each(&|line| drop(black_box(own(line))))),
            ),
            (
                "jiter: skip, then again",
                Box::new(|| each(&|line| drop(black_box(jiter_twice(line))))),
            ),
            (
                "serde_json: RawValue, then again",
                Box::new(|| each(&|line| drop(black_box(raw_value_twice(line))))),
            ),
            ("", Box::new(|| {})),
            (
                "UTF-8 alone",
                Box::new(|| each(&|line| assert!(black_box(checked(line)).is_ok()))),
            ),
            (
                "toolwire: judge alone",
                Box::new(|| each(&|line| assert!(black_box(document(line, DEPTH, &mut Nothing)).is_ok()))),
            ),
            (
                "toolwire: walk alone",
                Box::new(|| each(&|line| drop(black_box(walk(line, 0))))),
            ),
            (
                "jiter: skip alone",
                Box::new(|| each(&|line| drop(black_box(jiter(line, false))))),
            ),
            (
                "toolwire: line to page, as shipped",
                Box::new(|| {
                    for line in &shared {
                        checked(line).expect("UTF-8");
                        let (message, _) = envelope::read(black_box(line), 0).expect("a message");
                        let start = message.result.map_or(0, |span| span.start);
                        drop(black_box(listing::page(line, start, true)));
                    }
                }),
            ),
        ];
        // `walker "judge alone"` runs that one alone, for a profiler.
        if let Some(wanted) = &wanted {
            candidates.retain(|(name, _)| name.contains(wanted.as_str()));
        }
        let times = race(&mut candidates, Duration::from_secs(4));
        for ((name, _), time) in candidates.iter().zip(times) {
            if name.is_empty() {
                println!();
            } else {
                println!("  {name:<36} {:>6.0} MB/s", megabytes_per_second(bytes, time));
            }
        }
        println!();
    }
    println!("accepted by toolwire, jiter, serde_json:");
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    for (name, schema) in [
        (
            "1E400, -0, 30 digits",
            "[1E400,-0,123456789012345678901234567890]".to_owned(),
        ),
        ("half a surrogate pair", r#""\ud800""#.to_owned()),
        ("120 levels", deep(120)),
        ("190 levels", deep(190)),
        ("240 levels", deep(240)),
    ] {
        let line = format!(r#"{{"result":{{"tools":[{{"inputSchema":{schema}}}]}}}}"#).into_bytes();
        let answers = [
            own(&line).is_some(),
            jiter(&line, true).is_some(),
            raw_value(&line).is_some(),
        ];
        println!(
            "  {name:<36} {}",
            answers.map(|yes| if yes { "yes" } else { "no" }).join(", ")
        );
    }
}
