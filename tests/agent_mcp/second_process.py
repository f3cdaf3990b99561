"""The second process of an approval: argv are the first one's file and the server's command. Prints what came out."""

import asyncio
import json
import sys
from pathlib import Path

import toolwire
from toolwire import Agent, PendingCall, messages_from_json, require_approval
from toolwire.testing import Say, Script


async def main(saved: dict[str, list[object]], argv: list[str]) -> None:
    """Approve what was parked, and say what the model read of it."""
    pending = [PendingCall.from_json(json.dumps(call)) for call in saved["pending"]]
    async with toolwire.connect(argv) as connection:
        tools = await toolwire.tools(connection, policy=require_approval())
        agent = Agent(Script(Say("refunded")), tools=tools)
        outcome = await agent.generate(messages=messages_from_json(json.dumps(saved["messages"])), approve=pending)
    read = [part.content for message in outcome.messages for part in message.results]
    sys.stdout.write(json.dumps({"text": outcome.text, "read": read, "pending": [call.id for call in outcome.pending]}))


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2:]))
