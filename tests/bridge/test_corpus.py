"""Real listings and results, byte for byte: what a server wrote is what a tool and an output have."""

import json
import re

import pytest

import toolwire
from tests.bridge.corpus import answer, compact, elements, files, line_of, members, needs_corpus
from tests.bridge.memory import memory_session
from tests.bridge.raw import NEW, OLD, Answers, connected, entry
from toolwire import RemoteCallError, Tool, ToolFailure, ToolOutput, _core
from toolwire.testing import listing

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@needs_corpus
@pytest.mark.parametrize(("folder", "era"), [("listings", OLD), ("listings-2026", NEW)])
async def test_every_real_listing_is_imported_whole_with_the_bytes_of_its_schemas(folder: str, era: str) -> None:
    paths = files(folder)
    lines = [path.read_bytes().decode() for path in paths]
    async with connected({"tools/list": [answer(line) for line in lines]}, era=era) as (_, connection):
        imported = [await toolwire.tools(connection) for _ in paths]
    assert len(paths) >= 12
    for path, line, tools in zip(paths, lines, imported, strict=True):
        listed = [members(text) for text in elements(members(members(line)["result"])["tools"])]
        assert tools.skipped == (), path.name
        assert [tool.name for tool in tools] == [json.loads(tool["name"]) for tool in listed], path.name
        for tool, expected in zip(tools, listed, strict=True):
            where = f"{path.name}: {tool.name}"
            assert tool.input_schema.raw == expected["inputSchema"].encode(), where
            assert tool.description == json.loads(expected.get("description", '""')), where
            assert tool.title == json.loads(expected.get("title", "null")), where
            assert members(tool.definition_json.decode()) == expected, where
            for found, name in ((tool.annotations, "annotations"), (tool.meta, "_meta")):
                assert found == (expected[name].encode() if expected.get(name, "null") != "null" else None), where
            promised = expected.get("outputSchema", "null")
            recorded = tool.output_schema
            assert (None if recorded is None else recorded.raw.decode()) == (None if promised == "null" else promised)
            read_only = json.loads(expected.get("annotations", "null") or "null") or {}
            assert tool.sequential == (read_only.get("readOnlyHint") is not True), where
            assert list(tool.input_schema.properties) == list(json.loads(expected["inputSchema"]).get("properties", {}))


@needs_corpus
async def test_every_real_listing_is_imported_whole_through_the_sdk_too_equal_as_json() -> None:
    """There the spelling is lost, and no value is."""
    results = [members(path.read_bytes().decode())["result"] for path in files("listings")]
    async with memory_session({"tools/list": [json.loads(result) for result in results]}) as (_, session):
        for result in results:
            tools = await toolwire.tools(session)
            listed = [members(text) for text in elements(members(result)["tools"])]
            assert tools.skipped == ()
            assert [tool.name for tool in tools] == [json.loads(tool["name"]) for tool in listed]
            for tool, expected in zip(tools, listed, strict=True):
                assert _core.equal(tool.input_schema.raw, expected["inputSchema"]), tool.name


async def called(tool: Tool) -> ToolOutput | ToolFailure | RemoteCallError:
    try:
        return await tool.call()
    except (ToolFailure, RemoteCallError) as error:
        return error


def expected_text(result: dict[str, str]) -> str:
    structured = result.get("structuredContent", "null")
    blocks = [line_of(block) for block in elements(result["content"])]
    is_error = result.get("isError") == "true"
    if structured == "null":
        return "\n".join(blocks)
    if not is_error:
        return compact(structured)
    same = any(block.startswith(("{", "[")) and json.loads(block) == json.loads(structured) for block in blocks)
    return "\n".join(blocks if same else [*blocks, compact(structured)])


@needs_corpus
@pytest.mark.parametrize("era", [OLD, NEW])
async def test_every_real_result_is_read_with_all_its_bytes_and_number_spellings(era: str) -> None:
    paths = [path for path in files("results") if path.name.endswith(".modern.json") == (era == NEW)]
    lines = [path.read_bytes().decode() for path in paths]
    answers: Answers = {"tools/list": listing(entry("t")), "tools/call": [answer(line) for line in lines]}
    async with connected(answers, era=era) as (_, connection):
        tool = (await toolwire.tools(connection))["t"]
        outcomes = [await called(tool) for _ in paths]
    assert len(paths) >= 9
    for path, line, outcome in zip(paths, lines, outcomes, strict=True):
        frame = members(line)
        if "error" in frame:
            error = members(frame["error"])
            assert isinstance(outcome, RemoteCallError), path.name
            assert outcome.code == json.loads(error["code"]), path.name
            assert json.loads(error["message"]) in str(outcome), path.name
            assert outcome.data == (error["data"].encode() if "data" in error else None), path.name
            continue
        result = members(frame["result"])
        if result.get("isError") == "true":
            assert isinstance(outcome, ToolFailure), path.name
            assert (outcome.remote, str(outcome)) == (True, expected_text(result)), path.name
        output = outcome.output if isinstance(outcome, ToolFailure) else outcome
        assert isinstance(output, ToolOutput), path.name
        structured = result.get("structuredContent")
        assert output.raw == frame["result"].encode(), path.name
        assert output.structured == (None if structured is None else structured.encode()), path.name
        assert output.meta == (result["_meta"].encode() if "_meta" in result else None), path.name
        assert output.text == expected_text(result), path.name
        assert [part.raw.decode() for part in output.parts] == list(elements(result["content"])), path.name
        assert output.warnings == (), path.name
        if structured is not None and not isinstance(outcome, ToolFailure):
            assert NUMBER.findall(output.text) == NUMBER.findall(structured), path.name
