"""`toolwire check`: what is wrong with a server, in the words of whoever has to mend it."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rich.table import Table
from rich.text import Text

import toolwire
from toolwire.cli.list import decoded, described
from toolwire.cli.server import (
    CommandArgument,
    DirectoryOption,
    EnvironmentOption,
    Exit,
    HeaderOption,
    Opened,
    PrefixOption,
    ServerOptions,
    TimeoutOption,
    UrlOption,
    opened,
    run,
)
from toolwire.cli.terminal import console, one_line, shown

PROVIDER_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What OpenAI and Anthropic take as a tool's name."""
ROOT_UNIONS: Final = ("anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref")
"""Keywords that providers refuse at the root of a schema, even beside `"type":"object"`."""

FORGIVEN: Final = {
    "salvaged": "messages with something else glued in front of them",
    "bad_utf8": "messages that are not UTF-8; the bad bytes were replaced",
    "broken": "messages that are no JSON-RPC; what waited for them was told",
    "multi_line": "messages printed over several lines; each must stand on one",
    "oversize": "lines longer than the cap; they were dropped",
    "batches": "batches; the protocol has none any more",
    "late_answers": "answers to requests that had been given up",
    "unclaimed_answers": "answers to requests that nobody made",
    "dropped_notifications": "notifications that the SDK was too slow to take",
    "refused_messages": "messages that the SDK's own models refuse",
    "odd_content_types": "answers without the Content-Type of what they are",
}
"""What the wire's counters of these names count; one that is not listed here is shown by its name."""

NO_FAULT: Final = ("frames", "noise_lines", "express_requests", "sdk_requests", "sessions_renewed")
"""Counters of what was not forgiven, or has a line of its own."""

Section = tuple[str, str, list[str]]
"""Heading, summary, and one line for each thing found."""


def check_server(
    command: CommandArgument = None,
    *,
    env: EnvironmentOption = None,
    cwd: DirectoryOption = None,
    timeout: TimeoutOption = None,
    prefix: PrefixOption = "",
    url: UrlOption = None,
    header: HeaderOption = None,
) -> None:
    """Report what is wrong with a server.

    Skipped tools and why, warnings, noise on its stdout, names and schemas that model providers refuse, times.
    Ends with 0 whatever was found: the report is the answer.
    """
    options = ServerOptions.read(command, env, cwd, timeout, prefix, url, header)

    async def checking() -> Exit:
        async with opened(options) as server:
            console().print(report(server))
        return Exit.DONE

    run(checking)


def report(server: Opened) -> Table:
    """Draw the findings, one section a kind; a section without findings says so in a word."""
    drawn = Table(box=None, show_header=False, pad_edge=False)
    drawn.add_column(style="bold", no_wrap=True)
    drawn.add_column(overflow="fold")
    problems = 0
    for heading, summary in facts(server):
        drawn.add_row(heading, Text(shown(summary)))
    for heading, summary, found in findings(server):
        problems += len(found)
        drawn.add_row(heading, Text(summary if found else "none", style="yellow" if found else "green"))
        for line in found:
            drawn.add_row("", Text(f"  {line}"))
    verdict = "nothing to mend" if not problems else f"{problems} thing{'' if problems == 1 else 's'} to look at"
    drawn.add_row("verdict", Text(verdict, style="bold yellow" if problems else "bold green"))
    return drawn


def facts(server: Opened) -> Iterator[tuple[str, str]]:
    """Say who answered, how fast, and with how much."""
    client = server.connection.client
    who = client.server_info
    name = f"{who.name} {who.version}" if who is not None else "gives no name"
    entries = sum(len(tool.input_schema.raw) for tool in server.tools)
    yield "server", f"{name}, protocol {client.protocol_version}"
    yield "connected", f"in {server.connect_time:.2f} s"
    yield "listed", f"{len(server.tools)} tools in {server.list_time * 1000:.1f} ms, {entries:,} bytes of schemas"


def findings(server: Opened) -> Iterator[Section]:
    """Collect everything that a person should know about this server, by kind."""
    tools, wire = server.tools, server.connection.wire
    warnings = [*tools.warnings, *(f"{tool.name}: {text}" for tool in tools for text in tool.warnings)]
    yield "skipped", "tools that can't be imported, by their place in the listing", list(map(described, tools.skipped))
    yield "warnings", "odd, and imported all the same", _unique(one_line(text) for text in warnings)
    yield (
        "names",
        "refused by providers, which take a-z A-Z 0-9 _ - and 64 characters",
        [one_line(tool.name) for tool in tools if not PROVIDER_NAME.fullmatch(tool.name)],
    )
    yield "case", "names that differ in case only, which some providers can't tell apart", _alike(tools)
    yield (
        "schemas",
        "refused by some providers",
        [f"{one_line(tool.name)}: {reason}" for tool in tools for reason in refusals(tool.input_schema.raw)],
    )
    if wire is None:
        return  # a transport of the SDK's own, which counts nothing
    if isinstance(wire, toolwire.ClientWire):
        yield "noise", "on stdout, where only messages belong (logs go to stderr)", _noise(wire)
    yield (
        "messages",
        "that had to be mended or dropped",
        [
            f"{count:,} {FORGIVEN.get(name, name.replace('_', ' '))}"
            for name, count in wire.counters.items()
            if count and name not in NO_FAULT
        ],
    )


def refusals(schema: bytes) -> Iterator[str]:
    """Say what providers have against the root of an input schema."""
    root = decoded(schema)
    if not isinstance(root, dict):
        yield "the root is no object"
        return
    if root.get("type") != "object":
        yield 'the root has no "type":"object"'
    for keyword in ROOT_UNIONS:
        if keyword in root:
            yield f'"{keyword}" at the root'
    if not isinstance(root.get("properties"), dict):
        yield 'no "properties" at the root; an empty one will do'


def _noise(wire: toolwire.ClientWire) -> list[str]:
    count = wire.counters.get("noise_lines", 0)
    samples = [one_line(line, 100) for line in wire.noise]
    if count > len(samples):
        samples.append(f"… {count:,} lines in all")
    return samples


def _unique(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(lines))


def _alike(tools: toolwire.Toolset) -> list[str]:
    folded: dict[str, list[str]] = {}
    for tool in tools:
        folded.setdefault(tool.name.casefold(), []).append(one_line(tool.name))
    return [", ".join(names) for names in folded.values() if len(names) > 1]
