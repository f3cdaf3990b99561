"""`toolwire serve`: a server, or tools, out of a Python module, over standard input and output or over HTTP."""

import sys
from typing import Annotated, Final

import anyio
import typer

from toolwire.bridge.serving import run_descriptors
from toolwire.cli.found import described, server_found
from toolwire.cli.serve_http import ENGINES, Site, serve_http
from toolwire.cli.server import Exit, Stop, leave
from toolwire.cli.terminal import one_line, say
from toolwire.wire.claim import claimed_stdio

LAST_PORT: Final = 65535


def serve(
    target: Annotated[
        str,
        typer.Argument(metavar="MODULE:NAME", help="A server, a tool, a function, or a list of tools, in a module."),
    ],
    *,
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Serve over streamable HTTP at /mcp there."),
    ] = None,
    stateless: Annotated[
        bool, typer.Option("--stateless", help="With --http: each request stands alone, and no session is kept.")
    ] = False,
    json_response: Annotated[
        bool, typer.Option("--json", help="With --http: answer with JSON, not with a stream of events.")
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, help="With --http --stateless: this many processes.")
    ] = 1,
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="With --http: uvicorn, or granian where it is installed.")
    ] = "uvicorn",
) -> None:
    """Serve a Python object over stdin and stdout until the client is gone, or over HTTP.

    The module is looked for in the current directory first. Whatever is printed goes to stderr.
    """
    if http is not None:
        host, port = _address(http)
        if workers > 1 and not stateless:
            raise typer.BadParameter("each worker would have sessions of its own: it needs --stateless too")
        if engine not in ENGINES:
            raise typer.BadParameter(f"{one_line(engine)!r} is none of {', '.join(ENGINES)}", param_hint="--engine")
        site = Site(
            target=target, host=host, port=port, stateless=stateless, json_response=json_response, workers=workers
        )
        leave(lambda: serve_http(site, server_found(target), engine))
    if stateless or json_response or workers > 1 or engine != "uvicorn":
        raise typer.BadParameter("--stateless, --json, --workers and --engine are for --http")

    def serving() -> Exit:
        at_terminal = sys.stdin is not None and sys.stdin.isatty()
        # Claimed before the module is imported: what that prints would break the stream like anything else.
        with claimed_stdio() as (source, sink):
            server = server_found(target)
            if at_terminal:
                say(f"serving {one_line(target)}: a client speaks MCP here, and Ctrl-C ends it", style="dim")
            try:
                anyio.run(run_descriptors, server, source, sink)
            except Exception as error:
                raise Stop(Exit.TOOL_ERROR, f"the server ended with {described(error)}") from error
        return Exit.DONE

    leave(serving)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not (port.isascii() and port.isdigit() and int(port) <= LAST_PORT):
        raise typer.BadParameter(f"{one_line(text)!r} is no HOST:PORT, as in 127.0.0.1:8000", param_hint="--http")
    return host.strip("[]"), int(port)
