"""The client that the SDK's transport is given: it sends, and is watched.

A request that breaks below HTTP is turned into an answer: the transport would otherwise end the whole connection for it
(fault I2). It asks a client for `build_request`, `send` and `max_redirects`; a test holds that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol

import httpx2
from mcp_types import INTERNAL_ERROR, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from toolwire.wire.http_client.bodies import media_type
from toolwire.wire.http_client.http_faults import not_an_answer
from toolwire.wire.http_client.httpx_engine import HttpxReply, lost
from toolwire.wire.http_client.inflate import start_of
from toolwire.wire.http_client.learned import SESSION

__all__ = ["WatchedClient", "Watcher"]

GOODBYE_TIMEOUT: Final = 2.0
"""Seconds for the DELETE that ends a session: a close has five in all (fault I4)."""

_ERROR: Final = 400
_TOLD: Final = 404
"""The one error status whose meaning the SDK's transport tells: no such method, or a lost session."""


class Watcher(Protocol):
    """Who learns from the SDK's requests."""

    def call_headers(self) -> Mapping[str, str]:
        """The headers that the caller of this request asked for, by names in lower case."""

    async def answered(self, request: httpx2.Request, own: frozenset[str], response: httpx2.Response) -> None:
        """A request of the SDK was answered; headers named in `own` were of that request only."""

    def settled(self, request: httpx2.Request) -> None:
        """A request of the SDK is over, answered or not."""


class WatchedClient:
    """A client of the SDK's transport, by the three names that it uses."""

    def __init__(self, client: httpx2.AsyncClient, watcher: Watcher) -> None:
        self._client = client
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Sends as the client would, and never raises for a connection that broke."""
        if is_of(request, b'"initialize"', "initialize"):
            # A new handshake opens a new session, also where an old one was lost.
            request.headers.pop(SESSION, None)
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx2.Timeout(GOODBYE_TIMEOUT).as_dict()
        own = self._watcher.call_headers()
        request.headers.update(own)
        if "authorization" in own:
            options["auth"] = None
        try:
            response = await self._client.send(request, **options)
            response = await _explained(request, response)
            await self._watcher.answered(response.request, frozenset(own), response)
        except httpx2.TransportError as error:
            # Only requests of the SDK come here, and each hears of its own fault.
            response = _failure(request, 503, str(lost(error)))
        finally:
            self._watcher.settled(request)
        return response


def is_of(request: httpx2.Request, clue: bytes, method: str) -> bool:
    """The request's body is this JSON-RPC method. `clue` spares a body that cannot be from being read."""
    if request.method != "POST" or clue not in request.content:
        return False
    try:
        return bool(json.loads(request.content).get("method") == method)
    except (ValueError, AttributeError, RecursionError):
        return False


async def _explained(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """An error status with a text of its own, where the SDK would say only that there was one (fault J4)."""
    status = response.status_code
    if request.method != "POST" or status < _ERROR or status == _TOLD:
        return response
    reply = HttpxReply(response)
    try:
        body = await start_of(reply)
    finally:
        await reply.aclose()
    if media_type(response.headers.get("content-type")) == "application/json" and _is_answer(body):
        kept = {**_kept(response.headers), "content-type": "application/json"}
        return httpx2.Response(status, content=body, headers=kept, request=response.request)
    error = not_an_answer(status, response.headers, body)
    return _failure(response.request, status, str(error).removeprefix("mcp: "), response.headers)


def _is_answer(body: bytes) -> bool:
    """The SDK will find a JSON-RPC error in it."""
    try:
        return isinstance(jsonrpc_message_adapter.validate_json(body, by_name=False), JSONRPCError)
    except ValidationError:
        return False


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() in ("www-authenticate", SESSION)}


def _failure(
    request: httpx2.Request, status: int, text: str, headers: Mapping[str, str] | None = None
) -> httpx2.Response:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": INTERNAL_ERROR, "message": text}}
    return httpx2.Response(status, json=error, headers=_kept(headers or {}), request=request)
