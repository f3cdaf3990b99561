"""`toolwire serve`: a server, or tools, out of a Python module, over standard input and output."""

import importlib
import os
import sys
import traceback
from functools import reduce
from typing import Annotated, Any

import anyio
import typer

from toolwire.bridge.http_app import http_app
from toolwire.bridge.serve_target import server_of
from toolwire.bridge.serving import run_descriptors
from toolwire.cli.server import Exit, Stop, leave
from toolwire.cli.terminal import one_line, say
from toolwire.errors import ToolwireError
from toolwire.wire.claim import claimed_stdio

LAST_PORT = 65535


def serve(
    target: Annotated[
        str,
        typer.Argument(metavar="MODULE:NAME", help="A server, a tool, a function, or a list of tools, in a module."),
    ],
    *,
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Serve over streamable HTTP at /mcp there, under uvicorn."),
    ] = None,
) -> None:
    """Serve a Python object over stdin and stdout until the client is gone.

    The module is looked for in the current directory first. Whatever is printed goes to stderr.
    """
    if http is not None:
        host, port = _address(http)
        leave(lambda: _serve_http(target, host, port))

    def serving() -> Exit:
        at_terminal = sys.stdin is not None and sys.stdin.isatty()
        # Claimed before the module is imported: what that prints would break the stream like anything else.
        with claimed_stdio() as (source, sink):
            server = _server(target)
            if at_terminal:
                say(f"serving {one_line(target)}: a client speaks MCP here, and Ctrl-C ends it", style="dim")
            try:
                anyio.run(run_descriptors, server, source, sink)
            except Exception as error:
                raise Stop(Exit.TOOL_ERROR, f"the server ended with {described(error)}") from error
        return Exit.DONE

    leave(serving)


def _server(target: str) -> Any:
    try:
        return server_of(found(target), target.partition(":")[0].rpartition(".")[2])
    except TypeError as error:
        raise Stop(Exit.USAGE, f"{one_line(target)}{error}") from error
    except ToolwireError as error:
        raise Stop(Exit.USAGE, one_line(str(error), 500)) from error


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not (port.isascii() and port.isdigit() and int(port) <= LAST_PORT):
        raise typer.BadParameter(f"{one_line(text)!r} is no HOST:PORT, as in 127.0.0.1:8000", param_hint="--http")
    return host.strip("[]"), int(port)


def _serve_http(target: str, host: str, port: int) -> Exit:
    try:
        import uvicorn  # noqa: PLC0415 - of no use over stdio
    except ImportError as error:
        raise Stop(Exit.USAGE, 'uvicorn is not installed: pip install "toolwire[serve]"') from error
    # The SDK lets in only requests to a loopback name unless it knows the host that it is served at.
    app = http_app(_server(target), host=host)
    try:
        uvicorn.run(app, host=host, port=port, log_level="warning")
    except SystemExit as error:
        raise Stop(Exit.TOOL_ERROR, f"the server could not be started on {host}:{port}") from error
    return Exit.DONE


def found(target: str) -> object:
    """Give the object that `MODULE:NAME` names. Stops with the reason why there is none."""
    module_name, colon, path = target.partition(":")
    if not module_name or not colon or not path:
        raise Stop(Exit.USAGE, f"{one_line(target)} is no MODULE:NAME, as in shop:server or shop.tools:lookup_order")
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - a search path is made of texts
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise Stop(Exit.USAGE, f"there is no module {one_line(module_name)}, here or where Python looks") from error
        raise Stop(Exit.USAGE, f"{one_line(module_name)} cannot be imported: {described(error)}") from error
    except Exception as error:
        raise Stop(Exit.USAGE, f"{one_line(module_name)} cannot be imported: {described(error)}") from error
    try:
        return reduce(getattr, path.split("."), module)
    except AttributeError as error:
        names = ", ".join(name for name in vars(module) if not name.startswith("_"))
        raise Stop(
            Exit.USAGE, f"{one_line(module_name)} has no {one_line(path)}; it has {one_line(names, 300)}"
        ) from error


def described(error: BaseException) -> str:
    """Name an error with its text, and the line of the user's own that it came from."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({last[0].filename}, line {last[0].lineno})" if last else ""
    return one_line(f"{type(error).__name__}: {error}{where}", 500)
