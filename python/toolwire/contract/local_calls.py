"""How a call of a tool that runs here goes: arguments in, the handler's run, its value out as a ToolOutput.

A handler's exception is its text, the exception kept as the failure's cause; what is no ordinary one goes through.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import anyio.to_thread

from toolwire import _core
from toolwire.contract.arguments import refused_input
from toolwire.contract.callables import innermost
from toolwire.contract.current import serving
from toolwire.contract.decoding import decode
from toolwire.contract.encoding import EncodeError, encode
from toolwire.contract.nesting import inside
from toolwire.contract.output import ToolOutput
from toolwire.contract.parts import MediaPart, TextPart
from toolwire.contract.remote_output import RemoteOutput
from toolwire.contract.signature import Signature
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolError, UnexpectedFailure, quoted

__all__ = ["FunctionCaller", "RawCaller", "output_of", "text_of"]


async def run_handler(function: Callable[..., Any], is_async: bool, /, *args: Any, **named: Any) -> Any:
    """What a handler returns: awaited, or run in a worker thread that a cancelled caller leaves behind.

    Raises ToolError as it is, any other Exception as a ToolFailure with its text.
    """
    try:
        if is_async:
            return await function(*args, **named)
        call = functools.partial(function, *args, **named)
        value, raised = await anyio.to_thread.run_sync(_boxed, call, abandon_on_cancel=True)
        if raised is not None:
            raise raised
        return await value if inspect.isawaitable(value) else value
    except ToolError:
        raise
    except Exception as error:  # noqa: BLE001 - a handler may raise anything, and to a model it is one failed call
        raise UnexpectedFailure(text_of(error), cause=error) from None


def _boxed(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    # Trio takes a coroutine that comes out of a thread for a mistake, if it can see it.
    try:
        return call(), None
    except (StopIteration, GeneratorExit) as error:
        # Thrown into a coroutine that waits, the one becomes another and the other closes what it meets.
        return None, error


def text_of(error: BaseException) -> str:
    """What an exception says: its text, or its class's name when that is empty or cannot be had."""
    if isinstance(error.__cause__, StopIteration) and error.args == ("coroutine raised StopIteration",):
        # None leaves a coroutine as itself: Python puts this around it (PEP 479).
        error = error.__cause__
    if isinstance(error, BaseExceptionGroup):
        # What a task group raises says only how many there are.
        return "; ".join(map(text_of, error.exceptions))
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - a broken __str__ must not hide that the handler failed
        return type(error).__name__


def is_async(function: Callable[..., Any]) -> bool:
    """A callable whose call gives a coroutine."""
    function = innermost(function)
    # Of an object it is the class that says how it is called.
    called = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


class FunctionCaller:
    """Carries the calls of one function: bytes to keyword arguments, its value to an output."""

    __slots__ = ("_function", "_is_async", "_json", "_strict", "signature")

    def __init__(self, function: Callable[..., Any], signature: Signature, returns_json: bool) -> None:
        self._strict: FunctionCaller | None = None
        self._function = function
        self._is_async = is_async(function)
        self._json = returns_json
        self.signature = signature

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        return self._function

    @property
    def is_async(self) -> bool:
        """A call of the function gives a coroutine."""
        return self._is_async

    @property
    def returns_json(self) -> bool:
        """A value is given as JSON, a text too."""
        return self._json

    @property
    def needs_sdk_context(self) -> bool:
        """The function has a parameter for the SDK's own request context."""
        return self.signature.context_parameter is not None

    def strict(self, name: str) -> FunctionCaller:
        """The same function, refusing members that its schema does not name."""
        if self._strict is None:
            self._strict = FunctionCaller(
                self._function, Signature(name, self._function, strict_input=True), self._json
            )
        return self._strict

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        """One call. Raises ToolFailure and ToolError."""
        named = self.named(tool, arguments)
        if tool.settings.sequential_by_policy:
            with inside(tool):
                value = await run_handler(self._function, self._is_async, **named)
        else:
            value = await run_handler(self._function, self._is_async, **named)
        return output_of(tool.name, value, self._json)

    def named(self, tool: Tool, arguments: bytes | str) -> dict[str, Any]:
        """The function's keyword arguments. Raises ToolFailure."""
        try:
            checked = _core.check_arguments(arguments)
        except _core.JsonError as error:
            raise refused_input(tool.name, error.args[0]) from None
        try:
            named = decode(self.signature, checked)
        except Exception as error:  # noqa: BLE001 - a validator of the user's may raise what pydantic does not expect
            raise UnexpectedFailure(text_of(error), cause=error) from None
        if isinstance(named, str):
            raise refused_input(tool.name, named)
        context = self.signature.context_parameter
        if context is not None:
            request = serving.get()
            named[context] = None if request is None else request.sdk_context_as(self.signature.context_kind)
        return named


class RawCaller:
    """Carries the calls of a handler that takes the argument bytes as they are and gives text, parts or an output."""

    __slots__ = ("_function", "_is_async")

    needs_sdk_context = False

    def __init__(self, function: Callable[[bytes], Any]) -> None:
        self._function = function
        self._is_async = is_async(function)

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        """One call: blank and null are `{}`, all else reaches the handler as it is. Raises as `FunctionCaller` does."""
        try:
            raw = arguments.encode() if isinstance(arguments, str) else arguments
        except UnicodeEncodeError:
            raise refused_input(tool.name, "half of a surrogate pair in the arguments") from None
        if len(raw) < _BLANK and raw.strip() in (b"", b"null"):
            raw = b"{}"
        if tool.settings.sequential_by_policy:
            with inside(tool):
                value = await run_handler(self._function, self._is_async, raw)
        else:
            value = await run_handler(self._function, self._is_async, raw)
        if isinstance(value, str) and tool.output_schema is not None and _is_json(value):
            return ToolOutput(value, structured=value.encode())
        return output_of(tool.name, value, False)


_BLANK = 64
"""Bytes up to which arguments are looked at for being blank: a model pads them with a newline, not with a page."""


def _is_json(text: str) -> bool:
    try:
        _core.check_output(text)
    except _core.JsonError:
        return False
    return True


def output_of(name: str, value: Any, as_json: bool) -> ToolOutput:
    """A handler's value as an output. Raises ToolFailure when it is no JSON."""
    if isinstance(value, str) and not as_json:
        return ToolOutput(_encodable(name, value))
    if isinstance(value, RemoteOutput):
        return value
    if isinstance(value, ToolOutput):
        _encodable(name, value.text)
        return value
    if isinstance(value, TextPart | MediaPart):
        value = [value]
    if value and isinstance(value, list | tuple) and all(isinstance(part, TextPart | MediaPart) for part in value):
        output = ToolOutput(parts=value)
        _encodable(name, output.text)
        return output
    try:
        text = encode(name, value)
    except EncodeError as error:
        raise UnexpectedFailure(str(error), cause=error) from None
    return ToolOutput(text.decode(), structured=text if as_json else None)


def _encodable(name: str, text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            problem = "half of a surrogate pair in the text"
            raise UnexpectedFailure(f"marshal output of tool {quoted(name)}: {problem}") from None
    return text
