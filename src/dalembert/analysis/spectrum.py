"""Eigenvalues of the constrained pencil ``(s^2 M + s D + K) x + A^T l = 0, A x = 0``, K not symmetric in general.

Small systems: the motions that the joints leave, ``x = Z y`` with A Z = 0, and dense eigenvalues. Zero and infinite ones are
split off before (`linalg.null`), not recognised afterwards by their size. K and D without damping: ``K y = w M y`` and s^2 =
-w.

Large systems: never a dense matrix. ARPACK finds the eigenvalues nearest to a shift from solves with the factors of one saddle
system, by Saad's shift-invert:

    no damping      x -> (K - sigma M)^-1 M x                                      w = sigma + 1/nu, sigma a little below zero
    damping         p, r -> x, v = p + sigma x,                                    s = sigma + 1/nu
                    (K + sigma D + sigma^2 M) x + A^T l = -(D + sigma M) p - M r

The start vector is purged of what the constraints forbid by two applications of the operator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

from dalembert.analysis import rolling
from dalembert.analysis.pencil import Pencil
from dalembert.errors import SolveError
from dalembert.kernel.vec3 import Array
from dalembert.linalg.combination import CombinationSolver
from dalembert.linalg.dense import rank_and_null_space
from dalembert.linalg.null import ROUNDING, complement, nonzero_eigenpairs, null_directions
from dalembert.linalg.saddle import SLENDER_REGULARISATION

MOST_DENSE = 400
"""Velocities of the largest system that is solved with dense matrices unless all of its modes are wanted."""

_SHIFT = 1e-2  # of the smallest |w| about: near enough for fast convergence, far enough from a singular matrix
_SLENDER = 1e-14  # rounding of the energy of a shape beside what is added up, where beams make it small

_SYMMETRIC = 1e-11  # relative to the sizes of what is added up: asymmetry that is rounding


class Spectrum(NamedTuple):
    """Modes in the order of |s|; of a conjugate pair the one with a positive imaginary part.

    Attributes
    ----------
    eigenvalues : complex array, shape (modes,)
        s [1/s]; exactly zero for neutral modes.
    shapes : complex array, shape (n, modes)
        x, of any size.
    zero_modes : int
        Directions in which the system stays wherever it is put. They come first.
    infinite : int or None
        Eigenvalues at infinity (massless coordinates); None where a part of the spectrum was computed only.
    complete : bool
        Whether these are all modes.
    """

    eigenvalues: NDArray[np.complex128]
    shapes: NDArray[np.complex128]
    zero_modes: int
    infinite: int | None
    complete: bool


def spectrum(pencil: Pencil, count: int | None = None) -> Spectrum:
    """Return the modes of a pencil, the `count` nearest to zero or all of them.

    Examples
    --------
    Two masses of 1 kg on springs of 1 and 9 N/m, tied to each other by nothing; then a third one without a spring:

    >>> def one(*values): return sp.csc_array(np.diag(values))
    >>> nothing = sp.csc_array((0, 3))
    >>> eye, zero = one(1.0, 1.0, 1.0), one(0.0, 0.0, 0.0)
    >>> pencil = Pencil(eye, zero, one(1.0, 9.0, 0.0), nothing, eye, zero, nothing, np.zeros(0, bool))
    >>> result = spectrum(pencil)
    >>> result.eigenvalues.imag.round(12).tolist(), result.zero_modes
    ([0.0, 1.0, 3.0], 1)
    """
    n = pencil.K.shape[0]
    if count is None or n <= MOST_DENSE or 6 * count > n or not pencil.holonomic.all():
        return _cut(_dense(pencil), count)
    return _cut(_sparse(pencil, count), count)


def _cut(found: Spectrum, count: int | None) -> Spectrum:
    """Return the first modes, in order."""
    zero = found.eigenvalues == 0.0
    order = np.lexsort([found.eigenvalues.imag, -found.eigenvalues.real, np.abs(found.eigenvalues).round(12), ~zero])
    kept = order if count is None else order[:count]
    complete = found.complete and kept.size == order.size
    return found._replace(eigenvalues=found.eigenvalues[kept], shapes=found.shapes[:, kept], complete=complete)


def _upper(values: NDArray[np.complex128]) -> NDArray[np.bool_]:
    """Return which of the eigenvalues of a real matrix to keep: one of each conjugate pair."""
    return np.asarray(values.imag >= 0.0)


def _roots(w: NDArray[np.complex128], x: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return s with s^2 = -w and their shapes: one root for w > 0, both for w < 0 and for a pair of complex w."""
    values, shapes = [], []
    for k, one in enumerate(w):
        root = np.sqrt(-complex(one))
        pair = (root,) if one.imag == 0.0 and one.real >= 0.0 else (root, -root)
        if one.imag < 0.0:  # its conjugate stands for it
            continue
        for s in pair:
            values.append(complex(0.0, abs(s.imag)) if len(pair) == 1 else (s if s.imag >= 0.0 else s.conjugate()))
            shapes.append(x[:, k] if s.imag >= 0.0 else x[:, k].conj())
    return np.array(values, dtype=complex), np.array(shapes, dtype=complex).reshape(len(values), x.shape[0]).T


# --- dense ------------------------------------------------------------------------------------------------------------


def _dense(pencil: Pencil) -> Spectrum:
    """Return all modes by way of independent coordinates."""
    if not pencil.holonomic.all():
        return _nonholonomic(pencil)
    Z = rank_and_null_space(pencil.A.toarray())[1]
    M, D, K = (Z.T @ (part @ Z) for part in pencil[:3])
    if np.abs(D).max(initial=0.0) <= 1e-14 * np.abs(pencil.D).max() if pencil.D.nnz else True:
        values, shapes, zeros, infinite = _undamped(M, K)
    else:
        values, shapes, zeros, infinite = _damped(M, D, K)
    return Spectrum(values, Z @ shapes, zeros, infinite, True)


def _nonholonomic(pencil: Pencil) -> Spectrum:
    """Return all modes where some rows restrict velocities only (`rolling`)."""
    positions, _, state, _, n = rolling.reduced(pencil)
    k = state.shape[0] - n
    balance = np.sqrt(max(np.abs(state[n:, :n]).max(initial=0.0), 1e-300)) if k else 1.0
    scale = np.concatenate([np.ones(n), np.full(k, balance)])
    neutral = null_directions(state)[0]
    pairs = nonzero_eigenpairs(state * scale / scale[:, None])
    kept = _upper(pairs.values)
    shapes = np.hstack([neutral.astype(complex), scale[:, None] * pairs.vectors[:, kept]])
    values = np.concatenate([np.zeros(neutral.shape[1]), pairs.values[kept]])
    return Spectrum(values, positions @ shapes, neutral.shape[1], 0, True)


Modes = tuple[NDArray[np.complex128], NDArray[np.complex128], int, int]


def _undamped(M: Array, K: Array) -> Modes:
    """Return modes of ``K y = w M y``: values, shapes, neutral modes, infinite eigenvalues.

    With the null vectors N and W of K (right, left), all other eigenvectors y have W^T M y = 0.
    """
    N, W = null_directions(K)
    P, Y = complement(M.T @ W), complement(M @ N)
    if N.shape[1] and np.linalg.cond(W.T @ M @ N) > 1e9:  # K has a Jordan chain at zero: rare, and nothing to be split off
        raise SolveError("a neutral direction and its dual are orthogonal in the mass metric: the modes are not separable")
    M, K = Y.T @ M @ P, Y.T @ K @ P
    massless = null_directions(M)[0].shape[1]
    symmetric = np.abs(K - K.T).max(initial=0.0) <= _SYMMETRIC * np.abs(K).max(initial=0.0)
    infinite = 0
    w: Any
    y: Any
    if massless:  # from the reversed pencil: M y = nu K y, whose zeros are the infinite w
        pairs = nonzero_eigenpairs(np.asarray(np.linalg.solve(K, M), float))
        w, y, infinite = 1.0 / pairs.values, pairs.vectors, 2 * pairs.zeros
    elif symmetric:
        w, y = scipy.linalg.eigh(0.5 * (K + K.T), 0.5 * (M + M.T)) if K.size else (np.zeros(0), np.zeros((0, 0)))
    else:
        w, y = scipy.linalg.eig(K, M)
    w = np.where(np.abs(w.imag) <= 1e-12 * np.abs(w), w.real, w).astype(complex)
    values, shapes = _roots(w, P @ y.astype(complex))
    zero = np.zeros(N.shape[1], complex)
    return np.concatenate([zero, values]), np.hstack([N, shapes]), N.shape[1], infinite


def _damped(M: Array, D: Array, K: Array) -> Modes:
    """Return modes of ``s E z = S z`` for z = (y, y'): values, shapes, neutral modes, infinite eigenvalues."""
    n = K.shape[0]
    neutral = null_directions(K)[0]
    eye, zero = np.eye(n), np.zeros((n, n))
    S, E = np.block([[zero, eye], [-K, -D]]), np.block([[eye, zero], [zero, M]])
    if null_directions(M)[0].shape[1] == 0:
        balance = np.sqrt(max(np.abs(np.linalg.solve(M, K)).max(initial=0.0), 1e-300))  # so that y' is about as large as y
        scale = np.concatenate([np.ones(n), np.full(n, balance)])
        pairs = nonzero_eigenpairs(np.linalg.solve(E, S) * scale / scale[:, None])
        values, vectors, infinite = pairs.values, scale[:, None] * pairs.vectors, 0
    else:
        values, vectors, infinite = _singular(S, E)
    kept = _upper(values)
    values, shapes = values[kept], vectors[:n, kept]
    return np.concatenate([np.zeros(neutral.shape[1]), values]), np.hstack([neutral, shapes]), neutral.shape[1], infinite


def _singular(S: Array, E: Array) -> tuple[NDArray[np.complex128], NDArray[np.complex128], int]:
    """Return the finite values of ``s E z = S z`` that are not zero, for a singular E, and how many are infinite.

    T = (S - sigma E)^-1 E has nu = 1/(s - sigma): zero for the infinite s. On the rest, T^-1 + sigma has s itself.
    """
    sigma = np.abs(S).max() / max(np.abs(E).max(), 1e-300)
    T = np.linalg.solve(S - sigma * E, E)
    chain = []
    while True:
        N = null_directions(T)[0]
        if N.shape[1] == 0:
            break
        Q = complement(N)
        chain.append((T, N, Q))
        T = Q.T @ T @ Q
    pairs = nonzero_eigenpairs(np.linalg.inv(T) + sigma * np.eye(T.shape[0]))
    vectors = pairs.vectors
    for T, N, Q in reversed(chain):
        vectors = Q @ vectors + N @ ((N.T @ T @ Q @ vectors) * (pairs.values - sigma))
    return pairs.values, vectors, sum(N.shape[1] for _, N, _ in chain)


# --- sparse -----------------------------------------------------------------------------------------------------------


def _sparse(pencil: Pencil, count: int) -> Spectrum:
    """Return the modes nearest to zero by ARPACK."""
    M, D, K, A, *_ = pencil
    parts = [K, M, D]
    combination = CombinationSolver(parts, A, eps=SLENDER_REGULARISATION if pencil.slender else None)
    w = _smallest(combination, pencil)
    if D.nnz == 0 or not np.abs(D.data).any():
        values, shapes = _sparse_undamped(combination, pencil, count, -_SHIFT * w)
    else:
        values, shapes = _sparse_damped(combination, pencil, count, _SHIFT * np.sqrt(w))
    return Spectrum(values, shapes, int(np.sum(values == 0.0)), None, False)


def _is_neutral(pencil: Pencil, shapes: NDArray[np.complex128]) -> NDArray[np.bool_]:
    """Return for which shapes x^H K x is what rounding would leave of nothing."""
    K: sp.csc_array = pencil.K
    energy = np.abs(np.einsum("ij,ij->j", shapes.conj(), K @ shapes))
    bound = np.einsum("ij,ij->j", np.abs(shapes), abs(K) @ np.abs(shapes))
    return np.asarray(energy <= (_SLENDER if pencil.slender else ROUNDING) * bound)


def _smallest(combination: CombinationSolver, pencil: Pencil) -> float:
    """Return about the smallest w that is not zero, by inverse iteration with next to no shift."""
    M, D, K, A, *_ = pencil
    n = K.shape[0]
    size = float(np.abs(K.data).max(initial=0.0) / max(np.abs(M.data).max(initial=0.0), 1e-300))
    if size == 0.0:
        return 1.0
    least = (1e-6 * _SLENDER if pencil.slender else 1e-9) * size
    combination.factorize([K, M, D], [1.0, least, 0.0], A)
    x, none = np.random.default_rng(0).standard_normal(n), np.zeros(A.shape[0])
    estimate = 0.0
    for _ in range(4):
        x = combination.solver.least_squares(M @ x, none).x
        x /= np.sqrt(max(x @ (M @ x), 1e-300))
        estimate = abs(float(x @ (K @ x)))
    return max(estimate, least)


def _arpack(operator: LinearOperator, start: Array, count: int) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the largest eigenvalues of an operator."""
    for _ in range(2):  # what the constraints forbid does not survive
        start = operator @ start
        start /= np.linalg.norm(start)
    size = operator.shape[0]
    try:
        values, vectors = eigs(operator, k=count, which="LM", v0=start, ncv=min(size, max(2 * count + 1, 20)), tol=1e-14)
    except ArpackNoConvergence as error:
        if error.eigenvalues.size == 0:
            raise SolveError(f"none of {count} eigenvalues converged; ask for fewer modes, or for all of them") from error
        values, vectors = error.eigenvalues, error.eigenvectors
    return values, vectors


def _sparse_undamped(
    combination: CombinationSolver, pencil: Pencil, count: int, sigma: float
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    M, D, K, A, *_ = pencil
    n, none = K.shape[0], np.zeros(A.shape[0])
    combination.factorize([K, M, D], [1.0, -sigma, 0.0], A)
    solve = combination.solver.least_squares
    operator = LinearOperator((n, n), matvec=lambda x: solve(M @ np.ravel(x), none).x, dtype=float)
    nu, x = _arpack(operator, np.random.default_rng(0).standard_normal(n), count)
    w = sigma + 1.0 / nu
    w = np.where(np.abs(w.imag) <= 1e-9 * np.abs(w), w.real, w).astype(complex)
    w = np.where(_is_neutral(pencil, x), 0.0, w)
    order = np.argsort(np.abs(w))
    return _roots(w[order], x[:, order])


def _sparse_damped(
    combination: CombinationSolver, pencil: Pencil, count: int, sigma: float
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    M, D, K, A, *_ = pencil
    n, none = K.shape[0], np.zeros(A.shape[0])
    combination.factorize([K, M, D], [1.0, sigma**2, sigma], A)

    def apply(z: Array) -> Array:
        p, r = np.ravel(z)[:n], np.ravel(z)[n:]
        x = combination.solver.least_squares(-(D @ p) - sigma * (M @ p) - M @ r, none).x
        return np.concatenate([x, p + sigma * x])

    operator = LinearOperator((2 * n, 2 * n), matvec=apply, dtype=float)
    nu, z = _arpack(operator, np.random.default_rng(0).standard_normal(2 * n), min(2 * count + 2, 2 * n - 2))
    s = sigma + 1.0 / nu
    s = np.where(_is_neutral(pencil, z[:n]) & (np.abs(s) < 0.1 * sigma), 0.0, s)
    kept = _upper(s)
    return s[kept], z[:n, kept]
