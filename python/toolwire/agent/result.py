"""What a run came to, and the calls that wait for somebody's decision."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from toolwire.agent.model import Usage
from toolwire.contract.input_round import InputRequest
from toolwire.contract.message import Message, json_text, messages_to_json

__all__ = ["PendingCall", "RunResult", "Step", "digest_of"]


def digest_of(name: str, args: bytes, fingerprint: str) -> str:
    """What an approval is bound to: the tool as it was, and the argument bytes."""
    digest = hashlib.sha256()
    for part in (name.encode(), args, fingerprint.encode()):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A parked call: what would be run, byte for byte. `kind` is `approval` or `input` (the tool asks something).

    `fingerprint` is the tool's when the call was parked, `request` what the tool asks.
    """

    id: str
    name: str
    args: bytes
    fingerprint: str = ""
    kind: str = "approval"
    request: Any = field(default=None, compare=False)

    @property
    def digest(self) -> str:
        """What an approval of this call is bound to."""
        return digest_of(self.name, self.args, self.fingerprint)

    def to_json(self) -> str:
        """The call as JSON; the arguments are one string, so that their bytes survive."""
        fields = {"id": self.id, "name": self.name, "args": self.args.decode("utf-8", "surrogateescape")}
        if isinstance(self.request, InputRequest):
            fields["request"] = self.request.to_json()
        return json_text({**fields, "fingerprint": self.fingerprint, "kind": self.kind})

    @classmethod
    def from_json(cls, text: str | bytes) -> PendingCall:
        """The call from the JSON that `to_json` made. Raises ValueError for any other."""
        fields = json.loads(text)
        try:
            if "request" in fields:
                fields["request"] = InputRequest.from_json(fields["request"])
            return cls(**{**fields, "args": fields["args"].encode("utf-8", "surrogateescape")})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no parked call: {error!r}") from None


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what the model said and used, and the calls' results."""

    index: int
    assistant: Message
    usage: Usage
    results: Message | None = None
    child_usage: dict[str, Usage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run's transcript and end. `stop_reason` is `stop`, `max_tokens`, `pending`, or the stop condition's name."""

    id: str
    stop_reason: str
    messages: tuple[Message, ...]
    steps: tuple[Step, ...] = ()
    usage: Usage = field(default_factory=Usage)
    pending: tuple[PendingCall, ...] = ()

    @property
    def text(self) -> str:
        """The text of the last assistant message; empty when there is none."""
        return next((message.text for message in reversed(self.messages) if message.role == "assistant"), "")

    def messages_json(self) -> str:
        """The transcript as JSON, to be saved and resumed."""
        return messages_to_json(self.messages)


def pending_to_json(pending: Sequence[PendingCall]) -> str:
    """Parked calls as a JSON array."""
    return "[" + ",".join(call.to_json() for call in pending) + "]"
