"""Connecting: a target becomes a live session, held by one owner task, with an express lane where there is a wire."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import mcp
from mcp.client.stdio import StdioServerParameters
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import ElicitResult

from toolwire.bridge.app_target import APP_URL, app_client
from toolwire.bridge.home import Home
from toolwire.bridge.http import http_wire, is_url, shown_address
from toolwire.bridge.owner import Overdue, Owner
from toolwire.bridge.serving import in_process
from toolwire.errors import ConnectError
from toolwire.wire.client import ClientWire, command_of
from toolwire.wire.client_shape import Wire
from toolwire.wire.http_client.asgi import is_app
from toolwire.wire.http_client.wire import HttpWire
from toolwire.wire.limits import NOISE_QUOTED, STDERR_QUOTED, Limits

__all__ = ["UNSET", "Connection", "connect"]

UNSET: Any = object()
"""The value of a limit that the caller did not name: the default, or the wire's own."""


COMMAND = (list, tuple, StdioServerParameters)
SERVERS = (*COMMAND, Server, MCPServer)


class Connection:
    """A live session: `.client` is the SDK's Client, `.session` its session, `.wire` the wire under it.

    Its tools may be listed and called, and it may be closed, from any task of any loop; all else belongs to its own.
    `.wire` is `None` where a transport of the SDK's own carries the session.
    """

    def __init__(self, client: mcp.Client, wire: Wire | None, limits: Limits, owner: Owner[mcp.Client]) -> None:
        self.client = client
        self.session = client.session
        self.wire = wire
        self.limits = limits
        self.home = Home()
        self._owner = owner

    @property
    def server_name(self) -> str:
        """The name that the server gives itself, or its command."""
        info = self.session.server_info
        return info.name if info is not None else self.wire.name if self.wire is not None else "the server"

    @property
    def closed(self) -> bool:
        """The connection has ended."""
        return self._owner.done or (self.wire is not None and self.wire.end_reason is not None)

    def on_tools_changed(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Calls `heard` when the server says that its tools changed (handshake eras); the call that ends it.

        Without a wire the SDK's own `message_handler` is the only one that hears.
        """
        return (lambda: None) if self.wire is None else self.wire.listen("notifications/tools/list_changed", heard)

    async def aclose(self) -> None:
        """Ends the session and the server, within five seconds, once. Calls in flight end with an error."""
        await (self._owner.leave() if self.home.is_here() else self.home.visit(self._owner.leave))


class connect:  # noqa: N801 - the design's name: used as a function, it is the context manager itself
    """`async with connect(target) as connection`: starts or reaches a server and opens a session with it.

    `target` is an argv list, the SDK's StdioServerParameters, a URL, an SDK server, an ASGI app, or a wire. `env` is
    merged over the variables that the SDK inherits by default; `errlog` gets the server's stderr as it comes. The
    limits are seconds, bytes and counts (see `toolwire.wire.limits`); `None` lifts a deadline. `input_rounds`
    advertises forms, so that a discovered tool may ask something. `headers`, `auth` (an `httpx2.Auth`, such as the
    SDK's OAuth provider), `http_client` (an `httpx2.AsyncClient`) and `sse_read_timeout` (seconds) are for a URL; the
    first two and the last for an app too, which runs in this process, without a socket, from enter to exit, and is
    asked at `app_url`. Every other keyword is `mcp.Client`'s, by the same name (`mode`, `sampling_callback`,
    `elicitation_callback`, `list_roots_callback`, …).

    Raises ConnectError, which says whose fault it is and shows what the server printed.
    """

    def __init__(
        self,
        target: Sequence[str] | StdioServerParameters | ClientWire | str | Any,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        errlog: IO[Any] | None = None,
        connect_timeout: float | None = UNSET,
        list_timeout: float | None = UNSET,
        call_timeout: float | None = UNSET,
        idle_timeout: float | None = UNSET,
        in_flight: int = UNSET,
        line_limit: int = UNSET,
        input_rounds: bool = False,
        headers: Mapping[str, str] | None = None,
        auth: Any = None,
        http_client: Any = None,
        sse_read_timeout: float | None = None,
        app_url: str = APP_URL,
        **client_options: Any,
    ) -> None:
        if input_rounds:
            client_options.setdefault("elicitation_callback", _outside_of_a_round)
        named: dict[str, Any] = {
            "connect_timeout": connect_timeout,
            "list_timeout": list_timeout,
            "call_timeout": call_timeout,
            "idle_timeout": idle_timeout,
            "in_flight": in_flight,
            "line_limit": line_limit,
        }
        named = {name: value for name, value in named.items() if value is not UNSET}
        if isinstance(target, ClientWire) and not named.keys().isdisjoint(("in_flight", "line_limit")):
            raise TypeError("in_flight and line_limit are the wire's own: pass them to ClientWire(limits=…)")
        if not (is_url(target) or is_app(target) or _is_transport(target) or isinstance(target, SERVERS)):
            raise ConnectError(
                f"the target {target!r} is no server: a command is a list of strings, as in ['npx', '-y', 'a-server'], "
                "and a URL begins with http:// or https://"
            )
        if not isinstance(target, COMMAND) and (env, cwd, errlog) != (None, None, None):
            raise TypeError("env, cwd and errlog are for a target that is a command")
        http: dict[str, Any] = {
            "headers": headers,
            "auth": auth,
            "http_client": http_client,
            "sse_read_timeout": sse_read_timeout,
        }
        app = None
        if is_app(target):
            if http_client is not None:
                raise TypeError("http_client is for a target that is a URL: an app in this process has its own")
            app = app_client(target, headers=headers, auth=auth, sse_read_timeout=sse_read_timeout)
            target, http = app_url, {**dict.fromkeys(http), "http_client": app}
            if not is_url(target):
                raise TypeError("app_url is an http:// or https:// URL")
        elif app_url != APP_URL:
            raise TypeError("app_url is for a target that is an ASGI app")
        if not is_url(target) and any(value is not None for value in http.values()):
            raise TypeError("headers, auth, http_client and sse_read_timeout are for a target that is a URL")
        base = target.limits if isinstance(target, ClientWire) else Limits()
        self._limits = dataclasses.replace(base, **named)
        self._wire: Wire | None = None
        self._address = shown_address(target) if is_url(target) else None
        if isinstance(target, ClientWire):
            self._wire = target
        elif isinstance(target, COMMAND):
            self._wire = ClientWire(command_of(target, env=env, cwd=cwd, errlog=errlog), limits=self._limits)
        elif is_url(target) and app is None:
            self._wire = http_wire(target, **http, limits=self._limits)
        self._manager: AbstractAsyncContextManager[mcp.Client]
        if isinstance(target, Server | MCPServer):
            self._manager = self._in_process(target, client_options)
        elif app is not None:
            self._manager = self._over_app(app_url, http, client_options)
        else:
            sdk_target: Any = target if self._wire is None else self._wire
            over_http = isinstance(self._wire, HttpWire)
            self._manager = self._over_http(client_options) if over_http else mcp.Client(sdk_target, **client_options)
        self._owner: Owner[mcp.Client] | None = None

    @asynccontextmanager
    async def _over_http(self, options: dict[str, Any]) -> AsyncIterator[mcp.Client]:
        wire: Any = self._wire
        async with mcp.Client(wire, **options) as client:
            await wire.ready()
            yield client

    @asynccontextmanager
    async def _over_app(self, url: str, http: dict[str, Any], options: dict[str, Any]) -> AsyncIterator[mcp.Client]:
        async with http["http_client"]:
            self._wire = http_wire(url, **http, limits=self._limits)
            async with self._over_http(options) as client:
                yield client

    @asynccontextmanager
    async def _in_process(self, server: Any, options: dict[str, Any]) -> AsyncIterator[mcp.Client]:
        async with in_process(server, self._limits, options) as (client, self._wire):
            yield client

    async def __aenter__(self) -> Connection:
        if self._owner is not None:
            raise RuntimeError("a connection is entered once: call connect again for another one")
        owner = self._owner = Owner(self._manager)
        try:
            client = await owner.enter(self._limits.connect_timeout)
        except ConnectError:
            raise
        except Overdue:
            limit = f"{self._limits.connect_timeout:g} s"
            raise self._failure(
                f"{self._shown} did not complete the handshake within {limit}: check that it is an MCP server for this "
                "transport, or raise connect_timeout if it starts slowly"
            ) from None
        except Exception as error:
            raise self._failure(self._ended or f"the handshake with {self._shown} failed: {_text(error)}") from error
        connection = Connection(client, self._wire, self._limits, owner)
        if self._wire is not None:
            self._wire.name = connection.server_name
        return connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._owner is not None:
            await self._owner.leave()

    @property
    def _shown(self) -> str:
        if self._address is not None:
            return f"the server at {self._address}"
        if self._wire is None:
            return "the server"
        return f"the server {self._wire.name!r}"

    @property
    def _ended(self) -> str | None:
        """The server ended by itself, before anybody closed the wire."""
        wire = self._wire
        if wire is None or not wire.lost:
            return None
        advice = "" if wire.stderr_tail.strip() else "; run the command by hand to see why"
        return f"{self._shown} gave up during the handshake: {wire.end_reason}{advice}"

    def _failure(self, text: str) -> ConnectError:
        wire = self._wire
        if wire is None:
            return ConnectError(text)
        stderr, noise, fault = wire.stderr_tail, wire.noise, wire.first_fault
        if fault is not None and fault not in text:
            text += f"; an answer of it was broken before: {fault}"
        if stderr.strip() and text != self._ended:
            text += f"; its stderr ends: {stderr.decode('utf-8', 'replace').strip()[-STDERR_QUOTED:]}"
        if noise:
            lines = " | ".join(line.decode("utf-8", "replace") for line in noise[:NOISE_QUOTED])
            text += f"; on stdout it printed what is no message: {lines}"
        return ConnectError(text, exit_code=wire.exit_code, stderr=stderr, noise=noise)


def _is_transport(target: object) -> bool:
    """A wire, or what the SDK takes for a transport."""
    return hasattr(target, "__aenter__") and not isinstance(target, type)


def _text(error: Exception) -> str:
    """What an exception says; of a group, what each of its own says."""
    if isinstance(error, ExceptionGroup):
        return "; ".join(map(_text, error.exceptions))
    return str(error) or type(error).__name__


async def _outside_of_a_round(context: Any, params: Any) -> ElicitResult:
    """Advertises forms without a person behind it: what is asked outside of a call's own round is declined."""
    del context, params
    return ElicitResult(action="decline")
