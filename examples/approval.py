"""Shows an approval that outlives the process: a call is parked in a file, a person decides, a second process goes on.

    python examples/approval.py ask approval.json        # the model wants to pay; the call is saved, nothing has run
    python examples/approval.py approve approval.json    # in another process: exactly those bytes go to the server

What is approved is what is sent: a call whose bytes, or whose tool, changed in the meantime is asked again.
"""

import asyncio
import json
import sys
from pathlib import Path

import toolwire
from toolwire import Agent, PendingCall, messages_from_json
from toolwire.testing import Call, Say, Script, ToolCalls

SERVER = [sys.executable, "-m", "toolwire.demo"]


async def agent_of(connection: toolwire.Connection, model: Script) -> Agent:
    """Make an agent that must ask before it calls anything on this server."""
    tools = await toolwire.tools(connection, policy=toolwire.require_approval())
    return Agent(model, tools=tools)


async def ask(file: Path) -> None:
    """Run until the model wants something that nobody has approved, and save it."""
    model = Script(ToolCalls(Call("echo", b'{"pay":1249.50,"to":"ACME"}', id="pay-1")))
    async with toolwire.connect(SERVER) as connection:
        result = await (await agent_of(connection, model)).generate("Pay the invoice of ACME.")
    pending = [json.loads(call.to_json()) for call in result.pending]
    await asyncio.to_thread(file.write_text, json.dumps({"messages": result.messages_json(), "pending": pending}))
    for call in result.pending:
        print(f"{call.name} wants to run with {call.args.decode()}")


async def approve(file: Path) -> None:
    """Go on where the other process stopped."""
    saved = json.loads(await asyncio.to_thread(file.read_text))
    pending = [PendingCall.from_json(json.dumps(call)) for call in saved["pending"]]
    async with toolwire.connect(SERVER) as connection:
        agent = await agent_of(connection, Script(Say("ACME is paid.")))
        result = await agent.generate(messages=messages_from_json(saved["messages"]), approve=pending)
    for message in result.messages:
        for part in message.results:
            print(f"{part.name} gave {part.content}")
    print(result.text)


if __name__ == "__main__":
    step = {"ask": ask, "approve": approve}[sys.argv[1]]
    asyncio.run(step(Path(sys.argv[2])))
