"""Compressed bodies, with a bound on what comes out: a few bytes may stand for gigabytes.

gzip and deflate are Python's own; br and zstd are offered to a server only where their packages are installed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol

from toolwire.wire.http_client.engine import Lost, Reply
from toolwire.wire.http_client.http_faults import ERROR_BODY

__all__ = ["ENCODINGS", "Body", "Bomb", "start_of"]

STEP: Final = 256 * 1024
"""Bytes that one step of a decoder may give out: the most that stands in memory before the bound is looked at."""


async def start_of(reply: Reply) -> bytes:
    """The start of an error's body: that it goes on, or breaks off, changes nothing."""
    read = b""
    try:
        body = Body(reply, None)
        while len(read) < ERROR_BODY and (part := await body.part()):
            read += part
    except Lost:
        pass
    return read[:ERROR_BODY]


class Bomb(Lost):
    """More came out than the bound allows."""


class _Decoder(Protocol):
    def feed(self, data: bytes) -> bytes:
        """Take raw bytes; at most a step of what they stand for."""

    @property
    def more(self) -> bool:
        """More stands ready without new bytes."""

    @property
    def ended(self) -> bool:
        """What came is whole."""


class _Zlib:
    """gzip, or deflate: that is zlib's format by the standard, and bare to some servers."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._head: bytes | None = b"" if window == zlib.MAX_WBITS else None
        """The first bytes of a deflate body, until they tell its format."""
        self._object = zlib.decompressobj(window)

    def feed(self, data: bytes) -> bytes:
        if self._head is not None:
            data = self._head + data
            self._head = data if len(data) < _ZLIB_HEAD else None
            if self._head is not None:
                return b""
            if data[0] & 15 != zlib.DEFLATED or int.from_bytes(data[:_ZLIB_HEAD], "big") % 31:
                self._object = zlib.decompressobj(-zlib.MAX_WBITS)
        out = self._object.decompress(self._object.unconsumed_tail + data, STEP)
        if self._object.eof and self._object.unused_data and self._window > zlib.MAX_WBITS:
            # A gzip body may be several, one behind the other.
            rest, self._object = self._object.unused_data, zlib.decompressobj(self._window)
            out += self._object.decompress(rest, STEP)
        return out

    @property
    def more(self) -> bool:
        return bool(self._object.unconsumed_tail)

    @property
    def ended(self) -> bool:
        return self._object.eof


_ZLIB_HEAD: Final = 2


class _Brotli:
    def __init__(self) -> None:
        self._object = import_module("brotli").Decompressor()

    def feed(self, data: bytes) -> bytes:
        out: bytes = self._object.process(data, output_buffer_limit=STEP)
        return out

    @property
    def more(self) -> bool:
        return not self._object.can_accept_more_data()

    @property
    def ended(self) -> bool:
        done: bool = self._object.is_finished()
        return done


class _Zstd:
    def __init__(self) -> None:
        self._object = import_module(_ZSTD).ZstdDecompressor()

    def feed(self, data: bytes) -> bytes:
        if self._object.eof:
            return b""
        out: bytes = self._object.decompress(data, STEP)
        return out

    @property
    def more(self) -> bool:
        return not (self._object.eof or self._object.needs_input)

    @property
    def ended(self) -> bool:
        done: bool = self._object.eof
        return done


def _present(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


_ZSTD = next((name for name in ("compression.zstd", "backports.zstd") if _present(name)), "")
_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "gzip": lambda: _Zlib(zlib.MAX_WBITS + 16),
    "x-gzip": lambda: _Zlib(zlib.MAX_WBITS + 16),
    "deflate": lambda: _Zlib(zlib.MAX_WBITS),
}
if _present("brotli"):
    _DECODERS["br"] = _Brotli
if _ZSTD:
    _DECODERS["zstd"] = _Zstd

ENCODINGS: Final = ", ".join(name for name in _DECODERS if name != "x-gzip")
"""What is offered to a server."""


class Body:
    """The body of a reply, at most `limit` bytes in all when it is decompressed; `None` for a stream without an end."""

    def __init__(self, reply: Reply, limit: int | None) -> None:
        """Raises Lost for an encoding that was not asked for."""
        self._reply = reply
        self._limit = limit
        self._total = 0
        coding = reply.headers.get("content-encoding", "").strip().lower()
        self._coding = "" if coding == "identity" else coding
        make = _DECODERS.get(coding)
        self._decoder: _Decoder | None = None if make is None else make()
        if self._coding and make is None:
            raise Lost(f"the answer is encoded as {coding[:40]!r}, which was not asked for")

    async def part(self) -> bytes:
        """The next part; nothing at the end. Raises Bomb and Lost."""
        decoder = self._decoder
        if decoder is None:
            out = await self._reply.chunk()
        else:
            out = b""
            while not out:
                raw = b"" if decoder.more else await self._reply.chunk()
                if not raw and not decoder.more:
                    if self._total and not decoder.ended:
                        raise Lost("the answer was cut off")
                    return b""
                try:
                    out = decoder.feed(raw)
                except Exception as error:
                    raise Lost(f"the answer is no {self._coding}: {error}") from error
        self._total += len(out)
        if self._limit is not None and self._total > self._limit:
            raise Bomb(f"the answer is longer than {self._limit:,} bytes")
        return out

    async def whole(self) -> bytes:
        """All of it. Raises Bomb and Lost."""
        first = await self.part()
        if not first:
            return b""
        parts = [first]
        while part := await self.part():
            parts.append(part)
        return first if len(parts) == 1 else b"".join(parts)
