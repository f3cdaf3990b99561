"""What the client does in each scenario, all of it on `toolwire.connect`, `tools` and `discover`."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

import toolwire
from conformance.sign_in import auth_of

__all__ = ["CALLS", "Told", "scenario_of"]


@dataclass(frozen=True)
class Told:
    """What the suite tells a client: which scenario it plays against what, at which revision, and what else."""

    name: str
    revision: str
    url: str
    context: dict[str, Any]


Play = Callable[[Told], Awaitable[None]]

CALLS: Counter[str] = Counter()
"""What the wires of all connections have counted in this process."""


@asynccontextmanager
async def connected(told: Told, **options: Any) -> AsyncIterator[toolwire.Connection]:
    """A connection at the suite's revision. The suite alone decides how long one may take."""
    options.setdefault("mode", "auto" if told.revision in MODERN_PROTOCOL_VERSIONS else "legacy")
    async with toolwire.connect(told.url, connect_timeout=None, list_timeout=None, **options) as connection:
        try:
            yield connection
        finally:
            if connection.wire is not None:
                CALLS.update(connection.wire.counters)


async def sampled(context: Any, params: Any) -> types.CreateMessageResult:
    """Answers as a model would, with nothing."""
    del context, params
    return types.CreateMessageResult(role="assistant", content=types.TextContent(text=""), model="none")


async def rooted(context: Any) -> types.ListRootsResult:
    """Gives no roots."""
    del context
    return types.ListRootsResult(roots=[])


async def defaulted(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    """Accepts a form with every default that it has."""
    del context
    schema = params.requested_schema if isinstance(params, types.ElicitRequestFormParams) else {}
    content = {name: each["default"] for name, each in schema.get("properties", {}).items() if "default" in each}
    return types.ElicitResult(action="accept", content=content)


async def listing(told: Told, **options: Any) -> None:
    """Lists the tools."""
    async with connected(told, **options) as connection:
        await toolwire.tools(connection)


async def calling(name: str, arguments: str, told: Told, **options: Any) -> None:
    """Lists the tools and calls one."""
    async with connected(told, **options) as connection:
        await (await toolwire.tools(connection))[name].call(arguments)


async def everything_called(told: Told) -> None:
    """Calls every tool that the listing gives: the ones with bad headers must not be among them."""
    async with connected(told) as connection:
        for tool in await toolwire.tools(connection):
            schema = json.loads(tool.input_schema.raw)
            await tool.call({name: _some(schema["properties"].get(name, {})) for name in schema.get("required", ())})


def _some(schema: dict[str, Any]) -> Any:
    return {"string": "x", "integer": 0, "number": 0, "boolean": False}.get(schema.get("type", ""))


async def calls_told(told: Told) -> None:
    """Makes the calls that the suite tells, with exactly their arguments."""
    async with connected(told) as connection:
        tools = await toolwire.tools(connection)
        for call in told.context.get("toolCalls", ()):
            await tools[call["name"]].call(call.get("arguments"))


async def rounds(told: Told) -> None:
    """Calls tools that ask for input; the answer is a yes, and the call goes on by itself."""
    async with connected(told, input_rounds=True) as connection:
        tools = await toolwire.discover([toolwire.Source("suite", connection)], public_name=lambda _, remote: remote)
        for name in ("test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"):
            try:
                await tools[name].call("{}")
            except toolwire.InputRequest as request:
                await tools[name].resume(request.answer('{"action":"accept","content":{"confirmed":true}}'))


async def schema_echoed(told: Told) -> None:
    """Sends a tool's schema back, in its own bytes."""
    async with connected(told) as connection:
        tools = await toolwire.tools(connection)
        schema = tools["json_schema_2020_12_tool"].input_schema.raw
        await tools["json_schema_echo"].call(b'{"schema":' + schema + b"}")


async def signed_in(told: Told) -> None:
    """Signs in as the server says, lists the tools and calls the first."""
    auth = await auth_of(told.name, told.url, told.context)
    async with connected(told, auth=auth, elicitation_callback=defaulted) as connection:
        for tool in (await toolwire.tools(connection))[:1]:
            await tool.call("{}")


SCENARIOS: dict[str, Play] = {
    "initialize": listing,
    # The suite's server speaks the handshake here, whatever revision it names.
    "json-schema-ref-no-deref": partial(listing, mode="legacy"),
    "json-schema-2020-12-preservation": schema_echoed,
    "tools_call": partial(calling, "add_numbers", '{"a":5,"b":3}'),
    "http-standard-headers": partial(calling, "my-hyphenated-tool", "{}"),
    "request-metadata": partial(
        listing, sampling_callback=sampled, list_roots_callback=rooted, elicitation_callback=defaulted
    ),
    "sse-retry": partial(calling, "test_reconnection", "{}"),
    "elicitation-sep1034-client-defaults": partial(
        calling, "test_client_elicitation_defaults", "{}", elicitation_callback=defaulted
    ),
    "http-custom-headers": calls_told,
    "http-invalid-tool-headers": everything_called,
    "sep-2322-client-request-state": rounds,
}


def scenario_of(name: str) -> Play:
    """What is done in a scenario. Raises KeyError for one that nobody knows."""
    return signed_in if name.startswith("auth/") else SCENARIOS[name]
