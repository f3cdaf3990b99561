//! The raw side of the benches: an MCP server that writes exact bytes, and a client that only counts lines.
//! Both eras, no JSON parser, one read and one write a batch. It must cost less than any client that it measures.
//!
//!     echo [LISTING]                  serves on stdin and stdout; LISTING is a file with the result of `tools/list`
//!     echo --awake                    the same, and looks for its next line for 100 µs before it sleeps
//!     echo --client WINDOW CALLS      starts itself as the server; prints the nanoseconds of all calls
//!
//! Tools: `echo` gives its argument `text` back (no escapes in it), `big` a line of exactly `size` bytes.

use std::env::args;
use std::fs::{File, read};
use std::hint::spin_loop;
use std::io::{ErrorKind, Read, Result, Write, stdin, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CHUNK: usize = 1 << 18;
const VIGIL: Duration = Duration::from_micros(100);
/// Linux's own, so that no crate is needed for it.
const O_NONBLOCK: i32 = 0o4000;
const TOOLS: &[u8] = br#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"big","inputSchema":{"type":"object","properties":{"size":{"type":"integer"}}}}]"#;

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

/// The bytes between the first `opening` and the `closing` behind it.
fn between<'a>(text: &'a [u8], opening: &[u8], closing: &[u8]) -> Option<&'a [u8]> {
    let start = find(text, opening)? + opening.len();
    let length = text[start..].iter().position(|byte| closing.contains(byte))?;
    Some(&text[start..start + length])
}

struct Server {
    tools: Vec<u8>,
    complete: &'static [u8],
    out: Vec<u8>,
}

impl Server {
    fn line(&mut self, line: &[u8]) {
        let Some(method) = between(line, b"\"method\":\"", b"\"") else {
            return;
        };
        let Some(id) = between(line, b"\"id\":", b",}") else {
            return;
        };
        let start = self.out.len();
        self.put(&[b"{\"jsonrpc\":\"2.0\",\"id\":", id, b",\"result\":"]);
        match method {
            b"tools/call" => self.call(line, start),
            b"tools/list" => {
                let tools = std::mem::take(&mut self.tools);
                self.put(&[&tools, self.complete, cached(self.complete), b"}"]);
                self.tools = tools;
            }
            b"initialize" => self.put(&[br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#]),
            b"server/discover" => {
                self.complete = b",\"resultType\":\"complete\"";
                self.put(&[br#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1"}}}"#]);
            }
            _ => self.put(&[b"{}"]),
        }
        self.put(&[b"}\n"]);
    }

    fn call(&mut self, line: &[u8], start: usize) {
        self.put(&[b"{\"content\":[{\"type\":\"text\",\"text\":\""]);
        if let Some(text) = between(line, b"\"text\":\"", b"\"") {
            self.put(&[text]);
        } else {
            let size = between(line, b"\"size\":", b",}").and_then(|size| str::from_utf8(size).ok()?.parse().ok());
            let end = b"\"}]".len() + self.complete.len() + b"}}".len();
            self.out.resize(
                (start + size.unwrap_or(0)).saturating_sub(end).max(self.out.len()),
                b'x',
            );
        }
        self.put(&[b"\"}]", self.complete, b"}"]);
    }

    fn put(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.out.extend_from_slice(part);
        }
    }
}

/// What a listing of 2026-07-28 says about caching.
fn cached(complete: &[u8]) -> &'static [u8] {
    if complete.is_empty() {
        b""
    } else {
        b",\"ttlMs\":0,\"cacheScope\":\"private\""
    }
}

/// Hands each whole line to `each`, and what `reply` gives to `output` after every read; ends with the input or with `done`.
fn pump<S>(
    mut input: impl Read,
    mut output: File,
    state: &mut S,
    each: fn(&mut S, &[u8]),
    reply: fn(&mut S) -> &mut Vec<u8>,
    done: fn(&S) -> bool,
) -> Result<()> {
    let (mut buffer, mut filled) = (vec![0; CHUNK], 0);
    while !done(state) {
        output.write_all(reply(state))?;
        reply(state).clear();
        if filled == buffer.len() {
            buffer.resize(filled * 2, 0);
        }
        let count = input.read(&mut buffer[filled..])?;
        if count == 0 {
            break;
        }
        let fresh = filled;
        filled += count;
        let Some(last) = buffer[fresh..filled].iter().rposition(|&byte| byte == b'\n') else {
            continue;
        };
        let whole = fresh + last + 1;
        for line in buffer[..whole - 1].split(|&byte| byte == b'\n') {
            each(state, line);
        }
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
    }
    Ok(())
}

/// Both ends of one pipe: read without waiting for a while, then waiting. To be woken costs a server tens of
/// microseconds where idle processors are halted, and that is not what a client is measured by.
struct Awake {
    asking: File,
    waiting: File,
}

impl Read for Awake {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let began = Instant::now();
        while began.elapsed() < VIGIL {
            match self.asking.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => spin_loop(),
                outcome => return outcome,
            }
        }
        self.waiting.read(buffer)
    }
}

struct Client {
    sent: usize,
    answered: usize,
    calls: usize,
    out: Vec<u8>,
}

impl Client {
    fn send(&mut self) {
        if self.sent < self.calls {
            let id = 1_000_000_000 + self.sent;
            self.sent += 1;
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":\"hello\"}}}}}}\n"
            );
            self.out.extend_from_slice(line.as_bytes());
        }
    }

    fn line(&mut self, _: &[u8]) {
        self.answered += 1;
        self.send();
    }
}

fn client(window: usize, calls: usize) -> Result<()> {
    let mut server = Command::new(std::env::current_exe()?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(input), Some(output)) = (server.stdout.take(), server.stdin.take()) else {
        return Ok(());
    };
    let mut client = Client {
        sent: 0,
        answered: 0,
        calls,
        out: Vec::new(),
    };
    (0..window).for_each(|_| client.send());
    let began = Instant::now();
    let (input, output) = (File::from(OwnedFd::from(input)), File::from(OwnedFd::from(output)));
    pump(
        input,
        output,
        &mut client,
        Client::line,
        |client| &mut client.out,
        |client| client.answered == client.calls,
    )?;
    writeln!(stdout(), "{}", began.elapsed().as_nanos())?;
    server.wait()?;
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<_> = args().skip(1).collect();
    if let [flag, window, calls] = &arguments[..]
        && flag == "--client"
    {
        return client(window.parse().unwrap_or(1), calls.parse().unwrap_or(1));
    }
    let awake = arguments == ["--awake"];
    let mut tools = arguments
        .first()
        .filter(|_| !awake)
        .map_or_else(|| Ok(TOOLS.to_vec()), read)?;
    // A listing file is a whole object; its closing brace comes behind what the era adds.
    if tools.trim_ascii_end().ends_with(b"}") && !arguments.is_empty() && !awake {
        tools.truncate(tools.trim_ascii_end().len() - 1);
    }
    let mut server = Server {
        tools,
        complete: b"",
        out: Vec::new(),
    };
    let waiting = File::from(stdin().as_fd().try_clone_to_owned()?);
    let output = stdout().as_fd().try_clone_to_owned()?.into();
    let input: Box<dyn Read> = if awake {
        let asking = File::options().read(true).custom_flags(O_NONBLOCK).open("/dev/stdin")?;
        Box::new(Awake { asking, waiting })
    } else {
        Box::new(waiting)
    };
    pump(
        input,
        output,
        &mut server,
        Server::line,
        |server| &mut server.out,
        |_| false,
    )
}
