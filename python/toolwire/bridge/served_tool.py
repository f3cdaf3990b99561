"""One tool as it is served: its listing entry for each era, and the result of a call, whatever happens in it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from toolwire import _core
from toolwire.bridge.turns import Turns
from toolwire.contract.blocks import block_json
from toolwire.contract.current import Request, serving
from toolwire.contract.halves import has_halves, without_halves
from toolwire.contract.local_calls import FunctionCaller, output_of, text_of
from toolwire.contract.output import ToolOutput
from toolwire.contract.remote_output import RemoteOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolError, ToolFailure, quoted
from toolwire.loops import goes_on
from toolwire.wire.served_calls import Asked

__all__ = ["ExpressRequest", "ServedTool", "goes_on"]

logger = logging.getLogger("toolwire.bridge")

TextForm = Callable[[str, bytes | None, bool, bytes | None], bytes]
"""Makes an answer of text, structured value, whether it is an error, and the server's stamp."""
ContentForm = Callable[[bytes, bytes | None, bool, bytes | None, bytes | None], bytes]
"""The same of blocks, with the result's `_meta` before the stamp."""


class ExpressRequest(Request):
    """The request of a call on the express lane: its facts are read when somebody asks for them."""

    __slots__ = ("_asked", "_call")

    sdk_context = None

    def __init__(self, asked: Asked, call: _core.ServedCall) -> None:
        self._asked = asked
        self._call = call

    @property
    def request_id(self) -> int | str:  # type: ignore[override]  # read only here
        """The id that the client gave the call."""
        identifier: int | str = json.loads(self._call.id_json)
        return identifier

    @property
    def auth(self) -> Any:
        """The access token of the request, where the server asks for one."""
        return self._asked.auth

    @property
    def lifespan(self) -> Any:
        """What the server's lifespan yielded."""
        return self._asked.lifespan

    @property
    def meta_json(self) -> bytes | None:  # type: ignore[override]  # the same
        """The call's `_meta`, its exact JSON."""
        return self._call.meta

    @property
    def wants_progress(self) -> bool:
        """The client asked to be told of progress."""
        return self._call.token is not None

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tells the client how far the call is, if it asked to be told."""
        await self._asked.progress(self._call, progress, total, message)


class ServedTool:
    """A tool on a server. Of its policies strict input and an explicit `sequential()` apply (spec one-session 1.8)."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.name = tool.name
        self._caller = tool.caller
        self.needs_sdk_context = bool(getattr(tool.caller, "needs_sdk_context", False))
        self._promises = tool.definition.output_schema is not None
        self._turns = Turns() if tool.settings.sequential_by_policy else None
        self._direct: FunctionCaller | None = None
        """Of an async function: awaited here, without the layers that a thread or a turn would need."""
        if isinstance(tool.caller, FunctionCaller) and tool.caller.is_async and self._turns is None:
            self._direct, self._function = tool.caller, tool.caller.function
            self._gives_text = not tool.caller.returns_json and not self._promises

    def members(self) -> Mapping[str, bytes]:
        """The listing entry's members, each with its exact bytes: what the tool's owner wrote, under its name here."""
        listed = {name: value for name, value in _core.members(self.tool.definition.text).items() if value != b"null"}
        # A task is a promise of the server that listed it, and none of ours.
        listed.pop("execution", None)
        listed["name"] = _core.quote(self.name)
        listed.setdefault("inputSchema", b'{"type":"object"}')
        if self.tool.settings.annotations is not None:
            listed["annotations"] = self.tool.settings.annotations
        return {name: without_halves(value) for name, value in listed.items()}

    async def run(self, asked: Asked, call: _core.ServedCall, stamp: bytes | None, /) -> bytes:
        """One call on the express lane: the line that answers it."""
        serving.set(ExpressRequest(asked, call))
        return await self._outcome(call.arguments or b"{}", stamp, call.text_answer, call.content_answer)

    async def result(self, arguments: bytes, stamp: bytes | None) -> bytes:
        """The result of one call as JSON: with `stamp` as a 2026-07-28 session has it, without as handshake eras do.

        Raises only cancellation and KeyboardInterrupt.
        """
        return await self._outcome(arguments, stamp, _core.text_result, _core.content_result)

    async def _outcome(self, arguments: bytes, stamp: bytes | None, text: TextForm, content: ContentForm) -> bytes:
        try:
            if self._direct is not None:
                value = await self._function(**self._direct.named(self.tool, arguments))
                if self._gives_text and type(value) is str:
                    try:
                        return text(value, None, False, stamp)
                    except UnicodeEncodeError:
                        pass  # said below, in the words of every other output
                output = output_of(self.name, value, self._direct.returns_json)
            elif self._turns is None:
                output = await self._caller.call(self.tool, arguments)
            else:
                async with self._turns:
                    output = await self._caller.call(self.tool, arguments)
            return self._success(output, stamp, text, content)
        except ToolError as error:
            if isinstance(error, ToolFailure) and not error.remote and error.kind == "failed":
                logger.debug("tool %r failed", self.name, exc_info=error.cause)
            return _failure(error, stamp, text, content)
        except Exception as error:
            logger.debug("tool %r failed", self.name, exc_info=error)
            return text(_sendable(text_of(error)), None, True, stamp)
        except BaseException as error:
            if goes_on(error):
                raise
            # SystemExit, a panic of a Rust extension, a cancellation that nobody asked for: the server lives on.
            logger.exception("tool %r panicked", self.name)
            return text(_sendable(f"tool {quoted(self.name)} panicked: {text_of(error)}"), None, True, stamp)

    def _success(self, output: ToolOutput, stamp: bytes | None, text: TextForm, content: ContentForm) -> bytes:
        if isinstance(output, RemoteOutput):
            return _passed_on(output.result, content, is_error=output.is_error, stamp=stamp)
        try:
            structured = output.structured
            if structured is None and self._promises:
                structured = output.text.encode()
                if not _is_json(structured):
                    breach = "advertised an output schema, so its result must be JSON; got non-JSON text"
                    return text(f"tool {quoted(self.name)} {breach}", None, True, stamp)
            if structured is not None and has_halves(structured):
                problem = (
                    f"marshal output of tool {quoted(self.name)}: half of a surrogate pair in the structured value"
                )
                return text(problem, None, True, stamp)
            structured = _carried(structured, stamp)
            if output.plain:
                return text(output.text, structured, False, stamp)
            blocks = b"[" + b",".join(without_halves(block_json(part)) for part in output.parts) + b"]"
        except UnicodeEncodeError:
            problem = f"marshal output of tool {quoted(self.name)}: half of a surrogate pair in the text"
            return text(problem, None, True, stamp)
        return content(blocks, structured, False, None, stamp)


def _is_json(text: bytes) -> bool:
    try:
        _core.check_output(text)
    except _core.JsonError:
        return False
    return True


def _carried(structured: bytes | None, stamp: bytes | None) -> bytes | None:
    """A structured value where the era has a place for it: before 2026-07-28 only an object has."""
    if structured is None or stamp is not None or structured.lstrip()[:1] == b"{":
        return structured
    return None


def _passed_on(result: _core.CallResult, content: ContentForm, *, is_error: bool, stamp: bytes | None) -> bytes:
    """A remote tool's result as it came, unknown blocks included; only halves of surrogate pairs are mended."""
    blocks, structured, meta = (
        None if part is None else without_halves(part) for part in (result.content, result.structured, result.meta)
    )
    return content(blocks or b"[]", _carried(structured, stamp), is_error, meta, stamp)


def _failure(error: ToolError, stamp: bytes | None, text: TextForm, content: ContentForm) -> bytes:
    output: Any = error.output if isinstance(error, ToolFailure) else None
    if isinstance(output, RemoteOutput):
        result = output.result
        if result.structured is not None or result.blocks():
            return _passed_on(result, content, is_error=True, stamp=stamp)
    return text(_sendable(text_of(error)), None, True, stamp)


def _sendable(text: str) -> str:
    """A text that UTF-8 can carry: an exception may quote anything."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
