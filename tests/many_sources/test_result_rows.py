"""Rows 106 to 109 and 111 to 121 of many-sources 7: a remote result and what was promised of it."""

import pickle

import pytest

import toolwire
from tests.bridge.raw import ERAS, NEW, OK, OLD, connected, entry, on_both_loops
from tests.many_sources.support import discovered, read_result
from toolwire import MediaPart, RemoteCallError, ResultError, Source, TextPart, ToolFailure
from toolwire.testing import listing, result

COUNT = b'{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}'
MISMATCH = 'mcp: tool "t" structured content does not match its output schema: '


async def test_row_106_texts_are_joined() -> None:
    output = await read_result(b'{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}')
    assert len(output.parts) == 2
    assert output.joined_text() == "ab"
    copy = pickle.loads(pickle.dumps(output))  # noqa: S301 - its own bytes
    assert (copy.parts, copy.raw) == (output.parts, output.raw)


@pytest.mark.parametrize("era", ERAS)
async def test_row_107_structured_only(era: str) -> None:
    output = await read_result(b'{"content":[],"structuredContent":{"answer":42}}', era=era)
    assert output.parts == ()
    assert output.joined_text() == output.text == '{"answer":42}'


async def test_row_108_null_is_present() -> None:
    assert (await read_result(b'{"content":[],"structuredContent":null}')).structured == b"null"


async def test_row_109_absent_is_absent() -> None:
    assert (await read_result(b'{"content":[]}')).structured is None


async def mismatch(details: bytes | None, schema: bytes) -> None:
    member = b"" if details is None else b',"structuredContent":' + details
    body = b'{"content":[{"type":"text","text":"done"}]%s}' % member
    with pytest.raises(ResultError) as caught:
        await read_result(body, schema)
    error = caught.value
    assert not isinstance(error, ToolFailure)
    assert str(error).startswith(MISMATCH)
    # It has run: nothing that came is thrown away (design 4.3).
    assert error.may_have_run
    assert error.raw == body
    assert error.output.structured == details
    assert error.output.joined_text() == "done"


async def fits(details: bytes, schema: bytes) -> None:
    output = await read_result(b'{"content":[],"structuredContent":%s}' % details, schema)
    assert output.structured == details


async def test_row_111_the_schema_decides() -> None:
    await fits(b'{"count":7}', COUNT)
    await mismatch(b'{"count":"7"}', COUNT)
    await mismatch(b"{}", COUNT)


async def test_row_112_missing_content_is_a_mismatch_that_keeps_the_output() -> None:
    """Fault D10; the spec's row wins at this door."""
    await mismatch(None, COUNT)


async def test_row_113_a_nullable_schema() -> None:
    await fits(b"null", b'{"type":["integer","null"]}')


async def test_row_114_null_is_not_absent() -> None:
    await mismatch(None, b'{"type":"null"}')
    await fits(b"null", b'{"type":"null"}')


async def test_row_115_a_big_integer_and_a_half() -> None:
    await fits(b"9007199254740993", b'{"type":"integer"}')
    await mismatch(b"0.5", b'{"type":"integer"}')


async def test_a_structured_value_that_no_schema_can_judge() -> None:
    await mismatch(b'{"count":7,"count":8}', COUNT)


async def test_row_116_an_error_owes_nothing() -> None:
    body = b'{"content":[],"structuredContent":{"error":"failed"},"isError":true}'
    with pytest.raises(ToolFailure) as caught:
        await read_result(body, COUNT)
    assert caught.value.output.structured == b'{"error":"failed"}'


async def test_row_117_a_schema_is_frozen() -> None:
    pages = [
        listing(entry("t", more=b'"outputSchema":' + schema))
        for schema in (COUNT, b'{"type":"object","maxProperties":0}')
    ]
    calls = result(b'{"content":[],"structuredContent":{"count":7}}', verbatim=True)
    async with connected({"tools/list": pages, "tools/call": calls}) as (_, connection):
        (old,) = await toolwire.discover([Source("s", connection)])
        (new,) = await toolwire.discover([Source("s", connection)])
        assert (await old.call(b"{}")).structured == b'{"count":7}'
        with pytest.raises(ResultError):
            await new.call(b"{}")
        assert (await old.call(b"{}")).structured == b'{"count":7}'


FULL = (
    b'{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"},'
    b'{"type":"image","mimeType":"image/png","data":"iVBORw=="}],"structuredContent":{"retry_s":30},"isError":true}'
)


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_row_118_a_whole_failure(era: str) -> None:
    """And fault D6."""
    with pytest.raises(ToolFailure) as caught:
        await read_result(FULL, era=era)
    failure = caught.value
    assert (failure.kind, failure.remote) == ("failed", True)
    one, two, image = failure.output.parts
    assert isinstance(one, TextPart)
    assert isinstance(two, TextPart)
    assert isinstance(image, MediaPart)
    assert (one.text, two.text, image.data) == ("one", "two", b"\x89PNG")
    assert failure.output.structured == b'{"retry_s":30}'
    assert str(failure.cause) == 'mcp: tool "t" reported failure'
    assert failure.__cause__ is None
    # The model reads both (design 4.4).
    assert "one" in str(failure)
    assert "retry_s" in str(failure)


async def test_row_119_an_empty_failure() -> None:
    """And fault D7."""
    with pytest.raises(ToolFailure) as caught:
        await read_result(b'{"content":[],"isError":true}')
    text = 'mcp: tool "t" reported failure'
    assert str(caught.value) == text
    assert [part.text for part in caught.value.output.parts] == [text]


async def test_row_120_a_failure_that_cannot_be_mapped() -> None:
    with pytest.raises(ResultError) as caught:
        await read_result(b'{"content":[{"type":"text","text":"good"},{"type":"tool_use"}],"isError":true}')
    assert str(caught.value) == "mcp: tool content[1]: mcp: unsupported content tool_use"
    assert caught.value.output.joined_text() == "good"
    assert caught.value.output.is_error


@pytest.mark.parametrize("era", ERAS)
async def test_row_121_a_closed_session(era: str) -> None:
    async with discovered(entry("boom"), calls=result(OK), era=era) as (_, tools):
        pass
    with pytest.raises(RemoteCallError) as caught:
        await tools[0].call(b"{}")
    assert str(caught.value).startswith('mcp: call tool "boom": ')
    assert not isinstance(caught.value, ToolFailure)


async def test_missing_content_is_none_and_a_success() -> None:
    """Faults D8, D9."""
    for body in (b'{"structuredContent":{"a":1}}', b'{"content":null,"structuredContent":{"a":1}}'):
        output = await read_result(body)
        assert (output.parts, output.structured) == ((), b'{"a":1}')
        assert output.warnings
    output = await read_result(b'{"content":[]}')
    assert (output.text, output.is_error, output.warnings) == ("", False, ())


@pytest.mark.parametrize(
    ("body", "era"),
    [(b'{"content":[],"structuredContent":[1,2]}', OLD), (b'{"content":[],"structuredContent":1.50}', NEW)],
)
async def test_structured_values_of_any_kind(body: bytes, era: str) -> None:
    """Fault D11."""
    assert (await read_result(body, era=era)).structured in (b"[1,2]", b"1.50")


@pytest.mark.parametrize("era", ERAS)
async def test_a_null_result_is_named(era: str) -> None:
    """Section 5.1, the first thing that is looked at."""
    with pytest.raises(RemoteCallError) as caught:
        await read_result(b"null", era=era)
    assert str(caught.value) == 'mcp: call tool "t": server returned a nil result'
    assert caught.value.may_have_run
