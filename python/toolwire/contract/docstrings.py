"""What a docstring says of a function's parameters: Google, NumPy and Sphinx styles, by the `docstring_parser` library."""

from __future__ import annotations

import re

import docstring_parser

__all__ = ["parameter_descriptions", "summary"]

_SECTIONS = re.compile(r"^\s*(?:Args|Arguments|Parameters|Params|Returns|Raises|Yields|Examples?)\s*:?\s*$|^\s*:\w+", re.MULTILINE)


def parameter_descriptions(docstring: str) -> dict[str, str]:
    """The description of each parameter that the docstring names, line breaks folded."""
    if not _SECTIONS.search(docstring):
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
    """The docstring without its sections: what a tool's description is made of."""
    found = _SECTIONS.search(docstring)
    text = docstring if found is None else docstring[: found.start()]
    return text.strip()
