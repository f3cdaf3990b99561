"""The output of a discovered tool: its parts by the content codec, exact metadata and all (spec many-sources 5.1)."""

from __future__ import annotations

from typing import Any

from toolwire import _core
from toolwire.contract.content_in import part_of
from toolwire.contract.parts import Part, TextPart
from toolwire.contract.remote_output import RemoteOutput
from toolwire.errors import ContentError

__all__ = ["DiscoveredOutput"]


class DiscoveredOutput(RemoteOutput):
    """Parts in order, empty texts left out. `fault` is the first block that could not be read; the others stand."""

    __slots__ = ("_mapped", "_said", "fault")

    def __init__(self, result: _core.CallResult, render: str, limit: int | None) -> None:
        super().__init__(result, render, limit)
        self._said: str | None = None
        self.fault: tuple[int, ContentError] | None = None
        parts: list[Part] = []
        for index, block in enumerate(result.blocks()):
            try:
                part = part_of(block)
            except ContentError as error:
                if self.fault is None:
                    self.fault = (index, error)
                continue
            if part is not None:
                parts.append(part)
        self._mapped = tuple(parts)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that could be read."""
        return self._mapped

    @property
    def text(self) -> str:
        """What the model reads."""
        return super().text if self._said is None else self._said

    def with_text(self, text: str) -> DiscoveredOutput:
        """The same output, of one text: for a failure that came without any."""
        copy = DiscoveredOutput(self.result, "default", None)
        copy._mapped = (TextPart(text),)
        copy._said = text
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.raw, self._render, self._limit, self._said)


def _restored(raw: bytes, render: str, limit: int | None, said: str | None) -> DiscoveredOutput:
    output = DiscoveredOutput(_core.read_result(raw), render, limit)
    return output if said is None else output.with_text(said)
