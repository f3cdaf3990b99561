"""Playing the scenarios that the couriers bring, side by side in this process."""

import json
import shlex
import sys
import tempfile
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from conformance import courier
from conformance.scenarios import Told, scenario_of

__all__ = ["playing"]

TOLD_LIMIT = 1 << 20
"""Bytes of what a courier brings."""

AT_ONCE = 6
"""Scenarios that are played at a time. The suite brings all of a leg together, and its servers end a connection that
is quiet for five seconds: on a busy machine forty at a time would all be quiet for longer."""


@asynccontextmanager
async def playing() -> AsyncIterator[str]:
    """The command that the suite is to start as its client."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "play"
        async with await anyio.create_unix_listener(path) as listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, partial(_play, anyio.CapacityLimiter(AT_ONCE)))
            # `exec`: the suite ends the shell that it starts a client with, and nothing below it. Isolated and without
            # site-packages, since it needs neither and starts in a third of the time.
            yield "exec " + shlex.join([sys.executable, "-IS", courier.__file__, str(path)])
            tasks.cancel_scope.cancel()


async def _play(turns: anyio.CapacityLimiter, stream: SocketStream) -> None:
    # A courier that is ended before its time takes its own scenario with it, and nobody else's.
    with suppress(anyio.IncompleteRead, anyio.BrokenResourceError):
        async with stream:
            reading = BufferedByteReceiveStream(stream)
            told = Told(**json.loads(await reading.receive_until(b"\n", TOLD_LIMIT)))
            async with turns:
                wrong = await _played(told, reading)
            await stream.send(json.dumps(wrong).encode() + b"\n")


async def _played(told: Told, reading: BufferedByteReceiveStream) -> str:
    """What went wrong in a scenario; nothing, where it is the empty text."""
    wrong = ""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_gone, reading, tasks.cancel_scope)
        try:
            await scenario_of(told.name)(told)
        except Exception:  # noqa: BLE001 - the suite judges what its server heard; why goes back with the courier
            wrong = traceback.format_exc()
        tasks.cancel_scope.cancel()
    return wrong


async def _until_gone(reading: BufferedByteReceiveStream, scope: anyio.CancelScope) -> None:
    """The suite ends a courier that takes too long; what it was waiting for ends with it."""
    try:
        await reading.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        scope.cancel()
