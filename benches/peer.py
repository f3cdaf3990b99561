"""The programs beside the benches: two raw ones, built with the rustc that built the wheel; those of other SDKs."""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "target" / "benches"
SERVERS = HERE / "servers"


@cache
def _raw(name: str) -> str:
    """Build a raw program if its source is newer than its binary; its path."""
    source, binary = HERE / f"{name}.rs", BUILT / name
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        rustc = shutil.which("rustc")
        if rustc is None:
            raise SystemExit("the benches need rustc, which comes with cargo")
        BUILT.mkdir(parents=True, exist_ok=True)
        subprocess.run([rustc, "--edition", "2024", "-O", "-o", str(binary), str(source)], check=True)
    return str(binary)


def echo() -> str:
    """Give the raw echo server, which is also a client that only counts lines."""
    return _raw("echo")


def awake_echo() -> list[str]:
    """Give the command of an echo that looks for its next line a while before it sleeps: a client is what is measured.

    To be woken costs a server up to fifty microseconds where idle processors are halted, as in virtual machines.
    """
    return [echo(), "--awake"]


def press() -> str:
    """Give the raw client that presses any server."""
    return _raw("press")


def python(name: str) -> list[str]:
    """Give the command of a server in Python: `ours`, `lowlevel`, `mcpserver`, `fast`."""
    return [sys.executable, str(SERVERS / f"{name}.py")]


def other(name: str) -> str | None:
    """Give a program of another SDK, `rmcp-server`, `rmcp-client` or `go-server`; `make bench-peers` builds them."""
    found = BUILT / "peers" / name
    return str(found) if found.exists() else None
