"""The loop of these tests is asyncio's; what may differ by loop asks for both with `on_both_loops`."""

from collections.abc import Iterator

import pytest
from mcp.shared import _otel
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """A real tracer provider for one test.

    The global one may be set once a process only, and the SDK keeps the tracer of the first that it meets: both are
    put back.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    monkeypatch.setattr(_otel._tracer, "_real_tracer", None)
    yield exporter
    provider.shutdown()
