"""Shows an agent on both sides of MCP: served over stdio by one process, and a tool of another agent in a second one.

    python examples/served_agent.py            # runs the desk, which starts the researcher as its server
    python examples/served_agent.py serve      # the researcher alone, for any MCP client

The desk sees `research`, the whole agent behind one prompt, and `lookup_order`, the researcher's own tool, through the
researcher's chain. A client that asks for progress hears of each step.
"""

import asyncio
import sys

from mcp.server.mcpserver import MCPServer

import toolwire
from toolwire import Agent
from toolwire.testing import Call, Say, Script, ToolCalls


async def lookup_order(order_id: str) -> dict[str, str]:
    """Finds an order by its number."""
    return {"id": order_id, "status": "shipped"}


async def serve() -> None:
    """Put the researcher on standard input and output."""
    model = Script(
        ToolCalls(Call("lookup_order", b'{"order_id":"1234"}')),
        Say("Order 1234 shipped and is on its way."),
    )
    researcher = Agent(model, name="research", tools=[lookup_order], middleware=[toolwire.audit()])
    server = MCPServer("research-desk")
    toolwire.serve_agent(server, researcher, "Finds out what happened to an order.")
    await toolwire.run_stdio(server)


async def desk() -> None:
    """Let another agent ask the researcher, and its tool, in one step."""
    model = Script(
        ToolCalls(
            Call("research", b'{"prompt":"Where is order 1234?"}', id="1"),
            Call("lookup_order", b'{"order_id":"5678"}', id="2"),
        ),
        Say("Both orders are on their way."),
    )
    async with toolwire.connect([sys.executable, __file__, "serve"]) as connection:
        agent = Agent(model, tools=await toolwire.tools(connection))
        async for event in agent.stream("Where are orders 1234 and 5678?"):
            if event.kind == "tool_finish":
                print(f"{event.name}: {event.content}")
            elif event.kind == "run_finish":
                print(event.result.text)


if __name__ == "__main__":
    asyncio.run(serve() if sys.argv[1:] == ["serve"] else desk())
