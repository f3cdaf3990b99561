"""A process with a tracer provider set: both lanes of one script, their answers and their spans, as JSON.

A provider is a process's own and set once, so this is no part of pytest's.
"""

import json
import sys
from typing import Any

import anyio
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.serving.parity import hear
from tests.serving.raw_client import DISCOVER, HANDSHAKE, INITIALIZE, INITIALIZED, MODERN, call_line
from tests.serving.shop import shop

PARENT = b'"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"'
CALLS = [("echo", b'{"text":"a"}'), ("lookup_order", b'{"order_id":"boom"}'), ("panic", b"{}"), ("nope", b"{}")]
OPENINGS = {HANDSHAKE: [[INITIALIZE], [INITIALIZED]], MODERN: [[DISCOVER]]}


def shown(span: Any) -> dict[str, Any]:
    """What must be equal: all but times and the ids that are drawn."""
    told = json.loads(span.to_json())
    parent = told["parent_id"] if told["context"]["trace_id"] == "0x0af7651916cd43dd8448eb211c80319c" else None
    return {name: told[name] for name in ("name", "kind", "attributes", "status")} | {"parent": parent}


async def main() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    report: dict[str, Any] = {}
    for era, first in OPENINGS.items():
        steps = [*first, *[[call_line(era, name, given, meta=meta)] for name, given in CALLS for meta in (b"", PARENT)]]
        for lane in ("express", "sdk"):
            exporter.clear()
            heard = await hear(shop(), steps, express=lane == "express")
            report[f"{era} {lane}"] = {
                "answers": [line.decode() for step in heard.answers for line in step],
                "express_calls": heard.express_calls,
                "spans": [shown(span) for span in exporter.get_finished_spans()],
            }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    anyio.run(main)
