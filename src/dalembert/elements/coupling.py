"""Couplings between joint coordinates as a user writes them: gear, rack and pinion, any linear relation."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.elements import checks
from dalembert.errors import ModelError


@dataclass(frozen=True)
class Term:
    """One term of a coupling: ``ratio`` times a coordinate (``"angle"`` [rad] or ``"distance"`` [m]) of a joint."""

    ratio: float
    joint: str
    coordinate: str


@dataclass(frozen=True, kw_only=True)
class Coupling:
    """A linear relation between joint coordinates: ``sum of ratio * coordinate = offset``.

    Parameters
    ----------
    name : str
    terms : tuple of Term
    offset : float, optional
        As drawn if not given: the design position then satisfies the relation.

    Examples
    --------
    >>> gear = Coupling(name="gear", terms=(Term(1.0, "wheel", "angle"), Term(2.5, "pinion", "angle")))
    >>> gear.terms[1].ratio
    2.5
    """

    name: str
    terms: tuple[Term, ...]
    offset: float | None = None

    def __post_init__(self) -> None:
        if not self.terms:
            raise ModelError(self.element, "it couples nothing", "give at least one term")
        for term in self.terms:
            if checks.number(self.element, f"the ratio of joint {term.joint!r}", term.ratio) == 0.0:
                raise ModelError(self.element, f"the ratio of joint {term.joint!r} is zero", "leave the term out")
        if self.offset is not None:
            checks.number(self.element, "offset", self.offset)

    @property
    def element(self) -> str:
        """How errors call this coupling."""
        return checks.element_name("coupling", self.name)
