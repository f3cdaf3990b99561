"""A raw HTTP/1.1 server that answers one echo tool with fixed bytes, in both eras: as little work as a server can do.

Prints its port, and ends with its stdin.
"""

import asyncio
import re
import sys

HEAD = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
TOOL = b'{"name":"echo","description":"","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}'
COMPLETE = b'"resultType":"complete"'
RESULTS = {
    b"initialize": b'{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
    b'"serverInfo":{"name":"raw","version":"1"}}',
    b"server/discover": b'{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},'
    b'"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"raw","version":"1"}},'
    + COMPLETE
    + b"}",
    b"tools/list": b'{"tools":[' + TOOL + b'],"ttlMs":0,"cacheScope":"private",' + COMPLETE + b"}",
    b"tools/call": b'{"content":[{"type":"text","text":"hello"}],' + COMPLETE + b"}",
}
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
METHOD = re.compile(rb'"method":"([^"]+)"')
ID = re.compile(rb'"id":(\d+)')


class Raw(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(self.buffer, 0, end)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self.buffer) < whole:
                return
            self.answer(self.buffer[:4], self.buffer[end + 4 : whole])
            self.buffer = self.buffer[whole:]

    def answer(self, verb: bytes, body: bytes) -> None:
        method, identifier = METHOD.search(body), ID.search(body)
        result = RESULTS.get(method[1]) if method else None
        if verb != b"POST":
            self.transport.write(HEAD % (b"405 Method Not Allowed", 0))
        elif result is None or identifier is None:
            self.transport.write(HEAD % (b"202 Accepted", 0))
        else:
            text = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (identifier[1], result)
            self.transport.write(HEAD % (b"200 OK", len(text)) + text)


async def main() -> None:
    """Serve until stdin ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Raw, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
