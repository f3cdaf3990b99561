"""What a docstring says of a function: Google, NumPy and Sphinx styles, read by the `docstring_parser` library.

The parameters' descriptions go into the schema, so their section leaves the tool's description; so does what is raised,
which no model can catch. Everything else stays as it was written.
"""

from __future__ import annotations

import re

import docstring_parser

__all__ = ["parameter_descriptions", "summary"]

_MOVED = (
    r"(?:Args|Arguments|Parameters|Params|Other Parameters|Keyword Args|Keyword Arguments|Raises|Exceptions|Except)"
)
_GOOGLE = re.compile(rf"{_MOVED}:\s*")
_NUMPY = re.compile(rf"{_MOVED}\s*")
_SPHINX = re.compile(
    r":(?:param|parameter|arg|argument|attribute|key|keyword|kwarg|type|rtype|raises?|except|exception)\b[^:\n]*:"
)


def parameter_descriptions(docstring: str) -> dict[str, str]:
    """The description of each parameter that the docstring names, line breaks folded."""
    if summary(docstring) == docstring.strip():
        # Without such a section the library would guess one from any line with a colon.
        return {}
    try:
        parsed = docstring_parser.parse(docstring)
    except docstring_parser.ParseError:
        return {}
    return {
        parameter.arg_name.lstrip("*"): " ".join(parameter.description.split())
        for parameter in parsed.params
        if parameter.description
    }


def summary(docstring: str) -> str:
    """What a tool's description is made of: the docstring without what it says of parameters and of exceptions."""
    lines = docstring.expandtabs().splitlines()
    kept: list[str] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        indent, text = len(line) - len(line.lstrip()), line.strip()
        if _NUMPY.fullmatch(text) and place + 1 < len(lines) and re.fullmatch(r"\s*-{3,}\s*", lines[place + 1]):
            place = _end_of_numpy(lines, place + 2)
        elif _GOOGLE.fullmatch(text) or _SPHINX.match(text):
            place += 1
            while place < len(lines) and (not lines[place].strip() or _indent(lines[place]) > indent):
                place += 1
        else:
            kept.append(line)
            place += 1
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _end_of_numpy(lines: list[str], place: int) -> int:
    """The next section's header, or the end."""
    while place < len(lines):
        if place + 1 < len(lines) and lines[place].strip() and re.fullmatch(r"\s*-{3,}\s*", lines[place + 1]):
            break
        place += 1
    return place
