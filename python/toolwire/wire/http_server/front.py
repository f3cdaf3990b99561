"""A way to the lane that spares an app's own stack, where nothing stands in that but the route.

The SDK's app is a Starlette with one route, and calls its way through two wrappers for errors and a router to it: half
of what a posted call costs. A request that is certain makes no error, and has one place to go.
"""

from __future__ import annotations

from typing import Any

from toolwire.wire.http_server.body import Receive, again
from toolwire.wire.http_server.call import Send
from toolwire.wire.http_server.lane import DECLINED, HttpLane, Scope

__all__ = ["shorten"]


def shorten(app: Any, lane: HttpLane) -> None:
    """Put the lane in front of a Starlette app's stack too, where it is built with nothing of the user's in it."""
    build = app.build_middleware_stack

    def built() -> Any:
        stack = build()
        # With middleware, the SDK's own for auth or the user's, a request goes through it.
        return stack if app.user_middleware else _Front(app, stack, lane)

    vars(app)["build_middleware_stack"] = built


class _Front:
    def __init__(self, app: Any, stack: Any, lane: HttpLane) -> None:
        self._routes = app.router.routes
        self._stack = stack
        self._lane = lane

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and self._leads_to_lane(scope):
            declined = await self._lane.answered(scope, receive, send)
            if declined is None:
                return
            scope[DECLINED] = declined
            receive = again(declined[1], receive)
        await self._stack(scope, receive, send)

    def _leads_to_lane(self, scope: Scope) -> bool:
        """The first route is the one that the lane stands in, with nothing around it, and the path is that route's."""
        first = self._routes[0] if self._routes else None
        return (
            getattr(getattr(first, "endpoint", None), "session_manager", None) is self._lane.manager
            and scope["path"] == getattr(first, "path", None)
            and not scope.get("root_path")
        )
