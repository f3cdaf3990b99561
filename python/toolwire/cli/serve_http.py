"""`toolwire serve --http`: the app of a server under an ASGI server, in one process or in several.

With workers each process makes the app again, out of what stands in the environment: nothing else reaches them all.
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from toolwire.bridge.http_app import http_app
from toolwire.cli.found import server_found
from toolwire.cli.server import Exit, Stop

__all__ = ["ENGINES", "Site", "app", "serve_http"]

SITE: Final = "TOOLWIRE_SERVED"
LEAVE: Final = 2
"""Seconds after SIGTERM in which calls may end; with what the app takes it stays under the three of stdio."""
_FACTORY: Final = "toolwire.cli.serve_http:app"


@dataclass(frozen=True, kw_only=True)
class Site:
    """What is served, where, and how."""

    target: str
    host: str
    port: int
    stateless: bool = False
    json_response: bool = False
    workers: int = 1

    def app(self, server: Any) -> Any:
        """The app of a server. The SDK lets in only requests to a loopback name, unless it knows where it is served."""
        return http_app(server, host=self.host, stateless_http=self.stateless, json_response=self.json_response)


def app() -> Any:
    """The app, made again in a worker."""
    site = Site(**json.loads(os.environ[SITE]))
    return site.app(server_found(site.target))


def serve_http(site: Site, server: Any, engine: str) -> Exit:
    """Serve until told to end. Stops where that cannot be."""
    os.environ[SITE] = json.dumps(asdict(site))
    ENGINES[engine](site, server)
    return Exit.DONE


def _under_uvicorn(site: Site, server: Any) -> None:
    try:
        import uvicorn  # noqa: PLC0415 - of no use over stdio
    except ImportError as error:
        raise Stop(Exit.USAGE, 'uvicorn is not installed: pip install "toolwire[serve]"') from error
    served = site.app(server) if site.workers == 1 else _FACTORY
    try:
        uvicorn.run(
            served,
            host=site.host,
            port=site.port,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=LEAVE,
            workers=site.workers,
            factory=site.workers > 1,
        )
    except SystemExit as error:
        raise Stop(Exit.TOOL_ERROR, f"the server could not be started on {site.host}:{site.port}") from error


def _under_granian(site: Site, server: Any) -> None:
    del server  # each worker of this one makes its own
    try:
        from granian import Granian  # noqa: PLC0415 - for who asks for it
        from granian.constants import Interfaces  # noqa: PLC0415 - the same
    except ImportError as error:
        raise Stop(Exit.USAGE, "granian is not installed: pip install granian") from error
    Granian(
        _FACTORY,
        address=site.host,
        port=site.port,
        interface=Interfaces.ASGI,
        workers=site.workers,
        factory=True,
        websockets=False,
        workers_kill_timeout=LEAVE + 1,
        log_enabled=False,
    ).serve()


ENGINES: Final[dict[str, Callable[[Site, Any], None]]] = {"uvicorn": _under_uvicorn, "granian": _under_granian}
