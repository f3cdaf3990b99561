//! How chunks become lines: the crate's `Lines`, and what it was chosen over, on one line of 64 MiB and on many short
//! ones. A pipe gives at most 64 KiB at a time.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use _core::limits::LINE;
use _core::wire::inbound::Inbound;
use _core::wire::lines::{Line, Lines};
use bytes::BytesMut;
use common::{megabytes_per_second, race};

const CHUNK: usize = 64 * 1024;
const MIB: usize = 1024 * 1024;

/// Every candidate gives the number of lines, and of bytes in them.
type Seen = (usize, usize);

/// Looks for the newline in each chunk once; keeps a started line in one vector; lends a line that lies whole in a chunk.
fn own(stream: &[u8]) -> Seen {
    let mut lines = Lines::new(LINE);
    let mut seen = (0, 0);
    for chunk in stream.chunks(CHUNK) {
        let mut rest = chunk;
        while let Some(Line::Whole(text)) = lines.cut(&mut rest) {
            seen = (seen.0 + 1, seen.1 + black_box(text.bytes()).len());
        }
    }
    seen
}

/// Keeps the chunks of a started line in a list and joins them at its end.
fn join(stream: &[u8]) -> Seen {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut seen = (0, 0);
    for chunk in stream.chunks(CHUNK) {
        let mut rest = chunk;
        while let Some(newline) = memchr::memchr(b'\n', rest) {
            parts.push(rest[..newline].to_vec());
            seen = (seen.0 + 1, seen.1 + black_box(parts.concat()).len());
            parts.clear();
            rest = &rest[newline + 1..];
        }
        parts.push(rest.to_vec());
    }
    seen
}

/// Appends each chunk to one buffer and splits lines off its front, from where the last search stopped.
fn split(stream: &[u8]) -> Seen {
    let mut buffer = BytesMut::new();
    let mut searched = 0;
    let mut seen = (0, 0);
    for chunk in stream.chunks(CHUNK) {
        buffer.extend_from_slice(chunk);
        while let Some(newline) = memchr::memchr(b'\n', &buffer[searched..]) {
            let line = buffer.split_to(searched + newline + 1).freeze();
            seen = (seen.0 + 1, seen.1 + black_box(line).len() - 1);
            searched = 0;
        }
        searched = buffer.len();
    }
    seen
}

/// Appends each chunk and searches the whole buffer again, as the SDK's text buffer does.
fn again(stream: &[u8]) -> Seen {
    let mut buffer = Vec::new();
    let mut seen = (0, 0);
    for chunk in stream.chunks(CHUNK) {
        buffer.extend_from_slice(chunk);
        while let Some(newline) = memchr::memchr(b'\n', &buffer) {
            let line: Vec<u8> = buffer.drain(..=newline).collect();
            seen = (seen.0 + 1, seen.1 + black_box(line).len() - 1);
        }
    }
    seen
}

/// The whole way to frames: lines, UTF-8, JSON, envelope.
fn frames(stream: &[u8]) -> Seen {
    let mut inbound = Inbound::new(LINE);
    let mut seen = (0, 0);
    for chunk in stream.chunks(CHUNK) {
        for frame in inbound.feed(chunk) {
            seen = (seen.0 + 1, seen.1 + black_box(frame).text.len());
        }
    }
    seen
}

/// One answer whose text is so long that the line has `length` bytes and its newline.
fn one_line(length: usize) -> Vec<u8> {
    let (head, tail) = (
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#,
        "\"}]}}\n",
    );
    let text = "The quick brown fox jumps over the lazy dog. ".bytes().cycle();
    let mut line = head.as_bytes().to_vec();
    line.extend(text.take(length + 1 - head.len() - tail.len()));
    line.extend_from_slice(tail.as_bytes());
    line
}

/// What the first such line of a fresh process costs: its memory is new, so the kernel has to give each page.
fn cold(mib: usize) -> Duration {
    let own_path = std::env::current_exe().expect("this program has a path");
    let run = || {
        let output = std::process::Command::new(&own_path)
            .arg(mib.to_string())
            .output()
            .expect("it starts");
        Duration::from_nanos(
            String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse()
                .expect("a number"),
        )
    };
    (0..5).map(|_| run()).min().expect("five runs")
}

fn main() {
    if let Some(mib) = std::env::args().nth(1) {
        let stream = one_line(mib.parse::<usize>().expect("a number of MiB") * MIB - 1);
        let start = Instant::now();
        assert_eq!(frames(black_box(&stream)), (1, stream.len() - 1));
        return println!("{}", start.elapsed().as_nanos());
    }
    let answer = String::from_utf8(one_line(299)).expect("ASCII");
    let inputs = [
        ("one line of 16 MiB", one_line(16 * MIB)),
        ("one line of 64 MiB", one_line(64 * MIB - 1)),
        (
            "1 MB of lines of 300 bytes",
            answer.repeat(1_000_000 / answer.len()).into_bytes(),
        ),
    ];
    for (title, stream) in &inputs {
        let count = memchr::memchr_iter(b'\n', stream).count();
        let expected = (count, stream.len() - count);
        println!("{title}: {} bytes in chunks of {CHUNK}", stream.len());
        let mut named: Vec<(&str, fn(&[u8]) -> Seen)> = vec![
            ("Lines", own),
            ("a list of chunks, joined", join),
            ("BytesMut, split off", split),
            ("Inbound: lines to frames", frames),
        ];
        if stream.len() < 20 * MIB {
            named.push(("searching again (quadratic)", again));
        }
        let mut candidates: Vec<(&str, Box<dyn FnMut() + '_>)> = Vec::new();
        for (name, candidate) in named {
            candidates.push((
                name,
                Box::new(move || assert_eq!(candidate(black_box(stream)), expected)),
            ));
        }
        let times = race(&mut candidates, Duration::from_secs(3));
        for ((name, _), time) in candidates.iter().zip(times) {
            let rate = megabytes_per_second(stream.len(), time);
            println!("  {name:<30} {:>9.3} ms {rate:>7.0} MB/s", time.as_secs_f64() * 1e3);
        }
        println!();
    }
    let (quarter, whole) = (cold(16), cold(64));
    println!("the first line of a fresh process, to a frame: 16 MiB {quarter:.1?}, 64 MiB {whole:.1?}");
    println!(
        "64 MiB cost {:.1} times what 16 MiB cost",
        whole.as_secs_f64() / quarter.as_secs_f64()
    );
}
