"""Prompts of a server, through the same codec as tool results (spec many-sources 1.13)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolwire import _core
from toolwire.bridge.importing import METHOD_NOT_FOUND
from toolwire.bridge.source import Source
from toolwire.contract.content_in import part_of
from toolwire.contract.message import Message
from toolwire.errors import ContentError, RemoteCallError, ToolwireError, quoted

__all__ = ["Prompt", "Prompts", "prompt_messages_to_chat", "prompts"]


def prompt_messages_to_chat(messages: Sequence[Any] | bytes | None) -> list[Message]:
    """Prompt messages as chat messages, one part each, empty texts left out. All or nothing: raises ToolwireError.

    `messages` are the SDK's PromptMessages, mappings, or a JSON array's bytes (exact numbers).
    """
    chat = []
    for index, raw in enumerate(_raw_messages(messages)):
        if raw == b"null":
            raise ToolwireError(f"mcp: prompt message {index} is nil")
        members = _core.members(raw)
        role = json.loads(members.get("role", b'""'))
        if role not in ("user", "assistant"):
            raise ToolwireError(f"mcp: prompt message {index} has unsupported role {quoted(str(role))}")
        wrapped = b'{"content":[' + members.get("content", b"null") + b"]}"
        try:
            (block,) = _core.read_result(wrapped).blocks()
            part = part_of(block)
        except ContentError as error:
            raise type(error)(f"mcp: prompt message {index}: {error}") from error
        if part is not None:
            chat.append(Message(role, [part]))
    return chat


def _raw_messages(messages: Sequence[Any] | bytes | None) -> list[bytes]:
    if messages is None:
        return []
    if isinstance(messages, bytes):
        return list(_core.elements(messages))
    raw = []
    for message in messages:
        dump = getattr(message, "model_dump", None)
        value = dump(by_alias=True, mode="json", exclude_none=True) if dump is not None else message
        raw.append(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    return raw


class Prompt:
    """One listed prompt: `name`, `description`, `arguments` (raw JSON), and the whole entry's bytes."""

    def __init__(self, raw: bytes) -> None:
        members = _core.members(raw)
        self.raw = raw
        self.name: str = json.loads(members.get("name", b'""'))
        self.description: str = json.loads(members.get("description", b'""')) or ""
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
        """A prompt's messages. Raises RemoteCallError, ToolwireError."""
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = dict(arguments)
        result = await self._source.ask("prompts/get", params)
        return prompt_messages_to_chat(_core.members(result).get("messages", b"[]"))

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
        result = json.loads(await self._source.ask("completion/complete", params))
        values = result.get("completion", {}).get("values", [])
        return [value for value in values if isinstance(value, str)]


async def prompts(connection: Any) -> Prompts:
    """The prompts of a connection, all pages. A server without the method has none. Raises RemoteCallError."""
    source = Source(connection)
    listed: list[Prompt] = []
    cursor: bytes | None = None
    seen: set[bytes] = set()
    for _ in range(source.limits.pages):
        params = {} if cursor is None else {"cursor": json.loads(cursor)}
        try:
            members = _core.members(await source.ask("prompts/list", params))
        except RemoteCallError as error:
            if error.code == METHOD_NOT_FOUND and cursor is None:
                break
            raise
        listed += [Prompt(raw) for raw in _core.elements(members.get("prompts", b"[]"))]
        cursor = members.get("nextCursor", b"null")
        if cursor[:1] != b'"' or cursor in seen:
            break
        seen.add(cursor)
    return Prompts(source, listed)
