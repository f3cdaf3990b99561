"""Tools that give content, and nothing but toolwire: each of them may go express."""

import json
from typing import Annotated

from pydantic import Field

import toolwire
from conformance.everything.media import PIXEL, SILENCE
from toolwire import MediaPart, TextPart, Tool, ToolFailure, ToolOutput

__all__ = ["CONTENT_TOOLS"]


@toolwire.tool(name="test_simple_text")
async def simple_text() -> str:
    """Gives one text."""
    return "This is a simple text response for testing."


@toolwire.tool(name="test_image_content")
async def image() -> MediaPart:
    """Gives one image."""
    return MediaPart(PIXEL, mime_type="image/png")


@toolwire.tool(name="test_audio_content")
async def audio() -> MediaPart:
    """Gives one sound."""
    return MediaPart(SILENCE, mime_type="audio/wav")


@toolwire.tool(name="test_embedded_resource")
async def embedded_resource() -> TextPart:
    """Gives a text resource."""
    return TextPart(
        "This is an embedded resource content.",
        block="resource",
        uri="test://embedded-resource",
        mime_type="text/plain",
    )


@toolwire.tool(name="test_multiple_content_types")
async def mixed() -> list[TextPart | MediaPart]:
    """Gives a text, an image and a resource."""
    data = json.dumps({"test": "data", "value": 123})
    return [
        TextPart("Multiple content types test:"),
        MediaPart(PIXEL, mime_type="image/png"),
        TextPart(data, block="resource", uri="test://mixed-content-resource", mime_type="application/json"),
    ]


@toolwire.tool(name="test_error_handling")
async def failing() -> str:
    """Fails, always."""
    raise ToolFailure("This tool intentionally returns an error for testing")


@toolwire.tool(name="test_tool_with_progress")
async def with_progress() -> str:
    """Reports how far it is, three times."""
    for done in (0, 50, 100):
        await toolwire.report_progress(done, 100, f"Completed step {done} of 100")
    request = toolwire.current_request()
    return str(None if request is None else request.meta.get("progressToken"))


Region = Annotated[str, Field(description="Where to look.", json_schema_extra={"x-mcp-header": "Region"})]


@toolwire.tool(name="test_x_mcp_header")
async def mirrored(region: Region = "nowhere") -> str:
    """Says the region that a header has to repeat."""
    return f"region={region}"


KEYWORDS = b"""{
"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object",
"properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"""
"""The schema that json-schema-2020-12 looks for, every keyword of it."""


async def _said(arguments: bytes) -> ToolOutput:
    return ToolOutput(arguments.decode())


CONTENT_TOOLS = (
    simple_text,
    image,
    audio,
    embedded_resource,
    mixed,
    failing,
    with_progress,
    mirrored,
    Tool.raw("json_schema_2020_12_tool", "Says its arguments.", KEYWORDS, _said),
)
