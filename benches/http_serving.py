"""Serving one echo tool over HTTP, pressed by wrk with 32 connections: toolwire's app beside the SDK's own.

Both run under the same uvicorn, one worker each, and are pressed in turn; the best round of each counts. The raw echo
looks at nothing: it is what the ASGI server leaves to an app.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec

from benches.http_site import Site, wrk
from benches.table import Row, faster, figure

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
BAR = 10.0
SESSIONS = 1_000


def rows(*, quick: bool = False) -> Iterator[Row]:
    """Give each row when it is known."""
    if wrk() is None:
        yield Row(what="HTTP server", toolwire="needs wrk", peer="apt-get install wrk")
        return
    for era in (HANDSHAKE, MODERN):
        yield from _beside(f"stateless JSON, {era}", era, True, True, quick, BAR if era == HANDSHAKE else None)
    yield from _beside(f"stateless events, {HANDSHAKE}", HANDSHAKE, True, False, quick)
    yield from _beside(f"sessions JSON, {HANDSHAKE}", HANDSHAKE, False, True, quick)
    yield from _beside(f"sessions events, {HANDSHAKE}", HANDSHAKE, False, False, quick)
    yield from _engines(quick)
    yield from _sessions(quick)


def _pressed(sites: dict[str, Site], quick: bool) -> dict[str, float]:
    best = dict.fromkeys(sites, 0.0)
    for _ in range(1 if quick else 5):
        for name, site in sites.items():
            best[name] = max(best[name], site.rate(1 if quick else 3))
    return best


def _beside(
    what: str, era: str, stateless: bool, as_json: bool, quick: bool, bar: float | None = None
) -> Iterator[Row]:
    names = ("ours", "sdk", "raw") if bar is not None else ("ours", "sdk")
    with ExitStack() as stack:
        sites = {
            name: stack.enter_context(
                Site(name, era, stateless=stateless or name == "raw", as_json=as_json, engine="uvicorn")
            )
            for name in names
        }
        assert sites["ours"].answer == sites["sdk"].answer, (sites["ours"].answer, sites["sdk"].answer)
        best = _pressed(sites, quick)
    row = f"HTTP server, {what}"
    if bar is not None:
        yield faster(f"{row}: the SDK's app", best["ours"], best["sdk"], "/s", bar)
        yield _told(f"{row}: a raw ASGI echo", best["ours"], best["raw"])
    else:
        yield _told(f"{row}: the SDK's app", best["ours"], best["sdk"])


def _engines(quick: bool) -> Iterator[Row]:
    def site(engine: str, workers: int = 1) -> Site:
        return Site("ours", HANDSHAKE, stateless=True, as_json=True, engine=engine, workers=workers)

    with ExitStack() as stack:
        sites = {"uvicorn": stack.enter_context(site("uvicorn"))}
        sites["two workers"] = stack.enter_context(site("uvicorn", 2))
        if find_spec("granian") is not None:
            sites["granian"] = stack.enter_context(site("granian"))
        best = _pressed(sites, quick)
    yield _told("HTTP server: two workers (toolwire), beside one", best["two workers"], best["uvicorn"])
    if "granian" in best:
        yield _told("HTTP server: granian (toolwire), beside uvicorn", best["granian"], best["uvicorn"])


def _sessions(quick: bool) -> Iterator[Row]:
    """Memory of sessions that stand open, and of as many that were opened and ended."""
    count = SESSIONS // 10 if quick else SESSIONS
    open_bytes = {}
    for name in ("ours", "sdk"):
        with Site(name, HANDSHAKE, stateless=False, as_json=True, engine="uvicorn") as site:
            before = site.resident
            for _ in range(count):
                site.open_session()
                site.post(site.call)
            open_bytes[name] = (site.resident - before) / count
    with Site("ours", HANDSHAKE, stateless=False, as_json=True, engine="uvicorn") as site:
        held = []
        for _ in range(3):
            for _ in range(count):
                site.open_session()
                site.post(site.call)
                site.delete()
            held.append(site.resident)
    yield Row(
        what=f"HTTP server: memory of {count:,} open sessions, each",
        toolwire=f"{open_bytes['ours'] / 1024:.1f} KiB",
        peer=f"{open_bytes['sdk'] / 1024:.1f} KiB",
        ratio=f"{open_bytes['ours'] / max(1.0, open_bytes['sdk']):.2f} x",
    )
    growth = (held[2] - held[1]) / count
    yield Row(
        what=f"HTTP server: {count:,} sessions opened and ended, each",
        toolwire=f"{growth / 1024:.2f} KiB kept",
    )


def _told(what: str, ours: float, theirs: float) -> Row:
    return Row(what=what, toolwire=f"{figure(ours)} /s", peer=f"{figure(theirs)} /s", ratio=f"{ours / theirs:.2f} x")
