"""`toolwire serve --http` as a process on a free port, for the tests that need a real one."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

COMMAND = str(Path(sys.executable).with_name("toolwire"))
PATIENCE = 60


@contextmanager
def served(home: Path, shop: str, target: str, *options: str) -> "Iterator[tuple[int, subprocess.Popen[bytes]]]":
    """Serves `target` of the module `shop`, whose text is given: the port and the process, once it answers."""
    (home / "shop.py").write_text(shop)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [COMMAND, "serve", "--http", f"127.0.0.1:{port}", *options, target]
    with subprocess.Popen(words, cwd=home, stderr=subprocess.PIPE) as server:
        try:
            _until_it_answers(f"http://127.0.0.1:{port}/", server)
            yield port, server
        finally:
            server.terminate()
            server.wait(PATIENCE)


def _until_it_answers(address: str, server: "subprocess.Popen[bytes]") -> None:
    transport = httpx2.HTTPTransport()
    with httpx2.Client(transport=transport) as client:
        while server.poll() is None:
            try:
                client.get(address)
            except httpx2.ConnectError:
                continue
            return
    raise AssertionError(f"the server ended: {server.stderr.read() if server.stderr else b''!r}")
