"""Ten megabytes of an image go through the codec without being copied to be looked at (issue 6, speed)."""

import base64
import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from toolwire import MediaPart, ToolOutput, _core
from toolwire.bridge.discovered_output import DiscoveredOutput
from toolwire.bridge.result_encoding import encode_parts
from toolwire.errors import ContentError

SIZE = 10_000_000
DATA = bytes(range(250)) * (SIZE // 250)
TEXT = base64.b64encode(DATA)
IMAGE = b'{"type":"image","mimeType":"image/png","data":"%s","_meta":{"k":1.50}}' % TEXT
BLOB = b'{"type":"resource","resource":{"uri":"n://1","blob":"%s","_meta":{"k":1.50}}}' % TEXT


def taken(job: Callable[[], Any]) -> tuple[Any, int]:
    """What a job gives, and the most that Python's memory grew meanwhile, in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        found = job()
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("block", [IMAGE, BLOB], ids=["image", "blob"])
def test_an_image_is_allocated_once_a_direction(block: bytes) -> None:
    result = _core.read_result(b'{"content":[%s]}' % block)
    output, reading = taken(lambda: DiscoveredOutput(result, "default", None))
    (part,) = output.parts
    assert isinstance(part, MediaPart)
    assert part.size == SIZE
    assert reading < SIZE // 100
    data, decoding = taken(lambda: part.data)
    assert data == DATA
    assert decoding < SIZE * 1.01
    assert part.raw == block
    own = ToolOutput(parts=[MediaPart(DATA, mime_type="image/png", name="n")])
    (content, _), encoding = taken(lambda: encode_parts(own))
    assert _core.elements(content)[0].startswith(b'{"type":"image"')
    # Its base64, and the content that it is joined into.
    assert encoding < 2 * len(TEXT) * 1.01


@pytest.mark.parametrize("padding", ["", "=", "=="])
def test_every_length_and_spelling_of_base64_is_decoded(padding: str) -> None:
    data = DATA[: 300 - len(padding)]
    text = base64.b64encode(data).decode()
    assert text.endswith(padding)
    for spelled in (text, text.rstrip("="), text.replace("/", "\\/"), "\\n".join((text[:76], text[76:]))):
        block = b'{"type":"image","mimeType":"image/png","data":"%s"}' % spelled.encode()
        (part,) = DiscoveredOutput(_core.read_result(b'{"content":[%s]}' % block), "default", None).parts
        assert isinstance(part, MediaPart)
        assert (part.data, part.size) == (data, len(data))


@pytest.mark.parametrize("data", [b'"A"', b'"AB=C"', b'"A==="', b'"AAA-"', b"5", b"null", b"{}"])
def test_what_is_no_base64_is_refused(data: bytes) -> None:
    output = DiscoveredOutput(
        _core.read_result(b'{"content":[{"type":"image","mimeType":"image/png","data":%s}]}' % data), "default", None
    )
    assert output.parts == ()
    assert output.fault is not None
    assert isinstance(output.fault[1], ContentError)


def test_the_members_of_a_block_are_its_own_bytes() -> None:
    (block,) = _core.read_result(b'{"content":[{"a":1.50,"d\\u0061ta":"xyz","r":{"b":"","c":null}}]}').blocks()
    assert block.members("data") == {"a": b"1.50", "data": b'"x', "r": b'{"b":"","c":null}'}
    assert block.members("b", "r") == {"b": b'""', "c": b"null"}
    assert block.members("b", "nothing") == {}
    (odd,) = _core.read_result(b'{"content":[5]}').blocks()
    assert odd.members("data") == {}
