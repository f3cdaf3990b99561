"""Tools and a prompt that ask for input in rounds (SEP-2322): the SDK's own, since toolwire only imports such tools."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer, UserMessage

__all__ = ["add_rounds"]

Answer = str | types.InputRequiredResult


def form(message: str, **properties: str) -> types.ElicitRequest:
    """A form with these members, each of a JSON type, all required."""
    members = {name: {"type": kind} for name, kind in properties.items()}
    schema = {"type": "object", "properties": members, "required": [*members]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str) -> types.CreateMessageRequest:
    """A question to the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))


def ask(state: str | None = None, **requests: types.InputRequest) -> types.InputRequiredResult:
    """A result that needs these answers first."""
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def given(context: Context, name: str, member: str) -> str | None:
    """What a form of that name was answered with; `None` where it was not accepted, or does not say it."""
    answer = (context.input_responses or {}).get(name)
    if not isinstance(answer, types.ElicitResult) or answer.action != "accept":
        return None
    value = (answer.content or {}).get(member)
    return None if value is None else str(value)


async def one_form(ctx: Context) -> Answer:
    """Asks for a name."""
    name = given(ctx, "user_name", "name")
    return ask(user_name=form("What is your name?", name="string")) if name is None else f"Hello, {name}!"


async def one_sample(ctx: Context) -> Answer:
    """Asks the client's model."""
    answer = (ctx.input_responses or {}).get("capital_question")
    if not isinstance(answer, types.CreateMessageResult):
        return ask(capital_question=sample("What is the capital of France?"))
    return answer.content.text if isinstance(answer.content, types.TextContent) else answer.content.type


async def the_roots(ctx: Context) -> Answer:
    """Asks for the client's roots."""
    answer = (ctx.input_responses or {}).get("client_roots")
    if not isinstance(answer, types.ListRootsResult):
        return ask(client_roots=types.ListRootsRequest())
    return f"{len(answer.roots)} roots"


async def with_state(ctx: Context) -> Answer:
    """Gives a state along with what it asks, and wants it back."""
    if ctx.request_state != "first" or given(ctx, "confirm", "ok") is None:
        return ask("first", confirm=form("Is that so?", ok="boolean"))
    return "state-ok"


async def all_at_once(ctx: Context) -> Answer:
    """Asks a user, a model and for roots in one round."""
    requests: dict[str, types.InputRequest] = {
        "user_name": form("What is your name?", name="string"),
        "greeting": sample("Greet somebody"),
        "client_roots": types.ListRootsRequest(),
    }
    missing = requests.keys() - (ctx.input_responses or {}).keys()
    return ask("asked", **requests) if missing else "All three were answered"


async def two_steps(ctx: Context) -> Answer:
    """Asks twice; the state keeps what the first answer was."""
    state: Mapping[str, Any] = json.loads(ctx.request_state or "{}")
    name, color = given(ctx, "step1", "name"), given(ctx, "step2", "color")
    if "name" in state and color is not None:
        return f"{state['name']} likes {color}"
    if "asked" in state and name is not None:
        return ask(json.dumps({"name": name}), step2=form("Which colour do you like?", color="string"))
    return ask(json.dumps({"asked": 1}), step1=form("What is your name?", name="string"))


async def sealed_state(ctx: Context) -> Answer:
    """Gives a state that nobody can change: the SDK seals it, and refuses any other."""
    return ask("sealed", confirm=form("Is that so?", ok="boolean")) if ctx.request_state is None else "unsealed"


async def what_the_client_can(ctx: Context) -> Answer:
    """Asks for no more than the client says that it can answer."""
    able = ctx.client_capabilities or types.ClientCapabilities()
    requests: dict[str, types.InputRequest] = {}
    if able.sampling is not None:
        requests["sample"] = sample("Say hello")
    if able.elicitation is not None:
        requests["ask"] = form("What is your name?", name="string")
    return ask("asked", **requests)


async def needs_sampling(ctx: Context) -> str:
    """Does nothing for a client without sampling: the error is the protocol's own, which no tool of ours may raise."""
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        code = types.MISSING_REQUIRED_CLIENT_CAPABILITY
        raise MCPError(code, "This tool needs sampling", {"requiredCapabilities": {"sampling": {}}})
    return "The client has sampling"


async def round_prompt(ctx: Context) -> list[UserMessage] | types.InputRequiredResult:
    """Asks for the context of a prompt."""
    context = given(ctx, "user_context", "context")
    if context is None:
        return ask(user_context=form("What is it about?", context="string"))
    return [UserMessage(f"It is about this: {context}")]


TOOLS: Mapping[str, Callable[[Context], Any]] = {
    "test_input_required_result_elicitation": one_form,
    "test_input_required_result_sampling": one_sample,
    "test_input_required_result_list_roots": the_roots,
    "test_input_required_result_request_state": with_state,
    "test_input_required_result_multiple_inputs": all_at_once,
    "test_input_required_result_multi_round": two_steps,
    "test_input_required_result_tampered_state": sealed_state,
    "test_input_required_result_capabilities": what_the_client_can,
    "test_missing_capability": needs_sampling,
}


def add_rounds(server: MCPServer) -> None:
    """Puts them on a server."""
    for name, function in TOOLS.items():
        server.add_tool(function, name=name, structured_output=False)
    server.prompt(name="test_input_required_result_prompt")(round_prompt)
