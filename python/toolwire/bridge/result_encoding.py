"""`encode_tool_result`: an output as an MCP result, through the content codec (spec many-sources 1.12)."""

from __future__ import annotations

from mcp_types import CallToolResult

from toolwire import _core
from toolwire.contract.content_out import block_of
from toolwire.contract.output import ToolOutput
from toolwire.errors import ContentError, MediaReferenceError, ToolwireError

__all__ = ["encode_parts", "encode_tool_result"]


def encode_parts(output: ToolOutput) -> tuple[bytes, bytes | None]:
    """The content as a JSON array, and the structured value's exact bytes. Raises ToolwireError, naming the part."""
    structured = output.structured
    if structured is not None:
        try:
            _core.validate(structured)
        except _core.JsonError as error:
            problem = f"details must be one valid RFC 7493 JSON document: {error.args[0]}"
            raise ToolwireError(f"mcp: invalid Tool output: toolwire: invalid tool output: {problem}") from None
    blocks = []
    for index, part in enumerate(output.parts):
        try:
            blocks.append(block_of(part))
        except MediaReferenceError as error:
            raise MediaReferenceError from error
        except ContentError as error:
            raise ContentError(f"mcp: tool output content[{index}]: {error}") from error
    return b"[" + b",".join(blocks) + b"]", structured


def encode_tool_result(output: ToolOutput) -> CallToolResult:
    """The SDK's result for an output; `result_json` of the same has the exact bytes. Raises ToolwireError.

    The SDK's model holds decoded values: a structured value with numbers beyond Python's floats is exact only as bytes.
    """
    content, structured = encode_parts(output)
    text = _core.content_result(content, structured, False, None, None)
    return CallToolResult.model_validate_json(text, by_name=False)
