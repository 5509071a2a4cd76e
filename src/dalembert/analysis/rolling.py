"""Small motions with rows that restrict velocities only, in independent coordinates and velocities.

    M d'' + D d' + K d + A^T l = f,     A_h d = 0,     A_v d' + B d = 0

Holonomic rows leave the coordinates y of d = Z y, A_h Z = 0; with P = A_v Z and R = B Z the others say ``P y' + R y = 0``:

    y' = G y + S u,    P S = 0,  G = -P^+ R         more coordinates than velocities: a wheel gets anywhere, but not sideways
    S^T Z^T of the equations of motion gives u'
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.analysis.pencil import Pencil
from dalembert.kernel.vec3 import Array
from dalembert.linalg.dense import rank_and_null_space


class Reduced(NamedTuple):
    """The equations ``x' = state x + inverse_mass (forces)`` for x = (y, u).

    Attributes
    ----------
    positions, rates : array
        d = positions x, d' = rates x.
    state : array
    from_forces : array
        x' for a force on each entry of d.
    coordinates : int
        Number of y; the rest of x is u.
    """

    positions: Array
    rates: Array
    state: Array
    from_forces: Array
    coordinates: int


def reduced(pencil: Pencil) -> Reduced:
    """Return the equations in independent coordinates and velocities."""
    A, B = pencil.A.toarray(), pencil.B.toarray()
    Z = rank_and_null_space(A[pencil.holonomic])[1]
    M, D, K = (Z.T @ (part @ Z) for part in pencil[:3])
    P, R = A[~pencil.holonomic] @ Z, B[~pencil.holonomic] @ Z
    S, G = rank_and_null_space(P)[1], -np.linalg.pinv(P, rcond=1e-11) @ R
    n, k = S.shape
    of_y, of_u = -S.T @ (M @ G @ G + D @ G + K), -S.T @ (M @ G @ S + D @ S)
    inverse = np.linalg.inv(S.T @ M @ S) if k else np.zeros((0, 0))
    state = np.block([[G, S], [inverse @ of_y, inverse @ of_u]]) if k else G
    from_forces = np.vstack([np.zeros((n, Z.shape[0])), inverse @ (S.T @ Z.T)])
    return Reduced(np.hstack([Z, np.zeros((Z.shape[0], k))]), Z @ np.hstack([G, S]), state, from_forces, n)
