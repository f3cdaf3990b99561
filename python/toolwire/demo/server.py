"""The demo server's loop: lines of JSON-RPC in, lines out, both protocol eras, exact bytes.

One process serves one client on stdin and stdout. It asks nothing of the client, keeps no session state, and answers
whatever has come in with one write. What the tools do stands in `shelf`; this file knows how a message looks.
"""

import json
import os
import threading
from typing import Final

from toolwire._raw_peer import Request
from toolwire.demo import shelf

HANDSHAKE_ERA: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_ERA: Final = "2026-07-28"
CHUNK: Final = 1 << 18
"""Bytes a read takes at most: with many calls in flight, one read and one write carry a batch of them."""

_CAPABILITIES: Final = '"capabilities":{"tools":{}}'
_IDENTITY: Final = '{"name":"toolwire-demo","version":"1"}'
_CACHE: Final = '"resultType":"complete","ttlMs":0,"cacheScope":"private"'
_PARSE_ERROR: Final = -32700
_METHOD_NOT_FOUND: Final = -32601
_INVALID_PARAMS: Final = -32602


def _initialized(request: Request) -> str:
    asked = json.loads(request.raw("params.protocolVersion") or "null")
    version = asked if asked in HANDSHAKE_ERA else HANDSHAKE_ERA[-1]
    return f'{{"protocolVersion":"{version}",{_CAPABILITIES},"serverInfo":{_IDENTITY}}}'


def _discovered() -> str:
    stamp = f'"_meta":{{"io.modelcontextprotocol/serverInfo":{_IDENTITY}}}'
    return f'{{"supportedVersions":["{MODERN_ERA}"],{_CAPABILITIES},{_CACHE},{stamp}}}'


def _listing() -> str:
    return '{"tools":[' + b",".join(shelf.ENTRIES).decode() + "]," + _CACHE + "}"


class Server:
    """Answers requests to a file descriptor. Only a `slow` call outlives its line: its timer writes by itself."""

    def __init__(self, output: int) -> None:
        self._output = output
        self._writing = threading.Lock()
        self._waiting: dict[str, threading.Timer] = {}

    def answer(self, line: bytes) -> bytes:
        """Give the frame that answers one line, or nothing: for a notification, noise, and a call that takes time."""
        request = Request(line)
        if not request.spans:
            return _error("null", _PARSE_ERROR, "no JSON object in one line") if line.strip() else b""
        identifier = request.raw("id")
        match request.method:
            case "tools/call" if identifier:
                return self._call(request, identifier)
            case "notifications/cancelled":
                if timer := self._waiting.pop(request.raw("params.requestId"), None):
                    timer.cancel()
                return b""
            case "initialize":
                result = _initialized(request)
            case "server/discover":
                result = _discovered()
            case "tools/list":
                result = _listing()
            case "ping":
                result = "{}"
            case method:
                return _error(identifier, _METHOD_NOT_FOUND, f"no method {method}") if method and identifier else b""
        return _frame(identifier, result) if identifier else b""

    def _call(self, request: Request, identifier: str) -> bytes:
        name = json.loads(request.raw("params.name") or "null")
        tool = shelf.TOOLS.get(name) if isinstance(name, str) else None
        if tool is None:
            return _error(identifier, _INVALID_PARAMS, f"unknown tool {name}; there are {', '.join(shelf.TOOLS)}")
        try:
            arguments = (request.raw("params.arguments") or "{}").encode("latin-1").decode()
            result = tool(arguments)
            if tool is shelf.slow:
                frame = _frame(identifier, result)
                timer = threading.Timer(shelf.wait(arguments), self._finish, (identifier, frame))
                timer.daemon = True
                self._waiting[identifier] = timer
                timer.start()
                return b""
        except UnicodeDecodeError:
            return _error(identifier, _INVALID_PARAMS, "the arguments are not UTF-8")
        except shelf.RefusedError as error:
            result = shelf.text_result(str(error), failed=True)
        return _frame(identifier, result)

    def _finish(self, identifier: str, frame: bytes) -> None:
        if self._waiting.pop(identifier, None) is not None:
            self.write(frame)

    def write(self, frames: bytes) -> None:
        """Write whole frames, never between the halves of another thread's."""
        with self._writing:
            view = memoryview(frames)
            while view:
                view = view[os.write(self._output, view) :]


def _frame(identifier: str, outcome: str, member: str = "result") -> bytes:
    # The id is a span of the request, held as latin-1: one character a byte, and out as it came in.
    return b'{"jsonrpc":"2.0","id":' + identifier.encode("latin-1") + f',"{member}":{outcome}}}\n'.encode()


def _error(identifier: str, code: int, message: str) -> bytes:
    return _frame(identifier, f'{{"code":{code},"message":{json.dumps(message)}}}', "error")


def serve(source: int = 0, output: int = 1) -> None:
    """Serve one client until its end of input. A client that stops reading ends the server too."""
    server = Server(output)
    rest = b""
    try:
        while chunk := os.read(source, CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            if frames := b"".join(map(server.answer, lines)):
                server.write(frames)
    except BrokenPipeError:
        return
