use super::*;

/// Each event as `name|id|data`, and what marks it.
fn shown(event: &Event) -> String {
    let data = String::from_utf8_lossy(&event.data);
    let over = event.oversize.map_or(String::new(), |size| format!(" over:{size}"));
    let id = event.id.as_deref().unwrap_or("-");
    format!(
        "{}|{id}|{data}{over}{}",
        event.name,
        if event.cut { " cut" } else { "" }
    )
}

fn read(stream: &[u8], split: usize, limit: usize) -> (Vec<String>, String, Option<u64>) {
    let mut events = Events::new(limit);
    let mut seen = Vec::new();
    for chunk in stream.chunks(split) {
        seen.extend(events.feed(chunk));
    }
    seen.extend(events.finish());
    assert!(events.finish().is_none(), "an end is told once");
    assert_eq!(events.kept(), 0);
    (
        seen.iter().map(shown).collect(),
        events.last_id().to_owned(),
        events.retry(),
    )
}

/// The stream gives these events, whole and cut in every size.
#[track_caller]
fn gives(stream: &str, expected: &[&str]) {
    for split in 1..=stream.len() {
        let (seen, _, _) = read(stream.as_bytes(), split, 1000);
        assert_eq!(seen, expected, "by {split}: {stream:?}");
    }
}

/// The stream leaves this id behind, and this time to wait.
#[track_caller]
fn leaves(stream: &str, id: &str, retry: Option<u64>) {
    for split in 1..=stream.len() {
        let (_, last_id, wait) = read(stream.as_bytes(), split, 1000);
        assert_eq!((&last_id[..], wait), (id, retry), "by {split}: {stream:?}");
    }
}

#[test]
fn a_line_ends_with_cr_lf_or_both_in_any_mix() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = ["event: a", "data: 1", "", "data: 2", "data: 3", "", ""].join(end);
        gives(&stream, &["a|-|1", "|-|2\n3"]);
    }
    gives(
        "data: 1\r\ndata: 2\rdata: 3\n\r\ndata: 4\r\rdata: 5\n\n",
        &["|-|1\n2\n3", "|-|4", "|-|5"],
    );
}

#[test]
fn an_event_is_given_at_once_although_a_line_feed_may_follow_its_last_carriage_return() {
    let mut events = Events::new(100);
    assert_eq!(events.feed(b"data: 1\r\n\r").len(), 1);
    assert!(events.feed(b"\n").is_empty());
    assert_eq!(events.feed(b"data: 2\n\n").len(), 1);
}

#[test]
fn one_byte_order_mark_is_dropped_at_the_start_and_nowhere_else() {
    gives("\u{FEFF}data: 1\n\n", &["|-|1"]);
    gives("\u{FEFF}\u{FEFF}data: 1\n\ndata: 2\n\n", &["|-|2"]);
    gives("data: \u{FEFF}1\n\n\u{FEFF}data: 2\n\n", &["|-|\u{FEFF}1"]);
    for half in [&b"\xef"[..], b"\xef\xbb", b"\xef\xbbx", b"\xefdata: 0"] {
        let stream = [half, b"\ndata: 1\n\n"].concat();
        for split in 1..=stream.len() {
            assert_eq!(read(&stream, split, 100).0, ["|-|1"], "{half:?} by {split}");
        }
    }
}

#[test]
fn comments_and_unknown_fields_are_nothing() {
    gives(
        ": ping\n\n:\ndata: 1\n:data: 2\nx: y\ndatum: 3\n data: 4\nDATA: 5\ndata : 6\nretrys: 7\nevents\n\n",
        &["|-|1"],
    );
}

#[test]
fn one_space_behind_the_colon_is_dropped() {
    gives(
        "data:1\n\ndata: 1\n\ndata:  1\n\ndata:\t1\n\ndata:1 \n\n",
        &["|-|1", "|-|1", "|-| 1", "|-|\t1", "|-|1 "],
    );
    gives("data: a: b\n\n", &["|-|a: b"]);
}

#[test]
fn a_field_without_a_colon_has_an_empty_value() {
    gives(
        "data\n\ndata\ndata\n\nevent: a\nevent\ndata: 1\n\n",
        &["|-|", "|-|\n", "|-|1"],
    );
}

#[test]
fn an_event_without_data_is_none_and_takes_its_name_with_it() {
    gives("event: a\n\ndata: 1\n\n\n\n", &["|-|1"]);
}

#[test]
fn an_id_counts_when_its_event_ends_and_stays_until_the_next() {
    leaves("id: 1\n\n", "1", None);
    leaves("id: 1\ndata: x\n\ndata: y\n\n", "1", None);
    leaves("id: 1\n\nid: 2\ndata: x\n", "1", None);
    leaves("id: 1\n\nid\n\n", "", None);
    leaves("id: 1\n\nid:\ndata\n\n", "", None);
    leaves("id: 1\nid: 2\n\n", "2", None);
    leaves("id: 1\n\nid: 2\0\n\n", "1", None);
    gives(
        "id: 1\ndata: x\n\ndata: y\n\nid:\ndata: z\n\n",
        &["|1|x", "|-|y", "||z"],
    );
}

#[test]
fn a_time_to_wait_is_digits() {
    leaves("retry: 1500\n", "", Some(1500));
    leaves("retry: 1\nretry: 002\n", "", Some(2));
    for odd in ["", " 5", "+5", "-5", "5.0", "5s", "٥"] {
        leaves(&format!("retry: 7\nretry: {odd}\n\n"), "", Some(7));
    }
    leaves(&format!("retry: {}\n", "9".repeat(30)), "", Some(u64::MAX));
    leaves("retry: 15", "", None);
}

#[test]
fn what_the_end_cut_is_given_if_it_is_one_whole_json_value() {
    gives("data: {\"a\":1}\n", &["|-|{\"a\":1} cut"]);
    gives(
        "event: e\nid: 4\ndata: {\"a\":\r\ndata: [1]}",
        &["e|4|{\"a\":\n[1]} cut"],
    );
    gives("data: {}\nda", &["|-|{} cut"]);
    gives("data: {}\ndata:", &["|-|{}\n cut"]);
    leaves("id: 4\ndata: {}", "4", None);
}

#[test]
fn what_the_end_cut_is_dropped_if_a_byte_may_be_missing() {
    for cut in [
        "data: {\"a\":1",
        "data: {}\ndata: x",
        "data: 12\n",
        "data: [DONE]\n",
        "data",
        "data: \n",
        "data: \"a\"\n",
    ] {
        gives(cut, &[]);
        leaves(&format!("id: 1\n\nid: 2\n{cut}"), "1", None);
    }
    // An id or a name may have been longer.
    gives("data: {}\nid: 4", &["|-|{} cut"]);
    gives("data: {}\nevent: mes", &["|-|{} cut"]);
}

#[test]
fn bytes_that_are_no_utf_8_are_data_too() {
    let (seen, _, _) = read(b"data: \xff\x00\xc3\n\n", 1, 100);
    assert_eq!(seen, ["|-|\u{FFFD}\0\u{FFFD}"]);
    assert_eq!(
        Events::new(9).feed(b"data: \xff\x00\xc3\n\n")[0].data[..],
        b"\xff\x00\xc3"[..]
    );
}

#[test]
fn an_event_over_the_limit_is_told_in_its_place_and_the_next_one_stands() {
    let stream = "data: 12345\n\nid: 7\ndata: 123\ndata: 45\n\ndata: 12\n\ndata: 123456";
    for split in 1..=stream.len() {
        let (seen, id, _) = read(stream.as_bytes(), split, 5);
        assert_eq!(
            seen,
            ["|-|12345", "|7|123\n45 over:7", "|-|12", "|-|123456 over:6 cut"],
            "{split}"
        );
        assert_eq!(id, "7");
    }
}

#[test]
fn names_and_ids_count_toward_the_limit_and_comments_do_not() {
    let long = "x".repeat(2 * OVERSIZE_CLIP);
    for split in [1, 7, 100_000] {
        let (seen, id, _) = read(format!(":{long}\n{long}: {long}\ndata: 1\n\n").as_bytes(), split, 5);
        assert_eq!((&seen[..], &id[..]), (&["|-|1".to_owned()][..], ""));
        let (seen, id, _) = read(format!("event: {long}\nid: {long}\nid: 3\n\n").as_bytes(), split, 5);
        assert_eq!(
            (&seen[..], &id[..]),
            (&[format!("|3| over:{}", 2 * long.len() + 1)][..], "3")
        );
    }
}

#[test]
fn an_event_over_the_limit_keeps_its_ends() {
    let (head, tail) = ("h".repeat(OVERSIZE_CLIP), "t".repeat(OVERSIZE_CLIP));
    let stream = format!("data: {head}{}{tail}\n\n", "-".repeat(100_000));
    for split in [1, 1000, stream.len()] {
        let mut events = Events::new(50_000);
        let mut seen = Vec::new();
        for chunk in stream.as_bytes().chunks(split) {
            seen.extend(events.feed(chunk));
            assert!(events.kept() <= 50_000);
        }
        assert_eq!(
            seen[0].data[..],
            *[head.as_bytes(), tail.as_bytes()].concat(),
            "{split}"
        );
        assert_eq!(seen[0].oversize, Some(100_000 + 2 * OVERSIZE_CLIP));
    }
}

#[test]
fn another_stream_may_follow_the_end_of_one() {
    let mut events = Events::new(100);
    events.feed(b"id: 1\nretry: 5\ndata: x\n\ndata: y");
    assert!(events.finish().is_none());
    let seen = events.feed("\u{FEFF}data: z\n\n".as_bytes());
    assert_eq!(seen.iter().map(shown).collect::<Vec<_>>(), ["|-|z"]);
    assert_eq!((events.last_id(), events.retry()), ("1", Some(5)));
}
