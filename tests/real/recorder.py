"""Stands between a client and a server over stdio and keeps what the server wrote: `recorder.py FILE COMMAND…`.

It passes bytes on as they come, parses nothing, and ends as the server ends.
"""

import os
import subprocess
import sys


def main(file: str, *command: str) -> int:
    """Run the command on our stdin; every byte of its stdout goes into the file before it goes on."""
    record = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        while chunk := os.read(server.stdout.fileno(), 1 << 16):
            view = memoryview(chunk)
            os.write(record, view)
            while view:
                view = view[os.write(1, view) :]
    return server.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
