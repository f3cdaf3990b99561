"""The one table: a row is what was measured, both sides, their ratio, and the bar where there is one."""

from dataclasses import dataclass

WIDTHS = (52, 18, 18, 9, 16)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line. `met` is `None` where nothing is demanded and the figure is only told."""

    what: str
    toolwire: str
    peer: str = ""
    ratio: str = ""
    bar: str = ""
    met: bool | None = None


def faster(what: str, ours: float, theirs: float, unit: str, bar: float) -> Row:
    """Compare two rates (more is better) with the ratio that is demanded."""
    ratio = ours / theirs
    return Row(
        what=what,
        toolwire=f"{figure(ours)} {unit}",
        peer=f"{figure(theirs)} {unit}",
        ratio=f"{ratio:.1f} x",
        bar=f"at least {bar:g} x",
        met=ratio >= bar,
    )


def shorter(what: str, ours: float, theirs: float, bar: float) -> Row:
    """Compare two times in seconds (less is better) with the ratio that is demanded."""
    return Row(
        what=what,
        toolwire=f"{milliseconds(ours)}",
        peer=f"{milliseconds(theirs)}",
        ratio=f"{theirs / ours:.1f} x",
        bar=f"at least {bar:g} x",
        met=theirs / ours >= bar,
    )


def figure(value: float) -> str:
    """Three significant digits of a small number, whole thousands of a large one."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def milliseconds(seconds: float) -> str:
    """Show a time as the table does."""
    return f"{figure(seconds * 1e3)} ms"


def heading() -> str:
    """Name the columns."""
    return _line("what", "toolwire", "peer", "ratio", "bar", "met?")


def show(row: Row) -> str:
    """Give one line of the table."""
    met = {True: "yes", False: "NO", None: ""}[row.met]
    return _line(row.what, row.toolwire, row.peer, row.ratio, row.bar, met)


def _line(*cells: str) -> str:
    *columns, last = cells
    padded = (cell.ljust(width) for cell, width in zip(columns, WIDTHS, strict=True))
    return "  ".join([*padded, last]).rstrip()
