"""What discovered tools promise of their results, compiled while other servers are still being listed."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from toolwire import _core

__all__ = ["Compiled", "Promises"]

Compiled = _core.Validator | ValueError
"""A validator, or why there is none."""


class Promises:
    """The output schemas of one discovery, by their bytes: many tools promise the same. `with` ends its thread."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._begun: list[tuple[list[bytes], Future[list[Compiled]]]] = []
        self._known: set[bytes] = set()

    def begin(self, entries: Iterable[_core.Entry]) -> None:
        """Compiles what these promise, in a thread that needs no interpreter for it."""
        found = (promise for entry in entries if (promise := entry.promise) is not None)
        fresh = [promise for promise in dict.fromkeys(found) if promise not in self._known]
        if not fresh:
            return
        self._known.update(fresh)
        self._pool = self._pool or ThreadPoolExecutor(1, "toolwire-schemas")
        self._begun.append((fresh, self._pool.submit(_core.Validator.many, fresh)))

    def compiled(self) -> dict[bytes, Compiled]:
        """All of them, once they are done."""
        return {
            promise: outcome
            for promises, done in self._begun
            for promise, outcome in zip(promises, done.result(), strict=True)
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
