"""Which lane the requests of a leg took, by the counters of the wires themselves."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Lanes"]


@dataclass(frozen=True)
class Lanes:
    """How many requests went express, and how many by the SDK."""

    express: int = 0
    sdk: int = 0

    def __add__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.express + other.express, self.sdk + other.sdk)

    def __str__(self) -> str:
        return f"{self.express} of {self.express + self.sdk} requests"

    @staticmethod
    def of(counters: Mapping[str, int]) -> "Lanes":
        """Read from the counters of a connection's wire, or of an app."""
        express = counters.get("express_requests", 0) + counters.get("express_calls", 0)
        return Lanes(express, counters.get("sdk_requests", 0))
