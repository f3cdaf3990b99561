"""Every exception of toolwire, and what each says about the tool's side effects.

::

    ToolwireError
    ├── ToolError             data that a model reads: `str(error)` is its text
    │   ├── ToolFailure       a definite failure: the tool said so, or it was refused before it ran
    │   │     (UnexpectedFailure: its handler raised something else, whose text this is)
    │   └── RemoteCallError   (ResultError: the result came, and breaks a promise)
    │         transport, protocol or deadline: nobody knows unless `.may_have_run` is False
    ├── ConnectError          no session with a server came about
    ├── RunError              a run of an agent failed; carries the result so far
    ├── SchemaError           a text is no input schema of a tool
    ├── InvalidToolInput      the cause of a ToolFailure whose arguments were refused
    ├── ToolReturnedError     the cause of a ToolFailure that the server reported with `isError`
    ├── RegistrationError     a tool can't be served, and none of its batch is
    ├── DiscoveryError        discovery over many sources ended, with no tools
    ├── NilSessionError, NilServerError, IncompleteResultError    the sentinels of many sources
    ├── ContentError          content that cannot cross; MediaReferenceError, EmptyEmbeddedResourceError
    ├── ListedToolError       an entry of a listing is no tool
    └── ToolImportError       an ExceptionGroup over the entries that a listing lost

A ToolError is charged to one call and is meant for the model; the others are meant for a person.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

__all__ = [
    "ConnectError",
    "ContentError",
    "DiscoveryError",
    "EmptyEmbeddedResourceError",
    "IncompleteResultError",
    "InvalidToolInput",
    "ListedToolError",
    "MediaReferenceError",
    "NilServerError",
    "NilSessionError",
    "RegistrationError",
    "RemoteCallError",
    "ResultError",
    "RunError",
    "SchemaError",
    "SkippedTool",
    "ToolError",
    "ToolFailure",
    "ToolImportError",
    "ToolReturnedError",
    "ToolwireError",
    "UnexpectedFailure",
    "quoted",
]


def quoted(name: str) -> str:
    """`name` in double quotes, as every text of toolwire shows a name."""
    return json.dumps(name, ensure_ascii=False)


class ToolwireError(Exception):
    """The root of the tree."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The text is all that the constructors make; calling one again on it would put another prefix before it.
        return _restored, (type(self), str(self)), self.__dict__


def _restored(kind: type[ToolwireError], text: str) -> ToolwireError:
    return kind.__new__(kind, text)


class ToolError(ToolwireError):
    """A failure that a model reads as data; raise it in a handler as `ToolError("NOT_FOUND", "no such order")`.

    It reads `CODE: message`, or `CODE` without a message. `cause` is for the log and never shown.
    """

    def __init__(self, code: str, message: str = "", cause: BaseException | None = None) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.cause = cause


class ToolFailure(ToolError):
    """A definite failure. The text is what the model reads.

    `kind` is `"failed"`, `"rejected"` (permission refused) or `"invalid_input"` (refused before it ran); `remote`
    says that the server reported it; `output` is the ToolOutput with every part that came with it; `cause` is outside
    the exception chain on purpose, since it is a diagnosis and no outcome.
    """

    def __init__(
        self,
        text: str,
        *,
        output: Any = None,
        kind: str = "failed",
        remote: bool = False,
        cause: BaseException | None = None,
    ) -> None:
        super().__init__(text, cause=cause)
        self.output = output
        self.kind = kind
        self.remote = remote


class UnexpectedFailure(ToolFailure):
    """A handler raised what is no ToolError.

    To a model it is one failed call, to `register` a defect that nobody is told of.
    """


class RemoteCallError(ToolError):
    """A call whose outcome nobody reported: transport, protocol or deadline. Reads `mcp: …`.

    `may_have_run` is False only where it is certain that the tool did not run. `code` and `data` (JSON bytes) are
    those of a JSON-RPC error, `raw` is the text that could not be read, `status` and `retry_after` (seconds) are of
    HTTP.
    """

    def __init__(
        self,
        cause: str,
        *,
        may_have_run: bool = True,
        code: int | None = None,
        data: bytes | None = None,
        raw: bytes | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        error: BaseException | None = None,
    ) -> None:
        super().__init__(f"mcp: {cause}", cause=error)
        self.may_have_run = may_have_run
        self.code = code
        self.data = data
        self.raw = raw
        self.status = status
        self.retry_after = retry_after

    def saying(self, cause: str) -> RemoteCallError:
        """The same facts under another text."""
        facts = {name: getattr(self, name) for name in ("may_have_run", "code", "data", "raw", "status", "retry_after")}
        return RemoteCallError(cause, error=self.cause, **facts)


class ResultError(RemoteCallError):
    """A result that came and cannot be used as it is: `output` has every part that could be read, `raw` all of it."""

    def __init__(self, cause: str, *, output: Any, raw: bytes, error: BaseException | None = None) -> None:
        super().__init__(cause, raw=raw, error=error)
        self.output = output


class ConnectError(ToolwireError):
    """No session came about.

    `exit_code`, `stderr` (the last 64 KiB) and `noise` (the first lines that were no messages) say why.
    """

    def __init__(
        self, text: str, *, exit_code: int | None = None, stderr: bytes = b"", noise: tuple[bytes, ...] = ()
    ) -> None:
        super().__init__(text)
        self.exit_code = exit_code
        self.stderr = stderr
        self.noise = noise


class RunError(ToolwireError):
    """A run that failed: `step` (from 0), `error` its cause, `result` the run so far (spec one-session 2.1)."""

    def __init__(self, step: int, error: BaseException, result: Any) -> None:
        super().__init__(f"toolwire: run failed at step {step}: {error}")
        self.step = step
        self.error = error
        self.result = result


class SchemaError(ToolwireError):
    """A text is no input schema; reads `toolwire: ParseSchema: …` (spec one-session 2.6)."""


class InvalidToolInput(ToolwireError):
    """Arguments were refused before the tool ran."""

    def __init__(self) -> None:
        super().__init__("toolwire: tool input is not valid for its schema")


class ToolReturnedError(ToolwireError):
    """A remote result said `isError` (spec one-session 1.1)."""

    def __init__(self) -> None:
        super().__init__("mcp: tool returned an error")


class RegistrationError(ToolwireError):
    """Tools can't be served as they are; none of the batch was added (spec one-session 1.8)."""


class ListedToolError(ToolwireError):
    """An entry of a listing is no tool, for a reason that is not its schema."""


class DiscoveryError(ToolwireError):
    """Discovery over many sources ended; reads `mcp: …` (spec many-sources 1.4)."""


class NilSessionError(ToolwireError):
    """A source without a session."""

    def __init__(self) -> None:
        super().__init__("mcp: session must not be nil")


class NilServerError(ToolwireError):
    """Registration without a server."""

    def __init__(self) -> None:
        super().__init__("mcp: server must not be nil")


class IncompleteResultError(ToolwireError):
    """A result that asks for input which cannot be given here."""

    def __init__(self) -> None:
        super().__init__("mcp: remote tool result requires further input")


class ContentError(ToolwireError):
    """Content that cannot cross between MCP and parts (spec many-sources 3)."""


class MediaReferenceError(ContentError):
    """A medium that is a provider's reference cannot be served."""

    def __init__(self, text: str = "mcp: media references cannot cross MCP") -> None:
        super().__init__(text)


class EmptyEmbeddedResourceError(ContentError):
    """An embedded resource with a URI and nothing in it."""

    def __init__(self, text: str = "mcp: empty embedded resources are unsupported") -> None:
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class SkippedTool:
    """An entry that was not imported, and the `error` that says why.

    `name` is the server's, `""` where that was the problem; `index` counts over all pages from 0.
    """

    name: str
    index: int
    error: ToolwireError


class ToolImportError(ToolwireError, ExceptionGroup[ToolwireError]):
    """The entries that a listing lost: `skipped` in listing order, `exceptions` their causes (spec one-session 1.7)."""

    skipped: tuple[SkippedTool, ...]

    def __new__(cls, skipped: Sequence[SkippedTool]) -> Self:
        """Groups the causes; `skipped` is never empty."""
        records = "".join(
            f" {quoted(record.name) if record.name else f'entry {record.index}'}: {record.error};" for record in skipped
        )
        text = f"mcp: {len(skipped)} tool(s) not imported:{records}"
        group = super().__new__(cls, text.removesuffix(";"), [record.error for record in skipped])
        group.skipped = tuple(skipped)
        return group

    def __init__(self, skipped: Sequence[SkippedTool]) -> None:  # noqa: ARG002 - what `__new__` took comes here too
        BaseException.__init__(self, self.message, self.exceptions)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.skipped,), self.__dict__

    def derive(self, excs: Sequence[BaseException]) -> ToolImportError:  # type: ignore[override]  # split() keeps the records of what it keeps
        """A group over the records whose causes are in `excs`."""
        kept = {id(error) for error in excs}
        return ToolImportError([record for record in self.skipped if id(record.error) in kept])
