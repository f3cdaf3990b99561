"""What a docstring says of a function: Google, NumPy and Sphinx styles, read by the `docstring_parser` library.

The parameters' descriptions go into the schema, so their section leaves the tool's description; so does what is raised,
which no model can catch. Everything else stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import docstring_parser
from docstring_parser import google, numpydoc, rest

__all__ = ["parameter_descriptions", "summary"]

_PARAMETERS = r"Args|Arguments|Parameters|Params|Other Parameters|Keyword Args|Keyword Arguments"
_RAISED = r"Raises|Exceptions|Except"
_GOOGLE = re.compile(rf"(?:(?P<told>{_PARAMETERS})|{_RAISED}):\s*")
_NUMPY = re.compile(rf"(?:(?P<told>{_PARAMETERS})|{_RAISED})\s*")
_RULE = re.compile(r"-{3,}\s*")
_SPHINX = re.compile(
    r":(?:param|parameter|arg|argument|attribute|key|keyword|kwarg|type|rtype|raises?|except|exception)\b[^:\n]*:"
)
_MORE = [
    google.Section(title, "param", google.SectionType.MULTIPLE)
    for title in ("Other Parameters", "Keyword Args", "Keyword Arguments")
]
_STYLES: list[Callable[[str], docstring_parser.Docstring]] = [
    google.GoogleParser([*google.DEFAULT_SECTIONS, *_MORE]).parse,
    numpydoc.parse,
    rest.parse,
]


def parameter_descriptions(docstring: str) -> dict[str, str]:
    """The description of each parameter that the docstring names, line breaks folded."""
    text = _levelled(docstring)
    best: dict[str, str] = {}
    # Without such a section the library would guess one from any line with a colon.
    for parse in _STYLES if _has_sections(text) else ():
        try:
            # The library dedents what follows a first line, as it would in a source.
            found = parse(f"\n{text}").params
        except docstring_parser.ParseError:
            continue
        told = {
            name.strip().lstrip("*-").strip(): " ".join(parameter.description.split())
            for parameter in found
            if parameter.description
            for name in parameter.arg_name.split(",")
        }
        best = max(best, told, key=len)
    return best


def summary(docstring: str) -> str:
    """What a tool's description is made of: the docstring without what it says of parameters and of exceptions.

    A section of parameters that cannot be read stays: what it says stands nowhere else.
    """
    text = _levelled(docstring)
    names = parameter_descriptions(text)
    lines = text.splitlines()
    kept: list[str] = []
    place = 0
    while place < len(lines):
        end, header = _section(lines, place)
        if end == place or (header and not _is_read(lines[place + 1 : end], names)):
            kept.append(lines[place])
            place += 1
        else:
            place = end
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _section(lines: list[str], place: int) -> tuple[int, bool]:
    """Where the section ends that begins at a line, `place` for none; and whether it is one of parameters.

    What is indented belongs to something else, such as an example.
    """
    line = lines[place]
    numpy = _NUMPY.fullmatch(line)
    if numpy and place + 1 < len(lines) and _RULE.fullmatch(lines[place + 1]):
        return _end_of_numpy(lines, place + 2), numpy["told"] is not None
    found = _GOOGLE.fullmatch(line)
    if not found and not _SPHINX.match(line):
        return place, False
    place += 1
    while place < len(lines) and (not lines[place].strip() or lines[place][:1] == " "):
        place += 1
    return place, found is not None and found["told"] is not None


def _end_of_numpy(lines: list[str], place: int) -> int:
    """The next section's header, or the end."""
    while place < len(lines):
        if place + 1 < len(lines) and lines[place].strip() and _RULE.fullmatch(lines[place + 1]):
            break
        place += 1
    return place


def _is_read(body: list[str], names: dict[str, str]) -> bool:
    """The library has understood something of a section's body, or there is nothing in it."""
    words = set(re.findall(r"\w+", "\n".join(body)))
    return not words or bool(words & names.keys())


def _has_sections(docstring: str) -> bool:
    lines = docstring.splitlines()
    return any(_section(lines, place)[0] > place for place in range(len(lines)))


def _levelled(docstring: str) -> str:
    """The docstring without tabs; a section in its very first line is above its lines again.

    That line's indent is not known, so what follows it was moved to its level.
    """
    lines = docstring.expandtabs().strip().splitlines()
    following = next((line for line in lines[1:] if line.strip()), "")
    if lines and _GOOGLE.fullmatch(lines[0]) and following[:1].strip():
        lines[1:] = [f"    {line}" for line in lines[1:]]
    return "\n".join(lines)
