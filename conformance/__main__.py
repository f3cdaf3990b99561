"""`python -m conformance`: every leg, a line each. It fails where one is short of its baseline, and says of what."""

import faulthandler
import logging
import shutil
import sys
import warnings

import anyio
from mcp import MCPDeprecationWarning

from conformance import suite
from conformance.baseline import Leg, Score, legs, score, slow
from conformance.both_ends import both_ends
from conformance.checks import Outcome, outcomes
from conformance.lanes import Lanes
from conformance.playing import playing
from conformance.scenarios import CALLS
from conformance.server import served

__all__ = ["main"]

OUTPUT = suite.HOME / "out"
"""What the last run wrote, to be read when something failed."""

TIMEOUT = 120_000
"""Milliseconds for one client: the suite starts all of a leg at once, and CI's machines are small."""

LONGEST = 600
"""Seconds for all of it. A loop that turns for ever hears no other limit: the place where it does is printed."""


Played = tuple[dict[str, Outcome], dict[str, Lanes]]
"""The outcome of each scenario, and the lanes by which the requests went at an end."""


async def play(leg: Leg) -> Played:
    """Runs a leg."""
    if leg.role == "both":
        return {}, await both_ends(leg.revision)
    folder = OUTPUT / f"{leg.role}-{leg.revision}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log, output = folder / "log.txt", ("-o", str(folder))
    required = ("--requirements", leg.revision, *output)
    if leg.role == "client":
        CALLS.clear()
        async with playing() as command:
            await suite.run("client", "--command", command, "--timeout", str(TIMEOUT), *required, log=log)
        return outcomes(folder), {"client": Lanes.of(CALLS)}
    async with served(resumable=leg.role == "resumable") as server:
        if leg.role == "server":
            await suite.run("server", "--url", server.url, *required, log=log)
        else:
            for name in leg.unscored:
                words = ("--scenario", name, "--spec-version", leg.revision, *output)
                await suite.run("server", "--url", server.url, *words, log=folder / f"{name}.txt")
        return outcomes(folder, "server-"), {"server": server.lanes}


async def run() -> int:
    """Runs every leg; the exit code."""
    wrong: list[str] = []
    unscored = Score()
    total = {"server": Lanes(), "client": Lanes()}
    for leg in legs():
        found, lanes = await play(leg)
        unscored += score(leg.unscored, found, leg.refused)
        if leg.scored:
            scored = score(leg.scored, found, leg.refused)
            print(f"{leg.name}: {scored}", flush=True)
            wrong += [f"{leg.name}: {line}" for line in scored.wrong]
        total |= {end: total[end] + each for end, each in lanes.items()}
        wrong += slow(leg, lanes)
    print(f"not scored: {unscored}")
    print(f"express: {total['server']} at the server, {total['client']} of the client")
    wrong += [f"not scored: {line}" for line in unscored.wrong]
    for line in wrong:
        print(f"  {line}")
    if wrong:
        print(f"short of the baseline; what the suite wrote is in {OUTPUT}")
    return 1 if wrong else 0


def main() -> None:
    """Runs it all."""
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    # Servers and clients are made to fail here, by the dozen; what they log of it is no news.
    logging.disable(logging.CRITICAL)
    # The suite asks for what the newest revision deprecates; that is no news either.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    try:
        sys.exit(anyio.run(run))
    except suite.Missing as error:
        sys.exit(f"conformance: {error}")


if __name__ == "__main__":
    main()
