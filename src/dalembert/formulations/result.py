"""What the dense formulations share: their result, and the refusal of accelerations that are not unique."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.errors import SolveError
from dalembert.kernel.vec3 import Array
from dalembert.linalg.dense import RANK_TOLERANCE, rank_and_null_space


class Constrained(NamedTuple):
    """Accelerations of a constrained system, its multipliers and constraint force.

    Attributes
    ----------
    acceleration : array, shape (n,)
    multipliers : array, shape (m,)
        The smallest with ``M v' = Q + C - A^T lambda``.
    constraint_force : array, shape (n,)
        Q^c = M v' - Q = C - A^T lambda, with the non-ideal part (Udwadia and Schutte 2010, eq. 5).
    """

    acceleration: Array
    multipliers: Array
    constraint_force: Array


class NotUniqueError(SolveError):
    """The acceleration is not unique: [M | A^T] has not full rank (Udwadia and Schutte 2010, section 2).

    Attributes
    ----------
    rank : int
        Of [M | A^T].
    directions : array, shape (n, n - rank)
        Accelerations that neither inertia nor constraints determine.
    """

    def __init__(self, rank: int, directions: Array, names: tuple[str, ...] = ()) -> None:
        self.rank, self.directions = rank, directions
        n = directions.shape[0]
        size = np.abs(directions).max(axis=1)
        taking_part = np.flatnonzero(size > 1e-6 * size.max())
        listed = ", ".join(names[k] if names else f"coordinate {k}" for k in taking_part[:8])
        super().__init__(
            f"the acceleration is not unique: [M | A^T] has rank {rank} of {n}; {listed} can move without inertia and without "
            "violating a constraint"
        )


def check_unique(M: Array, A: Array, names: tuple[str, ...] = ()) -> None:
    """Refuse a system whose acceleration is not unique.

    Examples
    --------
    >>> try:
    ...     check_unique(np.diag([1.0, 0.0]), np.array([[1.0, 0.0]]))
    ... except NotUniqueError as error:
    ...     error.rank, error.directions.tolist()
    (1, [[0.0], [1.0]])
    """
    stacked = np.vstack([M, A])
    sizes = np.abs(stacked).max(axis=0)
    scale = np.where(sizes > 0.0, 1.0 / np.where(sizes > 0.0, sizes, 1.0), 1.0)
    rank, directions = rank_and_null_space(stacked * scale, rtol=RANK_TOLERANCE)
    if rank < M.shape[0]:
        raise NotUniqueError(rank, directions * scale[:, None], names)


def completed(M: Array, A: Array, Q: Array, C: Array, acceleration: Array) -> Constrained:
    """Return the result that belongs to an acceleration."""
    force = M @ acceleration - Q
    multipliers = np.linalg.pinv(A.T, rcond=RANK_TOLERANCE) @ (C - force) if A.size else np.zeros(A.shape[0])
    return Constrained(acceleration, multipliers, force)
