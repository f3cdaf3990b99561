"""Outputs as MCP results, through the content codec: `encode_tool_result`, and its bytes (spec many-sources 1.12)."""

from __future__ import annotations

from mcp_types import CallToolResult
from pydantic import ValidationError

from toolwire import _core
from toolwire.bridge.discovered_output import DiscoveredOutput
from toolwire.contract.content_out import chunks_of
from toolwire.contract.content_values import check_exact
from toolwire.contract.halves import without_halves
from toolwire.contract.output import ToolOutput
from toolwire.contract.remote_output import RemoteOutput
from toolwire.errors import ContentError, ToolwireError

__all__ = ["encode_parts", "encode_tool_result", "encode_tool_result_json", "result_json"]


def encode_parts(output: ToolOutput) -> tuple[bytes, bytes | None]:
    """The content as a JSON array, and the structured value's exact bytes. Raises ToolwireError, naming the part."""
    structured = output.structured
    if structured is not None:
        try:
            # What came from a server goes on as it came, but for halves of surrogate pairs; what is ours is I-JSON.
            if isinstance(output, RemoteOutput):
                structured = without_halves(structured)
                _core.check_output(structured)
            else:
                check_exact(structured)
        except _core.JsonError as error:
            problem = f"details must be one valid RFC 7493 JSON document: {error.args[0]}"
            raise ToolwireError(f"mcp: invalid Tool output: toolwire: invalid tool output: {problem}") from None
    if isinstance(output, RemoteOutput) and not isinstance(output, DiscoveredOutput):
        # An imported tool's result has not been through the codec: its blocks go on as they came.
        return without_halves(output.result.content or b"[]"), structured
    chunks = [b"["]
    for index, part in enumerate(output.parts):
        if index:
            chunks.append(b",")
        try:
            chunks += [without_halves(chunk) if b"\\u" in chunk else chunk for chunk in chunks_of(part)]
        except ContentError as error:
            raise type(error)(f"mcp: tool output content[{index}]: {error}") from error
        except UnicodeEncodeError:
            problem = "it holds half of a surrogate pair"
            raise ContentError(f"mcp: tool output content[{index}]: toolwire: invalid part: {problem}") from None
    chunks.append(b"]")
    return b"".join(chunks), structured


def result_json(output: ToolOutput, *, is_error: bool, stamp: bytes | None) -> bytes:
    """A result's bytes: with `stamp` as a 2026-07-28 session has it, without as handshake eras do.

    Those have a place for a structured value that is an object, and for no other.
    """
    content, structured = encode_parts(output)
    carried = structured if stamp is not None or (structured or b"").lstrip()[:1] == b"{" else None
    return _core.content_result(content, carried, is_error, None, stamp)


def encode_tool_result_json(output: ToolOutput) -> bytes:
    """The bytes of an output's result, exact numbers and all. Raises ToolwireError."""
    content, structured = encode_parts(output)
    return _core.content_result(content, structured, False, None, None)


def encode_tool_result(output: ToolOutput) -> CallToolResult:
    """The SDK's result for an output. Raises ToolwireError.

    The SDK's model holds decoded values: numbers beyond Python's floats are exact in `encode_tool_result_json` alone.
    """
    try:
        return CallToolResult.model_validate_json(encode_tool_result_json(output), by_name=False)
    except ValidationError as error:
        raise ContentError(f"mcp: tool output: the SDK has no place for it: {error}") from None
