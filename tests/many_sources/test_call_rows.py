"""Rows 30 to 41 of many-sources 7: arguments are admitted before the wire, and go out as they are."""

import json
from typing import Any

import pytest

import toolwire
from tests.bridge.raw import ERAS, NEW, OBJ, OK, arguments_of, entry, on_both_loops
from tests.many_sources.support import discovered
from toolwire import InvalidInvocation, ToolFailure
from toolwire.testing import result

TEXT = b'{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_row_030_call_echo(era: str) -> None:
    async with discovered(
        entry("echo", TEXT), calls=result(b'{"content":[{"type":"text","text":"hello world"}]}'), era=era
    ) as (server, tools):
        output = await tools[0].call(b'{"text":"hello world"}')
        assert output.joined_text() == "hello world"
        assert arguments_of(server.requests("tools/call")[0]) == b'{"text":"hello world"}'
        assert await tools[0].invoke('{"text":"hello world"}') == "hello world"


async def invalid(schema: bytes, arguments: bytes | str) -> str:
    async with discovered(entry("t", schema)) as (server, tools):
        with pytest.raises(InvalidInvocation) as caught:
            await tools[0].call(arguments)
        with pytest.raises(InvalidInvocation):
            tools[0].prepare(arguments, call_id="1")
        assert server.requests("tools/call") == []
    text = str(caught.value)
    assert text.startswith("toolwire: invalid invocation: arguments: ")
    return text.removeprefix("toolwire: invalid invocation: arguments: ")


@pytest.mark.parametrize("blank", ["", " \n"])
async def test_row_031_blank_arguments_miss_what_is_required(blank: str) -> None:
    assert await invalid(TEXT, blank) == 'toolwire: validate value: field "text": required'


@pytest.mark.parametrize("blank", [b"", b" \n", b"null", None])
async def test_row_032_blank_arguments_are_an_empty_object(blank: bytes | None) -> None:
    async with discovered(entry("t")) as (server, tools):
        await tools[0].call(blank)
        assert arguments_of(server.requests("tools/call")[0]) == b"{}"


@pytest.mark.parametrize("era", ERAS)
async def test_row_033_arguments_are_verbatim(era: str) -> None:
    """And faults B1 to B4, B7."""
    arguments = (
        b'{ "z":1.0, "a":1e2, "n":9007199254740993, "m":19.990000000000000001, "e":1E400, "o":-0, "u":"\\u00e9" }'
    )
    async with discovered(entry("t"), era=era) as (server, tools):
        await tools[0].call(arguments)
        await tools[0].call(tools[0].prepare(arguments.replace(b", ", b",\n "), call_id="1"))
        first, second = map(arguments_of, server.requests("tools/call"))
    assert first == arguments
    assert second == arguments.replace(b", ", b",  ")


async def test_row_034_a_member_given_twice_is_refused() -> None:
    """Fault B5."""
    assert (await invalid(OBJ, b'{"a":1,"a":2}')).startswith("toolwire: value must be one valid RFC 7493 JSON document")
    assert "given twice" in await invalid(OBJ, b'{"a":1,"\\u0061":2}')


async def test_row_035_half_of_a_surrogate_pair_is_refused() -> None:
    assert "surrogate" in await invalid(OBJ, b'{"a":"\\ud800"}')
    assert "UTF-8" in await invalid(OBJ, '{"a":"\ud800"}')


async def test_row_036_an_additional_member_is_refused() -> None:
    schema = b'{"type":"object","properties":{"a":{}},"additionalProperties":false}'
    assert '"b"' in await invalid(schema, b'{"a":1,"b":2}')


@pytest.mark.parametrize("arguments", [b"[]", b"5", b'"x"', b"{", b"{} {}", b'{"a":NaN}'])
async def test_what_is_no_object_is_refused(arguments: bytes) -> None:
    assert await invalid(OBJ, arguments)


async def test_row_037_an_invocation_of_another_binding_is_refused() -> None:
    async with discovered(entry("t")) as (server, tools), discovered(entry("t")) as (_, others):
        invocation = tools[0].prepare(b"{}", call_id="1")
        with pytest.raises(InvalidInvocation) as caught:
            await others[0].call(invocation)
        assert str(caught.value) == "toolwire: invalid invocation: invocation does not belong to binding"
        await toolwire.bind(tools[0]).call(invocation)
        assert len(server.requests("tools/call")) == 1


async def test_what_an_invocation_needs() -> None:
    """Section 2.3."""
    async with discovered(entry("t")) as (_, tools):
        contract = toolwire.bind(tools[0]).contract
        with pytest.raises(
            InvalidInvocation,
            match=r"^toolwire: invalid invocation: toolwire: invalid tool call: ID must not be empty$",
        ):
            contract.prepare(b"{}", call_id="")
        with pytest.raises(InvalidInvocation, match=r"name must not be empty$"):
            contract.prepare(b"{}", call_id="1", name="")
        with pytest.raises(InvalidInvocation, match=r'call name "x" does not match bound tool "src/t"$'):
            contract.prepare(b"{}", call_id="1", name="x")
        invocation = contract.prepare(b' {"a" : 1}', call_id="1", name="src/t")
        assert (invocation.call_id, invocation.name, invocation.arguments) == ("1", "src/t", b' {"a" : 1}')
        assert contract.prepare({"a": "é"}, call_id="1").arguments == '{"a":"é"}'.encode()
        nothing: Any
        for nothing in (None, {}, b"", "null"):
            assert contract.prepare(nothing, call_id="1").arguments == b"{}"
        for wrong in (5, True, [1], {"a": float("nan")}, {"a": object()}, {"a": "\ud800"}):
            with pytest.raises(InvalidInvocation, match=r"^toolwire: invalid invocation: arguments: "):
                contract.prepare(wrong, call_id="1")


def sent_meta(line: bytes) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads(line)["params"].get("_meta", {})
    return {name: value for name, value in meta.items() if not name.startswith("io.modelcontextprotocol/")}


@pytest.mark.parametrize("era", ERAS)
async def test_row_038_request_meta_is_forwarded(era: str) -> None:
    """Request K1; what the protocol reserves is never the host's."""
    given = {
        "userId": "u-42",
        "trace": "tx-99",
        "progressToken": 5,
        "io.modelcontextprotocol/protocolVersion": "1999-01-01",
    }
    async with discovered(entry("t"), era=era, request_meta=lambda _: given) as (server, tools):
        await tools[0].call(b"{}")
        (line,) = server.requests("tools/call")
    assert sent_meta(line) == {"userId": "u-42", "trace": "tx-99"}
    assert b"1999" not in line
    assert (b'"io.modelcontextprotocol/protocolVersion":"2026-07-28"' in line) == (era == NEW)


async def test_row_039_request_meta_gets_the_invocation() -> None:
    seen: list[bytes] = []
    async with discovered(entry("t"), request_meta=lambda invocation: seen.append(invocation.arguments)) as (_, tools):
        await tools[0].call(b'{ "a":1.50 }')
    assert seen == [b'{ "a":1.50 }']


@pytest.mark.parametrize("nothing", [None, {}])
async def test_row_040_no_request_meta_is_no_meta(nothing: Any) -> None:
    async with discovered(entry("t"), request_meta=lambda _: nothing) as (server, tools):
        await tools[0].call(b"{}")
        assert b"_meta" not in server.requests("tools/call")[0]


async def test_row_041_request_meta_is_copied() -> None:
    given = {"n": 1}

    def meta(invocation: Any) -> dict[str, int]:
        return given

    async with discovered(entry("t"), request_meta=meta) as (server, tools):
        await tools[0].call(b"{}")
        given["n"] = 2
        await tools[0].call(b"{}")
        assert [sent_meta(line)["n"] for line in server.requests("tools/call")] == [1, 2]


async def test_request_meta_that_raises_sends_nothing() -> None:
    def meta(invocation: Any) -> dict[str, Any]:
        raise LookupError("nobody")

    async with discovered(entry("t"), request_meta=meta, calls=result(OK)) as (server, tools):
        with pytest.raises(LookupError) as caught:
            await tools[0].call(b"{}")
        assert not isinstance(caught.value, ToolFailure)
        assert server.requests("tools/call") == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), "\ud800"])
async def test_request_meta_that_is_no_json_sends_nothing(value: Any) -> None:
    async with discovered(era=NEW, request_meta=lambda _: {"x": [value]}) as (server, tools):
        with pytest.raises((ValueError, TypeError)):
            await tools[0].call(b"{}")
        assert server.requests("tools/call") == []
