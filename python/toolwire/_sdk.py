"""The only file that touches a name of the SDK outside its documented API. Each has a contract test that says what breaks.

Why: a session that does not run on a wire must be asked for a page of tools without the SDK's validation of the whole
page, and `send_request` offers no such door.
"""

from __future__ import annotations

from typing import Any

from mcp import ClientSession

__all__ = ["raw_request", "write_stream_of"]


def write_stream_of(session: ClientSession) -> Any:
    """The stream that a session writes to; `None` where its dispatcher has none (in process)."""
    return getattr(session._dispatcher, "_write_stream", None)


async def raw_request(
    session: ClientSession, method: str, params: dict[str, Any], request_id: int | None = None
) -> dict[str, Any]:
    """One request through the session's dispatcher: its envelope and headers as the SDK stamps them, its result unvalidated.

    Raises MCPError for an error answer and a closed connection, and whatever else the session's transport raises.
    """
    data: dict[str, Any] = {"method": method, "params": params}
    options: dict[str, Any] = {}
    session._stamp(data, options)  # type: ignore[arg-type]  # CallOptions is a TypedDict, built up by the stamp
    if request_id is not None:
        options["request_id"] = request_id
    return await session._dispatcher.send_raw_request(method, data["params"], options)  # type: ignore[arg-type]  # as above
