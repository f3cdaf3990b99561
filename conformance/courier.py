"""What the suite starts as its client: it carries what it was told to the runner's process, and the outcome back.

It imports next to nothing. The suite starts the clients of a leg all at once, and forty processes that each import an
SDK would keep two cores busy for a minute before the first of them says a word.
"""

import json
import os
import socket
import sys


def main() -> int:
    """Asks the runner to play, and waits. What went wrong is printed, and makes the exit code 1."""
    path, url = sys.argv[1:]
    told = {
        "name": os.environ["MCP_CONFORMANCE_SCENARIO"],
        "revision": os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"],
        "url": url,
        "context": json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")),
    }
    with socket.socket(socket.AF_UNIX) as runner:
        runner.connect(path)
        with runner.makefile("rwb") as stream:
            stream.write(json.dumps(told).encode() + b"\n")
            stream.flush()
            wrong: str = json.loads(stream.readline() or b'"the runner ended"')
    if wrong:
        print(wrong, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
