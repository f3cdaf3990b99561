"""The smallest files that are what they say: one pixel, one sample of silence."""

import struct
import zlib

__all__ = ["PIXEL", "SILENCE"]


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


PIXEL = (
    b"\x89PNG\r\n\x1a\n"
    + _png_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _png_chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _png_chunk(b"IEND", b"")
)
"""A PNG of one red pixel."""

_FORMAT = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
SILENCE = (
    b"RIFF" + struct.pack("<I", 4 + 8 + len(_FORMAT) + 8 + 2) + b"WAVE"
    + b"fmt " + struct.pack("<I", len(_FORMAT)) + _FORMAT
    + b"data" + struct.pack("<I", 2) + b"\x00\x00"
)  # fmt: skip
"""A WAV of one sample: 8 kHz, 16 bits, one channel."""
