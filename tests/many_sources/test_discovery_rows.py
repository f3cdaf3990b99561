"""Rows 1 to 29 and 42 to 51 of many-sources 7: discovery, names, frozen descriptors, policies."""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.bridge.raw import NEW, OBJ, OK, OLD, PATIENCE, connected, entry, on_both_loops
from tests.many_sources.support import Duck, discovered, in_process
from toolwire import Effect, Overlap, ResultError, Source, Tool, annotated_read_only, waves
from toolwire.contract.public_names import public_name
from toolwire.errors import DiscoveryError, NilSessionError, SkippedTool
from toolwire.testing import RawServer, error, listing, result, silence


@pytest.mark.parametrize("sources", [None, []])
async def test_row_001_no_sources_are_no_tools(sources: Any) -> None:
    tools = await toolwire.discover(sources)
    assert list(tools) == []
    assert tools.skipped == ()


async def test_row_002_a_source_without_a_session_is_named_by_its_place() -> None:
    with pytest.raises(DiscoveryError) as caught:
        await toolwire.discover([Source("x", None)])
    assert str(caught.value) == 'mcp: tool source 0 "x": mcp: session must not be nil'
    assert isinstance(caught.value.__cause__, NilSessionError)


async def test_row_003_the_second_source_without_a_session_ends_discovery() -> None:
    async with connected({"tools/list": listing(entry("t"))}) as (_, connection):
        with pytest.raises(DiscoveryError, match=r'^mcp: tool source 1 "y": '):
            await toolwire.discover([Source("ok", connection), Source("y", None)])


NAMES = {
    4: ("primary", "echo", "primary/echo"),
    5: ("html.to.design", "import-url", "html.to.design/import-url"),
    6: ("a b", "c/d", "a%20b/c%2Fd"),
    7: ("a%2F", "x?#", "a%252F/x%3F%23"),
    8: ("s", "a$&+=:@~_.-", "s/a$&+=:@~_.-"),
    9: ("é", "日", "%C3%A9/%E6%97%A5"),
    11: ("", "bare.tool", "bare.tool"),
}


async def named(row: int) -> None:
    source, remote, expected = NAMES[row]
    async with discovered(entry(remote), source=source) as (server, tools):
        assert tools.names == (expected,)
        assert (await tools[0].call(b"{}")).joined_text() == "ok"
        assert json.loads(server.requests("tools/call")[0])["params"]["name"] == remote


async def test_row_004_default_name() -> None:
    await named(4)


async def test_row_005_default_name_dots() -> None:
    await named(5)


async def test_row_006_default_name_escape() -> None:
    await named(6)


async def test_row_007_default_name_percent() -> None:
    await named(7)


async def test_row_008_default_name_kept_chars() -> None:
    await named(8)


async def test_row_009_default_name_unicode() -> None:
    await named(9)


async def test_row_010_default_name_is_injective() -> None:
    assert public_name("a/b", "c") != public_name("a", "b/c")
    one, two = {"tools/list": listing(entry("c"))}, {"tools/list": listing(entry("b/c"))}
    async with connected(one) as (_, first), connected(two) as (_, second):
        tools = await toolwire.discover([Source("a/b", first), Source("a", second)])
    assert tools.names == ("a%2Fb/c", "a/b%2Fc")


async def test_row_011_default_name_empty_source() -> None:
    await named(11)


@on_both_loops
async def test_row_012_two_sources_in_order() -> None:
    answers = {"tools/list": listing(entry("echo"))}
    async with connected(answers) as (_, alpha), connected(answers) as (_, beta):
        tools = await toolwire.discover([Source("alpha", alpha), Source("beta", beta)])
    assert tools.names == ("alpha/echo", "beta/echo")


async def test_row_013_two_sources_of_one_name_collide() -> None:
    answers = {"tools/list": listing(entry("echo"))}
    async with connected(answers) as (_, one), connected(answers) as (_, two):
        sources = [Source("samename", one), Source("samename", two)]
        with pytest.raises(DiscoveryError, match='duplicate tool name "samename/echo" after public naming'):
            await toolwire.discover(sources)
        tools = await toolwire.discover(sources, on_bad_tool="skip")
    assert tools.names == ("samename/echo",)
    assert [record.name for record in tools.skipped] == ["echo"]


async def test_row_014_custom_name() -> None:
    naming = lambda _, remote: f"mcp__{remote}"  # noqa: E731 - a callback as a host writes it
    async with discovered(entry("echo"), public_name=naming) as (server, tools):
        assert tools.names == ("mcp__echo",)
        await tools[0].call(b"{}")
        assert b'"name":"echo"' in server.requests("tools/call")[0]


async def test_row_015_custom_name_collision() -> None:
    with pytest.raises(DiscoveryError, match='duplicate tool name "same" after public naming'):
        async with discovered(entry("a"), entry("b"), public_name=lambda *_: "same"):
            pass


async def test_row_016_custom_name_empty() -> None:
    with pytest.raises(DiscoveryError) as caught:
        async with discovered(entry("a"), public_name=lambda *_: ""):
            pass
    text = 'mcp: snapshot tool from source "src": toolwire: invalid tool definition: name must not be empty'
    assert str(caught.value) == text


async def test_row_017_identity_is_raw() -> None:
    async with discovered(entry("x/y"), source="html.to.design") as (_, tools):
        assert tools[0].mcp_identity == ("html.to.design", "x/y")
        wrapped = Wrapper(Wrapper(tools[0]))
        assert toolwire.mcp_identity(wrapped) == ("html.to.design", "x/y")
        assert toolwire.mcp_identity(toolwire.bind(wrapped)) == ("html.to.design", "x/y")
    assert toolwire.mcp_identity(Tool.raw("local", "", OBJ, lambda _: "")) is None


class Wrapper:
    """A decorator of a tool."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def definition(self) -> Any:
        return {"name": "wrapped", "description": "", "input_schema": OBJ}

    async def call(self, invocation: Any) -> Any:
        return await self.inner.call(invocation)

    def unwrap(self) -> Any:
        return self.inner


def test_a_wrapping_chain_without_an_end_is_refused() -> None:
    circle = Wrapper(None)
    circle.inner = circle
    with pytest.raises(toolwire.InvalidTool, match=r"^toolwire: invalid wrapping chain: more than 64 wrappers"):
        toolwire.mcp_identity(circle)


def test_sixty_four_wrappers_are_admitted_and_one_more_is_not() -> None:
    """Section 2.3."""
    chain: Any = Wrapper(None)
    for _ in range(64):
        chain = Wrapper(chain)
    assert toolwire.bind(chain).contract.name == "wrapped"
    assert toolwire.mcp_identity(chain) is None
    with pytest.raises(toolwire.InvalidTool, match=r"^toolwire: invalid wrapping chain: more than 64 wrappers$"):
        toolwire.bind(Wrapper(chain))


def test_batches_of_many_threads_are_all_admitted() -> None:
    """Section 2.4: a registry is safe to share."""
    registry = toolwire.Registry()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            jobs = [
                pool.submit(registry.register, Duck(None, f"{batch}.a"), Duck(None, f"{batch}.b"))
                for batch in range(400)
            ]
            for job in jobs:
                job.result()
    finally:
        sys.setswitchinterval(before)
    assert len(registry) == 800


async def test_row_018_all_pages_in_order() -> None:
    pages = [listing(entry("a"), cursor=""), listing(entry("b"), cursor="2"), listing(entry("c"))]
    async with connected({"tools/list": pages}) as (_, connection):
        tools = await toolwire.discover([Source("s", connection)])
        assert tools.names == ("s/a", "s/b", "s/c")


async def test_row_019_discovering_again_sees_what_is_there_now() -> None:
    pages = [listing(entry("echo")), listing(entry("echo"), entry("ping"))]
    async with connected({"tools/list": pages}) as (_, connection):
        first = await toolwire.discover([Source("s", connection)])
        second = await toolwire.discover([Source("s", connection)])
    assert first.names == ("s/echo",)
    assert second.names == ("s/echo", "s/ping")


async def test_row_020_a_closed_session_cannot_be_listed() -> None:
    with RawServer({"tools/list": listing(entry("t"))}) as server:
        async with toolwire.connect(server.argv) as connection:
            pass
        with pytest.raises(DiscoveryError, match=r'^mcp: list tools from source "p": mcp: '):
            await toolwire.discover([Source("p", connection)])


@on_both_loops
async def test_one_dead_server_of_five_is_a_report_or_an_error_by_choice() -> None:
    """Fault I11; section 8d: the sources are listed side by side, under one deadline."""
    good = {"tools/list": listing(entry("t"))}
    with RawServer({"tools/list": silence()}) as dead:
        async with (
            connected(good) as (_, one),
            connected(good) as (_, two),
            connected(good) as (_, three),
            connected(good) as (_, four),
            toolwire.connect(dead.argv, list_timeout=0.2) as five,
        ):
            sources = [Source(f"s{index}", each) for index, each in enumerate((one, two, five, three, four))]
            with pytest.raises(DiscoveryError, match=r'^mcp: list tools from source "s2": mcp: listing .* timed out'):
                await toolwire.discover(sources)
            tools = await toolwire.discover(sources, on_bad_source="skip")
            assert tools.names == ("s0/t", "s1/t", "s3/t", "s4/t")
            (skipped,) = tools.skipped
            assert isinstance(skipped, SkippedTool)
            assert 'source "s2"' in str(skipped.error)
            tools = await toolwire.discover(sources[2:3], on_bad_source="skip", timeout=0.01)
            assert "did not end within 0.01 s" in str(tools.skipped[0].error)


async def test_tools_by_name_when_that_is_the_order() -> None:
    """Request K9."""
    async with discovered(entry("b"), entry("a"), order="name") as (_, tools):
        assert tools.names == ("src/a", "src/b")


SCHEMAS = {
    21: (b"null", "missing input schema"),
    22: (b'"{\\"type\\":\\"object\\"}"', "input schema must be a JSON object"),
    23: (b'{"type":"array"}', 'input schema type must be "object"'),
}


async def bad_schema(row: int) -> None:
    schema, word = SCHEMAS[row]
    text = f'mcp: snapshot tool from source "src": toolwire: invalid tool definition: {word}'
    with pytest.raises(DiscoveryError) as caught:
        async with discovered(entry("ok"), entry("bad", schema)):
            pass
    assert str(caught.value) == text
    async with discovered(entry("bad", schema), entry("ok"), on_bad_tool="skip") as (_, tools):
        assert tools.names == ("src/ok",)
        assert [(record.name, record.index, str(record.error)) for record in tools.skipped] == [("bad", 0, text)]


async def test_row_021_snapshot_missing_schema() -> None:
    await bad_schema(21)


async def test_row_022_snapshot_string_schema() -> None:
    await bad_schema(22)


async def test_row_023_snapshot_array_type() -> None:
    await bad_schema(23)


@pytest.mark.parametrize(
    ("descriptor", "text"),
    [
        (b"null", 'mcp: source "src" returned a nil tool descriptor'),
        (
            b'{"name":"","inputSchema":{"type":"object"}}',
            'snapshot tool from source "src": mcp: descriptor name must not be empty',
        ),
    ],
)
async def test_an_entry_that_is_no_descriptor(descriptor: bytes, text: str) -> None:
    with pytest.raises(DiscoveryError) as caught:
        async with discovered(descriptor):
            pass
    assert text in str(caught.value)


async def test_row_024_a_snapshot_is_isolated() -> None:
    more = b'"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}'
    async with discovered(entry("t", more=more), concurrency=spoiling, effect=spoiling_effect) as (_, tools):
        tool = tools[0]
        before = (tool.definition_json, tool.annotations, tool.output_schema)
        assert tool.concurrency_policy is not None
        tool.concurrency_policy(tool.prepare(b"{}", call_id="1"))
        tool.input_schema.value["type"] = "array"
        assert (tool.definition_json, tool.annotations, tool.output_schema) == before
        assert tool.annotations == b'{"readOnlyHint":true}'


def spoiling(source: str, remote: str, annotations: dict[str, Any], invocation: Any) -> tuple[str, bool]:
    annotations["destructiveHint"] = annotations.get("destructiveHint") is None
    return str(annotations["destructiveHint"]), True


def spoiling_effect(source: str, remote: str, annotations: dict[str, Any]) -> Effect:
    annotations.clear()
    return Effect.READ_ONLY


async def test_row_025_a_definition_is_detached() -> None:
    async with discovered(entry("t")) as (_, tools):
        decoded = tools[0].input_schema.value
        decoded["type"] = "array"
        assert tools[0].input_schema.value == {"type": "object"}
        assert tools[0].binding.contract.input_schema == OBJ


async def test_row_026_an_exact_const_of_an_output_schema() -> None:
    more = b'"outputSchema":{"type":"integer","const":9007199254740993}'
    calls = [
        result(b'{"content":[],"structuredContent":%d}' % number, verbatim=True)
        for number in (9007199254740993, 9007199254740992)
    ]
    async with discovered(entry("t", more=more), calls=calls) as (_, tools):
        assert (await tools[0].call(b"{}")).structured == b"9007199254740993"
        with pytest.raises(ResultError) as caught:
            await tools[0].call(b"{}")
    assert caught.value.output.structured == b"9007199254740992"


async def test_row_027_a_big_decimal_keeps_its_digits() -> None:
    schema = b'{"type":"object","properties":{"p":{"maximum":0.12345678901234567890123456789}}}'
    async with discovered(entry("t", schema)) as (_, tools):
        assert tools[0].input_schema.raw == schema
        tools[0].prepare(b'{"p":0.12345678901234567890123456789}', call_id="1")
        with pytest.raises(toolwire.InvalidInvocation):
            tools[0].prepare(b'{"p":0.12345678901234567890123456790}', call_id="1")


async def bad_output_schema(schema: bytes) -> None:
    with pytest.raises(DiscoveryError, match="mcp: compile tool output schema: "):
        async with discovered(entry("t", more=b'"outputSchema":' + schema)):
            pass
    async with discovered(entry("t", more=b'"outputSchema":' + schema), entry("u"), on_bad_tool="skip") as (_, tools):
        assert tools.names == ("src/u",)


async def test_row_028_a_bad_output_schema_ends_discovery() -> None:
    await bad_output_schema(b'{"type":"not-a-type"}')


async def test_row_029_an_external_reference_is_rejected() -> None:
    await bad_output_schema(b'{"$ref":"https://e.invalid/x"}')


async def test_a_schema_that_does_not_compile_is_found_when_bound_or_at_once_when_asked() -> None:
    """Section 1.5 and 8c; the error names the tool."""
    bad = entry("t", b'{"type":"object","properties":{"a":{"type":"not-a-type"}}}')
    async with discovered(bad, calls=result(OK)) as (server, tools):
        with pytest.raises(toolwire.InvalidTool, match=r'^toolwire: invalid tool: input schema: tool "src/t": '):
            toolwire.bind(tools[0])
        with pytest.raises(toolwire.InvalidTool):
            await tools[0].call(b"{}")
        assert server.requests("tools/call") == []
    with pytest.raises(DiscoveryError, match='tool "src/t"'):
        async with discovered(bad, compile="eager"):
            pass
    async with discovered(bad, entry("u"), compile="eager", on_bad_tool="skip") as (_, tools):
        assert tools.names == ("src/u",)


async def test_row_042_no_policy_is_none() -> None:
    async with discovered(entry("t", more=b'"annotations":{"readOnlyHint":true}')) as (_, tools):
        assert tools[0].concurrency_policy is None
        assert not tools[0].sequential


async def test_row_043_a_policy_gets_the_identity_and_the_invocation() -> None:
    seen: list[Any] = []

    def policy(source: str, remote: str, annotations: dict[str, Any], invocation: Any) -> tuple[str, bool]:
        seen.append((source, remote, annotations, invocation.arguments))
        return f"tenant:{json.loads(invocation.arguments)['text']}", True

    more = b'"annotations":{"readOnlyHint":true}'
    async with discovered(entry("echo", more=more), source="primary", concurrency=policy) as (_, tools):
        assert tools[0].concurrency_policy is not None
        plan = tools[0].concurrency_policy(tools[0].prepare(b'{"text":"acme"}', call_id="1"))
    assert plan == ("tenant:acme", True)
    assert seen == [("primary", "echo", {"readOnlyHint": True}, b'{"text":"acme"}')]


async def test_row_044_a_policy_gets_a_copy_each_time() -> None:
    async with discovered(entry("t"), concurrency=spoiling) as (_, tools):
        policy = tools[0].concurrency_policy
        assert policy is not None
        invocation = tools[0].prepare(b"{}", call_id="1")
        assert [policy(invocation), policy(invocation)] == [("True", True), ("True", True)]


async def read_only(annotations: bytes | None) -> tuple[str, bool]:
    more = b"" if annotations is None else b'"annotations":' + annotations
    async with discovered(entry("t", more=more), concurrency=annotated_read_only) as (_, tools):
        assert tools[0].concurrency_policy is not None
        return tools[0].concurrency_policy(tools[0].prepare(b"{}", call_id="1"))


async def test_row_045_missing_annotations_are_exclusive() -> None:
    assert await read_only(None) == ("", False)


async def test_row_046_an_idempotent_hint_is_exclusive() -> None:
    assert await read_only(b'{"idempotentHint":true}') == ("", False)


async def test_row_047_a_read_only_hint_overlaps() -> None:
    assert await read_only(b'{"readOnlyHint":true,"openWorldHint":true}') == ("", True)


async def test_row_048_a_contradiction_is_exclusive() -> None:
    assert await read_only(b'{"readOnlyHint":true,"destructiveHint":true}') == ("", False)


async def test_row_049_an_explicit_false_overlaps() -> None:
    assert await read_only(b'{"readOnlyHint":true,"destructiveHint":false}') == ("", True)


def test_row_050_a_batch_plan() -> None:
    calls = [("", True), ("k", True), ("k", True), ("", False), ("", True)]
    plan = waves([Overlap(exclusive=not concurrent, key=key) for key, concurrent in calls])
    assert waves(calls) == plan
    assert plan == [[0, 1], [2], [3], [4]]


async def test_row_051_an_effect_is_asked_once_a_tool() -> None:
    asked: list[tuple[str, str, dict[str, Any]]] = []

    def effect(source: str, remote: str, annotations: dict[str, Any]) -> Effect:
        asked.append((source, remote, annotations))
        return Effect.IDEMPOTENT

    async with discovered(entry("a"), entry("b", more=b'"annotations":{"idempotentHint":true}'), effect=effect) as (
        _,
        tools,
    ):
        await tools[0].call(b"{}")
        await tools[0].call(b"{}")
        assert [tool.effect for tool in tools] == [Effect.IDEMPOTENT, Effect.IDEMPOTENT]
    assert asked == [("src", "a", {}), ("src", "b", {"idempotentHint": True})]
    async with discovered(entry("b", more=b'"annotations":{"idempotentHint":true}')) as (_, tools):
        assert tools[0].effect is Effect.UNKNOWN


@pytest.mark.parametrize("era", [OLD, NEW])
async def test_a_real_server_is_discovered_in_both_eras(era: str) -> None:
    server = MCPServer("real")

    @server.tool(structured_output=False)
    def echo(text: str) -> str:
        return text

    async with in_process(server, era, source="real") as (_, tools):
        assert tools.names == ("real/echo",)
        assert (await tools[0].call(b'{"text":"hi"}')).joined_text() == "hi"


async def test_a_failing_list_is_an_error_and_a_server_without_the_method_has_no_tools() -> None:
    async with connected({"tools/list": error(-32000, "not today")}) as (_, connection):
        with pytest.raises(DiscoveryError, match=r'^mcp: list tools from source "s": mcp: not today'):
            await toolwire.discover([Source("s", connection)])
    async with connected({"tools/list": error(-32601, "Method not found")}) as (_, connection):
        assert list(await toolwire.discover([Source("s", connection)])) == []


async def test_repeated_cursors_and_names_in_one_server() -> None:
    """Faults F3, E6, E7."""
    with anyio.fail_after(PATIENCE):
        async with connected({"tools/list": listing(entry("a"), entry("A"), cursor="x")}) as (_, connection):
            tools = await toolwire.discover([Source("s", connection)])
            assert tools.names == ("s/a", "s/A")
            assert any("twice" in warning and 'source "s"' in warning for warning in tools.warnings)
    with pytest.raises(DiscoveryError, match='duplicate tool name "src/a" after public naming'):
        async with discovered(entry("a"), entry("a")):
            pass


async def test_an_integer_that_python_would_not_read_costs_no_annotations() -> None:
    seen: list[Any] = []

    def effect(source: str, remote: str, hints: dict[str, Any]) -> Effect:
        seen.append((source, remote, hints["readOnlyHint"]))
        return Effect.READ_ONLY

    hints = b'"annotations":{"readOnlyHint":true,"n":%s}' % (b"1" * 5000)
    async with discovered(entry("t", more=hints), effect=effect, concurrency=annotated_read_only) as (_, tools):
        assert tools[0].effect is Effect.READ_ONLY
        policy = tools[0].concurrency_policy
        assert policy is not None
        assert policy(tools[0].prepare(b"{}", call_id="1")) == ("", True)
    assert seen == [("src", "t", True)]


async def test_a_policy_that_raises_is_never_read_as_permission() -> None:
    """Section 2.8, whatever it raises."""

    def policy(*_: Any) -> tuple[str, bool]:
        raise toolwire.InputRejected("nobody knows")

    async with discovered(entry("t"), concurrency=policy) as (_, tools):
        planned = tools[0].settings.concurrency
        assert planned is not None
        with pytest.raises(toolwire.InputRejected):
            planned(b"{}")
        assert planned(b"[]") == ("", True)


@pytest.mark.parametrize("option", ["on_bad_tool", "on_bad_source", "order", "compile"])
async def test_an_option_that_is_none_is_refused(option: str) -> None:
    wrong: dict[str, Any] = {option: "quarantine"}
    with pytest.raises(ValueError, match=r"^'quarantine' is none of \("):
        await toolwire.discover([], **wrong)


async def test_another_loop_discovers_and_calls_at_the_home_of_the_connection() -> None:
    """Fault I8: a connection is used from any loop, and each call goes to the loop that it lives in."""
    prompt = b'{"role":"user","content":{"type":"text","text":"hello"}}'
    answers = {
        "tools/list": listing(entry("t")),
        "tools/call": result(OK),
        "prompts/list": result(b'{"prompts":[{"name":"p"}]}'),
        "prompts/get": result(b'{"messages":[%s]}' % prompt, verbatim=True),
    }

    async def elsewhere(connection: toolwire.Connection) -> tuple[Tool, str, str]:
        (found,) = await toolwire.discover([Source("s", connection)])
        (message,) = await (await toolwire.prompts(connection)).get("p")
        return found, await found.invoke(), message.text

    async with connected(answers) as (server, connection):
        tool, *said = await anyio.to_thread.run_sync(lambda: asyncio.run(elsewhere(connection)))
        assert said == ["ok", "hello"]
        assert await tool.invoke() == "ok"
        assert len(server.requests("tools/call")) == 2


@pytest.mark.parametrize("wrong", [None, "read_only", True])
async def test_an_effect_that_is_none_is_refused(wrong: Any) -> None:
    """A replay contract is never a guess."""
    with pytest.raises(TypeError, match=r"^effect has to give an Effect at once, and gave "):
        async with discovered(entry("t"), effect=lambda *_: wrong):
            raise AssertionError("nothing was discovered")


@pytest.mark.parametrize("wrong", ["text", [("a", 1)], 5])
async def test_request_meta_that_is_no_mapping_sends_nothing(wrong: Any) -> None:
    async with discovered(entry("t"), request_meta=lambda _: wrong) as (server, tools):
        with pytest.raises(TypeError, match=r"^request_meta has to give a mapping at once, and gave "):
            await tools[0].call(b"{}")
        assert server.requests("tools/call") == []
