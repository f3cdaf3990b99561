"""What is JSON and what is not, by a table of the project's own (RFC 8259; design 4.1): in every form, cut anywhere."""

import itertools
from typing import Final

import pytest

from tests.core.texts import FORMS, refusal
from toolwire import _core

ACCEPTED: Final[dict[str, list[str]]] = {
    "numbers": [
        "0", "-0", "1", "-1", "10", "1.50", "0.0", "-0.0", "1e3", "1E3", "1e+3", "1E-3", "0e0", "1.5e0", "-1.0e-10",
        "1E400", "-1e400", "1e-400", "1e99999999999999999999", "123456789012345678901234567890", "9007199254740993",
        "0." + "1" * 5000, "1" * 5000,
    ],
    "words": ["true", "false", "null"],
    "strings": [
        '""', '" "', '"a"', '"é漢😀"', '"\x7f\x80\u00a0\u2028\u2029\ufeff\uffff"', '"/"', r'"\""', r'"\\"', r'"\/"',
        r'"\b\f\n\r\t"', r'"\u0000"', r'"\u0041\u00E9\u00e9"', r'"\ud83d\ude00"', r'"\uD83D\uDE00"',
        r'"\u005c\u0022"',
    ],
    "halves of surrogate pairs: legal grammar, no character": [
        r'"\ud800"', r'"\udfff"', r'"\ud800\ud800"', r'"\ud800x"', r'"\ud800\n"', r'"\udc00\ud800"',
        r'"\ud800\u0041"',
    ],
    "containers and white space": [
        "[]", "{}", "[1,2]", " [ 1 , 2 ] ", '\t{\n"a"\r:1 }\n', "[[],{}]", '{"":""}', '{"a":{"b":[{}]}}',
        '{"a":1,"a":2}', '{"\\u0061":1,"a":2}', '[null,true,false,0,""]', "\r\n1\r\n",
    ],
}  # fmt: skip

REFUSED: Final[dict[str, dict[str, int]]] = {
    "unexpected_end": {
        "": 0, " \n": 2, "[": 1, "{": 1, '{"a"': 4, '{"a":': 5, '{"a":1': 6, "[1,": 3, '"': 1, '"a': 2, '"\\': 2,
        '"\\u00': 5, "-": 1, "1.": 2, "1e": 2, "1e+": 3, "tru": 3, "nul": 3, "[1": 2,
    },
    "bad_number": {"01": 1, "-01": 2, "00": 1, "1.e1": 2, "1.x": 2, "1ex": 2, "-x": 1, "--1": 1, "[1.]": 3, "[-]": 2},
    "trailing_text": {
        "1e1.5": 3, "1_000": 1, "0x1F": 1, "1 2": 2, "truee": 4, "{} {}": 3, "1,": 1, "[]]": 2, '""x': 2, "{}//": 2,
        "1\0": 1, "1\v": 1, "1\u2028": 1,
    },
    "unexpected_byte": {
        "+1": 0, ".5": 0, "٣": 0, "nan": 1, "inf": 0, "True": 0, "None": 0, "nulL": 3, "undefined": 0, "'a'": 0,
        "a": 0, "[1,]": 3, "[,1]": 1, "[1 2]": 3, "[}": 1, "[1}": 2, "]": 0, "}": 0, '{"a":1,}': 7, "{,}": 1,
        '{"a"}': 4, '{"a" 1}': 5, '{"a":}': 5, '{"a":1]': 6, "{a:1}": 1, "{1:1}": 1, '{"a"::1}': 5,
        '{"a":1 "b":2}': 7, "{null:1}": 1, "[1,,2]": 3, "// no\n1": 0, "/* no */1": 0, "\ufeff1": 0, "\f1": 0,
        "\u00a01": 0,
    },
    "not_finite": {"NaN": 0, "Infinity": 0, "-Infinity": 0, '{"a":NaN}': 5, "[-Infinity]": 1},
    "bad_escape": {
        r'"\x41"': 2, r'"\a"': 2, r'"\'"': 2, r'"\u12G4"': 5, r'"\u 123"': 3, r'"\U0041"': 2, r'"\ud83d\u"': 9,
        r'"\ud83d\uxyzw"': 9,
    },
    "control_character": {
        '"a\nb"': 2, '"\t"': 1, '"\0"': 1, '{"a\r":1}': 3, '"twenty bytes of text\x1f"': 21,
        '"thirty-three bytes of text and some\x01"': 36,
    },
}  # fmt: skip

SAMPLE = (
    r'{"a":[1.5e-3,true,null,{"b\u00e9\"":"x\n\ud83d\ude00é漢😀 and a longer text, over words"}],'
    r'"c":{},"d":-0,"e":"\ud800"}'
)


def shown(text: str) -> str:
    return ascii(text)[:40]


@pytest.mark.parametrize("text", [*itertools.chain(*ACCEPTED.values())], ids=shown)
def test_an_accepted_text_is_accepted_in_every_form(text: str) -> None:
    assert [refusal(form(text.encode())) for form in FORMS.values()] == [None] * len(FORMS)


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in REFUSED.items() for text in texts], ids=shown
)
def test_a_refused_text_is_refused_with_its_kind_and_place_in_every_form(kind: str, text: str) -> None:
    assert [refusal(form(text.encode())) for form in FORMS.values()] == [(kind, REFUSED[kind][text])] * len(FORMS)


@pytest.mark.parametrize("text", [*itertools.chain(*ACCEPTED.values())], ids=shown)
def test_an_accepted_text_is_accepted_inside_every_container(text: str) -> None:
    for around in ("[{}]", '{{"a":{}}}', '[0,{},"x"]', '{{"a":[{}],"b":{{}}}}', " {} "):
        assert refusal(around.format(text)) is None


@pytest.mark.parametrize("code", range(0x20))
def test_a_control_character_stands_in_no_string_and_only_white_space_stands_outside(code: int) -> None:
    letter = chr(code)
    for before in ("", "x", "eight by", "a text of more than thirty-two bytes, so that"):
        assert refusal(f'"{before}{letter} and so on"') == ("control_character", len(before) + 1)
        assert refusal(f'{{"{before}{letter}":0}}') == ("control_character", len(before) + 2)
    assert (refusal(f"[{letter}1{letter}]{letter}") is None) == (letter in " \t\n\r")
    assert refusal(f'"\\u{code:04x}"') is None


@pytest.mark.parametrize("form", FORMS)
def test_a_text_cut_at_any_byte_ends_unexpectedly_there(form: str) -> None:
    whole = SAMPLE.encode()
    assert refusal(FORMS[form](whole)) is None
    for end in range(len(whole)):
        cut = whole[:end]
        characters = len(cut.decode(errors="ignore").encode())
        if characters == end:
            assert refusal(FORMS[form](cut)) == ("unexpected_end", end)
        elif form != "str":
            assert refusal(FORMS[form](cut)) == ("bad_utf8", characters)


@pytest.mark.parametrize(
    "sequence",
    [
        b"\x80", b"\xbf", b"\xc0\x80", b"\xc3", b"\xc3(", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xed\xbf\xbf",
        b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xfe", b"\xff", b"\xe2\x82",
    ],
)  # fmt: skip
def test_bytes_that_are_no_utf8_are_refused_at_the_first_of_them(sequence: bytes) -> None:
    """Overlong forms, surrogates in UTF-8, code points over U+10FFFF, and characters that are cut."""
    assert refusal(b'{"a":"x' + sequence + b'"}') == ("bad_utf8", 7)


def test_a_str_with_half_a_surrogate_pair_is_refused_before_it_is_text() -> None:
    assert refusal('"\ud800"') == ("lone_surrogate", -1)


@pytest.mark.parametrize("text", [None, 1, ["[]"], {"a": 1}])
def test_what_is_no_text_is_a_type_error(text: object) -> None:
    with pytest.raises(TypeError, match="expected bytes or str"):
        _core.validate(text)  # type: ignore[arg-type] # that is what is tested


@pytest.mark.parametrize(("opening", "closing", "levels"), [("[", "]", 1), ('{"a":', "}", 1), ('[{"a":', "}]", 2)])
def test_depth_is_bounded_and_the_bound_is_the_callers(opening: str, closing: str, levels: int) -> None:
    def nested(times: int) -> str:
        return opening * times + "0" + closing * times

    for depth in (0, 1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000):
        within = depth // levels
        assert refusal(nested(within), depth=depth) is None
        kind, offset = refusal(nested(within + 1), depth=depth) or ("", -1)
        assert kind == "too_deep"
        assert nested(within + 1)[offset] in "[{"
    assert refusal(nested(128), depth=256) is None
    assert refusal(nested(257), depth=256) is not None


def test_a_million_levels_cost_no_stack() -> None:
    assert refusal("[" * 1_000_000) == ("too_deep", 256)
    assert refusal("[" * 1_000_000, depth=2_000_000) == ("unexpected_end", 1_000_000)
    assert refusal("[" * 1_000_000 + "]" * 1_000_000, depth=2_000_000) is None


def test_a_message_names_the_fault_and_its_place() -> None:
    with pytest.raises(_core.JsonError) as caught:
        _core.validate(b'{"a":tru}')
    assert caught.value.args == ("unexpected character at byte 8", "unexpected_byte", 8)
    assert isinstance(caught.value, ValueError)
