"""Discovery over many sources: names that cannot collide, frozen contracts, all or nothing (spec many-sources 1)."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import anyio

from toolwire import _core
from toolwire.bridge.decoded import decoded
from toolwire.bridge.discovered_tool import DiscoveredCaller
from toolwire.bridge.home import Home
from toolwire.bridge.importing import bad_header, listed_entries
from toolwire.bridge.promises import Compiled, Promises
from toolwire.bridge.source import Source as Origin
from toolwire.bridge.toolset import Toolset
from toolwire.contract.effect import Effect
from toolwire.contract.invocation import checked_definition, checked_name
from toolwire.contract.policies import Policy, Settings, applied
from toolwire.contract.public_names import public_name as default_name
from toolwire.contract.tool_object import Tool
from toolwire.errors import (
    DiscoveryError,
    ListedToolError,
    NilSessionError,
    RemoteCallError,
    SkippedTool,
    ToolwireError,
    quoted,
)
from toolwire.wire.limits import Limits

__all__ = ["Source", "annotated_read_only", "discover"]

LIST_TIMEOUT = Limits().list_timeout
"""Seconds for all sources together, as for one."""

_CHOICES, _ORDERS, _TIMES = ("error", "skip"), ("listed", "name"), ("lazy", "eager")

Concurrency = Callable[[str, str, dict[str, Any], Any], tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Source:
    """A named source of tools: a connection, a wire, or a session of the SDK. It is borrowed, never closed."""

    name: str
    session: Any


def annotated_read_only(source: str, remote: str, annotations: Mapping[str, Any], invocation: Any) -> tuple[str, bool]:
    """The concurrency policy of a tool's own hints: it overlaps when it says read-only and not destructive."""
    del source, remote, invocation
    return "", annotations.get("readOnlyHint") is True and annotations.get("destructiveHint") is not True


async def discover(
    sources: Sequence[Source] | None,
    *,
    public_name: Callable[[str, str], str] | None = None,
    effect: Callable[[str, str, dict[str, Any]], Effect] | None = None,
    request_meta: Callable[[Any], Mapping[str, Any] | None] | None = None,
    concurrency: Concurrency | None = None,
    on_bad_tool: Literal["error", "skip"] = "error",
    on_bad_source: Literal["error", "skip"] = "error",
    order: Literal["listed", "name"] = "listed",
    timeout: float | None = LIST_TIMEOUT,
    compile: Literal["lazy", "eager"] = "lazy",  # noqa: A002 - the design's name
    policy: Policy | Iterable[Policy | None] = (),
) -> Toolset:
    """The tools of many sources, as one set, in source order and then as listed (or by public name).

    `public_name(source, remote)` overrides the escaped default and has to be unique. `effect(source, remote,
    annotations)` is asked once a tool, `concurrency(source, remote, annotations, invocation)` once a call, and
    `request_meta(invocation)` gives the `_meta` of one call. The sources are listed side by side, under one
    `timeout` in seconds (`None` lifts it) and each under its connection's own. Raises DiscoveryError: by default the
    first bad entry and the first dead source end discovery, and `skip`
    reports them on `.skipped` instead. Output schemas are compiled here, input schemas when a tool is first prepared or
    bound, or here as well with `compile="eager"`.
    """
    for word, known in ((on_bad_tool, _CHOICES), (on_bad_source, _CHOICES), (order, _ORDERS), (compile, _TIMES)):
        if word not in known:
            raise ValueError(f"{word!r} is none of {known}")
    asked = list(sources or ())
    for index, source in enumerate(asked):
        if source.session is None:
            raise DiscoveryError(
                f"mcp: tool source {index} {quoted(source.name)}: mcp: session must not be nil"
            ) from NilSessionError()
    with Promises() as promises:
        listed = await _list_all(asked, timeout, promises)
        validators = promises.compiled()
    found = _Discovery(
        public_name, effect, request_meta, concurrency, on_bad_tool == "skip", compile == "eager", policy, validators
    )
    for source, outcome in zip(asked, listed, strict=True):
        if isinstance(outcome, Exception):
            error = DiscoveryError(f"mcp: list tools from source {quoted(source.name)}: {outcome}")
            if on_bad_source == "error":
                raise error from outcome
            found.skipped.append(SkippedTool(source.name, 0, error))
            continue
        found.take(source, *outcome)
    tools = sorted(found.tools, key=lambda tool: tool.name) if order == "name" else found.tools
    return Toolset(tools, connection=tuple(asked), skipped=found.skipped, warnings=found.warnings)


async def _list_all(sources: Sequence[Source], timeout: float | None, promises: Promises) -> list[Any]:
    """Entries and warnings of each source, or its error. A source that does not end in time is the dead one, alone."""
    late = RemoteCallError(
        f"listing the tools did not end within {timeout} s", may_have_run=False, error=TimeoutError()
    )
    outcomes: list[Any] = [late] * len(sources)

    async def one(index: int, source: Source) -> None:
        try:
            origin = Origin(source.session)
            home = origin.home
            if home is None or home.is_here():
                entries, warnings = await listed_entries(origin)
            else:
                entries, warnings = await home.visit(lambda: listed_entries(origin))
            promises.begin(entries)
            outcomes[index] = (origin, entries, warnings)
        except Exception as error:  # noqa: BLE001 - a source may be anybody's; what is wrong with it is charged to it
            outcomes[index] = error

    with anyio.move_on_after(timeout):
        async with anyio.create_task_group() as tasks:
            for index, source in enumerate(sources):
                tasks.start_soon(one, index, source)
    return outcomes


class _Discovery:
    """The state of one discovery."""

    def __init__(
        self,
        public_name: Callable[[str, str], str] | None,
        effect: Any,
        request_meta: Any,
        concurrency: Concurrency | None,
        skip: bool,
        eager: bool,
        policy: Policy | Iterable[Policy | None],
        validators: Mapping[bytes, Compiled],
    ) -> None:
        self.tools: list[Tool] = []
        self.skipped: list[SkippedTool] = []
        self.warnings: list[str] = []
        self._names: set[str] = set()
        self._public_name = public_name or default_name
        self._effect = effect
        self._request_meta = request_meta
        self._concurrency = concurrency
        self._skip = skip
        self._eager = eager
        self._settings = applied(policy, Settings(origin="mcp"))

        # One random word for all of it, and a number each: a binding is of this discovery alone.
        self._word = secrets.token_hex(16)
        self._home = Home()
        self._validators = validators

    def take(self, source: Source, origin: Origin, entries: Sequence[_core.Entry], warnings: Sequence[str]) -> None:
        """Every entry of one source. Raises DiscoveryError for the first bad one, unless they are skipped."""
        self.warnings += [f"source {quoted(source.name)}: {text}" for text in warnings]
        for index, entry in enumerate(entries):
            try:
                self.tools.append(self._one(source, origin, entry))
            except ToolwireError as error:
                if not self._skip:
                    raise
                self.skipped.append(SkippedTool(entry.name, index, error))

    def _one(self, source: Source, origin: Origin, entry: _core.Entry) -> Tool:
        kind = entry.fault_kind
        if kind is not None and entry.fault == "nil entry in the tool list":
            raise DiscoveryError(f"mcp: source {quoted(source.name)} returned a nil tool descriptor")
        remote = entry.name
        name = self._public_name(source.name, remote)
        try:
            output_validator = _snapshot(entry, name, kind, self._validators, modern=origin.modern)
        except ToolwireError as error:
            raise _unfit(source, error) from error
        if name in self._names:
            raise DiscoveryError(f"mcp: duplicate tool name {quoted(name)} after public naming")
        self._names.add(name)
        if origin.modern:
            origin.mirror(entry)
        effect, concurrency = Effect.UNKNOWN, None
        if self._effect is not None:
            effect = self._effect(source.name, remote, _annotations(entry))
            if not isinstance(effect, Effect):
                raise TypeError(f"effect has to give an Effect at once, and gave {type(effect).__name__}")
        if self._concurrency is not None:
            concurrency = partial(_isolated, self._concurrency, source.name, remote, _annotations(entry))
        caller = DiscoveredCaller(
            origin,
            source=source.name,
            remote=remote,
            effect=effect,
            request_meta=self._request_meta,
            concurrency=concurrency,
            output_validator=output_validator,
            binding_id=f"{self._word}:{len(self._names)}",
            home=origin.home or self._home,
        )
        tool = Tool(name, entry, caller.settings(self._settings), caller)
        caller.adopt(tool)
        if self._eager:
            try:
                tool.binding.contract.compile()
            except ToolwireError as error:
                self._names.remove(name)
                raise _unfit(source, error) from error
        return tool


def _unfit(source: Source, error: ToolwireError) -> DiscoveryError:
    return DiscoveryError(f"mcp: snapshot tool from source {quoted(source.name)}: {error}")


def _isolated(
    policy: Concurrency, source: str, remote: str, annotations: dict[str, Any], invocation: Any
) -> tuple[str, bool]:
    return policy(source, remote, copy.deepcopy(annotations), invocation)


def _annotations(entry: _core.Entry) -> dict[str, Any]:
    raw = entry.annotations
    value = {} if raw is None else decoded(raw)
    return value if isinstance(value, dict) else {}


def _snapshot(
    entry: _core.Entry,
    name: str,
    kind: str | None,
    validators: Mapping[bytes, Compiled],
    *,
    modern: bool,
) -> _core.Validator | None:
    """Checks what a definition has to be; the validator of what it promises. Raises ToolwireError."""
    if kind == "entry":
        word = "descriptor name must not be empty" if entry.fault == "empty name" else entry.fault or ""
        raise ListedToolError(f"mcp: {word}")
    if kind is None:
        # The core has judged the schema already.
        checked_name(name)
    else:
        checked_definition(name, entry.input_schema)
    if modern and (reason := bad_header(entry)) is not None:
        raise ListedToolError(f"mcp: {reason}")
    promise = entry.promise
    if promise is None:
        return None
    found = validators[promise]
    if isinstance(found, ValueError):
        raise ToolwireError(f"mcp: compile tool output schema: {found.args[0]}")
    return found
