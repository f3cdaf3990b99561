"""An ordinary server on the SDK's own `MCPServer` and stdio transport, for the tests of the client wire.

Its tools do in the middle of a call what a server may do: ask the client for a sample, an answer or its roots, report
progress, log, and announce that its tools changed.
"""

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("ordinary", version="1.2.3", instructions="Ask away.")


class Colour(BaseModel):
    name: str


@server.tool(structured_output=False)
def add(a: float, b: float) -> float:
    return a + b


@server.tool(structured_output=False)
async def sample(ctx: Context) -> str:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="capital?"))
    result = await ctx.session.create_message([message], max_tokens=5)
    assert isinstance(result.content, types.TextContent)
    return f"{result.model}: {result.content.text}"


@server.tool(structured_output=False)
async def ask(ctx: Context) -> str:
    result = await ctx.elicit("Which colour?", Colour)
    return result.data.name if result.action == "accept" else result.action


@server.tool(structured_output=False)
async def roots(ctx: Context) -> str:
    return " ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


@server.tool(structured_output=False)
async def question(ctx: Context) -> str | types.InputRequiredResult:
    if ctx.input_responses is None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        asked = types.ElicitRequest(params=types.ElicitRequestFormParams(message="Which?", requested_schema=schema))
        return types.InputRequiredResult(input_requests={"q": asked}, request_state="s1")
    answer = ctx.input_responses["q"]
    assert isinstance(answer, types.ElicitResult)
    return f"{answer.content} {ctx.request_state}"


@server.tool(structured_output=False)
async def work(ctx: Context) -> str:
    for step in range(1, 4):
        await ctx.report_progress(step, 3, f"step {step}")
    await ctx.info("worked")
    return "done"


@server.tool(structured_output=False)
async def change(ctx: Context) -> str:
    await ctx.notify_tools_changed()
    return "changed"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


@server.resource("note://{name}")
def note(name: str) -> str:
    return f"note {name}"


@server.resource("file://fixed")
def fixed() -> str:
    return "fixed text"


if __name__ == "__main__":
    server.run("stdio")
