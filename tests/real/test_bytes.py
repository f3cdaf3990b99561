"""Real servers, listed and called: the bytes are the server's own, and the results are what the SDK alone gives."""

import json
from collections.abc import Callable

import anyio
import mcp
import pytest
from mcp import StdioServerParameters

import toolwire
from tests.real.conftest import PATIENCE, RealServer
from tests.real.recording import member

Calls = Callable[[RealServer], list[tuple[str, str]]]

FILE = "a plain file.txt"
CALLS: dict[str, Calls] = {
    "everything": lambda _: [
        ("echo", '{"message": "with space, \\u00e9, 😀 and \\"quotes\\""}'),
        ("get-sum", '{"a": 2, "b": 3.50}'),
        ("get-sum", '{"b":1e3,"a":-0}'),
        ("get-structured-content", '{"location":"New York"}'),
        ("get-annotated-message", '{"messageType":"error","includeImage":true}'),
        ("get-resource-links", '{"count": 3}'),
        ("gzip-file-as-resource", '{"name":"a.gz","data":"data:text/plain,hi","outputType":"resource"}'),
        ("get-tiny-image", "{}"),
        ("get-sum", '{"a": "not a number", "b": 1}'),
    ],
    "filesystem": lambda server: [
        ("read_text_file", json.dumps({"path": str(server.folder / FILE)})),
        ("read_text_file", json.dumps({"path": str(server.folder / FILE), "head": 1})),
        ("list_directory", json.dumps({"path": str(server.folder)})),
        ("directory_tree", json.dumps({"path": str(server.folder)})),
        ("list_allowed_directories", "{}"),
        ("read_text_file", json.dumps({"path": str(server.folder / "absent")})),
        ("read_text_file", '{"path": 5}'),
    ],
    "time": lambda _: [
        ("convert_time", '{"source_timezone":"UTC","time":"14:30","target_timezone":"Asia/Kolkata"}'),
        ("convert_time", '{"source_timezone":"UTC","time":"25:99","target_timezone":"Asia/Kolkata"}'),
        ("get_current_time", '{"timezone":"Nowhere/Atall"}'),
    ],
    "git": lambda server: [
        ("git_status", json.dumps({"repo_path": str(server.folder)})),
        ("git_log", json.dumps({"repo_path": str(server.folder), "max_count": 1})),
        ("git_diff_unstaged", json.dumps({"repo_path": str(server.folder)})),
        ("git_show", json.dumps({"repo_path": str(server.folder), "revision": "no-such-revision"})),
    ],
}


async def test_every_tool_of_a_real_server_is_imported_with_the_servers_own_bytes(server: RealServer) -> None:
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(server.recorded, mode=server.mode) as connection:
            assert connection.session.protocol_version == server.era
            tools = await toolwire.tools(connection, prefix="real_")
    assert tools.skipped == ()
    entries = server.recording.listed()
    assert [tool.definition_json.decode("latin-1") for tool in tools] == entries
    assert [tool.input_schema.raw.decode("latin-1") for tool in tools] == [
        member(entry, "inputSchema") for entry in entries
    ]
    assert list(tools.names) == ["real_" + json.loads(entry)["name"] for entry in entries]
    assert len(entries) > 1


async def outcome(tool: toolwire.Tool, arguments: str) -> toolwire.ToolOutput | toolwire.RemoteCallError:
    try:
        return await tool.call(arguments)
    except toolwire.ToolFailure as failure:
        output: toolwire.ToolOutput = failure.output
        return output
    except toolwire.RemoteCallError as error:
        return error


async def alone(session: mcp.ClientSession, name: str, arguments: str) -> object:
    """Give the result of the SDK's own call as JSON, or the code of its error."""
    try:
        result = await session.call_tool(name, json.loads(arguments))
    except mcp.MCPError as error:
        return error.error.code
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def normal(result: object) -> object:
    """Give a result with what the SDK writes for an absent member: `isError` and `resultType` have defaults."""
    return {"isError": False, "resultType": "complete", **result} if isinstance(result, dict) else result


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the listings above run on trio too
async def test_a_call_gives_what_the_sdk_alone_gives_in_the_servers_own_bytes(called: RealServer) -> None:
    server = called
    calls = CALLS[server.name](server)
    program, *arguments = server.argv
    with anyio.fail_after(PATIENCE):
        async with mcp.Client(StdioServerParameters(command=program, args=arguments), mode=server.mode) as client:
            expected = [await alone(client.session, *call) for call in calls]
        async with toolwire.connect(server.recorded, mode=server.mode) as connection:
            tools = await toolwire.tools(connection)
            outcomes = [await outcome(tools[name], arguments) for name, arguments in calls]
            # The SDK's own lane of the same connection, beside the express one.
            beside = [await alone(connection.session, *call) for call in calls]
    got = [one.code if isinstance(one, toolwire.RemoteCallError) else json.loads(one.raw) for one in outcomes]
    assert [normal(one) for one in got] == [normal(one) for one in expected]
    assert [normal(one) for one in beside] == [normal(one) for one in expected]

    recorded = server.recording.results()
    for one in outcomes:
        if isinstance(one, toolwire.ToolOutput):
            assert one.raw.decode("latin-1") in recorded
            assert (one.structured or b"").decode("latin-1") == member(one.raw.decode("latin-1"), "structuredContent")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the listings above run on trio too
async def test_many_calls_at_once_each_get_their_own_answer(called: RealServer) -> None:
    server = called
    name, template, expected = {
        "everything": ("echo", '{{"message":"{0}"}}', "Echo: {0}"),
        "filesystem": ("read_text_file", '{{"path":"{1}","head":{0}}}', ""),
        "time": ("convert_time", '{{"source_timezone":"UTC","time":"{2:02}:{3:02}","target_timezone":"UTC"}}', ""),
        "git": ("git_log", '{{"repo_path":"{4}","max_count":1}}', ""),
    }[server.name]
    count = 300 if server.name in ("everything", "time") else 50
    texts: dict[int, str] = {}
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(server.argv, mode=server.mode) as connection:
            tool = (await toolwire.tools(connection))[name]

            async def call(number: int) -> None:
                arguments = template.format(number, server.folder / FILE, number // 60 % 24, number % 60, server.folder)
                texts[number] = await tool.invoke(arguments)

            async with anyio.create_task_group() as group:
                for number in range(count):
                    group.start_soon(call, number)
    assert len(texts) == count
    if expected:
        assert texts == {number: expected.format(number) for number in range(count)}
    elif server.name == "time":
        assert all(f"T{number // 60 % 24:02}:{number % 60:02}:00" in text for number, text in texts.items())


@pytest.mark.parametrize("size", [10, 3_000_000])
async def test_a_file_comes_back_as_it_was_written(size: int, start: Callable[..., RealServer]) -> None:
    server = start("filesystem")
    text = ('line — é 😀 "quoted" \\ {}\n' * (size // 20 + 1))[:size]
    path = str(server.folder / "big.txt")
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(server.argv) as connection:
            tools = await toolwire.tools(connection)
            await tools["write_file"].invoke({"path": path, "content": text})
            assert await tools["read_text_file"].invoke({"path": path}) == json.dumps(
                {"content": text}, ensure_ascii=False, separators=(",", ":")
            )
            output = await tools["read_text_file"].call({"path": path})
    assert (server.folder / "big.txt").read_text() == text
    assert [part.text for part in output.parts if isinstance(part, toolwire.TextPart)] == [text]
