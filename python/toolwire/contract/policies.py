"""Policies: values that say how a tool is run, given when it is made or imported.

Each is a function from settings to settings, applied in order; the last word on one setting wins. A negative number
changes nothing, 0 lifts a limit (spec one-session 2.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

__all__ = ["Policy", "RenderRule", "Settings", "applied", "max_result_bytes", "origin", "render", "sequential", "timeout"]

RenderRule = Literal["default", "auto", "content", "structured", "both"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the policies of one tool come to. `None` is "not said"; 0 is "no limit"."""

    origin: str = "local"
    timeout: float | None = None
    max_result_bytes: int | None = None
    sequential: bool = False
    sequential_by_policy: bool = False
    render: str = "default"


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy: its spelling, and the change that it makes."""

    spelling: str
    change: Callable[[Settings], Settings]

    def __repr__(self) -> str:
        return self.spelling


def applied(policies: Policy | Iterable[Policy | None] | None, settings: Settings) -> Settings:
    """`settings` after one policy or several, in order; `None` is passed over."""
    for policy in (policies,) if isinstance(policies, Policy) else policies or ():
        if policy is not None:
            settings = policy.change(settings)
    return settings


def timeout(seconds: float) -> Policy:
    """A call may take `seconds` in total; 0 lifts the limit."""
    return Policy(f"timeout({seconds!r})", lambda settings: replace(settings, timeout=seconds) if seconds >= 0 else settings)


def max_result_bytes(limit: int) -> Policy:
    """The text that the model reads is cut at `limit` bytes of UTF-8; 0 lifts the cap."""
    return Policy(
        f"max_result_bytes({limit!r})",
        lambda settings: replace(settings, max_result_bytes=limit) if limit >= 0 else settings,
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
    value unless a text block equals it, text resources with their text. `content`, `structured`, `both`: what they say.
    """
    if rule not in ("default", "auto", "content", "structured", "both"):
        raise ValueError(f"no render rule {rule!r}: it is default, auto, content, structured or both")
    return Policy(f"render({rule!r})", lambda settings: replace(settings, render=rule))
