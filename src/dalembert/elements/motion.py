"""Prescribed motions of joints as a user writes them (rheonomic constraints, Peng et al. 2024, section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.elements import checks
from dalembert.elements.joint import COORDINATE_ROWS
from dalembert.elements.law import Law
from dalembert.elements.lock import ROWS
from dalembert.errors import ModelError, nearest


@dataclass(frozen=True, eq=False, kw_only=True)
class Motion:
    """A joint coordinate that follows a law of time.

    A row of the joint that was free becomes active; a row that was active moves with the law instead of staying at zero.

    Parameters
    ----------
    name : str
    joint : str
        Name of the joint.
    coordinate : str
        ``"angle"`` (row Rx), ``"distance"`` (row x; for a distance joint: added to its length), or any row of the lock. The
        three rotation rows together are the rotation vector of F1 in F2 [rad].
    law : Law
        Value in rad or m as a function of time.
    """

    name: str
    joint: str
    coordinate: str
    law: Law

    def __post_init__(self) -> None:
        if self.coordinate not in (*COORDINATE_ROWS, *ROWS):
            remedy = nearest(self.coordinate, (*COORDINATE_ROWS, *ROWS))
            raise ModelError(self.element, f"unknown coordinate {self.coordinate!r}", remedy)
        if not isinstance(self.law, Law):
            raise ModelError(self.element, f"{self.law!r} is not a motion law", "give for example da.Harmonic(...)")

    @property
    def element(self) -> str:
        """How errors call this motion."""
        return checks.element_name("motion", self.name)

    @property
    def row(self) -> str:
        """The row of the lock that is driven."""
        return COORDINATE_ROWS.get(self.coordinate, self.coordinate)
