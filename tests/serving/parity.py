"""One script, two equal servers: one answers what it may on the express lane, the other has that lane switched off.

What is heard of both must be equal as JSON, answer for answer. `TOLERATED` is the whole list of what may differ, each
by name; a name that no test meets is a lie, and is found.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from tests.serving.raw_client import DISCOVER, HANDSHAKE, INITIALIZE, INITIALIZED, served
from toolwire import _core

AnyServer = Server[Any] | MCPServer
Step = Sequence[bytes]
"""Lines that are written together."""


def opening(era: str) -> list[Step]:
    """What opens a session, each line alone."""
    return [[INITIALIZE], [INITIALIZED]] if era == HANDSHAKE else [[DISCOVER]]


Judge = Callable[[bytes, bytes, bytes], bool]
"""Whether a difference is of its kind, by the step's lines and the answers of the express and of the SDK lane."""


def _refused(answer: bytes) -> bool:
    return b'"error":{"code":-32600' in answer and b"nests too deep or is no such message" in answer


def _digits(request: bytes, express: bytes, sdk: bytes) -> bool:
    longest = max((len(run) for run in _runs(request)), default=0)
    return longest > 4300 and b'"result"' in express and _refused(sdk)


def _runs(text: bytes) -> list[bytes]:
    return bytes(letter if 48 <= letter <= 57 else 32 for letter in text).split()


def _nesting(request: bytes, express: bytes, sdk: bytes) -> bool:
    depth = deepest = 0
    for letter in request:
        depth += (letter in b"{[") - (letter in b"}]")
        deepest = max(deepest, depth)
    return 200 < deepest <= 260 and b'"result"' in express and _refused(sdk)


TOLERATED: dict[str, Judge] = {
    # The SDK's parser reads integers of at most 4,300 digits, and refuses the whole message; our tools get the bytes.
    "a number of more than 4,300 digits": _digits,
    # The SDK's parser reads 200 levels; what is passed on here may have 256 (design 4.1).
    "nesting of 200 to 256 levels": _nesting,
}


@dataclass
class Heard:
    """What one server said to a script, step by step, and which lane it was."""

    answers: list[list[bytes]] = field(default_factory=list)
    express_calls: int = 0
    sdk_requests: int = 0


class Disparity(AssertionError):
    """The lanes differ."""


async def hear(server: AnyServer, steps: Sequence[Step], *, express: bool) -> Heard:
    heard = Heard()
    async with served(server, express=express) as client:
        for step in steps:
            heard.answers.append(await client.say(*step))
        heard.express_calls = client.wire.counters["express_calls"]
        heard.sdk_requests = client.wire.counters["sdk_requests"]
    return heard


@dataclass
class Compared:
    """Both, found equal but for what is tolerated."""

    express: Heard
    sdk: Heard
    tolerated: set[str]

    @property
    def answers(self) -> list[Any]:
        """Everything that was heard on the express side, decoded."""
        return [json.loads(line) for step in self.express.answers for line in step]


async def compare(make: Callable[[], AnyServer], steps: Sequence[Step]) -> Compared:
    """Runs a script on both. Raises Disparity."""
    express = await hear(make(), steps, express=True)
    sdk = await hear(make(), steps, express=False)
    assert sdk.express_calls == 0
    return Compared(express, sdk, judge(steps, express, sdk))


def judge(steps: Sequence[Step], express: Heard, sdk: Heard) -> set[str]:
    """The names of the differences, all of them tolerated. Raises Disparity."""
    tolerated: set[str] = set()
    for step, ours, theirs in zip(steps, express.answers, sdk.answers, strict=True):
        if len(ours) != len(theirs):
            raise Disparity(f"{_shown(step)}\n  express: {ours}\n  sdk: {theirs}")
        # Calls of one step end in whatever order they end.
        for left, right in zip(sorted(ours, key=_place), sorted(theirs, key=_place), strict=True):
            if _core.equal(left, right):
                continue
            names = [name for name, is_one in TOLERATED.items() if is_one(b"\n".join(step), left, right)]
            if not names:
                raise Disparity(f"{_shown(step)}\n  express: {left!r}\n  sdk:     {right!r}")
            tolerated.update(names)
    return tolerated


def _place(line: bytes) -> str:
    message = json.loads(line)
    # What was told before an answer stays before it.
    progress = message.get("params", {}).get("progress", "") if message.get("method") else "~"
    token = message.get("params", {}).get("progressToken") if message.get("method") else message.get("id")
    return f"{token!r} {progress}"


def _shown(step: Step) -> str:
    return "\n".join(line.decode("utf-8", "replace")[:500] for line in step)
