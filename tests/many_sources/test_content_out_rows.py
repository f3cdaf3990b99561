"""Rows 80 to 98 of many-sources 7: parts become content blocks."""

import json
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from mcp_types import AudioContent, EmbeddedResource, ImageContent, ResourceLink, TextContent

import toolwire
from tests.bridge.raw import ERAS, NEW
from tests.many_sources.support import Duck, raw_tool, read_block, refused_at_server, registered
from toolwire import Citation, MediaPart, MediaReferenceError, TextPart, ToolOutput
from toolwire.contract.content_out import block_of
from toolwire.errors import ContentError, ToolwireError

PNG = b"\x89PNG"


def block(part: Any) -> Any:
    return json.loads(block_of(part))


def refused(part: Any) -> str:
    with pytest.raises(ContentError) as caught:
        block_of(part)
    output = ToolOutput(parts=[TextPart("before"), part])
    with pytest.raises(type(caught.value)) as through:
        toolwire.encode_tool_result(output)
    assert str(through.value) == f"mcp: tool output content[1]: {caught.value}"
    return str(caught.value)


def text(envelope: bytes) -> TextPart:
    return TextPart("a", metadata={"mcp/content": envelope})


def named(suffix: str = "") -> list[MediaPart]:
    return [
        MediaPart(PNG, mime_type="image/png", name=suffix and f"chart{suffix}.png"),
        MediaPart(b"mp3", mime_type="audio/mpeg", name=suffix and f"voice{suffix}.mp3"),
        MediaPart(b"%PDF", mime_type="application/pdf", name="report"),
        MediaPart(uri="https://e.invalid/s", name="site"),
    ]


def test_row_080_parts() -> None:
    output = ToolOutput(parts=[TextPart("t"), *named()], structured=b'{"score":1}')
    encoded = toolwire.encode_tool_result(output)
    kinds = [TextContent, ImageContent, AudioContent, EmbeddedResource, ResourceLink]
    assert [type(found) for found in encoded.content] == kinds
    resource = encoded.content[3]
    assert isinstance(resource, EmbeddedResource)
    assert str(resource.resource.uri) == "toolwire://tool-output/report"
    assert encoded.structured_content == {"score": 1}
    assert encoded.is_error is False


def test_row_081_an_escaped_name() -> None:
    part = MediaPart(b"%PDF", mime_type="application/pdf", name="quarterly report#1?.pdf")
    assert block(part)["resource"]["uri"] == "toolwire://tool-output/quarterly%20report%231%3F.pdf"
    assert block(MediaPart(b"x"))["resource"] == {"uri": "toolwire://tool-output/", "blob": "eA=="}


def test_row_082_named_media() -> None:
    *media, link = [block(part) for part in named("1")]
    names = ["chart1.png", "voice1.mp3", "report"]
    assert [found["_meta"] for found in media] == [{"toolwire/content": {"name": name}} for name in names]
    assert link == {"type": "resource_link", "uri": "https://e.invalid/s", "name": "site"}


@pytest.mark.parametrize("metadata", [{}, {"mcp/content": b'{"type":"image"}'}])
@pytest.mark.parametrize("era", ERAS)
async def test_row_083_a_reference_cannot_cross(metadata: dict[str, bytes], era: str) -> None:
    part = MediaPart(mime_type="image/png", reference="file-id-secret", metadata=metadata)
    assert refused(part) == "mcp: media references cannot cross MCP"
    with pytest.raises(MediaReferenceError):
        block_of(part)
    async with registered(raw_tool(ToolOutput(parts=[part])), era=era) as (_, tools):
        await refused_at_server(tools[0])


def test_row_084_a_bad_type_and_no_source() -> None:
    assert refused(MediaPart(PNG, mime_type="not a mime")) == 'toolwire: invalid MIME type: "not a mime"'
    assert refused(MediaPart(mime_type="image/png")).startswith("toolwire: invalid source")
    assert refused(MediaPart(b"", mime_type="image/png")).startswith("toolwire: invalid source")
    assert refused(MediaPart(uri="rel/a")).startswith('toolwire: invalid source: "rel/a" is not an absolute URI')


def test_row_085_an_empty_envelope() -> None:
    assert refused(text(b"{}")) == "mcp: content metadata kind is missing"


def test_row_086_an_unknown_kind() -> None:
    assert refused(text(b'{"type":"unknown"}')) == 'mcp: content kind "unknown" does not match Core part "text"'
    part = MediaPart(PNG, mime_type="image/png", metadata={"mcp/content": b'{"type":"unknown"}'})
    assert refused(part) == 'mcp: content kind "unknown" does not match Core part "media"'


def test_row_087_another_kind() -> None:
    assert (
        refused(text(b'{"type":"resource_link"}'))
        == 'mcp: content kind "resource_link" does not match Core part "text"'
    )
    part = MediaPart(PNG, mime_type="image/png", metadata={"mcp/content": b'{"type":"text"}'})
    assert refused(part) == 'mcp: content kind "text" does not match Core part "media"'


def test_row_088_a_stray_resource() -> None:
    envelope = b'{"type":"text","resource":{"uri":"file:///s"}}'
    assert refused(text(envelope)) == "mcp: content metadata has an unexpected resource"


@pytest.mark.parametrize("field", [b'"title":"t"', b'"description":"d"', b'"size":1', b'"icons":[]'])
def test_row_089_stray_link_fields(field: bytes) -> None:
    assert refused(text(b'{"type":"text",%s}' % field)) == "mcp: content metadata has unexpected resource link fields"


def test_row_090_a_missing_resource() -> None:
    assert refused(text(b'{"type":"resource"}')) == "mcp: embedded resource metadata is missing"


@pytest.mark.parametrize(
    "envelope", [b'{"type":"text","zzz":1}', b"5", b"{", b'{"type":"resource","resource":{"x":1}}']
)
def test_row_091_an_envelope_that_cannot_be_read(envelope: bytes) -> None:
    assert refused(text(envelope)).startswith("mcp: decode content metadata: ")


@pytest.mark.parametrize("key", [b"toolwire/content", b"scope/content"])
def test_row_092_the_reserved_key(key: bytes) -> None:
    envelope = b'{"type":"text","_meta":{"%s":{}}}' % key
    assert refused(text(envelope)) == "mcp: content metadata uses the reserved Core metadata key"


def test_row_093_a_type_twice() -> None:
    envelope = b'{"type":"resource","resource":{"mimeType":"a/b"}}'
    part = MediaPart(b"x", mime_type="a/b", metadata={"mcp/content": envelope})
    assert refused(part) == "mcp: resource metadata duplicates a Core media field"
    link = MediaPart(
        uri="https://e.invalid", metadata={"mcp/content": b'{"type":"resource","resource":{"uri":"n://1"}}'}
    )
    assert refused(link) == "mcp: resource metadata duplicates a Core media field"


async def test_row_094_a_type_that_is_declared_later() -> None:
    output = await read_block(b'{"type":"resource_link","uri":"https://example.com/photo.JPG","name":"p"}')
    (part,) = output.parts
    assert isinstance(part, MediaPart)
    assert "mimeType" not in block(part)
    assert block(replace(part, mime_type="image/jpeg"))["mimeType"] == "image/jpeg"
    blob = await read_block(b'{"type":"resource","resource":{"uri":"file:///p","blob":"AAEC"}}')
    declared = replace(blob.parts[0], mime_type="image/jpeg")
    assert block(declared)["resource"] == {"uri": "file:///p", "mimeType": "image/jpeg", "blob": "AAEC"}


class Careless(ToolOutput):
    """An output whose structured value nobody has checked."""

    @property
    def structured(self) -> bytes | None:
        return b"{"


def test_row_095_invalid_details() -> None:
    with pytest.raises(ValueError, match="no JSON"):
        ToolOutput(structured=b"{")
    with pytest.raises(
        ToolwireError, match=r"^mcp: invalid Tool output: toolwire: invalid tool output: details must be one valid"
    ):
        toolwire.encode_tool_result(Careless())


EXACT = [
    b'{"id":9007199254740993,"precise":0.12345678901234567890123456789}',
    b'[{"id":9007199254740993,"precise":0.12345678901234567890123456789}]',
    b"9007199254740993",
    b"0.12345678901234567890123456789",
    b"1E400",
    b"-0",
    b"null",
]


@pytest.mark.parametrize("details", EXACT)
async def test_row_096_exact_details(details: bytes) -> None:
    output = ToolOutput(structured=details)
    assert b'"structuredContent":' + details in toolwire.encode_tool_result_json(output)
    async with registered(raw_tool(output), Duck(output, "duck"), era=NEW) as (_, tools):
        for tool in tools:
            found = await tool.call(b"{}")
            assert (found.structured, found.parts) == (details, ())
            assert b'"structuredContent":' + details in found.raw


@pytest.mark.parametrize("era", ERAS)
async def test_row_097_absent_details(era: str) -> None:
    assert json.loads(toolwire.encode_tool_result_json(ToolOutput())) == {"content": [], "isError": False}
    async with registered(raw_tool(ToolOutput()), era=era) as (_, tools):
        output = await tools[0].call(b"{}")
    assert (output.structured, output.parts) == (None, ())
    assert b'"content":[]' in output.raw
    assert b"structuredContent" not in output.raw


def test_row_098_an_unsupported_kind() -> None:
    class Reasoning:
        metadata: ClassVar[dict[str, bytes]] = {}

    assert 'unsupported content kind "Reasoning"' in refused(Reasoning())


def test_what_a_part_has_to_be() -> None:
    """Section 2.6."""
    assert "non-empty text" in refused(TextPart(""))
    for citation in (
        Citation("uri", "rel/a"),
        Citation("uri", "mailto:a@b"),
        Citation("uri", "https:///path"),
        Citation("uri", "http://[bad"),
        Citation("reference", " x"),
        Citation("page", "1"),
        Citation("reference", "r", " t"),
    ):
        assert "citation" in refused(TextPart("a", citations=(citation,)))
    part = MediaPart(uri="https://e.invalid", metadata={"mcp/content": b'{"type":"image"}'}, mime_type="image/png")
    assert refused(part) == 'toolwire: invalid source: source kind is "uri", not "bytes"'


@pytest.mark.parametrize("kind", [b'""', b"null"])
def test_an_empty_kind_is_a_missing_one(kind: bytes) -> None:
    assert refused(text(b'{"type":%s}' % kind)) == "mcp: content metadata kind is missing"


@pytest.mark.parametrize("value", [b"{bad", b"", b"NaN", b"1,2", b"1}", b'"\xff"'])
async def test_metadata_that_is_no_json_never_reaches_the_wire(value: bytes) -> None:
    assert "toolwire: invalid value of " in refused(TextPart("a", metadata={"app/value": value}))
    media = MediaPart(PNG, mime_type="image/png", media_metadata={"app/value": value})
    assert "toolwire: invalid value of " in refused(media)
    output = ToolOutput(parts=[TextPart("a", metadata={"app/value": value})])
    async with registered(raw_tool(output), raw_tool(ToolOutput("still there"), "u")) as (_, tools):
        await refused_at_server(tools[0])
        assert await tools[1].invoke(b"{}") == "still there"


def test_metadata_without_a_name_is_refused() -> None:
    assert refused(TextPart("a", metadata={"": b"1"})) == "toolwire: empty key"


@pytest.mark.parametrize(
    "part", [TextPart("a\ud800"), MediaPart(PNG, mime_type="image/png", name="\ud800"), MediaPart(uri="x:\ud800")]
)
def test_half_of_a_surrogate_pair_is_an_invalid_part(part: Any) -> None:
    with pytest.raises(ContentError, match=r"^mcp: tool output content\[0\]: toolwire: invalid part: "):
        toolwire.encode_tool_result(ToolOutput(parts=[part]))


@pytest.mark.parametrize("details", [b'{"a":1,"a":2}', b'"\\ud800"'])
def test_details_are_one_document_of_rfc_7493(details: bytes) -> None:
    with pytest.raises(ToolwireError, match="details must be one valid RFC 7493 JSON document: "):
        toolwire.encode_tool_result(ToolOutput("x", structured=details))


def test_empty_details_are_absent() -> None:
    """Section 2.6."""
    assert ToolOutput("x", structured=b"").structured is None
    assert b"structuredContent" not in toolwire.encode_tool_result_json(ToolOutput("x", structured=b""))
