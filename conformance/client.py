"""The client under test. `python -m conformance.client URL` plays the scenario that the environment tells.

The runner plays all of a leg's in one process instead, since the suite starts them all at once: see `playing`.
"""

import json
import os
import sys

import anyio

from conformance.scenarios import Told, scenario_of

__all__ = ["main"]


def main() -> None:
    """Plays the scenario. What it raises ends the process with 1."""
    told = Told(
        name=os.environ["MCP_CONFORMANCE_SCENARIO"],
        revision=os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"],
        url=sys.argv[1],
        context=json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")),
    )
    anyio.run(scenario_of(told.name), told)


if __name__ == "__main__":
    main()
