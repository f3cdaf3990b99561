"""`toolwire list`: a server's tools, as a table for people or as the server's own bytes."""

import json
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

import toolwire
from toolwire.cli.server import (
    CommandArgument,
    DirectoryOption,
    EnvironmentOption,
    Exit,
    HeaderOption,
    PrefixOption,
    ServerOptions,
    TimeoutOption,
    UrlOption,
    opened,
    run,
)
from toolwire.cli.terminal import console, one_line, say, write_bytes


def list_tools(
    command: CommandArgument = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON array of the entries, byte for byte as the server sent them.")
    ] = False,
    env: EnvironmentOption = None,
    cwd: DirectoryOption = None,
    timeout: TimeoutOption = None,
    prefix: PrefixOption = "",
    url: UrlOption = None,
    header: HeaderOption = None,
) -> None:
    """List the tools of a server.

    A tool that can't be imported is named on stderr and costs no other tool.
    """
    options = ServerOptions.read(command, env, cwd, timeout, prefix, url, header)

    async def listing() -> Exit:
        async with opened(options) as server:
            if as_json:
                write_bytes(server.tools.entries_json())
            else:
                console().print(table(server.tools))
            for skipped in server.tools.skipped:
                say(f"skipped: {described(skipped)}", style="yellow")
        return Exit.DONE

    run(listing)


def described(skipped: toolwire.SkippedTool) -> str:
    """Name a skipped entry by its place in the listing, its name if it has one, and the reason."""
    name = f" {one_line(skipped.name)}" if skipped.name else ""
    return f"#{skipped.index}{name}: {one_line(str(skipped.error))}"


def table(tools: toolwire.Toolset) -> Table:
    """Draw the tools in listing order: name, arguments (`*` marks required ones), hints, first line of description."""
    drawn = Table(
        title=f"{len(tools)} tool{'' if len(tools) == 1 else 's'}", title_justify="left", box=None, pad_edge=False
    )
    drawn.add_column("tool", style="bold cyan", overflow="fold", min_width=12)
    drawn.add_column("arguments", style="green", overflow="fold", min_width=12)
    drawn.add_column("hints", style="dim", overflow="fold")
    drawn.add_column("what it does", overflow="fold", min_width=24)
    for tool in tools:
        first = next((line for line in (tool.description or "").splitlines() if line.strip()), "")
        cells = (one_line(tool.name), arguments(tool.input_schema.raw), hints(tool.annotations), one_line(first))
        drawn.add_row(*map(Text, cells))
    return drawn


def arguments(schema: bytes) -> str:
    """Name the properties of a schema's root in their own order, required ones with a star, for people to read."""
    root = decoded(schema)
    properties = root.get("properties") if isinstance(root, dict) else None
    if not isinstance(properties, dict):
        return ""
    required = root.get("required")
    needed = required if isinstance(required, list) else []
    return ", ".join(f"{one_line(name, 40)}{'*' if name in needed else ''}" for name in properties)


def hints(annotations: bytes | None) -> str:
    """Name the annotation hints that are true."""
    said = decoded(annotations) if annotations else None
    names = {"readOnlyHint": "read-only", "destructiveHint": "destructive"}
    return ", ".join(text for name, text in names.items() if isinstance(said, dict) and said.get(name) is True)


def decoded(raw: bytes) -> Any:
    """Decode JSON to look into it. Numbers stay text: a 5,000-digit integer is no reason to fail here."""
    try:
        return json.loads(raw.decode("utf-8", "replace"), parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
