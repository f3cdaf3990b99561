"""A tool list that stays true: a snapshot that is listed again when the server says that it changed.

A storm of notices costs one listing after the last; the set is swapped whole, and a running step keeps the one it has. A
tool that vanished answers so. Nothing outlives the context manager.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any

import anyio
import anyio.lowlevel

from toolwire.bridge.connection import Connection
from toolwire.bridge.importing import tools
from toolwire.bridge.remote_tool import RemoteCaller
from toolwire.bridge.toolset import Toolset
from toolwire.contract.policies import Policy
from toolwire.contract.tool_object import Tool
from toolwire.errors import RemoteCallError

__all__ = ["LiveTools", "live_tools"]

logger = logging.getLogger("toolwire.bridge")


class live_tools:  # noqa: N801 - the issue's name: used as a function, it is the context manager itself
    """`async with live_tools(connection) as source: Agent(model, tool_source=source)`.

    `source()` gives the newest tools; `source.current` is the Toolset, `on_change(changes)` hears of each swap. The
    other keywords are those of `tools`.
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
        self._source = LiveTools(connection, {"prefix": prefix, "policy": policy, "any_root": any_root}, on_change)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> LiveTools:
        await self._source.refresh()
        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            stack.callback(self._source.connection.on_tools_changed(self._source.changed))
            tasks.start_soon(self._source.follow)
            tasks.start_soon(self._source.connection.follow_tools, self._source.changed)
            self._stack = stack.pop_all()
        return self._source

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.stop()
        await self._stack.aclose()


class Changes:
    """What a new listing changed, by name. `changed` are tools whose fingerprint is another one: approvals no longer stand."""

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
        self.current: Toolset
        self._options = options
        self._on_change = on_change
        self._dirty = anyio.Event()
        self._stopped = False

    def __call__(self) -> Sequence[Tool]:
        return self.current

    def changed(self) -> None:
        """The server says that its list is another one."""
        self._dirty.set()

    def stop(self) -> None:
        """No more listings."""
        self._stopped = True

    async def refresh(self) -> None:
        """Lists again now. Raises RemoteCallError, and then the old set stays."""
        listed = await tools(self.connection, **self._options)
        old = getattr(self, "current", None)
        gone = [] if old is None else [tool for tool in old if tool.name not in listed.names]
        for tool in gone:
            _retire(tool)
        self.current = listed
        if old is not None and self._on_change is not None:
            changes = Changes(old, listed)
            if changes:
                self._on_change(changes)

    async def follow(self) -> None:
        """Lists again after the last notice of a storm."""
        while not self._stopped:
            await self._dirty.wait()
            while self._dirty.is_set():
                # Notices that came together are one; those that come while the listing runs ask for one more.
                self._dirty = anyio.Event()
                await anyio.lowlevel.checkpoint()
            try:
                await self.refresh()
            except RemoteCallError as error:
                logger.warning("the changed tool list could not be read, the old one stays: %s", error)
                if self.connection.closed:
                    return


def _retire(tool: Tool) -> None:
    caller = tool.caller
    if isinstance(caller, RemoteCaller):
        caller.retire(tool.name)
