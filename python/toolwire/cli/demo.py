"""`toolwire demo`: a real server in its own process, and the same calls through the SDK alone and through toolwire.

This file starts both and draws; what is measured, and how, stands in `toolwire.demo.compare`. Nothing is claimed that
was not measured in this run.
"""

import sys
from dataclasses import dataclass
from functools import partial
from typing import Final

from rich.table import Table
from rich.text import Text

import toolwire
from toolwire.cli.list import table
from toolwire.cli.server import Exit, ServerOptions, Stop, opened, run
from toolwire.cli.terminal import console, one_line, spinner, write
from toolwire.demo.compare import Caller, Fate, fates, rate
from toolwire.demo.sdk_alone import sdk_alone

ARGV: Final = [sys.executable, "-m", "toolwire.demo"]
SERVED: Final = [sys.executable, "-c", "from toolwire.cli import main; main()", "serve", "toolwire.demo.served:TOOLS"]
SDK_SERVED: Final = [sys.executable, "-m", "toolwire.demo.sdk_server"]
SECONDS: Final = 2.0
"""How long each of the eight rates is measured: the whole demo stays far under a minute."""
IN_FLIGHT: Final = {"one at a time": 1, "32 in flight": 32}
ARGUMENTS: Final = b'{"value":1.5,"note":"the same call, over and over"}'

NEXT: Final = (
    ("your own server, as a table", "toolwire list -- npx -y @modelcontextprotocol/server-everything"),
    ("one call, its bytes kept", 'toolwire call add \'{"a": 0.10, "b": 0.20}\' -- python -m toolwire.demo'),
    ("what is wrong with a server", "toolwire check -- python -m toolwire.demo"),
    ("a function of yours, as a server", "toolwire list -- toolwire serve MODULE:NAME"),
)
CODE: Final = """\
    async with toolwire.connect(["python", "-m", "toolwire.demo"]) as connection:
        tools = await toolwire.tools(connection)
        print(await tools["echo"].invoke(b'{"price": 1.50}'))"""


@dataclass(frozen=True)
class Wired:
    """toolwire as a `Caller`."""

    tools: toolwire.Toolset

    async def call(self, name: str, arguments: bytes) -> tuple[str, str]:
        """Call a tool; give its text blocks and its structured value."""
        output = await self.tools[name].call(arguments)
        return output.joined_text() or "", (output.structured or b"").decode()

    async def schema(self, name: str) -> str:
        """Give the input schema of a tool."""
        return self.tools[name].input_schema.raw.decode()


def show_demo() -> None:
    """Show on a real server what toolwire keeps, and how fast it is.

    Starts a small server, lists it, then makes the same calls through the official SDK alone and through toolwire.
    """
    run(_demo)


async def _demo() -> Exit:
    here = console()
    options = ServerOptions(argv=ARGV, env={}, cwd=None, timeout=None, prefix="")
    async with opened(options) as server, sdk_alone(ARGV) as alone:
        wired = Wired(server.tools)
        write("A real server, in a process of its own: python -m toolwire.demo\n")
        here.print(table(server.tools))
        with spinner("the same calls through both …"):
            kept = await fates(alone), await fates(wired)
        write("\nThe same call of its echo, through the official SDK alone and through toolwire:\n")
        here.print(fate_table(*kept))
        with spinner(f"counting calls, {len(IN_FLIGHT) * 2 * SECONDS:.0f} seconds …"):
            rates = await _rates(alone, wired)
        write("\nCalls per second to one and the same server:\n")
        here.print(rate_table(rates))
    options = ServerOptions(argv=SERVED, env={}, cwd=None, timeout=None, prefix="")
    async with opened(options) as server, sdk_alone(SDK_SERVED) as alone:
        with spinner(f"counting calls with both ends, {len(IN_FLIGHT) * 2 * SECONDS:.0f} seconds …"):
            rates = await _rates(alone, Wired(server.tools))
        write("\nThe same at both ends: the SDK's client and server, and toolwire's:\n")
        here.print(rate_table(rates))
    write("\nTry next:\n")
    for what, line in NEXT:
        write(f"    {line:<75}  # {what}")
    write(f"\nor in Python, inside an async function:\n\n{CODE}")
    return Exit.DONE


def fate_table(alone: list[Fate], wired: list[Fate]) -> Table:
    """Draw what became of each value: green as it was sent, red as anything else."""
    drawn = Table(box=None, pad_edge=False)
    for heading in ("", "sent", "the SDK alone", "toolwire"):
        drawn.add_column(heading, overflow="fold")
    for one, other in zip(alone, wired, strict=True):
        drawn.add_row(Text(one.what), Text(one.sent), _fate(one), _fate(other))
    return drawn


def _fate(fate: Fate) -> Text:
    if fate.kept:
        return Text(fate.returned, style="green")
    if fate.received == fate.returned:
        return Text(one_line(fate.returned), style="red")
    if fate.received == fate.sent:
        return Text(f"{one_line(fate.returned)} came back", style="red")
    return Text(f"{one_line(fate.received)} arrived, {one_line(fate.returned)} came back", style="red")


async def _rates(alone: Caller, wired: Caller) -> list[tuple[str, float, float]]:
    if await alone.call("echo", ARGUMENTS) != await wired.call("echo", ARGUMENTS):
        raise Stop(Exit.TOOL_ERROR, "the two clients got different answers; a rate would compare nothing")

    async def counted(caller: Caller, in_flight: int) -> float:
        return await rate(partial(caller.call, "echo", ARGUMENTS), in_flight=in_flight, seconds=SECONDS)

    return [(what, await counted(alone, number), await counted(wired, number)) for what, number in IN_FLIGHT.items()]


def rate_table(rates: list[tuple[str, float, float]]) -> Table:
    """Draw calls per second, and how many times as many toolwire makes."""
    drawn = Table(box=None, pad_edge=False)
    drawn.add_column("")
    for heading in ("the SDK alone", "toolwire", "times"):
        drawn.add_column(heading, justify="right")
    for what, alone, wired in rates:
        drawn.add_row(what, f"{alone:,.0f}/s", f"{wired:,.0f}/s", f"{wired / alone:.1f} x")
    return drawn
