"""Nothing from inside leaves a registered tool: the whole wire and every span are searched for planted secrets.

Left alone, the SDK sends an exception's own text on 2025-11-25 (many-sources 8).
"""

from collections.abc import Callable
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import toolwire
from tests.bridge.raw import OBJ
from tests.many_sources.support import FIXED, Duck
from tests.many_sources.test_tracing_rows import dumped
from tests.serving.raw_client import ERAS, call_line, served
from toolwire import (
    AuthorizationError,
    CallError,
    InputRequest,
    MediaPart,
    Tool,
    ToolFailure,
    ToolOutput,
    guard,
    validate_input,
)

SECRET = "planted-secret"  # noqa: S105 - it is looked for, and opens nothing


class Telling(Exception):
    """Everything that can be had of it tells."""

    def __init__(self) -> None:
        super().__init__(SECRET, {"args": SECRET})
        self.secret = SECRET
        self.add_note(SECRET)

    def __repr__(self) -> str:
        return f"Telling({SECRET})"


def chained() -> Exception:
    planted_secret = SECRET  # the traceback's frame has it, too
    error = RuntimeError(f"outer {planted_secret}")
    error.__cause__ = Telling()
    error.__context__ = KeyError(SECRET)
    return error


def failing(error: Callable[[], Any]) -> Callable[[Any], Any]:
    def call(invocation: Any) -> Any:
        raise error()

    return call


async def undecided(name: str, invocation: Any) -> bool:
    raise Telling


def broken_check(arguments: bytes) -> None:
    raise Telling


@toolwire.tool
async def function() -> str:
    raise chained()


@toolwire.tool
def sync_function() -> dict[str, Any]:
    return {SECRET: float("nan")}


@toolwire.tool
async def misread(value: int) -> str:
    raise Telling


def hidden_cause() -> ToolFailure:
    """A failure whose output cannot be encoded: not even its public text goes out."""
    return ToolFailure(SECRET, output=ToolOutput(parts=[MediaPart(reference=SECRET)]), cause=Telling())


TELLING: list[Duck | Tool] = [
    Duck(failing(Telling), "telling"),
    Duck(failing(chained), "chained"),
    Duck(failing(lambda: BaseExceptionGroup(SECRET, [Telling(), SystemExit(SECRET)])), "group"),
    Duck(failing(lambda: SystemExit(SECRET)), "exit"),
    Duck(failing(lambda: TimeoutError(SECRET)), "late"),
    Duck(failing(lambda: CallError(SECRET, evidence=ToolOutput(SECRET), cause=ToolFailure(SECRET))), "evidence"),
    Duck(failing(lambda: AuthorizationError(SECRET, cause=ToolFailure(SECRET))), "authorization"),
    Duck(lambda call: InputRequest(SECRET.encode(), b"true", SECRET.encode(), call), "asks"),
    Duck(failing(hidden_cause), "reference"),
    Duck(SECRET, "text"),
    Duck(ToolOutput(parts=[MediaPart(reference=SECRET)]), "media"),
    Tool.raw("guarded", "", OBJ, lambda _: SECRET, guard(undecided)),
    Tool.raw("checked", "", OBJ, lambda _: SECRET, validate_input(broken_check)),
    function,
    sync_function,
    misread,
]
NAMES = [tool.name for tool in TELLING]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("express", [True, False])
@pytest.mark.parametrize("era", ERAS)
async def test_no_secret_is_on_the_wire_or_on_a_span(
    era: str, express: bool, traced: bool, request: pytest.FixtureRequest
) -> None:
    exporter: InMemorySpanExporter | None = request.getfixturevalue("spans") if traced else None
    server: Server[Any] = Server("telling", version="1")
    toolwire.register(server, *TELLING)
    async with served(server, express=express) as client:
        await client.open(era)
        for name in NAMES:
            answer = await client.ask(call_line(era, name, b'{"value":5}'))
            assert answer["error"] == FIXED, name
        assert client.wire.counters["express_calls"] == (len(NAMES) if express and not traced else 0)
        assert SECRET.encode() not in b"\n".join(client.lines)
        assert b"Traceback" not in b"\n".join(client.lines)
    if exporter is not None:
        found = dumped(exporter)
        assert SECRET not in found
        assert "mcp.tool.serve telling" in found
