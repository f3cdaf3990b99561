"""What an HTTP status that carries no answer means to a caller, and to the model that reads of it (faults J3, J4)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from toolwire.errors import RemoteCallError

__all__ = ["ERROR_BODY", "clipped", "not_an_answer", "refused"]

ERROR_BODY: Final = 64 * 1024
"""Bytes of an error's body that are read: room for a JSON-RPC error with data, and for a page of a proxy's."""

_SHOWN = 200
"""Bytes of it that an error text quotes."""

_REFUSED: Final = frozenset({400, 401, 402, 403, 404, 405, 406, 410, 411, 413, 414, 415, 417, 421, 426, 428, 429, 431})
"""Statuses that say that the request was not carried out. 408, 409 and 5xx say nothing of the kind."""

_MEANINGS: Final = {
    401: "the server asks for authorization",
    403: "the server refuses access",
    429: "rate limited",
    503: "the server is unavailable",
}


def refused(status: int) -> bool:
    """The status says that the request was not carried out; a redirect that is not followed says so too."""
    return status in _REFUSED or 300 <= status < 400  # noqa: PLR2004 - HTTP's own classes


def not_an_answer(status: int, headers: Mapping[str, str], body: bytes) -> RemoteCallError:
    """The error of a response without a message in it: its status, when to come again, the start of its body."""
    retry_after = _seconds(headers.get("retry-after"))
    text = _MEANINGS.get(status, "the server answered")
    text += f" with {_name(status)}" if text.endswith("answered") else f" ({_name(status)})"
    if status < 300:  # noqa: PLR2004 - HTTP's own classes
        text += " and no message"
    if retry_after is not None:
        text += f", try again in {retry_after:g} s"
    if location := headers.get("location", "") if 300 <= status < 400 else "":  # noqa: PLR2004 - as above
        text += f": the redirect to {_shown_location(location)} is not followed"
    elif shown := clipped(body):
        text += f": {shown}"
    return RemoteCallError(
        text, may_have_run=not refused(status), raw=body or None, status=status, retry_after=retry_after
    )


def clipped(body: bytes) -> str:
    """The start of a body for an error text, on one line."""
    shown = " ".join(body[:_SHOWN].decode("utf-8", "replace").split())
    return shown + "…" if len(body) > _SHOWN else shown


def _name(status: int) -> str:
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"


def _shown_location(location: str) -> str:
    """A redirect's target without what may be secret in it."""
    start = location.partition("?")[0].partition("#")[0]
    scheme, _, rest = start.rpartition("//")
    host, slash, path = rest.partition("/")
    return f"{scheme}{'//' if scheme else ''}{host.rpartition('@')[2]}{slash}{path}"[:_SHOWN]


def _seconds(header: str | None) -> float | None:
    """A Retry-After in seconds, from either of its two forms; `None` where it is neither."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


_DIGITS = 9
"""Longer than thirty years is no advice."""
