"""The echo tool as ASGI apps, for `uvicorn --factory`: toolwire's, the SDK's own, and what answers without looking.

`STATELESS` and `JSON` in the environment choose the mode.
"""

import os
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

import toolwire

ECHO = types.Tool(
    name="echo",
    description="Give the text back.",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
RAW = b'{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}'
RAW_HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(RAW)).encode())]


def options() -> dict[str, Any]:
    return {"stateless_http": os.environ.get("STATELESS") == "1", "json_response": os.environ.get("JSON") == "1"}


@toolwire.tool
async def echo(text: str) -> str:
    """Give the text back."""
    return text


def ours() -> Any:
    server: Server[Any] = Server("echo", version="1")
    toolwire.add_tools(server, echo)
    return toolwire.http_app(server, **options())


async def listing(context: Any, params: Any) -> types.ListToolsResult:
    del context, params
    return types.ListToolsResult(tools=[ECHO])


async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    del context
    return types.CallToolResult(content=[types.TextContent(type="text", text=(params.arguments or {})["text"])])


def sdk() -> Any:
    return Server("echo", version="1", on_list_tools=listing, on_call_tool=call).streamable_http_app(**options())


async def raw_app(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, and answer what every answer is: the limit of the server that runs it."""
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": RAW_HEADERS})
    await send({"type": "http.response.body", "body": RAW})


def raw() -> Any:
    return raw_app
