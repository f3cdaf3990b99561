"""Prompts of a server, through the same codec as tool results (spec many-sources 1.13)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import anyio

from toolwire import _core
from toolwire.bridge.importing import METHOD_NOT_FOUND
from toolwire.bridge.source import Source
from toolwire.contract.content_in import part_of
from toolwire.contract.message import Message, Role
from toolwire.contract.output import ToolOutput
from toolwire.contract.parts import MediaPart, Part, TextPart
from toolwire.errors import (
    ContentError,
    IncompleteResultError,
    RemoteCallError,
    ResultError,
    ToolwireError,
    quoted,
)

__all__ = ["Prompt", "Prompts", "prompt_messages_to_chat", "prompts"]


_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}


def prompt_messages_to_chat(messages: Sequence[Any] | bytes | None) -> list[Message]:
    """Prompt messages as chat messages, one part each, empty texts left out. All or nothing: raises ToolwireError.

    `messages` are the SDK's PromptMessages, mappings, or a JSON array's bytes (exact numbers).
    """
    chat = []
    for index, raw in enumerate(_raw_messages(messages)):
        if raw == b"null":
            raise ToolwireError(f"mcp: prompt message {index} is nil")
        members = _core.members(raw)
        said = text_of(members.get("role", b'""'))
        role = _ROLES.get(said)
        if role is None:
            raise ToolwireError(f"mcp: prompt message {index} has unsupported role {quoted(said)}")
        wrapped = b'{"content":[' + members.get("content", b"null") + b"]}"
        try:
            (block,) = _core.read_result(wrapped).blocks()
            part = part_of(block)
        except ContentError as error:
            raise type(error)(f"mcp: prompt message {index}: {error}") from error
        if part is not None:
            chat.append(Message(role, [part]))
    return chat


def text_of(value: bytes) -> str:
    """A string of a peer's, decoded; any other value as it is spelled."""
    text: str = json.loads(value) if value[:1] == b'"' else value.decode("utf-8", "replace")
    return text


def _raw_messages(messages: Sequence[Any] | bytes | None) -> list[bytes]:
    if messages is None:
        return []
    try:
        if isinstance(messages, bytes):
            return list(_core.elements(messages))
        return [_raw_message(message) for message in messages]
    except (ValueError, TypeError) as error:
        raise ToolwireError(f"mcp: prompt messages are no list of JSON objects: {error.args[0]}") from None


def _raw_message(message: Any) -> bytes:
    dump = getattr(message, "model_dump", None)
    value = dump(by_alias=True, mode="json", exclude_none=True) if dump is not None else message
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


class Prompt:
    """One listed prompt: `name`, `description`, `arguments` (raw JSON), and the whole entry's bytes."""

    def __init__(self, raw: bytes) -> None:
        members = _core.members(raw)
        self.raw = raw
        self.name: str = text_of(members.get("name", b'""'))
        description = members.get("description", b'""')
        self.description: str = text_of(description) if description[:1] == b'"' else ""
        self.arguments: bytes | None = members.get("arguments")


class Prompts:
    """The prompts of one connection."""

    def __init__(self, source: Source, listed: Sequence[Prompt]) -> None:
        self._source = source
        self.listed = tuple(listed)

    def __iter__(self) -> Any:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)

    async def get(self, name: str, arguments: Mapping[str, str] | None = None) -> list[Message]:
        """A prompt's messages. Raises RemoteCallError; as ResultError it carries the parts that could be read."""
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = dict(arguments)
        result, members = await _asked(self._source, "prompts/get", params)
        messages = _listed(members, "messages")
        try:
            return prompt_messages_to_chat(messages)
        except ToolwireError as error:
            text = str(error).removeprefix("mcp: ")
            output = ToolOutput(parts=_readable(messages))
            raise ResultError(text, output=output, raw=result, error=error) from error

    async def complete(
        self, name: str, argument: str, value: str, context: Mapping[str, str] | None = None
    ) -> list[str]:
        """What the server suggests for a prompt's argument. Raises RemoteCallError."""
        params: dict[str, Any] = {
            "ref": {"type": "ref/prompt", "name": name},
            "argument": {"name": argument, "value": value},
        }
        if context:
            params["context"] = {"arguments": dict(context)}
        _, members = await _asked(self._source, "completion/complete", params)
        completion = members.get("completion", b"{}")
        values = _core.elements(_listed(_core.members(completion), "values"))
        return [text_of(found) for found in values if found[:1] == b'"']


async def _asked(source: Source, method: str, params: dict[str, Any]) -> tuple[bytes, dict[str, bytes]]:
    """A complete result, and its members. Raises RemoteCallError: what asks for input is never an empty success."""
    home = source.home
    if home is None or home.is_here():
        result = await source.ask(method, params)
    else:
        result = await home.visit(lambda: source.ask(method, params))
    if result[:1] != b"{":
        raise RemoteCallError("the server's result is not an object", raw=result)
    members = _core.members(result)
    kind = members.get("resultType", b"null")
    if kind == b'"input_required"':
        cause = IncompleteResultError()
        raise RemoteCallError(f"{method}: {cause}", raw=result, error=cause) from cause
    if kind not in (b"null", b'"complete"'):
        raise RemoteCallError(f"the server's result is of an unknown type {text_of(kind)!r}", raw=result)
    return result, dict(members)


def _listed(members: Mapping[str, bytes], name: str) -> bytes:
    """A list of a result, as JSON. A missing one, null or no list is read as an empty one."""
    found = members.get(name, b"[]")
    return found if found[:1] == b"[" else b"[]"


def _readable(messages: bytes) -> list[Part]:
    """The parts of all messages that can be read."""
    parts = []
    for raw in _core.elements(messages):
        with suppress(ToolwireError):
            parts += prompt_messages_to_chat(b"[" + raw + b"]")
    return [part for message in parts for part in message.parts if isinstance(part, TextPart | MediaPart)]


async def prompts(connection: Any) -> Prompts:
    """The prompts of a connection, all pages, under the deadline of a listing. A server without the method has none.

    Raises RemoteCallError.
    An entry that is no object is left out.
    """
    source = Source(connection)
    listed: list[Prompt] = []
    cursor: bytes | None = None
    seen: set[bytes] = set()
    with anyio.move_on_after(source.limits.list_timeout) as walk:
        for _ in range(source.limits.pages):
            params = {} if cursor is None else {"cursor": json.loads(cursor)}
            try:
                _, members = await _asked(source, "prompts/list", params)
            except RemoteCallError as error:
                if error.code == METHOD_NOT_FOUND and cursor is None:
                    break
                raise
            listed += [Prompt(raw) for raw in _core.elements(_listed(members, "prompts")) if raw[:1] == b"{"]
            cursor = members.get("nextCursor", b"null")
            if cursor[:1] != b'"' or cursor in seen:
                break
            seen.add(cursor)
    if walk.cancelled_caught:
        text = f"listing the prompts of {source.server} timed out after {source.limits.list_timeout:g} s"
        raise RemoteCallError(text, may_have_run=False, error=TimeoutError())
    return Prompts(source, listed)
