"""`python -m benches [names] [--quick]`: one table; exit code 1 when a bar is not met, unless --quick."""

import argparse
import platform
import sys
from importlib import import_module
from importlib.metadata import version

from benches.table import Row, heading, show

BENCHES = (
    "calls",
    "serving",
    "served",
    "http_client",
    "imports",
    "lines",
    "memory",
    "limit",
    "stages",
    "agent",
    "discovery",
    "validation",
    "http_serving",
    "http_both",
)
"""Modules beside this one, each with `rows`. One is loaded when it is run: some need peers that others do without."""


def main() -> int:
    """Run what was named, print each row as it is known, and say what missed its bar."""
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHES, []], help="which benches; all of them by default")
    parser.add_argument("--quick", action="store_true", help="few rounds: shows that it runs, proves no bar")
    asked = parser.parse_args()
    facts = f"toolwire {version('toolwire')}, mcp {version('mcp')}, Python {platform.python_version()}"
    print(f"{facts}, {platform.system()} {platform.machine()}")
    print(heading())
    missed: list[Row] = []
    for name in asked.names or BENCHES:
        for row in import_module(f"benches.{name}").rows(quick=asked.quick):
            print(show(row), flush=True)
            if row.met is False:
                missed.append(row)
    for row in missed:
        print(f"NOT MET: {row.what}: {row.ratio}, the bar is {row.bar}")
    return 1 if missed and not asked.quick else 0


if __name__ == "__main__":
    sys.exit(main())
