r"""What a server says, made safe to show, and the two consoles.

Everything that escapes lives here. A control character moves the cursor or retitles the window, a bidi mark shows text
in another order than it has, a tag character hides text from the reader and not from a model: each is shown as an
escape. Bytes that were asked for as bytes (`--raw`, `--json`) go out untouched, but for a terminal, where the same JSON
is written with `\u` escapes.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.text import Text

# C0 (without tab and line feed), DEL, C1; soft hyphen's kin that show nothing; bidi marks; line separators; tags.
_HOSTILE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_WIDE: Final = 120
"""Columns of a table that goes to a file or a pipe; `COLUMNS` overrides it."""


def _escape(found: re.Match[str]) -> str:
    point = ord(found.group())
    if point <= 0xFF:  # noqa: PLR2004 - what two hexadecimal digits hold
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"  # noqa: PLR2004 - the same, of four


def shown(text: str | bytes) -> str:
    """Give `text` with every control, bidi and invisible character as an escape; tabs and line feeds stay."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    return _HOSTILE.sub(_escape, text)


def one_line(text: str | bytes, limit: int = 200) -> str:
    """Give `text` as `shown`, on one line, and cut with an ellipsis after `limit` characters."""
    line = shown(text).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def as_json(raw: bytes) -> bytes:
    """Give the same JSON value with every hostile character as a JSON escape. They stand in strings only."""
    text = raw.decode("utf-8", "replace")
    return _HOSTILE.sub(lambda found: json.dumps(found.group())[1:-1], text).encode()


def write_bytes(raw: bytes) -> None:
    """Write JSON bytes and a newline to stdout: exact, or, to a terminal, the same value escaped."""
    sys.stdout.flush()
    sys.stdout.buffer.write((as_json(raw) if sys.stdout.isatty() else raw) + b"\n")
    sys.stdout.buffer.flush()


def console(*, stderr: bool = False) -> Console:
    """Make a console: colours only on a terminal, no markup, and no guessing at what is a number or a path."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


def say(text: str, style: str = "") -> None:
    """Write one message to stderr. `text` may hold what a server sent."""
    console(stderr=True).print(Text(shown(text), style=style), soft_wrap=True)


def write(text: str) -> None:
    """Write text and a newline to stdout, escaped."""
    sys.stdout.write(shown(text) + "\n")
    sys.stdout.flush()


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """Show on stderr that something is being waited for, if stderr is a terminal."""
    here = console(stderr=True)
    if not here.is_terminal:
        yield
        return
    with here.status(Text(one_line(text))):
        yield
