"""A tool list that stays true: a snapshot that is listed again when the server says that it changed (faults F8, F10).

A storm of notices costs one listing after the last; the set is swapped whole, and a running step keeps the one it has.
A tool that vanished answers so. Nothing outlives the context manager.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

import anyio
import mcp
from mcp.client.subscriptions import SubscriptionLost

from toolwire.bridge.connection import Connection
from toolwire.bridge.home import Home
from toolwire.bridge.importing import tools
from toolwire.bridge.owner import Owner
from toolwire.bridge.toolset import Toolset
from toolwire.contract.output import ToolOutput
from toolwire.contract.policies import Policy
from toolwire.contract.tool_object import Tool
from toolwire.errors import RemoteCallError, ToolFailure, quoted

__all__ = ["Changes", "LiveTools", "live_tools"]

logger = logging.getLogger("toolwire.bridge")

_QUIET, _PATIENCE = 0.05, 1.0
"""Seconds without a notice after which a storm is over, and after which one that goes on is listed all the same."""
_AGAIN, _AGAIN_AT_MOST = 1.0, 60.0
"""Seconds before a subscription that was lost is opened again: doubled each time, up to a minute."""


class live_tools:  # noqa: N801 - the issue's name: used as a function, it is the context manager itself
    """`async with live_tools(connection) as source: Agent(model, tool_source=source)`.

    `source()` gives the newest tools; `source.current` is the Toolset. `on_change(changes)`, a function or a coroutine
    function, hears of each swap that changed something. The other keywords are those of `tools`. Raises
    RemoteCallError when the first listing fails. It may be left from another task of its loop.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        prefix: str = "",
        policy: Policy | Iterable[Policy | None] = (),
        any_root: bool = False,
        on_change: Callable[[Changes], Any] | None = None,
    ) -> None:
        policies = policy if isinstance(policy, Policy) else tuple(policy)
        options = {"prefix": prefix, "policy": policies, "any_root": any_root}
        self._connection = connection
        self._owner = Owner(_followed(LiveTools(connection, options, on_change)))

    async def __aenter__(self) -> LiveTools:
        if not self._connection.home.is_here():
            raise RuntimeError("live_tools follows its connection in that connection's own event loop: enter it there")
        return await self._owner.enter(None)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._owner.leave()


@asynccontextmanager
async def _followed(source: LiveTools) -> AsyncIterator[LiveTools]:
    # Heard first and listed then: a change between the two is not lost.
    unheard = source.connection.on_tools_changed(source.changed)
    try:
        async with anyio.create_task_group() as work:
            ready = anyio.Event()
            work.start_soon(source.subscribe, ready.set)
            await ready.wait()
            await source.refresh()
            work.start_soon(source.follow)
            yield source
            work.cancel_scope.cancel()
    finally:
        unheard()


class Changes:
    """What a new listing changed, by name. `changed` have another fingerprint: their approvals no longer stand."""

    __slots__ = ("added", "changed", "removed")

    def __init__(self, old: Sequence[Tool], new: Sequence[Tool]) -> None:
        before = {tool.name: tool.fingerprint for tool in old}
        after = {tool.name: tool.fingerprint for tool in new}
        self.added = tuple(name for name in after if name not in before)
        self.removed = tuple(name for name in before if name not in after)
        self.changed = tuple(name for name in after if name in before and before[name] != after[name])

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __repr__(self) -> str:
        return f"Changes(added={self.added}, removed={self.removed}, changed={self.changed})"


class LiveTools:
    """The newest tools of one connection. Called, it is a tool source of an agent."""

    def __init__(
        self, connection: Connection, options: dict[str, Any], on_change: Callable[[Changes], Any] | None
    ) -> None:
        self.connection = connection
        self.current = Toolset((), connection=connection, skipped=(), warnings=())
        self.offered: frozenset[str] = frozenset()
        self._options = options
        self._on_change = on_change
        self._dirty = anyio.Event()
        self._listing = anyio.Lock()
        self._listed = False

    def __call__(self) -> Sequence[Tool]:
        """The newest tools: one whole listing, never a mixture of two."""
        return self.current

    def changed(self) -> None:
        """The server says that its list is another one."""
        self._dirty.set()

    async def refresh(self) -> None:
        """Lists again now. Raises RemoteCallError, and then the old set stays."""
        async with self._listing:
            listed = await tools(self.connection, **self._options)
            old, first = self.current, not self._listed
            ours = [Tool(tool.name, tool.definition, tool.settings, _LiveCaller(self, tool.carrier)) for tool in listed]
            self.current = Toolset(
                ours,
                connection=self.connection,
                skipped=listed.skipped,
                warnings=listed.listing_warnings,
            )
            self.offered = frozenset(listed.names)
            self._listed = True
        if not first:
            await self._tell(Changes(old, listed))

    async def _tell(self, changes: Changes) -> None:
        """Tells the listener. It only watches: what it raises is logged, and the new set stands."""
        if not changes or self._on_change is None:
            return
        try:
            told = self._on_change(changes)
            if inspect.isawaitable(told):
                await told
        except Exception:
            logger.exception("on_change raised on %r", changes)

    async def follow(self) -> None:
        """Lists again after the last notice of a storm, until the connection ends or it is cancelled."""
        while not self.connection.closed:
            await self._dirty.wait()
            await self._quiet()
            try:
                await self.refresh()
            except RemoteCallError as error:
                logger.warning("the changed tool list could not be read, the old one stays: %s", error)

    async def _quiet(self) -> None:
        with anyio.move_on_after(_PATIENCE):
            while self._dirty.is_set():
                self._dirty = anyio.Event()
                with anyio.move_on_after(_QUIET):
                    await self._dirty.wait()
        self._dirty = anyio.Event()

    async def subscribe(self, ready: Callable[[], object]) -> None:
        """Follows the subscription of a 2026-07-28 session, and opens it again if it is lost while the session lives.

        `ready` is called when it stands, or when there is none to wait for.
        """
        connection, pause = self.connection, _AGAIN
        capabilities = connection.session.server_capabilities
        offered = capabilities is not None and capabilities.tools is not None and capabilities.tools.list_changed
        modern = connection.session.discover_result is not None
        first = True
        while modern and offered and not connection.closed:
            try:
                with anyio.move_on_after(connection.limits.list_timeout) as opening:
                    async with connection.client.listen(tools_list_changed=True) as events:
                        opening.deadline = math.inf
                        ready()
                        if not first:
                            # What changed between two subscriptions was told to nobody.
                            self.changed()
                        async for _ in events:
                            self.changed()
            except (mcp.MCPError, SubscriptionLost) as error:
                logger.info("no subscription to the tools of %s: %s", connection.server_name, error)
            first = False
            ready()
            await anyio.sleep(pause)
            pause = min(pause * 2, _AGAIN_AT_MOST)
        ready()


class _LiveCaller:
    """Carries the calls of one listing's tools for as long as the newest listing has them."""

    __slots__ = ("_remote", "_source", "home")

    def __init__(self, source: LiveTools, remote: Any) -> None:
        self._source = source
        self._remote = remote
        self.home: Home = remote.home

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        if tool.name not in self._source.offered:
            raise ToolFailure(f"tool {quoted(tool.name)} is no longer offered by its server", kind="rejected")
        output: ToolOutput = await self._remote.call(tool, arguments)
        return output
