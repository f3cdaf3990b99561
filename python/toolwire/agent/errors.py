"""What ends a run, and what stops a call without ending it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire.contract.input_round import InputRequest
from toolwire.errors import RunError, ToolError, ToolwireError, quoted

if TYPE_CHECKING:
    from toolwire.agent.result import RunResult

__all__ = ["ApprovalRequired", "CallPanicked", "InputAsked", "MaxSteps", "ModelRetry", "NoSuchTool", "run_error"]


class MaxSteps(ToolwireError):
    """The run used up its steps."""

    def __init__(self) -> None:
        super().__init__("toolwire: run exceeded the maximum number of steps")


class ApprovalRequired(ToolError):
    """A call that nobody has approved. A run parks it; anything else shows its text."""

    def __init__(self, name: str, reason: str = "", *, args: bytes | None = None) -> None:
        super().__init__(f"toolwire: tool call requires approval: tool {quoted(name)}")
        self.reason = reason
        self.arguments = args
        """What would be sent, where a middleware changed it; `None` for the model's own bytes."""


class InputAsked(ToolError):
    """A tool asks something in the middle of its call: a run parks the call, with the `request`."""

    def __init__(self, name: str, request: InputRequest) -> None:
        super().__init__(f"tool {quoted(name)} asks for input")
        self.request = request


class NoSuchTool(ToolError):
    """A call of a name that nothing has."""

    def __init__(self, name: str) -> None:
        super().__init__("NO_SUCH_TOOL", f"no tool named {quoted(name)}")


class ModelRetry(ToolError):
    """Raised in a handler: the model should try again, with a hint."""

    def __init__(self, hint: str) -> None:
        super().__init__("RETRY", hint)


class CallPanicked(ToolError):
    """What a handler or a middleware raised is no ordinary failure (design 4.5)."""

    def __init__(self, name: str, text: str, error: BaseException) -> None:
        super().__init__(f"tool {quoted(name)} panicked: {text}", cause=error)


def run_error(step: int, cause: BaseException | str, result: RunResult) -> RunError:
    """The end of a run that failed, with what it had so far."""
    error = cause if isinstance(cause, BaseException) else ToolwireError(cause)
    return RunError(step, error, result)
