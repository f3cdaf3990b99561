"""What a server asks of its client while it works: the SDK's callbacks stand beside express calls, in full order."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.client import ClientRequestContext
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    LoggingMessageNotificationParams,
    Root,
    TextContent,
)
from pydantic import FileUrl

import toolwire
from tests.real.conftest import PATIENCE, RealServer


async def test_sampling_elicitation_and_roots_answer_the_server_while_calls_run(
    start: Callable[..., RealServer],
) -> None:
    asked: list[str] = []
    logged: list[Any] = []
    roots_logged = anyio.Event()

    async def sample(_: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        message = params.messages[0].content
        assert isinstance(message, TextContent)
        asked.append(message.text)
        # A call of the express lane, made while the server waits for this very answer.
        heard = await tools["echo"].invoke({"message": "from the callback"})
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=heard), model="scripted")

    async def elicit(_: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"name": "A Person", "check": True})

    async def roots(_: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl("file:///nowhere/at/all"), name="nowhere")])

    async def log(params: LoggingMessageNotificationParams) -> None:
        logged.append(params.data)
        if "1 root(s)" in str(params.data):
            roots_logged.set()

    server = start("everything")
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(
            server.argv,
            mode=server.mode,
            sampling_callback=sample,
            elicitation_callback=elicit,
            list_roots_callback=roots,
            logging_callback=log,
        ) as connection:
            # The server asks for the roots as soon as the session is open.
            await roots_logged.wait()
            tools = await toolwire.tools(connection)
            texts: dict[str, str] = {}

            async def call(name: str, arguments: bytes) -> None:
                texts[name] = await tools[name].invoke(arguments)

            async with anyio.create_task_group() as group:
                group.start_soon(call, "trigger-sampling-request", b'{"prompt":"say it","maxTokens":5}')
                group.start_soon(call, "trigger-elicitation-request", b"{}")
                group.start_soon(call, "get-roots-list", b"{}")
                group.start_soon(call, "echo", b'{"message":"beside"}')
            prompts = (await connection.client.list_prompts()).prompts
            resources = (await connection.client.list_resources()).resources
    assert texts["echo"] == "Echo: beside"
    assert "Echo: from the callback" in texts["trigger-sampling-request"]
    assert "A Person" in texts["trigger-elicitation-request"]
    assert "file:///nowhere/at/all" in texts["get-roots-list"]
    assert sorted(asked) == [
        "Please provide inputs for the following fields:",
        "Resource trigger-sampling-request context: say it",
    ]
    assert prompts
    assert resources


async def test_the_progress_of_a_long_operation_keeps_its_call_alive(start: Callable[..., RealServer]) -> None:
    """Progress starts the idle limit again: ten steps take two seconds, twice the limit between two of them."""
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(start("everything").argv, idle_timeout=1.0) as connection:
            tools = await toolwire.tools(connection)
            text = await tools["trigger-long-running-operation"].invoke(b'{"duration":2,"steps":10}')
    assert text == "Long running operation completed. Duration: 2 seconds, Steps: 10."


async def test_a_long_operation_without_progress_ends_at_the_idle_limit(start: Callable[..., RealServer]) -> None:
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(start("everything").argv, idle_timeout=0.5) as connection:
            tools = await toolwire.tools(connection)
            with pytest.raises(toolwire.RemoteCallError, match=r"timed out after 0\.5 s without progress") as caught:
                await tools["trigger-long-running-operation"].invoke(b'{"duration":30,"steps":1}')
            assert caught.value.may_have_run
            # The session goes on.
            assert await tools["echo"].invoke({"message": "still here"}) == "Echo: still here"


async def test_the_environment_of_a_server_is_the_sdks_and_what_the_caller_adds(
    start: Callable[..., RealServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLWIRE_TEST_SECRET", "not to be inherited")
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(start("everything").argv, env={"TOOLWIRE_TEST_GIVEN": "1"}) as connection:
            text = await (await toolwire.tools(connection))["get-env"].invoke()
    assert '"TOOLWIRE_TEST_GIVEN": "1"' in text
    assert "TOOLWIRE_TEST_SECRET" not in text
