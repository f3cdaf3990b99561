"""Policies: values that say how a tool is run, given when it is made or imported.

Each is a function from settings to settings, applied in order; the last word on one setting wins, but middleware,
guards and checks add up. A negative number changes nothing, 0 lifts a limit (spec one-session 2.2).
"""

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from toolwire.contract.invocation import judge

__all__ = [
    "Policy",
    "RenderRule",
    "Settings",
    "annotations",
    "applied",
    "guard",
    "max_result_bytes",
    "origin",
    "prompt_snippet",
    "render",
    "replay",
    "require_approval",
    "sequential",
    "strict_input",
    "timeout",
    "validate_input",
    "wrap",
]

RenderRule = Literal["default", "auto", "content", "structured", "both"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the policies of one tool come to. `None` is "not said"; 0 is "no limit"."""

    origin: str = "local"
    timeout: float | None = None
    max_result_bytes: int | None = None
    keep: str = "head"
    spill: str | None = None
    sequential: bool = False
    sequential_by_policy: bool = False
    render: str = "default"
    strict_input: bool = False
    require_approval: bool = False
    approval_rule: Any = None
    replay: str = "never"
    prompt_snippet: str = ""
    middleware: tuple[Any, ...] = ()
    concurrency: Callable[[bytes], tuple[str, bool]] | None = None
    authorizer: Any = None
    validator: Callable[[bytes], object] | None = None
    annotations: bytes | None = None

    @property
    def spill_path(self) -> Path | None:
        """Where whole texts go that are cut."""
        return None if self.spill is None else Path(self.spill)


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy: its spelling, and the change that it makes."""

    spelling: str
    change: Callable[[Settings], Settings]

    def __repr__(self) -> str:
        return self.spelling


def applied(policies: Policy | Iterable[Policy | None] | None, settings: Settings) -> Settings:
    """`settings` after one policy or several, in order; `None` is passed over. Raises TypeError for what is none."""
    for policy in (policies,) if isinstance(policies, Policy) else policies or ():
        if policy is None:
            continue
        if not isinstance(policy, Policy):
            raise TypeError(f"a policy is wanted, such as timeout(5), not {policy!r}")
        settings = policy.change(settings)
    return settings


def timeout(seconds: float) -> Policy:
    """A call may take `seconds` in total; 0 lifts the limit."""
    return Policy(
        f"timeout({seconds!r})", lambda settings: replace(settings, timeout=seconds) if seconds >= 0 else settings
    )


def max_result_bytes(
    limit: int, *, keep: Literal["head", "ends"] = "head", spill: str | PathLike[str] | None = None
) -> Policy:
    """The text that the model reads is cut at `limit` bytes of UTF-8; 0 lifts the cap.

    In a run, `keep="ends"` keeps start and end, and `spill` a directory for the whole text, each in a private file
    whose path is in the marker. Parts and structured bytes are never cut.
    """
    directory = None if spill is None else fspath(spill)
    return Policy(
        f"max_result_bytes({limit!r})",
        lambda settings: (
            replace(settings, max_result_bytes=limit, keep=keep, spill=directory) if limit >= 0 else settings
        ),
    )


def sequential() -> Policy:
    """The tool runs alone among the calls of one step."""
    return Policy("sequential()", lambda settings: replace(settings, sequential=True, sequential_by_policy=True))


def origin(name: str) -> Policy:
    """Where the tool comes from, in records: an imported tool's is `"mcp"` unless this says otherwise."""
    return Policy(f"origin({name!r})", lambda settings: replace(settings, origin=name))


def render(rule: RenderRule) -> Policy:
    """Which parts of a result its text shows.

    `default`: the structured value if it is not null, else a line a block. `auto`: the blocks, then the structured
    value unless a text block equals it or what it wraps (`{"result": …}`), text resources with their text. `content`,
    `structured`, `both`: what they say.
    """
    if rule not in ("default", "auto", "content", "structured", "both"):
        raise ValueError(f"no render rule {rule!r}: it is default, auto, content, structured or both")
    return Policy(f"render({rule!r})", lambda settings: replace(settings, render=rule))


def strict_input() -> Policy:
    """A member that the input schema does not name is refused, not ignored."""
    return Policy("strict_input()", lambda settings: replace(settings, strict_input=True))


def require_approval(rule: Callable[[Any], bool] | None = None) -> Policy:
    """A run parks the call until somebody approves it; `add_tools` refuses such a tool.

    `rule` gets the call (`.name`, `.args`, `.annotations`, `.fingerprint`) and says whether this one needs it.
    """
    return Policy("require_approval()", lambda settings: replace(settings, require_approval=True, approval_rule=rule))


def replay(policy: str) -> Policy:
    """`"safe"` says that a call may be made again by itself; anything else is `"never"`."""
    chosen = "safe" if policy == "safe" else "never"
    return Policy(f"replay({policy!r})", lambda settings: replace(settings, replay=chosen))


def prompt_snippet(text: str) -> Policy:
    """A text that is put into the instructions of every run that offers the tool."""
    return Policy(f"prompt_snippet({text!r})", lambda settings: replace(settings, prompt_snippet=text))


def wrap(*middleware: Any) -> Policy:
    """Middleware around the tool's calls in a run, `async (call, next) -> ToolOutput`, the first outermost."""
    return Policy(
        f"wrap({', '.join(map(repr, middleware))})",
        lambda settings: replace(settings, middleware=(*settings.middleware, *middleware)),
    )


def annotations(
    *,
    title: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
) -> Policy:
    """What a served tool says of itself in a listing. Nothing is guessed: only what is given is said."""
    hints = {
        "title": title,
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": open_world,
    }
    given = {name: value for name, value in hints.items() if value is not None}
    text = json.dumps(given, ensure_ascii=False, separators=(",", ":")).encode()
    return Policy(f"annotations({given!r})", lambda settings: replace(settings, annotations=text))


def guard(authorizer: Any) -> Policy:
    """Asks `async (name, invocation) -> bool` before each admitted call: a refusal is a ToolFailure of kind `rejected`.

    An authorizer that raises is an AuthorizationError; either way the tool does not run. Of several each has to allow.
    """

    def guarded(settings: Settings) -> Settings:
        first = settings.authorizer
        if first is None:
            return replace(settings, authorizer=authorizer)

        async def each(name: str, admitted: Any) -> bool:
            return bool(await first(name, admitted)) and bool(await authorizer(name, admitted))

        return replace(settings, authorizer=each)

    return Policy("guard(…)", guarded)


def validate_input(check: Callable[[bytes], object]) -> Policy:
    """Checks an admitted call's argument bytes after the schema: InputRejected or ValueError refuses them.

    Anything else that it raises is a defect, not a refusal. An error that it returns counts as raised, and of several
    checks each has to pass. It is a plain function: raises TypeError for a coroutine function.
    """
    if inspect.iscoroutinefunction(check):
        raise TypeError("validate_input takes a plain function: nobody would await a coroutine function's verdict")

    def validated(settings: Settings) -> Settings:
        first = settings.validator

        def each(arguments: bytes) -> None:
            if first is not None:
                judge(first, arguments)
            judge(check, arguments)

        return replace(settings, validator=each)

    return Policy("validate_input(…)", validated)
