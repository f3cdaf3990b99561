"""A `tools/call` on the SDK lane: exact bytes behind what the SDK decodes of a request and is shown of a result.

A middleware that has changed either has the last word.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.mcpserver import Context
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from toolwire import _core, _sdk
from toolwire.bridge.decoded import decoded
from toolwire.contract.current import Request
from toolwire.wire.kept import Kept, same_json
from toolwire.wire.server import current_wire

__all__ = ["exact_arguments", "kept_of", "request_of", "shown"]


def kept_of(context: Any) -> Kept | None:
    """What the wire keeps of this request; `None` on a transport of the SDK's own."""
    wire = current_wire.get()
    return None if wire is None or context.request_id is None else wire.kept_of(context.request_id)


def exact_arguments(kept: Kept | None, arguments: dict[str, Any] | None) -> bytes:
    """The client's own bytes, unless a middleware has changed what the SDK decoded from them."""
    if kept is not None and kept.message.method == "tools/call":
        sent = (kept.message.params or {}).get("arguments")
        if _unchanged(sent or {}, arguments or {}):
            raw = _member(kept, "arguments")
            return b"{}" if raw is None or raw == b"null" else raw
    # In ASCII: half of a surrogate pair stays an escape, and is refused like one that came over the wire.
    return json.dumps(arguments or {}, separators=(",", ":"), default=str).encode()


def _member(kept: Kept, name: str) -> bytes | None:
    """A member of the params as it was written, by the name that the SDK reads: unescaped, and the last of several."""
    return _core.members(kept.frame.params or b"{}").get(name)


def _unchanged(now: Any, sent: Any) -> bool:
    try:
        return same_json(now, sent)
    except (PydanticSerializationError, ValueError):
        # A middleware may put anything there, even what is no JSON.
        return False


def request_of(
    context: Any, params: types.CallToolRequestParams, kept: Kept | None, server: Any, subscriptions: Any
) -> Request:
    """The request as `current_request` shows it. `server` is the MCPServer, where it is one."""
    meta = (context.params or {}).get("_meta")
    raw = None if meta is None else to_json(meta, serialize_unknown=True)
    if kept is not None and _unchanged(meta, (kept.message.params or {}).get("_meta")):
        raw = _member(kept, "_meta")
    # The SDK's dispatcher inside a process has no token: there nobody but it knows whether the client listens.
    wants = kept is None or (isinstance(meta, dict) and meta.get("progressToken") is not None)

    async def report(progress: float, total: float | None, message: str | None) -> None:
        await context.session.report_progress(progress, total, message)

    def make_context(found: Any) -> Any:
        return Context(request_context=found, mcp_server=server, input_params=params, subscriptions=subscriptions)

    return Request(
        request_id=context.request_id,
        lifespan=context.lifespan_context,
        auth=get_access_token(),
        meta_json=raw,
        sdk_context=context,
        report=report if wants else None,
        make_context=make_context,
    )


def shown(exact: bytes, version: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A result as a handler returns it, and as the SDK will write it.

    Blocks that this SDK does not know, and values that it cannot carry, are shown as their text.
    """
    result = decoded(exact)
    try:
        return result, _sdk.dumped_result("tools/call", version, result)
    except (ValidationError, PydanticSerializationError, ValueError, RecursionError):
        blocks = _core.read_result(exact).blocks()
        result = {
            **{name: result[name] for name in ("isError", "resultType") if name in result},
            "content": [{"type": "text", "text": block.line} for block in blocks],
        }
        stamp = decoded(exact).get("_meta", {}).get(types.SERVER_INFO_META_KEY)
        if stamp is not None:
            result["_meta"] = {types.SERVER_INFO_META_KEY: stamp}
        return result, _sdk.dumped_result("tools/call", version, result)
