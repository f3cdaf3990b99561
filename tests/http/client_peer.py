"""A raw HTTP server in a thread that writes exact bytes: what a server should not do, it does."""

import asyncio
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

TOOL = (
    '{"name":"echo","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"number",'
    '"maximum":1.50}}}}'
)
DONE = '{"content":[{"type":"text","text":"done"}]}'
PATIENCE = 20


class Seen:
    """One request as it came."""

    def __init__(self, verb: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self.verb = verb
        self.path = path
        self.headers = headers
        self.body = body
        self.message: dict[str, Any] = json.loads(body) if body else {}
        self.rpc: str = self.message.get("method", "")

    @property
    def id(self) -> Any:
        return self.message.get("id")


Write = Callable[[bytes], Awaitable[None]]
Answer = Callable[[Seen, Write], Awaitable[None]]


class Hangup(Exception):
    """Close the connection here."""


def reply(
    body: bytes | str = b"", status: str = "200 OK", content: str | None = "application/json", **headers: str
) -> bytes:
    raw = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(raw)}"]
    if content is not None:
        lines.append(f"content-type: {content}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw


def result(seen: Seen, text: str = DONE) -> str:
    return f'{{"jsonrpc":"2.0","id":{json.dumps(seen.id)},"result":{text}}}'


def error(seen: Seen | None, code: int, message: str) -> str:
    identifier = json.dumps(None if seen is None else seen.id)
    return f'{{"jsonrpc":"2.0","id":{identifier},"error":{{"code":{code},"message":"{message}"}}}}'


EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
"""The head of a stream that ends with its connection."""


def event(data: str, identifier: str | None = None) -> bytes:
    first = "" if identifier is None else f"id: {identifier}\n"
    return f"{first}data: {data}\n\n".encode()


class Peer:
    """Answers the handshake by itself; `answers` by JSON-RPC method, or by verb, are the test's."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.tls = tls
        self.seen: list[Seen] = []
        self.answers: dict[str, Answer] = {}
        self.session: str | None = "s1"
        self.tools = [TOOL]
        self.connections = 0
        self.more = ""
        """What the members of a listing have beside them."""
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def calls(self, rpc: str = "tools/call") -> list[Seen]:
        return [seen for seen in self.seen if seen.rpc == rpc]

    def drop_all(self) -> None:
        """Closes every connection, as a server that dies does."""

        async def drop() -> None:
            for writer in list(self._writers):
                writer.transport.abort()

        asyncio.run_coroutine_threadsafe(drop(), self._loop).result(PATIENCE)

    def start(self) -> None:
        self._thread.start()
        assert self._up.wait(PATIENCE)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls))
        scheme = "http" if self.tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        self._up.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        for writer in list(self._writers):
            writer.transport.abort()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)

        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                verb, path, _ = head[0].split(" ")
                headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in head[1:] if line}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                seen = Seen(verb, path, headers, body)
                self.seen.append(seen)
                await (self.answers.get(seen.rpc) or self.answers.get(verb) or self._default)(seen, write)
        except (Hangup, OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _default(self, seen: Seen, write: Write) -> None:
        if seen.verb != "POST":
            await write(reply(status="405 Method Not Allowed"))
        elif seen.id is None:
            await write(reply(status="202 Accepted", content=None))
        elif seen.rpc == "initialize":
            told = '{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":'
            own = {} if self.session is None else {"mcp_session_id": self.session}
            await write(reply(result(seen, told + '{"name":"peer","version":"1"}}'), **own))
        elif seen.rpc == "server/discover":
            await write(reply(error(seen, -32601, "no such method"), status="404 Not Found"))
        elif seen.rpc == "tools/list":
            await write(reply(result(seen, f'{{"tools":[{",".join(self.tools)}]{self.more}}}')))
        else:
            complete = ',"resultType":"complete"' if self.more else ""
            await write(reply(result(seen, DONE.removesuffix("}") + complete + "}")))


DISCOVERED = (
    '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,'
    '"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"peer","version":"1"}}}'
)


def modern(peer: Peer) -> None:
    """The peer speaks 2026-07-28."""

    async def discovered(seen: Seen, write: Write) -> None:
        await write(reply(result(seen, DISCOVERED)))

    peer.answers["server/discover"] = discovered
    peer.more = ',"resultType":"complete","ttlMs":0,"cacheScope":"private"'


@contextmanager
def peer(tls: ssl.SSLContext | None = None) -> Iterator[Peer]:
    served = Peer(tls)
    served.start()
    try:
        yield served
    finally:
        served.stop()


def once(*writes: bytes, hang_up: bool = False) -> Answer:
    """An answer of exactly these bytes."""

    async def answer(seen: Seen, write: Write) -> None:
        del seen
        for data in writes:
            await write(data)
        if hang_up:
            raise Hangup

    return answer
