"""The `toolwire` command: its subcommands, `--version`, and the hint that most first-time mistakes need."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from toolwire.cli.call import call_tool
from toolwire.cli.check import check_server
from toolwire.cli.demo import show_demo
from toolwire.cli.list import list_tools
from toolwire.cli.serve import serve
from toolwire.cli.server import Exit
from toolwire.cli.terminal import say

app = typer.Typer(
    name="toolwire",
    help="Tools over the Model Context Protocol, byte for byte.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A server is any command that speaks MCP on stdin and stdout: toolwire list -- python -m toolwire.demo",
)
app.command("list")(list_tools)
app.command("call")(call_tool)
app.command("check")(check_server)
app.command("serve")(serve)
app.command("demo")(show_demo)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"toolwire {version('toolwire')}\n")
        raise typer.Exit


@app.callback()
def common(
    *,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Tools over the Model Context Protocol, byte for byte."""


def run() -> None:
    """Run the command line and exit."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # a text stream, unless a test swapped it
    sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # the same
    try:
        app()
    except SystemExit as leaving:
        words = sys.argv[1:]
        if leaving.code == Exit.USAGE and words[:1] in (["list"], ["call"], ["check"]) and "--" not in words:
            say(f"The server's command stands behind two dashes: toolwire {words[0]} … -- COMMAND…")
        raise
