//! Whatever a peer streams: no panic, no growth, the same events however it is cut, and those of a plain reader that
//! has the whole stream before it.

use super::*;
use crate::json::sample::{Random, rounds};

const PIECES: [&[u8]; 30] = [
    b"data: ",
    b"data:",
    b"data: ",
    b"data",
    b"event: message",
    b"event",
    b"id: 1",
    b"id:",
    b"id: \0",
    b"retry: 10",
    b"retry: x",
    b": note",
    b":",
    b"datas: 1",
    b" ",
    b"\n",
    b"\n",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\r\n\r\n",
    b"\xef\xbb\xbf",
    b"\xef",
    b"{\"a\":1}",
    b"{\"a\":",
    b"1}",
    b"\xff",
    b"x",
    b"a longer text that fills a small limit by itself",
];

fn stream(random: &mut Random) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..random.below(40) {
        if random.once_in(30) {
            stream.extend(random.bytes(6));
        }
        stream.extend(random.pick(&PIECES));
    }
    stream
}

type Seen = (Vec<Event>, String, Option<u64>);

fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> Seen {
    let mut events = Events::new(limit);
    let mut seen = Vec::new();
    for chunk in chunks {
        seen.extend(events.feed(chunk));
        assert!(events.kept() <= limit.max(3 * OVERSIZE_CLIP) + NAME);
    }
    seen.extend(events.finish());
    (seen, events.last_id().to_owned(), events.retry())
}

/// The grammar line by line, over the whole text, with nothing of the machine above.
fn plain(stream: &[u8]) -> Seen {
    let stream = stream.strip_prefix(MARK).unwrap_or(stream);
    let (mut lines, mut line, mut at) = (Vec::new(), Vec::new(), 0);
    while at < stream.len() {
        match stream[at] {
            b'\n' => lines.push(std::mem::take(&mut line)),
            b'\r' => {
                lines.push(std::mem::take(&mut line));
                at += usize::from(stream.get(at + 1) == Some(&b'\n'));
            }
            byte => line.push(byte),
        }
        at += 1;
    }
    let (mut seen, mut last_id, mut retry) = (Vec::new(), String::new(), None);
    let (mut name, mut id, mut data) = (String::new(), None, Vec::<Vec<u8>>::new());
    let mut take = |name: &mut String, id: &mut Option<String>, data: &mut Vec<Vec<u8>>, cut| {
        let (name, id, data) = (std::mem::take(name), id.take(), std::mem::take(data));
        if let Some(id) = &id {
            last_id.clone_from(id);
        }
        if !data.is_empty() {
            let data = data.join(&b'\n').into();
            seen.push(Event {
                name,
                data,
                id,
                oversize: None,
                cut,
            });
        }
    };
    for line in lines {
        let (field, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value).to_vec();
        let text = String::from_utf8_lossy(&value).into_owned();
        match field {
            _ if line.is_empty() => take(&mut name, &mut id, &mut data, false),
            b"data" => data.push(value),
            b"event" => name = text,
            b"id" if !value.contains(&0) => id = Some(text),
            b"retry" if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                retry = Some(text.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
    }
    if line.starts_with(b"data:") {
        let value = &line[5..];
        data.push(value.strip_prefix(b" ").unwrap_or(value).to_vec());
    }
    let text = data.join(&b'\n');
    let first = text.trim_ascii_start().first();
    if matches!(first, Some(b'{' | b'['))
        && crate::json::scan::document(&text, 256, &mut crate::json::scan::Nothing).is_ok()
    {
        take(&mut name, &mut id, &mut data, true);
    }
    (seen, last_id, retry)
}

#[test]
fn no_stream_panics_and_no_cut_changes_what_comes_out() {
    let mut random = Random::new(6);
    let mut events = 0;
    for round in 0..rounds(6_000) {
        let stream = stream(&mut random);
        let limit = random.pick(&[&5, &40, &1_000_000]).to_owned();
        let whole = read([&stream[..]], limit);
        events += whole.0.len();
        if limit == 1_000_000 {
            assert_eq!(whole, plain(&stream), "{round}: {:?}", String::from_utf8_lossy(&stream));
        }
        assert_eq!(read(stream.chunks(1 + random.below(9)), limit), whole, "{round}");
        let (mut chunks, mut rest) = (Vec::new(), &stream[..]);
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(random.below(rest.len() + 1));
            chunks.push(chunk);
            rest = after;
        }
        assert_eq!(
            read(chunks, limit),
            whole,
            "{round}: {:?}",
            String::from_utf8_lossy(&stream)
        );
    }
    assert!(events > 3_000, "{events}");
}

#[test]
fn a_flood_of_any_piece_costs_linear_time_and_a_bounded_state() {
    for piece in PIECES.iter().chain(&[
        &b"data: x\n"[..],
        b"data\r",
        b"id: 1\n",
        b"data: x\n\n",
        b"event: x\r\n",
    ]) {
        let stream = piece.repeat((1 << 15) / piece.len());
        for limit in [100, 1 << 24] {
            let whole = read(stream.chunks(8_192), limit);
            assert_eq!(
                read(stream.chunks(1), limit),
                whole,
                "{:?}",
                String::from_utf8_lossy(piece)
            );
        }
    }
}
