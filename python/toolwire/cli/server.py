"""The server that a command talks to: its options, the connection to it, and what becomes of every error.

Only this file opens connections and only it turns an exception into a message and an exit code. A command gets an
`Opened` and gives an exit code back.
"""

import os
import shlex
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Annotated, Final, NoReturn, TypedDict

import anyio
import typer

import toolwire
from toolwire.cli.terminal import one_line, say, shown, spinner
from toolwire.contract.per_call import check_headers


class Exit(IntEnum):
    """What the process ends with."""

    DONE = 0
    TOOL_ERROR = 1
    USAGE = 2
    NO_CONNECTION = 3
    INTERRUPTED = 130


CommandArgument = Annotated[
    list[str] | None, typer.Argument(metavar="-- COMMAND", help="The server's command, behind two dashes.")
]
UrlOption = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="The address of a running server, in place of a command.")
]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="NAME:VALUE", help="Send a header with every request. May be given again."),
]
EnvironmentOption = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME=VALUE", help="Set a variable for the server. May be given again."),
]
DirectoryOption = Annotated[
    str | None, typer.Option("--cwd", metavar="DIR", help="Start the server in this directory.")
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", help="For connecting, for listing and for the call, each."),
]
PrefixOption = Annotated[str, typer.Option("--prefix", metavar="TEXT", help="Put this before every tool's name.")]


TOKEN: Final = "TOOLWIRE_TOKEN"  # noqa: S105 - the variable's name
"""The environment variable of the bearer token that goes to a `--url`."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """What `list`, `call` and `check` have in common. `timeout` is in seconds; `None` keeps the API's own limits.

    There is either a command or a `url`. A bearer token comes from the environment, so that no list of processes and
    no history of a shell shows it.
    """

    argv: list[str]
    env: dict[str, str]
    cwd: str | None
    timeout: float | None
    prefix: str
    url: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        argv: list[str] | None,
        env: list[str] | None,
        cwd: str | None,
        timeout: float | None,
        prefix: str,
        url: str | None = None,
        header: list[str] | None = None,
    ) -> "ServerOptions":
        """Check what the command line gave. Ends the process with 2 on what is none of a thing, or has no server."""
        if timeout is not None and not 0 < timeout < float("inf"):
            raise typer.BadParameter(f"{timeout:g} is no time to wait, give seconds above 0", param_hint="--timeout")
        if (url is None) == (not argv):
            raise typer.BadParameter("a server is either a command behind --, or --url URL", param_hint="-- COMMAND")
        if url is None and header:
            raise typer.BadParameter("a command gets no headers, they are for --url", param_hint="--header")
        if url is not None and (env or cwd is not None):
            raise typer.BadParameter("--env and --cwd are for a command", param_hint="--url")
        if url is not None and not url.startswith(("http://", "https://")):
            raise typer.BadParameter(f"{shown(url)!r} is no http:// or https:// address", param_hint="--url")
        headers = dict(map(_header, header or ()))
        token = os.environ.get(TOKEN, "").strip()
        if url is not None and token and "authorization" not in map(str.lower, headers):
            headers["Authorization"] = f"Bearer {token}"
        try:
            check_headers(headers)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--header") from None
        variables = dict(map(_variable, env or ()))
        return cls(argv=argv or [], url=url, headers=headers, env=variables, cwd=cwd, timeout=timeout, prefix=prefix)

    @property
    def connecting(self) -> toolwire.connect:
        """The connection that the options ask for, not entered yet."""
        if self.url is not None:
            return toolwire.connect(self.url, headers=self.headers or None, **self.limits)
        return toolwire.connect(self.argv, env=self.env or None, cwd=self.cwd, **self.limits)

    @property
    def shown(self) -> str:
        """The server, as the person named it."""
        return one_line(self.url if self.url is not None else shlex.join(self.argv), 80)

    @property
    def limits(self) -> "Deadlines":
        """The keywords of `toolwire.connect` that `--timeout` sets."""
        if self.timeout is None:
            return {}
        return {"connect_timeout": self.timeout, "list_timeout": self.timeout, "call_timeout": self.timeout}


class Deadlines(TypedDict, total=False):
    """Seconds."""

    connect_timeout: float
    list_timeout: float
    call_timeout: float


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals or "\0" in text:
        raise typer.BadParameter(f"{shown(text)!r} is no NAME=VALUE", param_hint="--env")
    return name, value


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not name.strip() or not colon or any(mark in text for mark in "\r\n\0"):
        raise typer.BadParameter(f"{shown(text)!r} is no NAME:VALUE", param_hint="--header")
    return name.strip(), value.strip()


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A server that answered. Times are seconds."""

    connection: toolwire.Connection
    tools: toolwire.Toolset
    connect_time: float
    list_time: float


@asynccontextmanager
async def opened(options: ServerOptions) -> AsyncIterator[Opened]:
    """Start the server and list its tools, with a spinner on a terminal meanwhile."""
    doing = f"reaching {options.shown}"
    if options.url is None:
        doing = f"starting {os.path.basename(options.argv[0])}"  # noqa: PTH119 - a command, not a path: `npx` stays `npx`
    async with AsyncExitStack() as stack:
        with spinner(f"{doing} …"):
            began = time.perf_counter()
            try:
                connection = await stack.enter_async_context(options.connecting)
            except toolwire.ConnectError as error:
                raise Stop(Exit.NO_CONNECTION, f"no connection to {options.shown}: {error}") from error
            connected = time.perf_counter()
            tools = await toolwire.tools(connection, prefix=options.prefix)
            listed = time.perf_counter()
        yield Opened(connection=connection, tools=tools, connect_time=connected - began, list_time=listed - connected)


class Stop(Exception):
    """End the command with a message on stderr and this exit code."""

    def __init__(self, code: Exit, message: str) -> None:
        super().__init__(message)
        self.code = code


def run(command: Callable[[], Awaitable[Exit]]) -> NoReturn:
    """Run a command to its end and leave with its exit code; errors become messages, never tracebacks."""
    leave(lambda: anyio.run(command))


def leave(command: Callable[[], Exit]) -> NoReturn:
    """Do the same for a command that has a part before its event loop."""
    try:
        code = command()
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    except BaseExceptionGroup as group:
        code = _report(next(_leaves(group)), group)
    except Exception as error:  # noqa: BLE001 - `_report` raises again what it does not know
        code = _report(error, error)
    raise typer.Exit(int(code))


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _report(error: BaseException, whole: BaseException) -> Exit:
    match error:
        case Stop():
            say(f"toolwire: {error}")
            return error.code
        case toolwire.RemoteCallError():
            say(f"toolwire: {error}")
            return Exit.TOOL_ERROR if error.code is not None else Exit.NO_CONNECTION
        case toolwire.ToolwireError():
            say(f"toolwire: {error}")
            return Exit.TOOL_ERROR
        case BrokenPipeError():
            # `toolwire list … | head`: nobody reads on. The interpreter's own last flush would complain, so it gets
            # somewhere to write to.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return Exit.DONE
        case KeyboardInterrupt():
            return Exit.INTERRUPTED
        case _:
            raise whole
