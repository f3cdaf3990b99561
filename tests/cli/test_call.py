import pytest

from tests.cli.conftest import Run
from toolwire.cli.call import refuse_what_is_no_json
from toolwire.cli.server import Stop
from toolwire.testing import Answer, RawServer, die, error, listing, result, silence

TOOLS = listing(
    b'{"name":"search","inputSchema":{"type":"object","properties":{}}}',
    b'{"name":"lookup","inputSchema":{"type":"object","properties":{}}}',
    b'{"name":"flat","inputSchema":{"type":"array"}}',
)
ARGUMENTS = '{"z": 1.50, "a":[1E400, 9007199254740993,123456789012345678901234567890], "é":-0}'
COMPACT = '{"z":1.50,"a":[1E400,9007199254740993,123456789012345678901234567890],"é":-0}'
ECHO = result(b'{"content":[{"type":"text","text":"done"}],"structuredContent":{args},"extra":1.50}')


def serving(answer: Answer) -> RawServer:
    return RawServer({"tools/list": TOOLS, "tools/call": answer})


def test_the_typed_bytes_are_the_bytes_on_the_wire_and_the_text_is_what_a_model_reads(toolwire: Run) -> None:
    with serving(ECHO) as server:
        ran = toolwire("call", "search", ARGUMENTS, "--", *server.argv)
        (request,) = server.requests("tools/call")
    assert b'"arguments":' + ARGUMENTS.encode() in request
    assert (ran.code, ran.err, ran.text) == (0, b"", COMPACT + "\n")


def test_a_dash_reads_the_arguments_from_stdin(toolwire: Run) -> None:
    with serving(ECHO) as server:
        ran = toolwire("call", "search", "-", "--", *server.argv, stdin=ARGUMENTS.encode() + b"\n")
        (request,) = server.requests("tools/call")
    assert b'"arguments":' + ARGUMENTS.encode() in request
    assert ran.code == 0


def test_blank_arguments_are_an_empty_object(toolwire: Run) -> None:
    """Fault C5."""
    with serving(ECHO) as server:
        assert toolwire("call", "search", "-", "--", *server.argv, stdin=b" \n").code == 0
        (request,) = server.requests("tools/call")
    assert b'"arguments":{}' in request


def test_raw_prints_the_result_as_the_server_sent_it(toolwire: Run) -> None:
    with serving(ECHO) as server:
        ran = toolwire("call", "search", ARGUMENTS, "--raw", "--", *server.argv)
    wanted = '{"content":[{"type":"text","text":"done"}],"structuredContent":' + ARGUMENTS + ',"extra":1.50}\n'
    assert (ran.code, ran.text) == (0, wanted)


def test_a_prefix_belongs_to_the_name_here_and_not_to_the_one_on_the_wire(toolwire: Run) -> None:
    with serving(ECHO) as server:
        assert toolwire("call", "gh_search", "{}", "--prefix", "gh_", "--", *server.argv).code == 0
        assert b'"name":"search"' in server.requests("tools/call")[0]
        ran = toolwire("call", "search", "{}", "--prefix", "gh_", "--", *server.argv)
    assert ran.code == 2
    assert "gh_search" in ran.said


def test_what_the_tool_calls_an_error_ends_with_1(toolwire: Run) -> None:
    failure = b'{"content":[{"type":"text","text":"no such order: 7"}],"isError":true}'
    with serving(result(failure)) as server:
        ran = toolwire("call", "lookup", "{}", "--", *server.argv)
        assert (ran.code, ran.out) == (1, b"")
        assert "no such order: 7" in ran.said
        ran = toolwire("call", "lookup", "{}", "--raw", "--", *server.argv)
    assert (ran.code, ran.out) == (1, failure + b"\n")


def test_a_protocol_error_ends_with_1_and_is_told_whole(toolwire: Run) -> None:
    """Fault H8."""
    with serving(error(-32602, "bad date", b'{"field":"when"}')) as server:
        ran = toolwire("call", "lookup", "{}", "--", *server.argv)
    assert (ran.code, ran.out) == (1, b"")
    assert "bad date" in ran.said
    assert "when" in ran.said


@pytest.mark.parametrize(
    ("arguments", "reason"), [("{q: 1}", "no JSON"), ("[1]", "one JSON object"), ("[" * 100_000, "nested too deeply")]
)
def test_arguments_that_are_no_json_object_are_bad_usage_and_start_no_server(
    toolwire: Run, arguments: str, reason: str
) -> None:
    with serving(ECHO) as server:
        ran = toolwire("call", "search", arguments, "--", *server.argv)
        assert (ran.code, ran.out, server.starts) == (2, b"", 0)
    assert reason in ran.said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (b'{"q": 1', "no JSON"),
        (b"hello", "no JSON"),
        (b'{"q": 1} {"q": 2}', "no JSON"),
        (b'"text"', "one JSON object"),
        (b"7", "one JSON object"),
        (b"true", "one JSON object"),
        (b'{"q":"caf\xe9"}', "not UTF-8"),
    ],
)
def test_each_typing_mistake_has_its_own_words(arguments: bytes, reason: str) -> None:
    with pytest.raises(Stop, match=reason) as stopped:
        refuse_what_is_no_json(arguments)
    assert stopped.value.code == 2


@pytest.mark.parametrize("arguments", [b"", b" \n", b"null", b"{}", b'{"n":' + b"9" * 5000 + b"}", b'{"q":NaN}'])
def test_what_the_api_judges_better_is_let_through(arguments: bytes) -> None:
    refuse_what_is_no_json(arguments)


@pytest.mark.parametrize("arguments", ['{"a":1,"a":2}', '{"a":NaN}', r'{"a":"\ud800"}'])
def test_what_the_wire_refuses_to_send_is_bad_usage(toolwire: Run, arguments: str) -> None:
    with serving(ECHO) as server:
        ran = toolwire("call", "search", arguments, "--", *server.argv)
        assert server.requests("tools/call") == []
    assert (ran.code, ran.out) == (2, b"")
    assert "INVALID_INPUT" in ran.said


def test_a_tool_that_does_not_exist_is_bad_usage_and_near_names_are_offered(toolwire: Run) -> None:
    with serving(ECHO) as server:
        ran = toolwire("call", "serach", "{}", "--", *server.argv)
        assert server.requests("tools/call") == []
    assert (ran.code, ran.out) == (2, b"")
    assert "serach" in ran.said
    assert "search" in ran.said.replace("serach", "")


def test_a_tool_that_was_skipped_says_why(toolwire: Run) -> None:
    with serving(ECHO) as server:
        ran = toolwire("call", "flat", "{}", "--", *server.argv)
    assert ran.code == 2
    assert "skipped: #2 flat" in ran.said


def test_a_warning_about_the_result_goes_to_stderr(toolwire: Run) -> None:
    """Fault D9: `content` is missing, and that is said."""
    with serving(result(b'{"structuredContent":{"a":1.50}}')) as server:
        ran = toolwire("call", "search", "{}", "--", *server.argv)
    assert (ran.code, ran.text) == (0, '{"a":1.50}\n')
    assert "warning: " in ran.said


def test_a_server_that_dies_in_the_call_ends_with_3_and_its_last_words(toolwire: Run) -> None:
    """Fault I1."""
    with serving(die(3, b"segv in libfoo\n")) as server:
        ran = toolwire("call", "search", "{}", "--", *server.argv)
        assert len(server.requests("tools/call")) == 1
    assert (ran.code, ran.out) == (3, b"")
    assert "segv in libfoo" in ran.said
    assert "may have run" in ran.said


def test_a_call_that_is_never_answered_ends_with_3_in_time(toolwire: Run) -> None:
    with serving(silence()) as server:
        ran = toolwire("call", "search", "{}", "--timeout", "2", "--", *server.argv)
    assert (ran.code, ran.out) == (3, b"")
    assert "may have run" in ran.said


def test_text_from_the_server_is_shown_escaped_and_raw_is_not_touched(toolwire: Run) -> None:
    """Fault D21."""
    body = b'{"content":[{"type":"text","text":"ok\\u001b[2J\xe2\x80\xaehidden\\ttab\\nline"}]}'
    with serving(result(body)) as server:
        shown = toolwire("call", "search", "{}", "--", *server.argv)
        raw = toolwire("call", "search", "{}", "--raw", "--", *server.argv)
    assert shown.text == "ok\\x1b[2J\\u202ehidden\ttab\nline\n"
    assert raw.out == body + b"\n"
