"""What every cross section of a beam answers, and its correction for the length of an element.

The section lies in the y and z axes, x is along the beam. Its law, in the order x, y, z, about x, about y, about z:

    [force; moment] = stiffness [strain; curvature] + damping [strain'; curvature']
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from dalembert.kernel.vec3 import Array


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
