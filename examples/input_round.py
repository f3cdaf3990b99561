"""Shows a tool that asks a person something in the middle of a call.

The question is saved to a file, answered, and the call goes on.
Run it: `python examples/input_round.py`. The server is this file too, started with `--serve`.
"""

import asyncio
import json
import sys
import tempfile
from typing import Any

import mcp_types as types
from anyio import Path
from mcp.server.mcpserver import Context, MCPServer

import toolwire

server = MCPServer("bookings", version="1")


@server.tool(structured_output=False)
async def book_table(ctx: Context, restaurant: str, people: int) -> str | types.InputRequiredResult:
    """Book a table; asks at what time."""
    if ctx.input_responses is None:
        schema = {"type": "object", "properties": {"time": {"type": "string"}}, "required": ["time"]}
        form = types.ElicitRequestFormParams(message=f"When at {restaurant}?", requested_schema=schema)
        return types.InputRequiredResult(
            input_requests={"when": types.ElicitRequest(params=form)}, request_state="b-17"
        )
    answer = ctx.input_responses["when"]
    if not isinstance(answer, types.ElicitResult) or answer.action != "accept" or answer.content is None:
        return "nothing was booked"
    return f"booked {ctx.request_state}: {people} people at {restaurant}, {answer.content['time']}"


async def ask(tool: toolwire.Tool, file: Path) -> None:
    """Makes the call; what the tool asks is saved."""
    try:
        print("answered at once:", await tool.invoke(b'{"restaurant":"Maaemo","people":4}'))
    except toolwire.InputRequest as request:
        await file.write_text(request.to_json())
        print("the tool asks:", json.loads(request.prompt)["message"])


async def finish(tool: toolwire.Tool, file: Path, *answers: dict[str, Any]) -> str:
    """Takes the question from its file and goes on with the call, by the first answer that fits what was asked."""
    request = toolwire.InputRequest.from_json(await file.read_text())
    for answer in answers:
        try:
            continuation = request.answer(json.dumps(answer))
        except toolwire.InputAnswerError as error:
            print("refused before the server heard of it:", error)
        else:
            return (await tool.resume(continuation)).text
    return "nobody gave an answer that fits"


async def main() -> None:
    """Asks twice, and answers with a time and with a no."""
    # `input_rounds` tells the server that forms may be asked; the session has to live until the answer is in.
    command = [sys.executable, __file__, "--serve"]
    async with toolwire.connect(command, mode="auto", input_rounds=True) as connection:
        (tool,) = await toolwire.discover([toolwire.Source("bookings", connection)])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "question.json"
            await ask(tool, file)
            times = (19, "19:30")
            print(await finish(tool, file, *({"action": "accept", "content": {"time": time}} for time in times)))
            await ask(tool, file)
            print(await finish(tool, file, {"action": "decline"}))


if __name__ == "__main__":
    asyncio.run(toolwire.run_stdio(server) if "--serve" in sys.argv else main())
