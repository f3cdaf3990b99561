"""The parity test can fail: each rule by which express accepts a call is broken in turn, and it must notice."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.serving.between import (
    Counting,
    replaced_later,
    rewriting,
    vetoing,
    with_extension,
    with_lifespan,
    with_middleware,
)
from tests.serving.parity import AnyServer, Disparity, Step, compare
from tests.serving.raw_client import (
    DISCOVER,
    ENVELOPE,
    HANDSHAKE,
    INITIALIZE,
    INITIALIZED,
    MODERN,
    call_line,
    request_line,
)
from tests.serving.shop import shop, with_custom_method
from toolwire import _core
from toolwire.bridge.exporting import Exported
from toolwire.wire.served_sdk_lane import ServedSdkLane
from toolwire.wire.server import ServerWire

Patch = pytest.MonkeyPatch


def always_certain(patch: Patch) -> None:
    patch.setattr(Exported, "certain", lambda _: True)


def always_open(patch: Patch) -> None:
    patch.setattr(ServedSdkLane, "admits", lambda *_: True)
    patch.setattr(ServedSdkLane, "_reckon", lambda self: setattr(self, "open", True))


def any_context(patch: Patch) -> None:
    patch.setattr(Exported, "find", lambda self, name: self.tools.get(name))


def no_stamp(patch: Patch) -> None:
    accept = ServerWire._accept
    patch.setattr(ServerWire, "_accept", lambda self, call, tool, _: accept(self, call, tool, None))


def no_context_of_the_server(patch: Patch) -> None:
    def opened(self: ServerWire, state: Any, auth: Any) -> None:
        del auth
        self.lifespan, self.has_lifespan = state, True

    patch.setattr(ServerWire, "opened", opened)


def no_progress(patch: Patch) -> None:
    async def silent(self: Any, *facts: Any) -> None:
        del self, facts

    patch.setattr(ServerWire, "progress", silent)


def extra_members(patch: Patch) -> None:
    """Params are read with whatever else stands in them."""
    strict = _core.Inbound

    class Loose:
        def __init__(self, limit: int) -> None:
            self._strict = strict(limit)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._strict, name)

        def feed_calls(self, chunk: bytes) -> Any:
            return self._strict.feed_calls(b"".join(_without_extras(line) + b"\n" for line in chunk.splitlines()))

    patch.setattr(_core, "Inbound", Loose)


def _without_extras(line: bytes) -> bytes:
    message = json.loads(line)
    if message.get("method") == "tools/call":
        params = message["params"]
        message["params"] = {name: params[name] for name in ("name", "arguments", "_meta") if name in params}
    return json.dumps(message).encode()


def envelopes_unjudged(patch: Patch) -> None:
    patch.setattr(ServedSdkLane, "_judged", lambda *_: True)


@dataclass
class Mutation:
    """A broken rule, and a script on which it shows."""

    breaks: Callable[[Patch], None]
    make: Callable[[], AnyServer]
    steps: list[Step]


SHAKEN: list[Step] = [[INITIALIZE], [INITIALIZED]]
ECHO = call_line(HANDSHAKE, "echo", b'{"text":"a"}')
TASK = ECHO.replace(b',"arguments"', b',"task":5,"arguments"')
WRONG = call_line(MODERN, "echo", b'{"text":"a"}').replace(b'"2026-07-28"', b'"2099-01-01"')
SHARED: list[Step] = [[DISCOVER], [call_line(HANDSHAKE, "echo", b'{"text":"a"}')]]

UNJUDGED = ENVELOPE.replace(b'clientCapabilities":{}', b'clientCapabilities":{"sampling":5}')
CUSTOM = b'{"jsonrpc":"2.0","id":1,"method":"x/custom","params":{"_meta":{%s}}}'
ECHO_UNDER = (
    b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"_meta":{%s}}}'
)

MUTATIONS = {
    "certain under a middleware that vetoes": Mutation(always_certain, with_middleware(vetoing), [*SHAKEN, [ECHO]]),
    "certain under a middleware that rewrites": Mutation(
        always_certain, with_middleware(rewriting), [*SHAKEN, [call_line(HANDSHAKE, "add", b'{"a":1}')]]
    ),
    "certain under a handler that replaced ours": Mutation(always_certain, replaced_later, [*SHAKEN, [ECHO]]),
    "certain under an interceptor": Mutation(always_certain, with_extension(Counting), [*SHAKEN, [ECHO]]),
    "open before initialize": Mutation(always_open, shop, [[request_line(HANDSHAKE, "ping")], [ECHO]]),
    "open without an envelope": Mutation(always_open, shop, SHARED),
    "open under an unknown version": Mutation(always_open, shop, [[DISCOVER], [WRONG]]),
    "open under an envelope on a handshake session": Mutation(
        always_open, shop, [*SHAKEN, [call_line(MODERN, "echo", b'{"text":"a"}')]]
    ),
    "any tool, whatever context it wants": Mutation(
        any_context, shop, [*SHAKEN, [call_line(HANDSHAKE, "with_context")]]
    ),
    "members beside name, arguments and _meta": Mutation(extra_members, shop, [*SHAKEN, [TASK]]),
    "no server stamp": Mutation(no_stamp, shop, [[DISCOVER], [call_line(MODERN, "add", b'{"a":1}')]]),
    "no context of the server": Mutation(
        no_context_of_the_server, with_lifespan, [*SHAKEN, [call_line(HANDSHAKE, "whose")]]
    ),
    "no progress": Mutation(no_progress, shop, [*SHAKEN, [call_line(HANDSHAKE, "counted", meta=b'"progressToken":1')]]),
    "envelopes learned where nobody looked into them": Mutation(
        envelopes_unjudged, with_custom_method, [[DISCOVER], [CUSTOM % UNJUDGED], [ECHO_UNDER % UNJUDGED]]
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
async def test_a_broken_rule_is_noticed(name: str, monkeypatch: Patch) -> None:
    mutation = MUTATIONS[name]
    sound = await compare(mutation.make, mutation.steps)
    assert sound.tolerated == set()
    mutation.breaks(monkeypatch)
    with pytest.raises(Disparity):
        await compare(mutation.make, mutation.steps)
