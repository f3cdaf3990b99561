"""Shows an agent over the tools of two real servers: one clock, one git repository, both in a single step of the model.

    pip install toolwire mcp-server-time mcp-server-git
    python examples/two_servers.py PATH_OF_A_REPOSITORY

Each server's tools get a prefix, and a policy of their own. The model here is a script; one of a provider has the same
shape (`toolwire.Model`).
"""

import asyncio
import json
import sys
from pathlib import Path

import toolwire
from toolwire import Agent
from toolwire.testing import Call, Say, Script, ToolCalls

BIN = Path(sys.executable).parent


async def main(repository: str) -> None:
    """Ask both servers in one step, and print what the model reads."""
    clock = [str(BIN / "mcp-server-time"), "--local-timezone", "UTC"]
    git = [str(BIN / "mcp-server-git"), "--repository", repository]
    async with toolwire.connect(clock) as time_server, toolwire.connect(git) as git_server:
        tools = [
            *await toolwire.tools(time_server, prefix="time_", policy=toolwire.timeout(10)),
            *await toolwire.tools(git_server, prefix="repo_", policy=toolwire.max_result_bytes(2000, keep="ends")),
        ]
        model = Script(
            ToolCalls(
                Call("time_convert_time", '{"source_timezone":"UTC","time":"14:30","target_timezone":"Asia/Kolkata"}'),
                Call("repo_git_status", json.dumps({"repo_path": repository}), id="status"),
            ),
            Say("It is 20:00 in Kolkata, and here is where the repository stands."),
        )
        result = await Agent(model, tools=tools, timeout=30).generate("What time is it in Kolkata? And is git clean?")
    for message in result.messages:
        for part in message.results:
            print(f"{part.name}: {part.content}")
    print(result.text)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
