"""Guards: who may call a tool, asked with the admitted invocation (spec many-sources 2.5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from toolwire.errors import ToolFailure, ToolwireError, quoted

__all__ = ["AuthorizationError", "Authorizer", "CallError", "authorize"]

Authorizer = Callable[[str, Any], Awaitable[bool]]
"""`async (name, invocation) -> bool`."""


class AuthorizationError(ToolwireError):
    """The policy could not decide; the tool did not run. What went wrong inside is `cause`, outside of the chain."""

    def __init__(self, name: str, *, cause: BaseException | None = None) -> None:
        super().__init__(f"toolwire: authorization for {quoted(name)} failed")
        self.cause = cause


class CallError(ToolwireError):
    """A call that failed with evidence of what happened, and without a definite outcome. `evidence` is a ToolOutput."""

    def __init__(self, text: str, *, evidence: Any = None, cause: BaseException | None = None) -> None:
        super().__init__(text)
        self.evidence = evidence
        self.cause = cause


async def authorize(authorizer: Authorizer, name: str, admitted: Any) -> None:
    """Asks. Raises ToolFailure of kind `rejected` for a refusal, AuthorizationError when nobody could decide."""
    try:
        allowed = await authorizer(name, admitted)
    except Exception as error:  # noqa: BLE001 - whatever went wrong in it, nobody has allowed the call
        raise AuthorizationError(name, cause=error) from None
    if not allowed:
        raise ToolFailure(f"error: tool {quoted(name)} is not authorized", kind="rejected")
