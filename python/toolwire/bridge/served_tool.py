"""One tool as it is served: its listing entry for each era, and the result of a call, whatever happens in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio

from toolwire import _core
from toolwire.contract.current import Request, serving
from toolwire.contract.local_output import LocalOutput, block_json
from toolwire.contract.local_tool import LocalDefinition
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolError, ToolFailure, quoted
from toolwire.wire.server import ServerWire

__all__ = ["ServedTool"]


TextForm = Callable[[str, bytes | None, bool, bytes | None], bytes]
"""Makes an answer of text, structured value, whether it is an error, and the server's stamp."""
ContentForm = Callable[[bytes, bytes | None, bool, bytes | None, bytes | None], bytes]
"""The same of blocks, with the result's `_meta` before the stamp."""


class ExpressRequest(Request):
    """The request of a call on the express lane: its facts are read when somebody asks for them."""

    __slots__ = ("_call", "_wire")

    auth = None
    sdk_context = None

    def __init__(self, wire: ServerWire, call: _core.ServedCall) -> None:
        self._wire = wire
        self._call = call

    @property
    def request_id(self) -> int | str:  # type: ignore[override]  # read only here
        identifier: int | str = json.loads(self._call.id_json)
        return identifier

    @property
    def lifespan(self) -> Any:
        return self._wire.lifespan

    @property
    def meta_json(self) -> bytes | None:  # type: ignore[override]  # the same
        return self._call.meta

    @property
    def wants_progress(self) -> bool:
        """The client asked to be told of progress."""
        return self._call.token is not None

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tells the client how far the call is, if it asked to be told."""
        await self._wire.progress(self._call, progress, total, message)


class ServedTool:
    """A tool on a server. Only its own strict input and an explicit `sequential()` apply here (spec one-session 1.8)."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.name = tool.name
        self._caller = tool.caller
        self.needs_sdk_context = bool(getattr(tool.caller, "needs_sdk_context", False))
        self._promises = tool.definition.output_schema is not None
        self._turn = anyio.Lock() if tool.settings.sequential_by_policy else None
        self._entries: dict[bool, bytes] = {}

    def entry(self, modern: bool) -> bytes:
        """The listing entry's exact bytes. A handshake era cannot carry an output schema whose root is no object."""
        found = self._entries.get(modern)
        if found is None:
            found = self._entries[modern] = self._make_entry(modern)
        return found

    def _make_entry(self, modern: bool) -> bytes:
        definition = self.tool.definition
        output_schema = definition.output_schema
        if output_schema is not None and not modern and not _is_object_schema(output_schema):
            output_schema = None
        return LocalDefinition(
            self.name,
            definition.description,
            definition.input_schema or b'{"type":"object"}',
            output_schema,
            definition.title,
            self.tool.settings.annotations or definition.annotations,
            definition.meta,
        ).text

    async def run(self, wire: ServerWire, call: _core.ServedCall, stamp: bytes | None, /) -> bytes:
        """One call on the express lane: the line that answers it."""
        serving.set(ExpressRequest(wire, call))
        return await self._outcome(call.arguments or b"{}", stamp, call.text_answer, call.content_answer)

    async def result(self, arguments: bytes, stamp: bytes | None) -> bytes:
        """The result of one call as JSON: with `stamp` as a 2026-07-28 session has it, without as the handshake eras do.

        Raises only cancellation and KeyboardInterrupt.
        """
        return await self._outcome(arguments, stamp, _core.text_result, _core.content_result)

    async def _outcome(self, arguments: bytes, stamp: bytes | None, text: TextForm, content: ContentForm) -> bytes:
        try:
            if self._turn is None:
                output = await self._caller.call(self.tool, arguments)
            else:
                async with self._turn:
                    output = await self._caller.call(self.tool, arguments)
            return self._success(output, stamp, text, content)
        except ToolError as error:
            return _failure(error, stamp, text, content)
        except Exception as error:
            return text(_sendable(str(error) or type(error).__name__), None, True, stamp)
        except (anyio.get_cancelled_exc_class(), KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            # SystemExit, a panic of a Rust extension: the server lives on.
            return text(_sendable(f"tool {quoted(self.name)} panicked: {error}"), None, True, stamp)

    def _success(self, output: ToolOutput, stamp: bytes | None, text: TextForm, content: ContentForm) -> bytes:
        if not isinstance(output, LocalOutput):
            result = output.result
            structured = _carried(result.structured, stamp)
            return content(result.content or b"[]", structured, False, result.meta, stamp)
        structured = output.structured
        if self._promises:
            structured = self._promised(output)
            if structured is None:
                breach = (
                    f"tool {quoted(self.name)} advertised an output schema, so its result must be JSON; got non-JSON text"
                )
                return text(breach, None, True, stamp)
        structured = _carried(structured, stamp)
        if output.plain:
            return text(output.text, structured, False, stamp)
        blocks = b"[" + b",".join(block_json(part) for part in output.parts) + b"]"
        return content(blocks, structured, False, None, stamp)

    def _promised(self, output: LocalOutput) -> bytes | None:
        """The structured value that the output schema owes: the output's own, or its text where that is JSON."""
        value = output.structured if output.structured is not None else output.text.encode("utf-8", "surrogatepass")
        try:
            _core.check_output(value)
        except _core.JsonError:
            return None
        return value


def _carried(structured: bytes | None, stamp: bytes | None) -> bytes | None:
    """A structured value where the era has a place for it: before 2026-07-28 only an object has."""
    if structured is None or stamp is not None or structured.lstrip()[:1] == b"{":
        return structured
    return None


def _is_object_schema(schema: bytes) -> bool:
    try:
        _core.parse_schema(schema)
    except _core.JsonError:
        return False
    return True


def _failure(error: ToolError, stamp: bytes | None, text: TextForm, content: ContentForm) -> bytes:
    output: Any = error.output if isinstance(error, ToolFailure) else None
    if output is None or isinstance(output, LocalOutput):
        return text(_sendable(str(error)), None, True, stamp)
    result = output.result
    blocks = result.content or b"[]"
    if blocks == b"[]" and result.structured is None:
        return text(_sendable(str(error)), None, True, stamp)
    return content(blocks, _carried(result.structured, stamp), True, result.meta, stamp)


def _sendable(text: str) -> str:
    """A text that UTF-8 can carry: an exception may quote anything."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
