"""A tool: an immutable definition, the settings of its policies, and the one that carries its calls.

Who carries a call (a remote server, a local function) is not known here; it is handed the tool and the raw arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import anyio

from toolwire.contract.arguments import Arguments, encoded
from toolwire.contract.binding import Binding
from toolwire.contract.effect import Effect
from toolwire.contract.guarded import Guarded, run_admitted
from toolwire.contract.input_round import Continuation
from toolwire.contract.invocation import Contract, Invocation
from toolwire.contract.output import ToolOutput
from toolwire.contract.policies import Policy, Settings
from toolwire.contract.progress import OnProgress, heard_by
from toolwire.contract.schema import EMPTY, Schema

__all__ = ["Caller", "Definition", "Tool"]


class Definition(Protocol):
    """Where a tool's facts are read from; bytes are exact JSON."""

    @property
    def description(self) -> str:
        """What the tool does; may be empty."""

    @property
    def title(self) -> str | None:
        """The name for people."""

    @property
    def input_schema(self) -> bytes | None:
        """The input schema; `None` is `{"type":"object"}`."""

    @property
    def output_schema(self) -> bytes | None:
        """The output schema, where its root is an object's."""

    @property
    def annotations(self) -> bytes | None:
        """The owner's hints."""

    @property
    def meta(self) -> bytes | None:
        """The definition's `_meta`."""

    @property
    def text(self) -> bytes:
        """The whole listing entry."""

    def warnings(self) -> list[str]:
        """What is odd about it and kept all the same."""

    def fingerprint(self) -> str:
        """SHA-256 over the exact bytes of name, description and schema."""


class Caller(Protocol):
    """Carries the calls of tools."""

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        """One call. Raises ToolFailure or RemoteCallError."""


class Tool:
    """One tool. `await tool.invoke(args)` gives the text that a model reads, `await tool.call(args)` everything.

    `args` is the model's raw JSON as `bytes` or `str`; it goes out unchanged. A mapping is encoded, blank is `{}`.
    Both raise ToolFailure (definite) or RemoteCallError (unknown outcome); `str(error)` is the model's text.
    """

    __slots__ = ("_binding", "_caller", "_carrier", "_definition", "_name", "_settings")

    def __init__(self, name: str, definition: Definition, settings: Settings, caller: Caller) -> None:
        self._name = name
        self._definition = definition
        self._settings = settings
        self._carrier = caller
        guarded = settings.authorizer is not None or settings.validator is not None
        self._caller: Caller = Guarded(caller) if guarded else caller
        self._binding: Binding | None = None

    @staticmethod
    def raw(
        name: str,
        description: str,
        schema: bytes | str | Schema | None,
        function: Callable[[bytes], Any],
        *policies: Policy,
        output_schema: bytes | str | Schema | None = None,
    ) -> Tool:
        """A tool whose handler takes the argument bytes exactly as they came, and gives text, parts or a ToolOutput.

        `schema` is its input schema; without one it is `{"type":"object"}`. Raises SchemaError.
        """
        from toolwire.contract.local_tool import raw_tool  # noqa: PLC0415 - it makes Tools, so it imports this room

        return raw_tool(name, description, schema, function, *policies, output_schema=output_schema)

    async def call(
        self, args: Arguments | Invocation | Continuation = None, *, on_progress: OnProgress | None = None
    ) -> ToolOutput:
        """Runs the tool; the whole output. It takes an invocation that `prepare` made, or a continuation, too.

        `on_progress(progress, total, message)` hears how far the call is; it may be a coroutine function.
        """
        if on_progress is not None:
            return await heard_by(self, on_progress, lambda: self.call(args))
        if type(args) is bytes or type(args) is str:
            return await self._caller.call(self, args)
        if isinstance(args, Invocation | Continuation):
            return await self.binding.call(args)
        return await self._caller.call(self, encoded(self._name, args))

    async def invoke(self, args: Arguments = None) -> str:
        """Runs the tool; the text that a model reads."""
        return (await self.call(args)).text

    @property
    def binding(self) -> Binding:
        """The tool's own binding: its frozen contract, and the one who runs what it admits."""
        if self._binding is None:
            definition, settings = self._definition, self._settings
            schema = definition.input_schema or EMPTY.raw
            contract = Contract(self._name, definition.description, schema, settings.validator)
            self._binding = Binding(self, contract, self._run_admitted)
        return self._binding

    def prepare(self, args: Arguments = None, *, call_id: str) -> Invocation:
        """A validated invocation of a model's call. Raises InvalidInvocation; never runs the tool."""
        return self.binding.contract.prepare(args, call_id=call_id)

    async def resume(self, continuation: Continuation) -> ToolOutput:
        """Goes on with a call that asked for input. Raises ContinuationBindingError for what is another binding's."""
        return await self.binding.call(continuation)

    async def _run_admitted(self, admitted: Invocation | Continuation) -> ToolOutput:
        return await run_admitted(self._carrier, self, admitted)

    def invoke_sync(self, args: Arguments = None) -> str:
        """`invoke` for a script and for a worker thread.

        An imported tool's call goes to the loop of its connection; called inside that loop it raises RuntimeError.
        """
        home = getattr(self._caller, "home", None)
        if home is not None and home.loop is not None:
            text: str = home.visit_sync(lambda: self.invoke(args))
            return text
        return anyio.run(self.invoke, args)

    @property
    def name(self) -> str:
        """The name that a model calls it by: the server's behind the import's prefix."""
        return self._name

    @property
    def description(self) -> str:
        """What the tool does, as its owner wrote it; may be empty."""
        return self._definition.description

    @property
    def title(self) -> str | None:
        """The name for people, where there is one."""
        return self._definition.title

    @property
    def input_schema(self) -> Schema:
        """The input schema; `.raw` is its owner's bytes, `{"type":"object"}` where there are none."""
        raw = self._definition.input_schema
        return EMPTY if raw is None else Schema(raw)

    @property
    def output_schema(self) -> Schema | None:
        """The output schema, where its root is an object's; any other stands in `definition_json` (row C35)."""
        raw = self._definition.output_schema
        return None if raw is None else Schema(raw)

    @property
    def annotations(self) -> bytes | None:
        """The annotations' exact JSON. Hints of the tool's owner: nothing here trusts them."""
        return self._definition.annotations

    @property
    def meta(self) -> bytes | None:
        """The definition's `_meta`, its exact JSON."""
        return self._definition.meta

    @property
    def definition_json(self) -> bytes:
        """The whole definition as it was listed."""
        return self._definition.text

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the definition and kept all the same."""
        return tuple(self._definition.warnings())

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the exact bytes of name, description and schema."""
        return self._definition.fingerprint()

    @property
    def origin(self) -> str:
        """Where the tool comes from: `"mcp"`, or what the `origin` policy says."""
        return self._settings.origin

    @property
    def sequential(self) -> bool:
        """The tool runs alone among the calls of one step."""
        return self._settings.sequential

    @property
    def definition(self) -> Definition:
        """Where the tool's facts are read from."""
        return self._definition

    @property
    def caller(self) -> Caller:
        """Who carries the tool's calls."""
        return self._caller

    @property
    def carrier(self) -> Caller:
        """Who carries them behind the tool's guard, if it has one."""
        return self._carrier

    @property
    def effect(self) -> Effect:
        """What may be done again, as the host said at discovery; UNKNOWN for any other tool."""
        found: Effect = getattr(self._carrier, "effect", Effect.UNKNOWN)
        return found

    @property
    def mcp_identity(self) -> tuple[str, str] | None:
        """The raw source and remote name of a discovered tool: what policies decide on. The name is only a label."""
        found: tuple[str, str] | None = getattr(self._carrier, "mcp_identity", None)
        return found

    @property
    def concurrency_policy(self) -> Callable[[Invocation], tuple[str, bool]] | None:
        """A discovered tool's word on what may run beside an invocation, key and permission; `None` says nothing."""
        found: Callable[[Invocation], tuple[str, bool]] | None = getattr(self._carrier, "concurrency_policy", None)
        return found

    @property
    def settings(self) -> Settings:
        """What the tool's policies come to."""
        return self._settings

    def __repr__(self) -> str:
        return f"Tool({self._name!r}, origin={self.origin!r})"
