"""The command line: `toolwire list`, `call`, `check`, `serve`, `demo`. One file a command; `app` holds them together.

Exit codes: 0 done, 1 the tool said error, 2 bad usage, 3 no connection. What was asked for goes to stdout, everything
said about it to stderr. Nothing that a server sends reaches a terminal unescaped (`terminal`).
"""

import sys

_NEEDED = {"typer", "rich"}


def main() -> None:
    """Run the command that the process was started with, and exit. The `toolwire` console script.

    Needs the `cli` extra; without it, says so and exits with 2.
    """
    try:
        from toolwire.cli.app import run  # noqa: PLC0415 - the extra may be missing, and then this is what finds out
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _NEEDED:
            raise
        sys.stderr.write(f"toolwire: the command line needs {missing}: pip install 'toolwire[cli]'\n")
        sys.exit(2)
    run()
