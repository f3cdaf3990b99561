"""The tools that the parity tests call: one for each way in which a call may end."""

import json
from enum import Enum
from typing import Annotated, Any, Literal

import anyio
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp_types import RequestParams
from pydantic import BaseModel, Field

import toolwire
from toolwire import LocalOutput, MediaPart, TextPart, Tool, ToolError, ToolOutput, _core
from toolwire.contract.remote_output import RemoteOutput


class Order(BaseModel):
    id: str
    status: str


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@toolwire.tool
async def lookup_order(
    order_id: Annotated[str, Field(description="the order's number")], verbose: bool = False
) -> Order:
    """Look an order up by its number."""
    del verbose
    if order_id == "boom":
        raise RuntimeError("warehouse unreachable")
    if order_id == "none":
        raise ToolError("NOT_FOUND", "no such order", ValueError("hidden"))
    return Order(id=order_id, status="shipped")


@toolwire.tool
async def echo(text: str) -> str:
    """Say it back."""
    return f"heard: {text}"


@toolwire.tool
async def add(a: int, b: int = 1) -> int:
    return a + b


@toolwire.tool
async def many(
    colour: Colour = Colour.RED,
    size: Literal["s", "m"] = "s",
    weights: list[float] | None = None,
    extra: dict[str, Any] | None = None,
) -> list[Any]:
    return [colour, size, weights, extra]


@toolwire.tool
async def anything(**members: Any) -> str:
    return json.dumps(members, sort_keys=True)


@toolwire.tool
async def panic() -> str:
    raise SystemExit("bang")


@toolwire.tool
async def nothing_finite() -> dict[str, float]:
    return {"x": float("nan")}


@toolwire.tool
async def half() -> str:
    return "\ud800"


@toolwire.tool
async def counted(steps: int = 3) -> str:
    for step in range(steps):
        await toolwire.report_progress(step + 1, steps, f"step {step + 1}")
        await anyio.lowlevel.checkpoint()
    return "done"


@toolwire.tool
async def whoami() -> str:
    request = toolwire.current_request()
    assert request is not None
    return json.dumps([request.request_id, request.lifespan, dict(request.meta), request.wants_progress], default=str)


@toolwire.tool
async def with_context(context: Context) -> str:
    return f"request {context.request_id}"


def raw_echo(arguments: bytes) -> str:
    return arguments.decode()


def parts(arguments: bytes) -> ToolOutput:
    del arguments
    image = MediaPart(b"\x89PNG", block="image", mime_type="image/png")
    return LocalOutput(parts=[TextPart("see"), image, MediaPart(None, block="resource_link", uri="n://3", name="r")])


REMOTE = (
    b'{"content":[{"type":"text","text":"a","annotations":{"audience":["user"]},"x":1.50},{"type":"hologram","depth":1e3},'
    b'{"type":"image","data":5},{"type":"resource","resource":{"uri":"n://1","text":"# T"}}],'
    b'"structuredContent":{"b":1.50,"a":[1E400,-0,123456789012345678901234567890]},"_meta":{"k":1e3},"isError":false}'
)


def remote(arguments: bytes) -> ToolOutput:
    del arguments
    return RemoteOutput(_core.read_result(REMOTE))


def breach(arguments: bytes) -> str:
    del arguments
    return "badge granted"


RAW = [
    Tool.raw("raw", "bytes as they come", None, raw_echo),
    Tool.raw("parts", "", None, parts),
    Tool.raw("remote", "", None, remote),
    Tool.raw("badge", "", None, breach, output_schema=b'{"type":"object"}'),
    Tool.raw("scalar", "", None, lambda _: "1.50", output_schema=b'{"type":"number"}'),
]
TYPED = [lookup_order, echo, add, many, anything, panic, nothing_finite, half, counted, whoami, with_context]


def shop(**options: Any) -> Server[Any]:
    server: Server[Any] = Server("shop", version="1", **options)
    toolwire.add_tools(server, *TYPED, *RAW)
    return server


def with_custom_method() -> Server[Any]:
    """The SDK does not look into the envelope of a request whose method is no method of the specification."""
    server = shop()

    async def custom(context: object, params: object) -> dict[str, int]:
        del context, params
        return {"ok": 1}

    server.add_request_handler("x/custom", RequestParams, custom)
    return server
