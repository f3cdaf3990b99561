"""A model's arguments: checked once, sent as they came (spec rows B7, B8, B11 to B15; faults C3 to C11; design 4.1)."""

import json
import re
from typing import Final

import pytest
from hypothesis import given

from tests.core.texts import FORMS, SPACE, broken, containers, documents, examples, few_names, objects, values
from toolwire import _core

SENT = [
    '{"z":1,"a":[2,3],"nested":{"k":"v"}}', '{"x":1E400,"y":-0,"m":1.50,"n":123456789012345678901234567890}',
    '{"é":"\\u00e9\\/"}', "{}", '{ "a" :\n1 }', '{"a":"line\\nbreak","b":"\\ud83d\\ude00"}',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}',
]  # fmt: skip
REFUSED: Final[dict[str, tuple[str, str]]] = {
    '{"city":}': ("unexpected_byte", "invalid JSON at offset 9: unexpected character"),
    '{"city":': ("unexpected_end", "invalid JSON: unexpected end of input"),
    '{"a":1,}': ("unexpected_byte", "invalid JSON at offset 8: unexpected character"),
    "```json\n{}\n```": ("unexpected_byte", "invalid JSON at offset 1: unexpected character"),
    "null x": ("trailing_text", "trailing data after the JSON arguments"),
    "null\f": ("trailing_text", "trailing data after the JSON arguments"),
    "[1,2]": ("not_an_object", "expected object at the top level, got array"),
    "3": ("not_an_object", "expected object at the top level, got number"),
    "true": ("not_an_object", "expected object at the top level, got bool"),
    '"{}"': ("not_an_object", "expected object at the top level, got string"),
    '{"a":1}{"a":2}': ("trailing_text", "trailing data after the JSON arguments"),
    '{"a":1} thanks': ("trailing_text", "trailing data after the JSON arguments"),
    '{"x":{"z":NaN}}': ("not_finite", 'invalid JSON at offset 11: field "x.z": NaN and Infinity are not JSON'),
    '{"x":[0,-Infinity]}': ("not_finite", 'invalid JSON at offset 9: field "x.1": NaN and Infinity are not JSON'),
    '{"path":"/var/x","path":"/etc"}': ("duplicate_member", 'field "path": given twice (the second time at offset 19)'),
    '{"o":[{"p":1,"\\u0070":2}]}': ("duplicate_member", 'field "o.0.p": given twice (the second time at offset 15)'),
    '{"msg":"cut \\ud83d"}': ("lone_surrogate", 'field "msg": half of a surrogate pair at offset 13'),
    '{"\\udc00":1}': ("lone_surrogate", 'field "\ufffd": half of a surrogate pair at offset 3'),
    '{"a":' * 257 + "1" + "}" * 257: ("too_deep", "invalid JSON at offset 1281: nested deeper than 256 levels"),
}


def refused(text: bytes | str | bytearray | memoryview) -> tuple[str, str]:
    with pytest.raises(_core.JsonError) as caught:
        _core.check_arguments(text)
    prose, kind, _ = caught.value.args
    return kind, prose


def ambiguous(text: str) -> bool:
    """Tell whether a name is given twice anywhere, or half a pair stands somewhere."""
    twice = False

    def members(pairs: list[tuple[str, object]]) -> None:
        nonlocal twice
        twice |= len({name for name, _ in pairs}) < len(pairs)

    json.loads(text, object_pairs_hook=members)
    return twice or any("\ud800" <= letter <= "\udfff" for letter in json.dumps(json.loads(text), ensure_ascii=False))


@pytest.mark.parametrize("text", ["", " ", "\n\r\t ", "null", " null\n"])
def test_b14_b15_c5_nothing_and_null_are_no_arguments(text: str) -> None:
    assert [_core.check_arguments(form(text.encode())) for form in FORMS.values()] == [b"{}"] * len(FORMS)


@pytest.mark.parametrize("text", SENT)
def test_what_is_sent_is_what_came_without_the_white_space_around_it(text: str) -> None:
    for around in ("", " ", "\r\n\t"):
        whole = f"{around}{text}{around}".encode()
        assert [_core.check_arguments(form(whole)) for form in FORMS.values()] == [text.encode()] * len(FORMS)


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text)[:40])
def test_a_refusal_names_the_place_in_words_for_the_model(text: str) -> None:
    assert [refused(form(text.encode())) for form in FORMS.values()] == [REFUSED[text]] * len(FORMS)


def test_bytes_that_are_no_text_are_refused() -> None:
    assert refused(b'{"a":"\xff"}') == ("bad_utf8", "invalid JSON at offset 7: invalid UTF-8")
    assert refused('{"a":"\ud800"}')[0] == "lone_surrogate"


@pytest.mark.parametrize("count", [2, 15, 16, 17, 40, 1000])
def test_a_repeated_name_is_found_in_an_object_of_any_size(count: int) -> None:
    names = [f'"k{index}":0' for index in range(count)]
    assert _core.check_arguments("{" + ",".join(names) + "}")
    for first in {0, 1, count // 2, count - 1}:
        text = "{" + ",".join([*names, f'"k{first}":1']) + "}"
        assert refused(text) == (
            "duplicate_member",
            f'field "k{first}": given twice (the second time at offset {text.rindex("k") + 1})',
        )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "\ud7ff", '{"' + "x" * 100_000 + '":NaN}',
        '{"a":0,"a":0,' * 10_000,
    ],
    ids=["arrays", "objects", "arrays and a character", "a long name", "many names"],
)  # fmt: skip
def test_a_refusal_of_any_text_is_short(text: str) -> None:
    assert len(refused(text)[1]) < 500
    assert len(refused(text.encode() + b"\xff")[1]) < 500


@examples(120)
@given(objects)
def test_an_object_is_sent_unless_a_name_or_a_character_is_ambiguous(text: str) -> None:
    if ambiguous(text):
        assert refused(text)[0] in {"duplicate_member", "lone_surrogate"}
    else:
        assert _core.check_arguments(f" {text}\n") == text.encode()


@examples(120)
@given(broken(objects))
def test_broken_arguments_are_refused_or_sent_as_they_came(text: str) -> None:
    try:
        sent = _core.check_arguments(text)
    except _core.JsonError as error:
        prose, kind, offset = error.args
        assert 0 < len(prose) < 500
        assert kind
        assert 0 <= offset <= len(text.encode())
    else:
        assert sent == (text.strip(SPACE).encode() if text.strip(SPACE) not in {"", "null"} else b"{}")
        assert isinstance(json.loads(sent), dict)


@examples(60)
@given(containers(values, few_names))
def test_a_call_is_one_line_that_holds_the_arguments_with_their_line_breaks_as_spaces(text: str) -> None:
    try:
        sent = _core.check_arguments(text)
    except _core.JsonError:
        return
    line = _core.tools_call(7, b'"a\\u0062"', text, b'"k":1.50')
    expected = sent.replace(b"\n", b" ").replace(b"\r", b" ")
    assert line == (
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\\u0062","arguments":%b,"_meta":{"k":1.50}}}\n'
        % expected
    )
    assert _core.equal(json.dumps(json.loads(line)["params"]["name"]), '"ab"')


@examples(50)
@given(documents)
def test_a_request_carries_its_members_on_one_line(text: str) -> None:
    line = _core.request(2**62, "m\n", b'"x":' + text.encode(), b"")
    assert line.endswith(b"}}\n")
    assert line.count(b"\n") == 1
    assert b"\r" not in line
    frame = _core.read_message(line)
    assert (frame.kind, frame.id, frame.method) == ("request", 2**62, "m\n")
    assert frame.params is not None
    assert _core.equal(_core.members(frame.params)["x"], text)


@pytest.mark.parametrize("text", ["", "plain", 'q"b\\s/\b\f\n\r\t\0\x1f\x7fé😀\u2028', "x" * 1000])
def test_a_quoted_text_reads_back_as_itself(text: str) -> None:
    quoted = _core.quote(text)
    assert json.loads(quoted) == text
    assert not re.search(rb"[\x00-\x1f]", quoted)
