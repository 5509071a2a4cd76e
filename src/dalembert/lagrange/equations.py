"""What `Mechanics` asks of a user's equations, wherever they come from; arrays are dense.

    M(q, t) v' = Q(q, v, t) + C(q, v, t) - A^T lambda      phi(q, t) = 0      psi(q, v, t) = 0,    q' = v

Rows come in the order phi, psi. On the level of velocities they are ``phi_q v + phi_t`` and psi itself, which need not be
linear in v; their Jacobian with respect to v is A, and ``A v' = b''``.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from dalembert.kernel.vec3 import Array


class Dynamics(NamedTuple):
    """What an acceleration takes.

    Attributes
    ----------
    M : array, shape (n, n)
    Q : array, shape (n,)
        Given force, with all terms quadratic in the velocities.
    C : array, shape (n,)
        Non-ideal part of the constraint force (Udwadia and Schutte 2010, eq. 6).
    A : array, shape (m, n)
    b : array, shape (m,)
        A v' = b.
    """

    M: Array
    Q: Array
    C: Array
    A: Array
    b: Array


class Tangents(NamedTuple):
    """Derivatives, for small motions and implicit steps.

    Attributes
    ----------
    K : array
        -d(Q + C)/dq.
    K_c : array
        d(A^T lambda)/dq.
    K_i : array
        d(M v')/dq.
    D : array
        d(A^T lambda - Q - C)/dv.
    B : array, shape (m, n)
        d(velocity residual)/dq: of a psi, what a displacement changes about it.
    """

    K: Array
    K_c: Array
    K_i: Array
    D: Array
    B: Array


class Equations(Protocol):
    """A user's equations."""

    n_holonomic: int
    n_nonholonomic: int

    def dynamics(self, t: float, q: Array, v: Array) -> Dynamics:
        """Return M, Q, C, A and b''."""
        ...

    def mass(self, t: float, q: Array) -> Array:
        """Return M alone: forces may not exist at velocities that nobody asked for."""
        ...

    def matrix(self, t: float, q: Array, v: Array) -> Array:
        """Return A alone."""
        ...

    def positions(self, t: float, q: Array) -> Array:
        """Return phi."""
        ...

    def velocities(self, t: float, q: Array, v: Array) -> Array:
        """Return phi_q v + phi_t, then psi."""
        ...

    def tangents(self, t: float, q: Array, v: Array, a: Array, lam: Array) -> Tangents:
        """Return all derivatives at constant v' and lambda."""
        ...

    def energies(self, t: float, q: Array, v: Array) -> tuple[float, float]:
        """Return kinetic and potential energy [J]; NaN where they are not known."""
        ...
