"""A printed figure beside ours, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Figure(NamedTuple):
    """One line of a comparison.

    Attributes
    ----------
    name : str
        With the unit.
    expected : float
        What is printed, or computed independently.
    ours : float
    tolerance : float
        Largest deviation that counts as met.
    source : str
        Where the expected value comes from.
    relative : bool
        Whether the deviation is relative.
    """

    name: str
    expected: float
    ours: float
    tolerance: float
    source: str
    relative: bool = False

    @property
    def deviation(self) -> float:
        """How far ours is from what is expected."""
        difference = self.ours - self.expected
        return difference / abs(self.expected) if self.relative and self.expected != 0.0 else difference

    @property
    def met(self) -> bool:
        """Whether ours is near enough; a NaN is not."""
        return abs(self.deviation) <= self.tolerance


def table_of(figures: Iterable[Figure]) -> str:
    """Return figures as text, one line each.

    Examples
    --------
    >>> print(table_of([Figure("g [m/s2]", 9.8, 9.81, 0.05, "school")]))
    figure          expected           ours deviation     tolerance
    g [m/s2]             9.8           9.81      0.01          0.05       school
    """
    rows = list(figures)
    width = max((len(row.name) for row in rows), default=6) + 1
    lines = [f"{'figure':{width}s}{'expected':>15s} {'ours':>14s} {'deviation':>9s}     {'tolerance':>9s}"]
    for row in rows:
        kind = "rel." if row.relative else "    "
        mark = "" if row.met else "  <-- off"
        numbers = f"{row.expected:15.9g} {row.ours:14.9g} {row.deviation:9.2g} {kind:4s}{row.tolerance:9.2g} {kind:4s}"
        lines.append(f"{row.name:{width}s}{numbers}  {row.source}{mark}".rstrip())
    return "\n".join(lines)
