"""`toolwire call`: one call of one tool, with the argument bytes that were typed."""

import json
import sys
from typing import Annotated

import typer

import toolwire
from toolwire.cli.list import described
from toolwire.cli.server import (
    CommandArgument,
    DirectoryOption,
    EnvironmentOption,
    Exit,
    HeaderOption,
    Opened,
    PrefixOption,
    ServerOptions,
    Stop,
    TimeoutOption,
    UrlOption,
    opened,
    run,
)
from toolwire.cli.terminal import say, write, write_bytes


def call_tool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tool, with the prefix if one is set.")],
    arguments: Annotated[
        str, typer.Argument(metavar="JSON", help="Its arguments: one JSON object, sent as it stands; - reads stdin.")
    ],
    command: CommandArgument = None,
    *,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the whole result, byte for byte as the server sent it.")
    ] = False,
    env: EnvironmentOption = None,
    cwd: DirectoryOption = None,
    timeout: TimeoutOption = None,
    prefix: PrefixOption = "",
    url: UrlOption = None,
    header: HeaderOption = None,
) -> None:
    """Call a tool and print what a model would read.

    An error result is printed to stderr (with --raw to stdout) and ends with 1.
    """
    options = ServerOptions.read(command, env, cwd, timeout, prefix, url, header)

    async def calling() -> Exit:
        text = sys.stdin.buffer.read() if arguments == "-" else arguments.encode("utf-8", "surrogateescape")
        refuse_what_is_no_json(text)
        async with opened(options) as server:
            tool = found(server, name)
            try:
                output = await tool.call(text)
            except toolwire.ToolFailure as failure:
                return failed(failure, raw=raw)
            except toolwire.RemoteCallError as error:
                if error.code is None:
                    advice = "may have run" if error.may_have_run else "did not run; it may be sent again"
                    raise Stop(Exit.NO_CONNECTION, f"{error}. The call {advice}.") from error
                raise
            for warning in output.warnings:
                say(f"warning: {warning}", style="yellow")
            if raw:
                write_bytes(output.raw)
            else:
                write(output.text)
        return Exit.DONE

    run(calling)


def refuse_what_is_no_json(text: bytes) -> None:
    """Stop before a server is started for arguments that are not one JSON object. Blank text stands for `{}`.

    This is about the typing mistake only; what else is refused (repeated names, NaN) is the API's to say.
    """
    try:
        value = json.loads(text.decode() or "{}", parse_int=str, parse_float=str) if text.strip() else {}
    except UnicodeDecodeError as error:
        raise Stop(Exit.USAGE, f"the arguments are not UTF-8 (byte {error.start}); nothing was sent") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        advice = "Quote the JSON for the shell, as in '{\"q\": 1}', or give - and pipe it in."
        raise Stop(Exit.USAGE, f"the arguments are no JSON: {error.msg} at {place}. {advice}") from error
    except RecursionError as error:
        raise Stop(Exit.USAGE, "the arguments are nested too deeply; nothing was sent") from error
    if value is not None and not isinstance(value, dict):
        kind = {list: "an array", bool: "a boolean", str: "a string or a number"}.get(type(value), "no object")
        raise Stop(Exit.USAGE, f'the arguments must be one JSON object, as in {{"q": 1}}, and this is {kind}')


def found(server: Opened, name: str) -> toolwire.Tool:
    """Give the tool of this name, or stop with the names that are near it, or with the reason why it was skipped."""
    try:
        return server.tools[name]
    except KeyError as error:
        skipped = [each for each in server.tools.skipped if each.name and name.endswith(each.name)]
        if skipped:
            raise Stop(
                Exit.USAGE, f"the server lists this tool, but it was skipped: {described(skipped[0])}"
            ) from error
        raise Stop(Exit.USAGE, f"{error.args[0]}. `toolwire list` shows them all.") from error


def failed(failure: toolwire.ToolFailure, *, raw: bool) -> Exit:
    """Print a tool's failure. Arguments that were refused here, before anything was sent, are bad usage."""
    if raw and failure.remote and failure.output is not None:
        write_bytes(failure.output.raw)
    else:
        say(str(failure))
    return Exit.USAGE if failure.kind == "invalid_input" else Exit.TOOL_ERROR
