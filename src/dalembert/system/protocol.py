"""What every formulation and analysis asks of a mechanical system, be it of bodies and joints or a user's own equations.

    M(t, q) v' + A^T lambda = f(t, q, v)       A v = b'(t, q)       A v' = b''(t, q, v)       phi(t, q) = 0

Rows that come from no phi restrict velocities only, psi(t, q, v) = 0; they may be nonlinear in v, and A = d(psi)/dv then
depends on it.

Small displacements d move the state by ``q -> advance(q, d)``; all derivatives are with respect to d. Along a motion
``dv = d' + N(v) d``, because d of a rotation belongs to the turning body: N is zero for plain coordinates with q' = v.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from dalembert.kernel.vec3 import Array
from dalembert.system.state import State


class MechanicalSystem(Protocol):
    """A constrained mechanical system.

    Attributes
    ----------
    name : str
    n_positions, n_velocities, n_constraints : int
    design : State
        As the user described it, not yet assembled.
    holonomic : array of bool, shape (n_constraints,)
        Which rows of A come from a phi(t, q) = 0; the others restrict velocities only, and their phi is zero.
    rotational : array of bool, shape (n_velocities,)
        Which entries of d are small rotations [rad]: no step of an iteration should turn far.
    row_names, velocity_names : tuple of str
        How errors call the constraint rows and the entries of v.
    """

    name: str
    n_positions: int
    n_velocities: int
    n_constraints: int
    design: State

    @property
    def holonomic(self) -> NDArray[np.bool_]:
        """Return which rows come from a phi(t, q) = 0."""
        ...

    @property
    def rotational(self) -> NDArray[np.bool_]:
        """Return which entries of v are angular velocities [rad/s], and of d small rotations."""
        ...

    @property
    def row_names(self) -> tuple[str, ...]:
        """Return how errors call the constraint rows."""
        ...

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Return how errors call the entries of v."""
        ...

    def mass(self, t: float = 0.0, q: Array | None = None) -> csc_array:
        """Return M; may be singular. Constant in t and q for rigid bodies."""
        ...

    def force(self, t: float, q: Array, v: Array) -> Array:
        """Return f, everything that is not a constraint, terms quadratic in the velocities included."""
        ...

    def non_ideal_force(self, t: float, q: Array, v: Array) -> Array:
        """Return C, the part of f that is due to the constraints and does work (friction in joints)."""
        ...

    def constraint(self, t: float, q: Array) -> Array:
        """Return phi."""
        ...

    def jacobian(self, t: float, q: Array, v: Array | None = None) -> csc_array:
        """Return A; v counts only where a row is nonlinear in it."""
        ...

    def velocity_residual(self, t: float, q: Array, v: Array) -> Array:
        """Return A v - b'; of a row that is nonlinear in v, psi."""
        ...

    def velocity_right_side(self, t: float, q: Array) -> Array:
        """Return b'."""
        ...

    def acceleration_right_side(self, t: float, q: Array, v: Array) -> Array:
        """Return b''."""
        ...

    def stiffness(self, t: float, q: Array, v: Array, multipliers: Array, *, with_constraints: bool = True) -> csc_array:
        """Return K = d(A^T lambda - f)/dd at constant v and lambda; without K_c if `with_constraints` is false."""
        ...

    def damping(self, t: float, q: Array, v: Array, multipliers: Array | None = None) -> csc_array:
        """Return D = d(A^T lambda - f)/dv."""
        ...

    def velocity_stiffness(self, t: float, q: Array, v: Array) -> csc_array:
        """Return d(A v - b')/dd at constant v: what displacements change about the rows that restrict velocities only."""
        ...

    def inertia_stiffness(self, t: float, q: Array, a: Array) -> csc_array:
        """Return d(M a)/dd at constant a; zero for rigid bodies, whose M is constant."""
        ...

    def transport(self, v: Array) -> csc_array:
        """Return N of dv = d' + N d."""
        ...

    def advance(self, q: Array, d: Array) -> Array:
        """Return q moved by d."""
        ...
