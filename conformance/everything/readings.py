"""Resources and prompts: the SDK's own, which toolwire leaves as they are."""

import base64
import json

import mcp_types as types
from mcp.server.mcpserver import MCPServer, UserMessage

from conformance.everything.media import PIXEL

__all__ = ["add_readings"]


def static_text() -> str:
    """A text that stays the same."""
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    """An image that stays the same."""
    return PIXEL


def watched() -> str:
    """A text that a client may subscribe to."""
    return "Watched resource content"


def templated(id: str) -> str:  # noqa: A002 - the template's own name
    """Data of any id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


def prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt that says its arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def prompt_with_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's own name
    """A prompt that embeds a resource."""
    contents = types.TextResourceContents(uri=resourceUri, mime_type="text/plain", text="Embedded for testing.")
    return [UserMessage(types.EmbeddedResource(resource=contents)), UserMessage("Read the resource above.")]


def prompt_with_image() -> list[UserMessage]:
    """A prompt that shows an image."""
    image = types.ImageContent(data=base64.b64encode(PIXEL).decode(), mime_type="image/png")
    return [UserMessage(image), UserMessage("Look at the image above.")]


def add_readings(server: MCPServer) -> None:
    """Puts them on a server."""
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://watched-resource", mime_type="text/plain")(watched)
    server.resource("test://template/{id}/data", mime_type="application/json")(templated)
    server.prompt(name="test_simple_prompt")(simple_prompt)
    server.prompt(name="test_prompt_with_arguments")(prompt_with_arguments)
    server.prompt(name="test_prompt_with_embedded_resource")(prompt_with_resource)
    server.prompt(name="test_prompt_with_image")(prompt_with_image)
