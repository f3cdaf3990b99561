"""Standard input and output, kept for the protocol alone.

While they are claimed, file descriptor 1 is stderr and 0 is the null device: what a handler or its child prints can't
break the stream, and nobody reads the client's messages but the wire.
"""

import fcntl
import os
import sys
import threading
from contextlib import suppress
from typing import Final

__all__ = ["claimed_stdio"]

_claim: Final = threading.Lock()
_ABOVE_STANDARD: Final = 3
"""A copy may not land on a standard descriptor that happened to be closed."""


class claimed_stdio:  # noqa: N801 - a context manager, used as one
    """Give private copies of descriptors 0 and 1, and put the null device and stderr in their places.

    What was printed before and is still buffered goes to stderr too: a client would read it as a broken message.
    Raises RuntimeError when they are claimed already, OSError when one of them is closed.
    """

    def __enter__(self) -> tuple[int, int]:
        if not _claim.acquire(blocking=False):
            raise RuntimeError("standard input and output serve another session already")
        self._copies: list[int] = []
        try:
            self._copies += [_copy(0), _copy(1)]
            _replace(0, os.open(os.devnull, os.O_RDONLY))
            _replace(1, _open_stderr())
        except BaseException:
            self._give_back()
            raise
        _flush()
        source, sink = self._copies
        return source, sink

    def __exit__(self, *_: object) -> None:
        _flush()
        self._give_back()

    def _give_back(self) -> None:
        for descriptor, copy in enumerate(self._copies):
            os.dup2(copy, descriptor)
            os.close(copy)
        _claim.release()


def _copy(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD)


def _open_stderr() -> int:
    try:
        return _copy(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _replace(descriptor: int, by: int) -> None:
    os.dup2(by, descriptor)
    os.close(by)


def _flush() -> None:
    # There may be no stream (None), or a closed one.
    with suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
