//! The raw client of the serving benches: it keeps calls in flight to any stdio server, checks each answer's text and
//! ids, and parses nothing else. It must cost less than any server that it measures.
//!
//!     press ERA COMMAND…      ERA is 2025-11-25 or 2026-07-28
//!
//! It opens the session, calls `echo` once and prints that answer. Then each line `WINDOW CALLS` on its own stdin makes
//! it call, and print the nanoseconds that they took together.

#![expect(clippy::print_stdout, reason = "the driver of the bench reads this program's stdout")]

use std::env::args;
use std::io::{Error, Read, Result, Write, stdin};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

const CHUNK: usize = 1 << 18;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"press","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"press","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const CALL: &str = r#","method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#;
const CALL_WITH_ENVELOPE: &str = r#","method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"press","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"echo","arguments":{"text":"hello"}}}"#;

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

/// The id of an answer, wherever the server puts it; `None` for a line that answers nothing.
fn id(line: &[u8]) -> Option<u64> {
    let start = find(line, b"\"id\":")? + 5;
    let digits = line[start..].iter().take_while(|byte| byte.is_ascii_digit());
    let id = digits.fold(0, |id, &digit| id * 10 + u64::from(digit - b'0'));
    Some(id)
}

struct Session {
    server: Child,
    input: ChildStdin,
    output: ChildStdout,
    buffer: Vec<u8>,
    filled: usize,
    call: &'static str,
    next: u64,
}

impl Session {
    fn open(era: &str, command: &[String]) -> Result<Self> {
        let mut server = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (server.stdin.take(), server.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(Error::other("no pipes"));
        };
        let legacy = era == "2025-11-25";
        let mut session = Self {
            server,
            input,
            output,
            buffer: vec![0; CHUNK],
            filled: 0,
            call: if legacy { CALL } else { CALL_WITH_ENVELOPE },
            next: 1_000_000_001,
        };
        let opening = if legacy { INITIALIZE } else { DISCOVER };
        session.input.write_all(format!("{opening}\n").as_bytes())?;
        session.answers(|line| id(line) == Some(0))?;
        if legacy {
            session.input.write_all(format!("{INITIALIZED}\n").as_bytes())?;
        }
        Ok(session)
    }

    /// Reads once, hands each whole line to `each`; how many of them it took for an answer.
    fn read(&mut self, mut each: impl FnMut(&[u8]) -> bool) -> Result<u64> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        let count = self.output.read(&mut self.buffer[self.filled..])?;
        if count == 0 {
            return Err(Error::other("the server has closed its output"));
        }
        let fresh = self.filled;
        self.filled += count;
        let Some(last) = self.buffer[fresh..self.filled].iter().rposition(|&byte| byte == b'\n') else {
            return Ok(0);
        };
        let whole = fresh + last + 1;
        let mut taken = 0;
        for line in self.buffer[..whole - 1].split(|&byte| byte == b'\n') {
            taken += u64::from(each(line));
        }
        self.buffer.copy_within(whole..self.filled, 0);
        self.filled -= whole;
        Ok(taken)
    }

    fn answers(&mut self, mut each: impl FnMut(&[u8]) -> bool) -> Result<()> {
        while self.read(&mut each)? == 0 {}
        Ok(())
    }

    fn send(&mut self, calls: u64) -> Result<()> {
        let mut out = Vec::new();
        for _ in 0..calls {
            writeln!(out, "{{\"jsonrpc\":\"2.0\",\"id\":{}{}", self.next, self.call)?;
            self.next += 1;
        }
        self.input.write_all(&out)
    }

    /// The nanoseconds of `calls` calls, `window` in flight.
    fn run(&mut self, window: u64, calls: u64) -> Result<u128> {
        let (mut sent, mut answered, mut sum, mut wrong) = (window.min(calls), 0, 0, None);
        let due = (self.next..self.next + calls).sum::<u64>();
        let began = Instant::now();
        self.send(sent)?;
        while answered < calls {
            let taken = self.read(|line| {
                let Some(id) = id(line) else { return false };
                sum += id;
                if find(line, b"\"text\":\"hello\"").is_none() {
                    wrong.get_or_insert_with(|| line.to_vec());
                }
                true
            })?;
            answered += taken;
            let more = taken.min(calls - sent);
            if more > 0 {
                self.send(more)?;
                sent += more;
            }
        }
        let took = began.elapsed().as_nanos();
        if let Some(line) = wrong {
            return Err(Error::other(String::from_utf8_lossy(&line)));
        }
        if sum != due {
            return Err(Error::other("a call was answered twice, or not at all"));
        }
        Ok(took)
    }
}

fn main() -> Result<()> {
    let arguments: Vec<_> = args().skip(1).collect();
    let mut session = Session::open(&arguments[0], &arguments[1..])?;
    let first = session.next;
    session.send(1)?;
    session.answers(|line| {
        let answer = id(line) == Some(first);
        if answer {
            println!("{}", String::from_utf8_lossy(line));
        }
        answer
    })?;
    for line in stdin().lines() {
        let line = line?;
        let mut words = line.split(' ').map(str::parse);
        let (Some(Ok(window)), Some(Ok(calls))) = (words.next(), words.next()) else {
            return Err(Error::other("WINDOW CALLS"));
        };
        println!("{}", session.run(window, calls)?);
    }
    drop(session.input);
    session.server.wait()?;
    Ok(())
}
