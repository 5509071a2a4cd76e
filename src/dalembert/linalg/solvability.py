"""Which constraint reactions are unique: the three methods of the paper, dense; what the sparse way is tested against.

The reaction f_X = A_X^T lam_X of some rows X is unique when the row space of A is the direct sum of those of A_X and of the
other rows A_Y (19), (20). Three ways to find out:

* ranks: ``rank(A_X) + rank(A_Y) = rank(A)``;
* SVD:   ``A_X^T N_X = 0`` with the left singular vectors N of zero;
* QR:    ``B_X = A_X^T Q_X^col = 0`` with the last p columns of Q in ``A E = Q R`` (21) to (27).

Ranks and zeros are decided on scaled rows and columns (`rank.scaled_rows`), so that units do not count.

M. Wojtyra, J. Fraczek, Solvability of reactions in rigid multibody systems with redundant nonholonomic constraints, Multibody
Syst. Dyn. 30 (2013).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dalembert.kernel.vec3 import Array
from dalembert.linalg.rank import MEMBER, TOLERANCE, Units, scaled_rows


def rank(A: Array) -> int:
    """Return the rank of a scaled matrix."""
    return int(np.linalg.matrix_rank(A, rtol=TOLERANCE)) if A.size else 0


def by_ranks(A: Array, rows: Sequence[int], units: Units = None) -> bool:
    """Return whether the reaction of some rows is unique, by ranks.

    Examples
    --------
    >>> A = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> by_ranks(A, [0]), by_ranks(A, [0, 1]), by_ranks(A, [2])
    (False, True, True)
    """
    scaled = scaled_rows(sp.csr_array(A), units)[0].toarray()
    return rank(scaled[rows]) + rank(np.delete(scaled, rows, axis=0)) == rank(scaled)


def null_by_svd(A: Array) -> Array:
    """Return a basis of the null space of A^T from the singular values of A."""
    if not A.size:
        return np.eye(A.shape[0])
    left, values, _ = np.linalg.svd(A)
    return np.asarray(left[:, int(np.sum(values > TOLERANCE * values[0])) :])


def null_by_qr(A: Array) -> Array:
    """Return a basis of the null space of A^T: the last p columns of Q in ``A E = Q R`` (21)."""
    if not A.size:
        return np.eye(A.shape[0])
    Q, R, _ = scipy.linalg.qr(A, pivoting=True)
    diagonal = np.abs(np.diag(R))
    return np.asarray(Q[:, int(np.sum(diagonal > TOLERANCE * diagonal[0])) :])


def b_matrix(A: Array, rows: Sequence[int], null: Callable[[Array], Array] = null_by_qr) -> Array:
    """Return ``B_X = A_X^T Q_X^col`` (27), n-by-p, defined up to a rotation of its columns.

    Examples
    --------
    >>> np.abs(b_matrix(np.array([[1.0], [1.0]]), [0])).round(6).tolist()
    [[0.707107]]
    """
    return np.asarray(A[rows].T @ null(A)[rows])


def by_svd(A: Array, rows: Sequence[int], units: Units = None) -> bool:
    """Return whether the reaction of some rows is unique, by singular vectors."""
    return _vanishes(A, rows, units, null_by_svd)


def by_qr(A: Array, rows: Sequence[int], units: Units = None) -> bool:
    """Return whether the reaction of some rows is unique, by the QR decomposition (27)."""
    return _vanishes(A, rows, units, null_by_qr)


def _vanishes(A: Array, rows: Sequence[int], units: Units, null: Callable[[Array], Array]) -> bool:
    scaled = scaled_rows(sp.csr_array(A), units)[0].toarray()
    return float(np.abs(b_matrix(scaled, rows, null)).max(initial=0.0)) <= MEMBER


METHODS: dict[str, Callable[[Array, Sequence[int], Units], bool]] = {"ranks": by_ranks, "svd": by_svd, "qr": by_qr}
"""The methods of the paper, by name."""
