"""What every cross section of a beam answers, sections by their matrices, and the correction for the length of an element.

The section lies in the y and z axes, x is along the beam. Its law, in the order x, y, z, about x, about y, about z:

    [force; moment] = stiffness [strain; curvature] + damping [strain'; curvature']
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dalembert.elements import checks, inertia
from dalembert.elements.bushing import symmetric
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array

ELEMENT = "section"


class Section(ABC):
    """A cross section."""

    @property
    @abstractmethod
    def stiffness_matrix(self) -> Array:
        """Symmetric, positive 6x6 matrix [N], [N m], [N m2]."""

    @property
    @abstractmethod
    def damping_matrix(self) -> Array:
        """Symmetric 6x6 matrix [N s], [N m s], [N m2 s]."""

    @property
    @abstractmethod
    def mass_per_length(self) -> float:
        """[kg/m]."""

    @property
    @abstractmethod
    def inertia_per_length(self) -> Array:
        """About the centre of mass, 3x3 [kg m]."""

    @property
    def mass_centre(self) -> Array:
        """Place of the centre of mass in the section: 0, y, z [m]."""
        return np.zeros(3)


def corrected(stiffness: Array, damping: Array, along: Array, length: float) -> tuple[Array, Array]:
    """Return stiffness and damping of the middle of an element that stand for its whole length.

    The moment changes along an element that carries shear force: its ends are displaced by more than the middle tells, by
    l^2/12 times the bending compliance. In planes of symmetry that is ``GA_c = 1/(1/GA + l^2/(12 EI))``; the ends of a straight
    element are then exact, whatever its length. `along` is its direction.

    Examples
    --------
    >>> k, _ = corrected(np.diag([9.0, 4.0, 4.0, 1.0, 1.0, 1.0]), np.zeros((6, 6)), np.array([1.0, 0, 0]), 3.0)
    >>> k.diagonal().tolist()
    [9.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    tilde: Array = np.cross(np.eye(3), along)

    def lengthened(compliance: Array) -> Array:
        more: Array = np.zeros((6, 6))
        more[:3, :3] = length**2 / 12.0 * tilde.T @ compliance[3:, 3:] @ tilde
        return compliance + more

    compliance = np.asarray(np.linalg.inv(stiffness), float)
    k = np.asarray(np.linalg.inv(lengthened(compliance)), float)
    c = k @ lengthened(compliance @ damping @ compliance) @ k  # to first order in the rates
    return 0.5 * (k + k.T), 0.5 * (c + c.T)


@dataclass(frozen=True, eq=False, kw_only=True)
class General(Section):
    """A cross section by its matrices, such as that of a composite blade.

    Parameters
    ----------
    stiffness : array_like
        EA, GA_y, GA_z [N], GJ, EI_y, EI_z [N m2], or a symmetric 6x6 matrix with couplings (those of force and moment in N m).
    mass : float
        Per length [kg/m].
    inertia : array_like
        Per length, about the centre of mass [kg m]: about x, y, z, or six entries or 3x3 as for bodies.
    centre : array_like
        y and z of the centre of mass in the section [m].
    damping : array_like
        As the stiffness, times seconds.

    Examples
    --------
    >>> spar = General(stiffness=(1e9, 3e8, 3e8, 1e5, 2e5, 4e6), mass=8.0, inertia=(0.05, 0.01, 0.04))
    >>> spar.stiffness_matrix.diagonal()[3:].tolist()
    [100000.0, 200000.0, 4000000.0]
    """

    stiffness: ArrayLike
    mass: float = 0.0
    inertia: ArrayLike = (0.0, 0.0, 0.0)
    centre: ArrayLike = (0.0, 0.0)
    damping: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        keep = object.__setattr__
        for label in ("stiffness", "damping"):
            keep(self, label, symmetric(ELEMENT, label, getattr(self, label)))
        if np.linalg.eigvalsh(self.stiffness_matrix)[0] <= 0.0:
            raise ModelError(ELEMENT, "the stiffness is zero in some direction", "all six have to be positive")
        keep(self, "mass", checks.number(ELEMENT, "mass", self.mass, minimum=0.0))
        keep(self, "inertia", inertia.tensor(ELEMENT, self.inertia))
        keep(self, "centre", checks.vector(ELEMENT, "centre", self.centre, 2))

    @property
    def stiffness_matrix(self) -> Array:
        """See `Section`."""
        return np.asarray(self.stiffness)

    @property
    def damping_matrix(self) -> Array:
        """See `Section`."""
        return np.asarray(self.damping)

    @property
    def mass_per_length(self) -> float:
        """See `Section`."""
        return self.mass

    @property
    def inertia_per_length(self) -> Array:
        """See `Section`."""
        return np.asarray(self.inertia)

    @property
    def mass_centre(self) -> Array:
        """See `Section`."""
        return np.append(0.0, np.asarray(self.centre))
