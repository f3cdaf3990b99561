"""An app under an ASGI server in a process of its own, asked by hand once and then pressed by wrk."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

SERVERS = Path(__file__).with_name("servers")
CONNECTIONS = 32
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_START = 60.0


def wrk() -> str | None:
    """Where wrk is, if it is."""
    return shutil.which("wrk")


class Site:
    """One app that answers. `era` is a protocol version; a session is opened where the app keeps one."""

    def __init__(
        self, factory: str, era: str, *, stateless: bool, as_json: bool, engine: str, workers: int = 1
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.era = era
        self._client = httpx2.Client(timeout=60)
        target = f"http_apps:{factory}"
        common = ["--workers", str(workers), "--log-level", "error"]
        words = {
            "uvicorn": ["uvicorn", target, "--factory", "--app-dir", str(SERVERS), "--no-access-log"],
            "granian": ["granian", target, "--factory", "--working-dir", str(SERVERS), "--interface", "asgi"],
        }[engine]
        environment = {**os.environ, "STATELESS": str(int(stateless)), "JSON": str(int(as_json))}
        environment["PYTHONPATH"] = str(SERVERS)
        self._process = subprocess.Popen(
            [sys.executable, "-m", *words, "--host", "127.0.0.1", "--port", str(self.port), *common],
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        self.headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": era,
        }
        try:
            self._until_up()
            self._open(stateless)
            self.answer = self._answer()
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    @property
    def resident(self) -> int:
        """Bytes of the process in memory."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) * 1024 if found else 0

    def _until_up(self) -> None:
        deadline = time.monotonic() + _START
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
                continue
            return
        raise RuntimeError("the server does not answer")

    def message(self, method: str, params: dict[str, Any] | None, identifier: int | None = 7) -> bytes:
        """A message of the era."""
        carried = {**(params or {}), "_meta": ENVELOPE} if self.era == "2026-07-28" else params
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if identifier is not None:
            body["id"] = identifier
        if carried is not None:
            body["params"] = carried
        return json.dumps(body, separators=(",", ":")).encode()

    def post(self, body: bytes, **headers: str) -> tuple[bytes, Any]:
        """One request: the body of its answer, and the headers."""
        reply = self._client.post(self.url, content=body, headers={**self.headers, **headers})
        reply.raise_for_status()
        return reply.content, reply.headers

    def _open(self, stateless: bool) -> None:
        if self.era == "2026-07-28":
            self.post(self.message("tools/list", {}), **{"mcp-method": "tools/list"})
            self.headers |= {"mcp-method": "tools/call", "mcp-name": "echo"}
        elif not stateless:
            self.open_session()

    def open_session(self) -> str:
        """A session, in which the listing was asked for."""
        info = {"protocolVersion": self.era, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.headers.pop("mcp-session-id", None)
        _, headers = self.post(self.message("initialize", info))
        self.headers["mcp-session-id"] = session = str(headers["mcp-session-id"])
        self.post(self.message("notifications/initialized", None, None))
        self.post(self.message("tools/list", {}))
        return session

    def delete(self) -> None:
        """End the session."""
        self._client.delete(self.url, headers=self.headers).raise_for_status()

    @property
    def call(self) -> bytes:
        """The call that is pressed."""
        return self.message("tools/call", {"name": "echo", "arguments": {"text": "hello"}})

    def _answer(self) -> Any:
        body, _ = self.post(self.call)
        data = next((line for line in body.split(b"\r\n") if line.startswith(b"data: ")), b"data: " + body)
        return json.loads(data.removeprefix(b"data: "))

    def rate(self, seconds: int) -> float:
        """Requests a second, all of them answered with 200, by wrk on `CONNECTIONS` connections."""
        before, after = self.call.decode().split('"id":7', 1)
        lines = ['wrk.method="POST"', f"wrk.body={json.dumps(self.call.decode())}"]
        if "mcp-session-id" in self.headers:
            # In a session two calls that run have two ids.
            make = f"return wrk.format(nil, nil, nil, {json.dumps(before)} .. '\"id\":' .. n .. {json.dumps(after)})"
            lines += ["n = 0", f"request = function() n = n + 1; {make} end"]
        lines += [f"wrk.headers[{json.dumps(name)}]={json.dumps(value)}" for name, value in self.headers.items()]
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            script.write("\n".join(lines))
            script.flush()
            words = [wrk() or "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script.name, self.url]
            said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert "Non-2xx" not in said, said
        assert "Socket errors" not in said, said
        return float(re.findall(r"Requests/sec:\s+([\d.]+)", said)[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
