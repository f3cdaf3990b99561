"""The raw echo server of the benches, built once with the rustc that built the wheel."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "echo.rs"
BINARY = HERE.parent / "target" / "benches" / "echo"


@cache
def echo() -> str:
    """Build the server if its source is newer than its binary; its path."""
    if not BINARY.exists() or BINARY.stat().st_mtime < SOURCE.stat().st_mtime:
        rustc = shutil.which("rustc")
        if rustc is None:
            raise SystemExit("the benches need rustc, which comes with cargo")
        BINARY.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([rustc, "--edition", "2024", "-O", "-o", str(BINARY), str(SOURCE)], check=True)
    return str(BINARY)
