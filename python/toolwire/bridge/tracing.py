"""OpenTelemetry spans of both doors: names and kinds, never content (spec many-sources 6.3).

Without a provider it costs one check. W3C trace context travels in `_meta`, as the SDK carries it, so that a client's
span is the parent of a server's.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from opentelemetry import trace
from opentelemetry.propagate import inject
from opentelemetry.trace import SpanKind, StatusCode

from toolwire import _sdk
from toolwire.contract.authorization import AuthorizationError
from toolwire.contract.input_round import InputRequest
from toolwire.errors import ToolFailure, UnexpectedFailure

__all__ = ["Mark", "client_span", "server_span"]

_NAME = "toolwire"
Mark = Callable[[BaseException], None]


@contextmanager
def client_span(remote: str) -> Iterator[dict[str, str]]:
    """A span around one remote call; what it yields goes into the request's `_meta`."""
    if not _sdk.tracing():
        yield {}
        return
    with _span(f"mcp.tool.call {remote}", SpanKind.CLIENT, remote):
        carrier: dict[str, str] = {}
        inject(carrier)
        yield carrier


@contextmanager
def server_span(public: str) -> Iterator[Mark]:
    """A span around one served call; what it yields marks a failure that is answered and not raised."""
    if not _sdk.tracing():
        yield _unmarked
        return
    with _span(f"mcp.tool.serve {public}", SpanKind.SERVER, public) as span:
        yield partial(mark, span)


def _unmarked(error: BaseException) -> None:
    """Nobody traces."""


@contextmanager
def _span(name: str, kind: SpanKind, tool: str) -> Iterator[Any]:
    tracer = trace.get_tracer(_NAME)
    with tracer.start_as_current_span(
        name,
        kind=kind,
        attributes={"gen_ai.tool.name": tool},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except InputRequest:
            raise
        except BaseException as error:
            mark(span, error)
            raise


def mark(span: Any, error: BaseException) -> None:
    """Says that a call failed, and how, without a word of what it was about."""
    word = classification(error)
    span.set_attribute("error.type", word)
    span.set_status(StatusCode.ERROR, word)
    span.add_event("exception", {"exception.type": word})


def classification(error: BaseException) -> str:
    """Cancellation and deadlines by name, anything else by the class at the bottom of its wrap chain.

    A failure and an undecided guard end the chain: their causes are diagnoses.
    """
    seen = error
    for _ in range(_WRAPPED):
        below = _below(seen)
        if below is None:
            break
        seen = below
    if (
        isinstance(seen, asyncio.CancelledError | concurrent.futures.CancelledError)
        or type(seen).__name__ == "Cancelled"
    ):
        return "context.canceled"
    if isinstance(seen, TimeoutError):
        return "context.deadline_exceeded"
    return type(seen).__qualname__


_WRAPPED = 64
"""Wrappers that are looked through: a chain may be a circle."""


def _below(error: BaseException) -> BaseException | None:
    if isinstance(error, UnexpectedFailure):
        return error.cause
    if isinstance(error, ToolFailure | AuthorizationError):
        return None
    found = error.__cause__ or getattr(error, "cause", None)
    return found if isinstance(found, BaseException) else None
