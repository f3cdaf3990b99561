"""Rows 154 to 156 of many-sources 7: spans of both doors, and never a word of what a call was about."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import toolwire
from tests.bridge.raw import ERAS, OBJ, entry
from tests.many_sources.support import Duck, discovered, registered
from tests.many_sources.test_input_round_rows import NEGOTIATED, once
from toolwire import AuthorizationError, InputRequest, RemoteCallError, Tool, ToolFailure, ToolOutput
from toolwire.bridge.tracing import classification
from toolwire.errors import UnexpectedFailure

MARKER = "private-marker"


def of_kind(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in exporter.get_finished_spans() if span.name == name]
    return found


def dumped(exporter: InMemorySpanExporter) -> str:
    return "".join(span.to_json() for span in exporter.get_finished_spans())


@pytest.mark.parametrize("era", ERAS)
async def test_row_154_names_kinds_and_the_one_attribute(spans: InMemorySpanExporter, era: str) -> None:
    async with registered(Duck(ToolFailure("no"), "fail"), era=era) as (_, tools):
        with pytest.raises(ToolFailure):
            await tools[0].call(b"{}")
    client, server = of_kind(spans, "mcp.tool.call fail"), of_kind(spans, "mcp.tool.serve fail")
    assert (client.kind, server.kind) == (SpanKind.CLIENT, SpanKind.SERVER)
    for span in (client, server):
        assert span.attributes is not None
        assert span.attributes["gen_ai.tool.name"] == "fail"
        assert span.attributes.keys() == {"gen_ai.tool.name", "error.type"}
    assert client.instrumentation_scope is not None
    assert client.instrumentation_scope.name == "toolwire"


@pytest.mark.parametrize("era", ERAS)
async def test_the_trace_goes_through_the_wire(spans: InMemorySpanExporter, era: str) -> None:
    """The client's span is the parent of the SDK's server span, and that one of toolwire's."""
    async with registered(Duck(ToolOutput("ok"), "t"), era=era) as (_, tools):
        await tools[0].call(b"{}")
    client, ours = of_kind(spans, "mcp.tool.call t"), of_kind(spans, "mcp.tool.serve t")
    theirs = of_kind(spans, "tools/call t")
    assert client.context is not None
    assert theirs.context is not None
    assert theirs.parent is not None
    assert ours.parent is not None
    assert theirs.parent.span_id == client.context.span_id
    assert ours.parent.span_id == theirs.context.span_id
    assert client.status.status_code is StatusCode.UNSET
    assert ours.status.status_code is StatusCode.UNSET


async def test_trace_context_is_sent_beside_the_hosts_meta(spans: InMemorySpanExporter) -> None:
    async with discovered(entry("t"), request_meta=lambda _: {"k": 1}) as (server, tools):
        await tools[0].call(b"{}")
        meta = json.loads(server.requests("tools/call")[0])["params"]["_meta"]
    assert meta.keys() == {"k", "traceparent"}


async def test_nothing_is_sent_or_opened_without_a_provider() -> None:
    async with discovered(entry("t")) as (server, tools):
        await tools[0].call(b"{}")
        assert b"traceparent" not in server.requests("tools/call")[0]


class Private(Exception):
    pass


@pytest.mark.parametrize("era", ERAS)
async def test_row_155_no_content(spans: InMemorySpanExporter, era: str) -> None:
    secret = Private(MARKER)
    secret.__cause__ = KeyError(MARKER)
    async with registered(Duck(secret, "fail"), era=era) as (_, tools):
        with pytest.raises(RemoteCallError):
            await tools[0].call(json.dumps({"argument": MARKER}))
    server = of_kind(spans, "mcp.tool.serve fail")
    assert server.attributes is not None
    assert server.attributes["error.type"] == "KeyError"
    assert (server.status.status_code, server.status.description) == (StatusCode.ERROR, "KeyError")
    (event,) = server.events
    assert (event.name, dict(event.attributes or {})) == ("exception", {"exception.type": "KeyError"})
    client = of_kind(spans, "mcp.tool.call fail")
    assert client.status.status_code is StatusCode.ERROR
    assert MARKER not in dumped(spans)


async def test_rejected_arguments_are_an_error_of_the_server_span(spans: InMemorySpanExporter) -> None:
    schema = b'{"type":"object","required":["a"]}'
    async with registered(Tool.raw("t", "", schema, lambda _: "")) as (connection, _):
        params = b'"name":"t","arguments":{"private-marker":1}'
        assert connection.wire is not None
        await connection.wire.request("tools/call", params, timeout=20)
    server = of_kind(spans, "mcp.tool.serve t")
    assert server.status.description == "InvalidInvocation"
    assert MARKER not in dumped(spans)


async def test_an_input_request_is_no_error(spans: InMemorySpanExporter) -> None:
    async with discovered(entry("t"), calls=once(), era=ERAS[1], connecting=NEGOTIATED) as (_, tools):
        with pytest.raises(InputRequest):
            await tools[0].call(b"{}")
    assert of_kind(spans, "mcp.tool.call t").status.status_code is StatusCode.UNSET


def chained(*errors: BaseException) -> BaseException:
    for outer, inner in pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


CLASSES: list[tuple[Any, str]] = [
    (chained(RuntimeError(), asyncio.CancelledError()), "context.canceled"),
    (chained(RuntimeError(), ValueError(), TimeoutError()), "context.deadline_exceeded"),
    (RemoteCallError("late", error=TimeoutError()), "context.deadline_exceeded"),
    (chained(RuntimeError(), Private()), "Private"),
    (chained(RuntimeError(), ToolFailure("x", cause=ValueError())), "ToolFailure"),
    (UnexpectedFailure("x", cause=Private()), "Private"),
    (AuthorizationError("t", cause=ValueError()), "AuthorizationError"),
    (ValueError(), "ValueError"),
]


def test_row_156_classes() -> None:
    assert [classification(error) for error, _ in CLASSES] == [word for _, word in CLASSES]
    circle = RuntimeError()
    circle.__cause__ = ValueError()
    circle.__cause__.__cause__ = circle
    assert classification(circle) in ("RuntimeError", "ValueError")


async def test_the_tracing_of_a_wrapped_tool_has_no_effect_on_its_result(spans: InMemorySpanExporter) -> None:
    async with registered(Tool.raw("t", "", OBJ, lambda raw: raw.decode())) as (_, tools):
        assert (await tools[0].call(b'{"a":1.50}')).text == '{"a":1.50}'
    assert toolwire.mcp_identity(tools[0]) == ("src", "t")
