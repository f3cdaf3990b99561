"""The request that is being served, for the handler that serves it: the same on both lanes.

Outside a served call there is none: `current_request()` is `None`, and `report_progress` does nothing.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from toolwire.contract.progress import listener

__all__ = ["CallContext", "Request", "calling", "current_call", "current_request", "report_progress", "serving"]


@dataclass(frozen=True, slots=True)
class CallContext:
    """The call that runs: its run and step (empty and 0 outside a run), its id and name, whether it was approved."""

    run_id: str
    step: int
    call_id: str
    name: str
    approved: bool = False


calling: ContextVar[CallContext | None] = ContextVar("toolwire.calling", default=None)
"""Set by a run in the context of each call."""


def current_call() -> CallContext | None:
    """The call of a run that this handler serves; `None` outside a run."""
    return calling.get()


Report = Callable[[float, float | None, str | None], Awaitable[None]]


class Request:
    """One served `tools/call`.

    `lifespan` is what the server's lifespan yielded, `auth` the verified access token (None without auth), `meta` the
    request's `_meta` decoded, `meta_json` its exact bytes, `request_id` the client's id. `sdk_context` is the SDK's own
    request context where the call came down the SDK lane.
    """

    __slots__ = ("_make_context", "_report", "auth", "lifespan", "meta_json", "request_id", "sdk_context")

    def __init__(
        self,
        *,
        request_id: int | str | None = None,
        lifespan: Any = None,
        auth: Any = None,
        meta_json: bytes | None = None,
        sdk_context: Any = None,
        report: Report | None = None,
        make_context: Callable[[Any], Any] | None = None,
    ) -> None:
        self.request_id = request_id
        self.lifespan = lifespan
        self.auth = auth
        self.meta_json = meta_json
        self.sdk_context = sdk_context
        self._report = report
        self._make_context = make_context

    def sdk_context_as(self, kind: str) -> Any:
        """The SDK's own context of this request: a `ServerRequestContext`, or MCPServer's `Context` around it."""
        found = self.sdk_context
        make = self._make_context
        return make(found) if kind == "Context" and found is not None and make is not None else found

    @property
    def wants_progress(self) -> bool:
        """The client asked to be told of progress, as far as is known here."""
        return self._report is not None

    @property
    def meta(self) -> Mapping[str, Any]:
        """The request's `_meta`; empty where it has none."""
        return json.loads(self.meta_json) if self.meta_json else {}

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tells the client how far the call is, if it asked to be told."""
        if self._report is not None:
            await self._report(progress, total, message)


serving: ContextVar[Request | None] = ContextVar("toolwire.serving", default=None)
"""Set by whoever serves a call, in the context of its handler."""


def current_request() -> Request | None:
    """The request that this handler serves; `None` outside a served call."""
    return serving.get()


async def report_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Tells the caller of the running tool how far it is. Where nobody asked it does nothing (many-sources 2.9)."""
    heard = listener.get()
    if heard is not None:
        heard[1](progress, total, message)
        return
    request = serving.get()
    if request is not None:
        await request.report_progress(progress, total, message)
