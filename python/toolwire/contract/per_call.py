"""What one call carries beside its arguments: headers and `_meta`, set around it by its caller (K1).

A context value, so that it reaches the calls of an agent's run too, and no connection is opened for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

__all__ = ["call_headers", "call_meta", "call_options", "check_headers"]

_headers: ContextVar[Mapping[str, str]] = ContextVar("toolwire.call_headers", default={})  # noqa: B039 - never changed
_meta: ContextVar[Mapping[str, Any]] = ContextVar("toolwire.call_meta", default={})  # noqa: B039 - never changed

_OF_THE_PROTOCOL: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "last-event-id",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_RESERVED_META: Final = "io.modelcontextprotocol/"
_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE: Final = re.compile(r"[\x20-\x7e\t]*")


@contextmanager
def call_options(*, headers: Mapping[str, str] | None = None, meta: Mapping[str, Any] | None = None) -> Iterator[None]:
    """What every call to a server carries that is made inside, as in `headers={"x-tenant": "a"}, meta={"trace": 1}`.

    `meta` goes into `_meta` on every kind of connection, `headers` onto the request where the connection is HTTP; over
    those that the connection has anyway. Inside of one another the inner wins, name by name. What the protocol reserves
    is refused: raises ValueError, and TypeError for a value that is no JSON.
    """
    for name in headers or {}:
        lower = name.lower()
        if lower in _OF_THE_PROTOCOL or lower.startswith("mcp-"):
            raise ValueError(f"the header {name!r} is the protocol's own")
    check_headers(headers or {})
    for name in meta or {}:
        if name == "progressToken" or name.startswith(_RESERVED_META):
            raise ValueError(f"{name!r} in _meta is the protocol's own")
    own = json.loads(json.dumps(dict(meta or {}), allow_nan=False))
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    head, body = _headers.set({**_headers.get(), **lowered}), _meta.set({**_meta.get(), **own})
    try:
        yield
    finally:
        _headers.reset(head)
        _meta.reset(body)


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises ValueError for a header that cannot be sent. Its value is not shown: it may be a secret."""
    for name, value in headers.items():
        try:
            fits = _NAME.fullmatch(name) and _VALUE.fullmatch(value)
        except TypeError:
            fits = None  # no text at all
        if not fits:
            raise ValueError(f"the header {name!r} is no name with a text of visible ASCII")


def call_headers() -> Mapping[str, str]:
    """The headers of the calls made here, by names in lower case."""
    return _headers.get()


call_meta: Final[Callable[[], Mapping[str, Any]]] = _meta.get
"""The members of `_meta` of the calls made here. Asked at every call, so no function stands around it."""
