"""Middleware around tool calls: `async (call, next) -> ToolOutput`, the first listed outermost.

A returned `str` replaces everything. Three come ready: `allow` refuses, `audit` records, `map_errors` rewrites.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import anyio

from toolwire.agent.errors import ApprovalRequired
from toolwire.contract.current import CallContext, current_call
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolError, quoted

__all__ = ["Call", "Middleware", "Next", "allow", "audit", "chain", "map_errors"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call on its way in: middleware may pass on another one (`call.with_args(…)`)."""

    id: str
    name: str
    args: bytes
    tool: Tool | None = field(default=None, compare=False)

    def with_args(self, args: bytes | str) -> Call:
        """The same call with other argument bytes."""
        return replace(self, args=args.encode() if isinstance(args, str) else args)


Next = Callable[[Call], Awaitable[ToolOutput]]
Middleware = Callable[[Call, Next], Awaitable[ToolOutput | str]]


def chain(middleware: Sequence[Middleware], base: Next) -> Next:
    """`base` under the middleware, the first outermost."""
    call = base
    for layer in reversed(middleware):
        call = partial(_through, layer, call)
    return call


async def _through(layer: Middleware, following: Next, call: Call) -> ToolOutput:
    output: object = await layer(call, following)
    if isinstance(output, ToolOutput):
        return output
    if not isinstance(output, str):
        what = getattr(layer, "__name__", type(layer).__name__)
        raise TypeError(f"middleware {what} returned {type(output).__name__}: it is a ToolOutput or a str")
    return ToolOutput(output)


def allow(permit: Callable[[CallContext], bool] | None) -> Middleware:
    """Refuses calls that `permit` does not allow: `DENIED: tool "x" is not allowed`. Without a `permit` all pass."""

    async def allowed(call: Call, following: Next) -> ToolOutput:
        context = current_call() or CallContext("", 0, call.id, call.name)
        if permit is not None and not permit(context):
            raise ToolError("DENIED", f"tool {quoted(call.name)} is not allowed")
        return await following(call)

    return allowed


def audit(logger: logging.Logger | None = None) -> Middleware:
    """One INFO line `tool call` per call: run, step, call, tool, duration, and what it came to. Changes nothing."""
    log = logger or logging.getLogger("toolwire.audit")

    async def audited(call: Call, following: Next) -> ToolOutput:
        context = current_call() or CallContext("", 0, call.id, call.name)
        facts: dict[str, Any] = {"run": context.run_id, "step": context.step, "call": call.id, "tool": call.name}
        start = time.perf_counter()
        try:
            output = await following(call)
            facts["result_bytes"] = len(output.text.encode("utf-8", "surrogatepass"))
            return output
        except ApprovalRequired:
            facts["pending"] = True
            raise
        except Exception as error:
            facts["err"] = str(error)
            if isinstance(error, ToolError) and error.cause is not None:
                facts["cause"] = str(error.cause)
            raise
        finally:
            facts["dur"] = time.perf_counter() - start
            line = " ".join(f"{name}={value}" for name, value in facts.items())
            log.info("tool call %s", line, extra={"tool_call": facts})

    return audited


def map_errors(rewrite: Callable[[Call, Exception], Exception | None] | None = None) -> Middleware:
    """Rewrites what is no ToolError of its author's: by default the model reads `INTERNAL: tool "x" failed`.

    ToolErrors that a handler raised itself, approvals and cancellation stay; `rewrite` returning None keeps the error.
    """

    async def mapped(call: Call, following: Next) -> ToolOutput:
        try:
            return await following(call)
        except (ApprovalRequired, anyio.get_cancelled_exc_class()):
            raise
        except Exception as error:
            original = _original(error)
            if isinstance(original, ToolError):
                raise
            changed = (
                ToolError("INTERNAL", f"tool {quoted(call.name)} failed", original)
                if rewrite is None
                else rewrite(call, original)
            )
            if changed is None:
                raise
            raise changed from None

    return mapped


def _original(error: Exception) -> Exception:
    """The handler's own exception, where a failure only carries its text."""
    cause = getattr(error, "cause", None)
    kind = getattr(error, "kind", None)
    remote = getattr(error, "remote", False)
    return cause if kind == "failed" and not remote and isinstance(cause, Exception) else error
