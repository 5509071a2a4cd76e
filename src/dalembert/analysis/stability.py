"""Is an equilibrium stable: on how many independent directions that the joints leave is the stiffness negative, or zero.

    conservative      K is symmetric on A x = 0: the signs of the pivots of [K, A^T; A, -mu] count (Sylvester, Lagrange and
    Dirichlet) otherwise         follower forces and the like: modes that grow, eigenvalues with a positive real part

A direction counts as neutral when a change of the stiffnesses by `ROUNDING` of themselves decides its sign.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from dalembert.analysis.pencil import Pencil
from dalembert.analysis.spectrum import MOST_DENSE, spectrum
from dalembert.errors import SolveError
from dalembert.linalg.combination import CombinationSolver, stiffness_of_rows
from dalembert.linalg.dense import rank_and_null_space
from dalembert.linalg.null import complement, null_directions
from dalembert.linalg.saddle import SaddleSolver

ROUNDING = 1e-9
SLENDER_ROUNDING = 3e-15
_SYMMETRIC = 1e-8
_FEW = 60  # modes of a large system without potential that are looked at


class Stability(NamedTuple):
    """What a small push does.

    Attributes
    ----------
    unstable : int
        Independent directions in which the system runs away.
    neutral : int
        Independent directions in which it stays wherever it is put.
    """

    unstable: int
    neutral: int


def stability(pencil: Pencil) -> Stability:
    """Return the numbers of unstable and neutral directions of a state of rest.

    Examples
    --------
    >>> K = sp.csc_array(np.diag([1.0, -2.0, 0.0]))
    >>> eye, none = sp.eye_array(3, format="csc"), sp.csc_array((3, 3))
    >>> stability(Pencil(eye, none, K, sp.csc_array((0, 3)), eye, none, sp.csc_array((0, 3)), np.zeros(0, bool)))
    Stability(unstable=1, neutral=1)
    """
    if not pencil.holonomic.all() or not _has_potential(pencil):
        return _by_modes(pencil)
    if pencil.K.shape[0] <= MOST_DENSE:
        return _dense(pencil)
    try:
        return _by_pivots(pencil)
    except SolveError:  # a pivot was zero
        return _by_modes(pencil)


def _dense(pencil: Pencil) -> Stability:
    """Count the eigenvalues of the stiffness of what the joints leave."""
    Z = rank_and_null_space(pencil.A.toarray())[1]
    K = Z.T @ (pencil.K @ Z)
    K = 0.5 * (K + K.T)
    rest = complement(null_directions(K)[0])
    negative = int(np.sum(np.linalg.eigvalsh(rest.T @ K @ rest) < 0.0)) if rest.size else 0
    return Stability(negative, K.shape[0] - rest.shape[1])


def _by_pivots(pencil: Pencil) -> Stability:
    """Count the signs of the pivots, with a stiffness a little larger and a little smaller than it is.

    Positions have no stiffness of their own in K_c, which would make poor pivots; A^T S A gives them one and changes nothing on
    A x = 0.
    """
    K, A = pencil.K, pencil.A
    size = np.asarray(abs(K).sum(axis=1)).ravel()
    inertia = np.asarray(abs(pencil.M).sum(axis=1)).ravel()
    rounding = sp.diags_array(np.where(size > 0.0, size, np.where(inertia > 0.0, inertia, 1.0)), format="csc")
    parts = [sp.csc_array(0.5 * (K + K.T)), stiffness_of_rows(K, A), rounding]
    rounded, eps = (SLENDER_ROUNDING, SLENDER_ROUNDING / 10.0) if pencil.slender else (ROUNDING, None)
    combination, counts = CombinationSolver(parts, A, eps=eps), []
    for weight in (1.0, -1.0):
        combination.factorize(parts, [1.0, 1.0, weight * rounded], A)
        counts.append(combination.solver.negative_directions())
    return Stability(counts[0], counts[1] - counts[0])


def _has_potential(pencil: Pencil) -> bool:
    """Return whether K is symmetric for displacements that the joints allow, tried on random ones."""
    M, K, A = pencil.M, pencil.K, pencil.A
    solver = SaddleSolver(M, A)
    solver.factorize(M.data, A.data, check=False)
    pushes, none = np.random.default_rng(0).standard_normal((2, K.shape[0])), np.zeros(A.shape[0])
    x, y = (solver.least_squares(push, none).x for push in pushes)
    size = np.abs(x) @ (abs(K) @ np.abs(y))
    return bool(abs(x @ (K @ y) - y @ (K @ x)) <= _SYMMETRIC * size)


def _by_modes(pencil: Pencil) -> Stability:
    """Count the modes that grow, among those nearest to zero where the system is large."""
    found = spectrum(pencil, _FEW if pencil.K.shape[0] > 1500 else None)
    s = found.eigenvalues
    grows = s.real > 1e-9 * np.abs(s)
    return Stability(int(grows.sum()), found.zero_modes)
