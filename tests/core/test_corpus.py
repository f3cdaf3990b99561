"""Every real listing and result comes through the core byte for byte, whole and one byte at a time (rule 1)."""

import base64
import csv
import json
from typing import Final

import pytest

from tests.core.corpus import ROOT, elements, files, line, members, needs_corpus
from tests.core.streams import pieces, seen
from toolwire import _core

pytestmark = needs_corpus

LISTINGS: Final = [(folder, name) for folder in ("listings", "listings-2026") for name in files(folder)]
RESULTS: Final = files("results")
RULES: Final = ("default", "auto", "content", "structured", "both")
# Longer ones are only read whole.
BYTE_BY_BYTE: Final = 100_000


def only_frame(raw: bytes) -> _core.Frame:
    inbound = _core.Inbound()
    (frame,) = inbound.feed(raw)
    assert inbound.finish() == []
    assert inbound.counters == {**dict.fromkeys(inbound.counters, 0), "frames": 1}
    if len(raw) <= BYTE_BY_BYTE:
        drip = _core.Inbound()
        frames = [late for piece in pieces(raw, 1) for late in drip.feed(piece)]
        assert [seen(late) for late in frames] == [seen(frame)]
        assert drip.counters == inbound.counters
    return frame


def test_the_corpus_is_all_there() -> None:
    assert (len(files("listings")), len(RESULTS) > 50) == (40, True)


@pytest.mark.parametrize(("folder", "name"), LISTINGS)
def test_each_tool_of_a_listing_keeps_its_bytes_and_none_is_skipped(folder: str, name: str) -> None:
    raw = line(folder, name)
    frame = only_frame(raw)
    assert (frame.kind, frame.fault) == ("result", None)
    assert frame.text == frame.mended() == raw.strip()
    message = members(raw.decode())
    assert frame.result == message["result"].encode()
    result = members(message["result"])
    entries = list(elements(result["tools"]))
    page = frame.page()
    assert (page.next_cursor, page.warnings) == (None, [])
    assert [entry.text.decode() for entry in page.entries] == entries
    for entry, text in zip(page.entries, entries, strict=True):
        parts = members(text)
        assert (entry.fault, entry.fault_kind) == (None, None)
        assert entry.name == json.loads(parts["name"])
        assert entry.name_json == parts["name"].encode()
        assert entry.input_schema == parts["inputSchema"].encode()
        assert _core.parse_schema(parts["inputSchema"]) == entry.input_schema
        assert entry.description == json.loads(parts.get("description", '""'))
        assert entry.title == json.loads(parts.get("title", "null"))
        annotations = json.loads(parts.get("annotations", "{}"))
        assert entry.read_only == (annotations.get("readOnlyHint") is True)
        for bytes_of, member in ((entry.annotations, "annotations"), (entry.meta, "_meta")):
            assert bytes_of == (parts[member].encode() if parts.get(member, "null") != "null" else None)
        assert isinstance(entry.warnings(), list)
        whole = _core.fingerprint([parts["name"], parts.get("description", ""), parts["inputSchema"]])
        assert entry.fingerprint() == whole


def test_the_tools_are_as_many_as_the_manifest_says() -> None:
    with (ROOT / "manifest.tsv").open(newline="") as manifest:
        expected = {row["server"]: int(row["tools"]) for row in csv.DictReader(manifest, delimiter="\t")}
    counted = {
        name.removesuffix(".json"): len(only_frame(line("listings", name)).page().entries) for name in files("listings")
    }
    assert counted == {server: expected[server] for server in counted}
    assert sum(counted.values()) == 895


@pytest.mark.parametrize("name", RESULTS)
def test_each_result_keeps_its_bytes_and_says_what_json_says(name: str) -> None:
    raw = line("results", name)
    frame = only_frame(raw)
    assert frame.kind in {"result", "error"}
    message = members(raw.decode())
    if frame.kind == "error":
        error = members(message["error"])
        data = error["data"].encode() if "data" in error else None
        assert frame.error == (json.loads(error["code"]), json.loads(error["message"]), data)
        return
    result = frame.call_result()
    assert result is not None
    assert result.text == frame.result == message["result"].encode()
    parts = members(message["result"])
    assert result.structured == (parts["structuredContent"].encode() if "structuredContent" in parts else None)
    assert result.is_error == (json.loads(parts.get("isError", "false")) is True)
    blocks = list(elements(parts["content"])) if "content" in parts else []
    assert [block.raw.decode() for block in result.blocks()] == blocks
    for block, text in zip(result.blocks(), blocks, strict=True):
        decoded = json.loads(text)
        assert block.kind == decoded["type"]
        if block.kind == "text":
            assert block.content == block.line == decoded["text"]
        if block.kind in {"image", "audio"}:
            assert (block.data, block.mime_type) == (base64.b64decode(decoded["data"]), decoded["mimeType"])
            assert block.size == len(block.data or b"")
        if block.kind == "resource_link":
            assert (block.uri, block.name) == (decoded["uri"], decoded["name"])
        if block.kind == "resource":
            resource = decoded["resource"]
            assert (block.uri, block.content) == (resource["uri"], resource.get("text"))
            assert block.data == (base64.b64decode(resource["blob"]) if "blob" in resource else None)
    shown = {rule: result.render(rule) for rule in RULES}
    assert shown["content"] == "\n".join(block.line for block in result.blocks())
    if result.structured not in {None, b"null"}:
        assert result.structured is not None
        assert _core.equal(shown["structured"], result.structured)
        if not result.is_error:
            assert shown["default"] == _core.compact(result.structured).decode()
    else:
        assert shown["default"] == shown["content"]
    assert result.warnings() == []
