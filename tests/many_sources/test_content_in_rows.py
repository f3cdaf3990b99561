"""Rows 52 to 79 of many-sources 7: content blocks become parts, and what only MCP knows is kept beside them."""

import base64
import json

import pytest

from tests.many_sources.support import broken_block, read_block, same, value
from toolwire import MediaPart, TextPart
from toolwire.bridge.result_encoding import encode_tool_result_json
from toolwire.errors import ContentError, EmptyEmbeddedResourceError

PNG = base64.b64encode(b"\x89PNG\r\n")


async def one(block: bytes) -> TextPart | MediaPart:
    (part,) = (await read_block(block)).parts
    return part


async def text_part(block: bytes) -> TextPart:
    part = await one(block)
    assert isinstance(part, TextPart)
    return part


async def media(block: bytes) -> MediaPart:
    part = await one(block)
    assert isinstance(part, MediaPart)
    return part


async def test_row_052_text() -> None:
    part = await text_part(b'{"type":"text","text":"hello"}')
    assert (part.text, part.metadata) == ("hello", {})


async def test_row_053_an_empty_text_is_left_out() -> None:
    output = await read_block(b'{"type":"text","text":""}')
    assert output.parts == ()
    assert output.joined_text() == ""


@pytest.mark.parametrize("more", [b'"_meta":{"a":1}', b'"annotations":{"priority":1}'])
async def test_row_054_an_empty_text_cannot_carry_metadata(more: bytes) -> None:
    error = await broken_block(b'{"type":"text","text":"",%s}' % more)
    assert str(error) == "mcp: empty text cannot carry content metadata"


async def test_row_055_image() -> None:
    part = await media(b'{"type":"image","mimeType":"image/png","data":"%s"}' % PNG)
    assert (part.data, part.mime_type, part.size) == (b"\x89PNG\r\n", "image/png", 6)
    assert part.metadata["mcp/content"] == b'{"type":"image"}'


async def test_row_056_an_image_without_a_type() -> None:
    assert str(await broken_block(b'{"type":"image","data":"%s"}' % PNG)) == 'toolwire: invalid MIME type: ""'


async def test_row_057_an_empty_image() -> None:
    error = await broken_block(b'{"type":"image","mimeType":"image/png","data":""}')
    assert str(error) == 'toolwire: invalid source: kind "bytes" requires non-empty bytes and no URI or reference'


async def test_row_058_bad_base64() -> None:
    assert "base64" in str(await broken_block(b'{"type":"image","mimeType":"image/png","data":"!!!"}'))


async def test_row_059_audio() -> None:
    """Fault D14."""
    part = await media(b'{"type":"audio","mimeType":"audio/mpeg","data":"UklGRg=="}')
    assert (part.data, part.mime_type) == (b"RIFF", "audio/mpeg")
    assert part.metadata["mcp/content"] == b'{"type":"audio"}'


async def test_row_060_link() -> None:
    part = await media(b'{"type":"resource_link","uri":"https://e.invalid/d","name":"diagram","mimeType":"image/png"}')
    assert (part.data, part.uri, part.name, part.mime_type) == (None, "https://e.invalid/d", "diagram", "image/png")
    assert part.metadata["mcp/content"] == b'{"type":"resource_link"}'


async def test_row_061_a_link_without_a_type_has_none() -> None:
    part = await media(b'{"type":"resource_link","uri":"https://example.com/photo.JPG","name":"p"}')
    assert part.mime_type is None
    assert part.metadata["mcp/content"] == b'{"type":"resource_link"}'


async def test_row_062_a_link_with_an_empty_name() -> None:
    output = await read_block(b'{"type":"resource_link","uri":"https://e.invalid/d","name":""}')
    (part,) = output.parts
    assert isinstance(part, MediaPart)
    assert part.name == ""
    assert b'"name":""' in encode_tool_result_json(output)


async def test_row_063_a_relative_link() -> None:
    error = await broken_block(b'{"type":"resource_link","uri":"rel/a","name":"n"}')
    assert str(error) == 'toolwire: invalid source: "rel/a" is not an absolute URI'


async def test_row_064_a_link_with_a_bad_type() -> None:
    error = await broken_block(b'{"type":"resource_link","uri":"https://e.invalid","name":"n","mimeType":"not a mime"}')
    assert str(error) == 'toolwire: invalid MIME type: "not a mime"'


async def test_row_065_a_text_resource() -> None:
    part = await text_part(b'{"type":"resource","resource":{"uri":"n://1","mimeType":"text/markdown","text":"# T"}}')
    assert (part.text, part.uri, part.mime_type) == ("# T", "n://1", "text/markdown")
    assert value(part) == {"type": "resource", "resource": {"uri": "n://1", "mimeType": "text/markdown"}}


async def test_row_066_a_blob_resource() -> None:
    part = await media(b'{"type":"resource","resource":{"uri":"n://2","mimeType":"image/png","blob":"%s"}}' % PNG)
    assert (part.data, part.mime_type) == (b"\x89PNG\r\n", "image/png")
    assert value(part) == {"type": "resource", "resource": {"uri": "n://2"}}


async def test_row_067_a_blob_without_a_type_has_none() -> None:
    output = await read_block(b'{"type":"resource","resource":{"uri":"file:///repo/clip.wav","blob":"UklGRg=="}}')
    (part,) = output.parts
    assert part.mime_type is None
    assert b"mimeType" not in encode_tool_result_json(output)


async def test_row_068_a_resource_with_both() -> None:
    error = await broken_block(b'{"type":"resource","resource":{"uri":"n://1","text":"a","blob":"AAEC"}}')
    assert str(error) == "mcp: embedded resource carries both text and blob"


@pytest.mark.parametrize("rest", [b"", b',"text":""', b',"blob":""', b',"text":"","blob":""'])
async def test_row_069_an_empty_resource(rest: bytes) -> None:
    error = await broken_block(b'{"type":"resource","resource":{"uri":"n://1"%s}}' % rest)
    assert isinstance(error, EmptyEmbeddedResourceError)
    assert str(error) == "mcp: empty embedded resources are unsupported"


@pytest.mark.parametrize("resource", [b'{"text":"a"}', b'{"uri":"","text":"a"}', b'{"uri":null,"blob":"AAEC"}'])
async def test_row_070_a_resource_without_a_uri(resource: bytes) -> None:
    error = await broken_block(b'{"type":"resource","resource":%s}' % resource)
    assert not isinstance(error, EmptyEmbeddedResourceError)
    assert str(error) == "mcp: embedded resource requires a URI"


async def test_row_071_a_resource_that_is_null() -> None:
    assert str(await broken_block(b'{"type":"resource","resource":null}')) == "mcp: embedded resource is nil"


async def test_row_072_null_and_unknown_blocks() -> None:
    """Fault D12."""
    assert str(await broken_block(b"null")) == "mcp: content is nil"
    unknown = b'{"type":"tool_use","id":"1","name":"n","input":{}}'
    assert str(await broken_block(unknown)) == "mcp: unsupported content tool_use"
    for odd in (b"5", b'"x"', b"[]"):
        assert str(await broken_block(odd)) == "mcp: content is no object"


async def test_row_073_meta_is_exact() -> None:
    """And fault D17: annotations and `_meta` are kept."""
    meta = b'{"example/value":{"id":9007199254740993,"x":null,"e":{},"f":1.50,"g":1E400}}'
    annotations = b'{"audience":["user"],"priority":0.50,"lastModified":"2026-01-01T00:00:00Z"}'
    part = await text_part(b'{"type":"text","text":"a","_meta":%s,"annotations":%s}' % (meta, annotations))
    assert part.metadata["mcp/content"] == b'{"type":"text","_meta":%s,"annotations":%s}' % (meta, annotations)


def with_core(core: bytes, key: bytes = b"toolwire/content") -> bytes:
    return b'{"type":"image","mimeType":"image/png","data":"%s","_meta":{"k":1,"%s":%s}}' % (PNG, key, core)


@pytest.mark.parametrize("key", [b"toolwire/content", b"scope/content"])
async def test_row_074_a_core_object(key: bytes) -> None:
    core = b'{"name":"x","media_id":"i","media_metadata":{"a":1.50},"metadata":{"app":1e3}}'
    for spelling in (core, json.dumps(core.decode()).encode()):
        part = await media(with_core(spelling, key))
        assert (part.name, part.id, part.media_metadata) == ("x", "i", {"a": b"1.50"})
        assert part.metadata["app"] == b"1e3"
        assert value(part) == {"type": "image", "_meta": {"k": 1}}


@pytest.mark.parametrize("core", [b'{"name":"x"}', b'{"media_id":"x"}', b'{"media_metadata":{"a":1}}'])
async def test_row_075_media_facts_on_a_text(core: bytes) -> None:
    error = await broken_block(b'{"type":"text","text":"a","_meta":{"toolwire/content":%s}}' % core)
    assert str(error) == "mcp: Core content metadata names non-media content"


async def test_row_076_a_core_name_on_a_link() -> None:
    block = b'{"type":"resource_link","uri":"https://e.invalid","name":"n","_meta":{"toolwire/content":{"name":"x"}}}'
    assert str(await broken_block(block)) == "mcp: Core content metadata duplicates the resource link name"


@pytest.mark.parametrize(
    "core", [b'{"foo":1}', b"5", b'"x"', b"[]", b'{"name":5}', b'{"metadata":[]}', b'{"citations":{}}']
)
async def test_row_077_a_core_object_of_another_shape(core: bytes) -> None:
    assert str(await broken_block(with_core(core))).startswith("mcp: decode Core content metadata")


async def test_row_078_a_nested_envelope() -> None:
    error = await broken_block(with_core(b'{"metadata":{"mcp/content":{}}}'))
    assert str(error) == "mcp: Core content metadata contains a nested MCP envelope"


async def test_row_079_citations_on_media() -> None:
    error = await broken_block(with_core(b'{"citations":[{"source":{"kind":"reference","value":"r"}}]}'))
    assert str(error) == 'mcp: mapped content: toolwire: invalid part: kind "media" cannot carry citations'


async def test_a_name_that_is_empty_in_meta_is_refused() -> None:
    """Section 3.4, step 3."""
    assert str(await broken_block(b'{"type":"text","text":"a","_meta":{"":1}}')).startswith(
        "mcp: encode content metadata: "
    )
    assert isinstance(await broken_block(b'{"type":"text","text":"a","_meta":5}'), ContentError)


async def test_a_resources_own_meta_is_kept() -> None:
    block = b'{"type":"resource","resource":{"uri":"n://1","text":"a","_meta":{"v":1.50}}}'
    part = await text_part(block)
    assert same(part.metadata["mcp/content"], b'{"type":"resource","resource":{"uri":"n://1","_meta":{"v":1.50}}}')


async def test_a_host_in_brackets_that_is_no_address_costs_its_block_alone() -> None:
    error = await broken_block(b'{"type":"resource_link","name":"x","uri":"http://[bad"}')
    assert str(error) == 'toolwire: invalid source: "http://[bad" is not an absolute URI'


@pytest.mark.parametrize(
    "source",
    [
        b'{"kind":"uri","value":"rel/a"}',
        b'{"kind":"uri","value":"mailto:a@b"}',
        b'{"kind":"uri","value":"http://[bad"}',
        b'{"kind":"page","value":"1"}',
        b'{"kind":"reference","value":" r"}',
    ],
)
async def test_a_citation_that_names_no_source_is_refused(source: bytes) -> None:
    core = b'{"toolwire/content":{"citations":[{"source":%s}]}}' % source
    error = await broken_block(b'{"type":"text","text":"x","_meta":%s}' % core)
    assert str(error).startswith("mcp: mapped content: toolwire: invalid part: citation source ")
