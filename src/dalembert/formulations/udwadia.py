"""Explicit equations of motion with Moore-Penrose inverses, as Udwadia and Schutte 2010 write them; dense.

    M v' = Q + Q^c,   A v' = b,   w^T Q^c = w^T C for A w = 0

F. E. Udwadia, A. D. Schutte, Equations of motion for general constrained systems in Lagrangian mechanics,
Acta Mech. 213 (2010).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from dalembert.errors import SolveError
from dalembert.formulations.result import Constrained, check_unique, completed
from dalembert.kernel.vec3 import Array
from dalembert.linalg.dense import RANK_TOLERANCE


def _pinv(matrix: Array) -> Array:
    return np.asarray(np.linalg.pinv(matrix, rcond=RANK_TOLERANCE))


def _roots(M: Array) -> tuple[Array, Array]:
    """Return M^(1/2) and M^(-1/2) of a positive definite M."""
    values, vectors = scipy.linalg.eigh(M)
    if values.size and values[0] <= RANK_TOLERANCE * values[-1]:
        raise SolveError(
            "the mass matrix is singular: the fundamental equation (7) needs its inverse; take 'auxiliary' or 'saddle'"
        )
    root = np.sqrt(values)
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T


def fundamental(M: Array, A: Array, Q: Array, b: Array, C: Array) -> Constrained:
    """The fundamental equation, for a regular M (7):

    v' = a + M^(-1/2) B^+ (b - A a) + M^(-1/2) (I - B^+ B) M^(-1/2) C,    a = M^-1 Q,   B = A M^(-1/2)
    """
    _, inverse_root = _roots(M)
    a, B = inverse_root @ (inverse_root @ Q), A @ inverse_root
    B_plus = _pinv(B)
    ideal = inverse_root @ (B_plus @ (b - A @ a))
    work = inverse_root @ (inverse_root @ C - B_plus @ (B @ (inverse_root @ C)))
    return completed(M, A, Q, C, a + ideal + work)


def pseudo_inverse(M: Array, A: Array, Q: Array, b: Array, C: Array) -> Constrained:
    """Udwadia and Phohomsiri's equation, for M regular or not (8):  v' = [(I - A^+ A) M; A]^+ [Q + C; b]."""
    check_unique(M, A)
    projector = np.eye(M.shape[0]) - _pinv(A) @ A
    return completed(M, A, Q, C, _pinv(np.vstack([projector @ M, A])) @ np.concatenate([Q + C, b]))


def auxiliary(M: Array, A: Array, Q: Array, b: Array, C: Array, *, alpha: float = 1.0, z: Array | None = None) -> Constrained:
    """The auxiliary system, for M regular or not (45) to (75): the fundamental equation with

    M_A = M + alpha^2 A^+ A,   Q_z = Q + A^+ z

    Its acceleration depends neither on alpha nor on z; with z = alpha^2 b (the default) its constraint force is that of the
    system itself (67).
    """
    check_unique(M, A)
    A_plus = _pinv(A)
    M_A = M + alpha**2 * A_plus @ A  # (46)
    Q_z = Q + A_plus @ (alpha**2 * b if z is None else z)  # (45)
    root, inverse_root = _roots(M_A)
    a, B = inverse_root @ (inverse_root @ Q_z), A @ inverse_root  # (51), (52)
    B_plus = _pinv(B)
    work = inverse_root @ C - B_plus @ (B @ (inverse_root @ C))
    force = root @ (B_plus @ (b - A @ a) + work)  # (65), (75)
    acceleration = inverse_root @ (inverse_root @ (Q_z + force))  # (66)
    result = completed(M, A, Q, C, acceleration)
    return result._replace(constraint_force=force) if z is None else result
