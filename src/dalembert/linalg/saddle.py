"""The one linear solve of the library.

    [ M   A^T ] [ x   ]   [ f ]        M n-by-n, symmetric in its pattern; may be singular (massless bodies), unsymmetric
    [ A    0  ] [ lam ] = [ b ]        A m-by-n; its rows may depend on each other (redundant constraints)

x is unique when [M; A] has rank n and b is in the range of A. Among all lam that fit, the one with the smallest
``sum(weights * lam**2)`` is meant: the Moore-Penrose solution for weights of one. How the parts compose:

1. Scaling (`equilibrate`). Unknowns and rows are scaled by powers of two, so that scaling rounds nothing: M to a unit
   diagonal, then every row of A to a largest entry of one. In these coordinates a single small number suits all units.
2. Factorisation (`factorize`). Of the quasi-definite matrix

        K = [ M + eps I    A^T  ]
            [ A           -mu I ]

   which has an LU factorisation in every symmetric order (Vanderbei 1995), so that `sparse_lu` needs no search for pivots.
3. Refinement (`solve_refined`). From y = 0, repeat ``y += K^-1 (rhs - K0 y)`` with the residual of the true matrix K0
   (eps = mu = 0). This is iterative refinement and the proximal method of multipliers (Rockafellar 1976) at once: it goes to
   the exact x and to a lam that fits, with a factor of about eps or mu a pass. Two or three passes reach rounding level.
4. Smallest multipliers (`factorize_metric`, `minimum_norm`). With redundant rows a rounding error of b, divided by mu,
   strays into the null space of A^T. The multiplier is therefore made anew as ``lam = W^-1 A y``, which is in the right space
   whatever y is, with the factors of ``[eps, A^T; A, -W]``. Nothing is to be done where lam is unique.

Where `factorize` meets a zero pivot or `solve_refined` stalls, `SaddleSolver` takes larger eps and mu, then SuperLU with
pivots, and then says what is wrong with the system. The sizes of eps and mu are a compromise. A pass leaves eps and mu times
the condition of the scaled system, and 1e-16 / eps from rounding; a massless column that is eliminated before its rows makes an
entry 1 / eps, beside which mu vanishes when ``eps * mu < 1e-16``.

All of 1 to 4 are compiled loops over arrays that allocate nothing, to be called from other compiled loops:

    set_values(plan, work, M_values, A_values)               after every change of the matrices
    failed = factorize(plan, work, REGULARISATION)           when the factors are to be renewed; -1 if all is well
    residual, passes = solve_refined(plan, work, f, b, x, lam, 10, False)

`set_values` without `factorize` keeps old factors for a new matrix: the residual is that of the new one, and the passes
converge as long as the old is near.

References
----------
R. J. Vanderbei, Symmetric quasidefinite matrices, SIAM J. Optim. 5 (1995). R. T. Rockafellar, Augmented Lagrangians and
applications of the proximal point algorithm in convex programming, Math. Oper. Res. 1 (1976).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from dalembert.errors import SolveError
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array, copy
from dalembert.linalg.ordering import Index
from dalembert.linalg.sparse_lu import LuPlan, allocate, analyse_lu, count_negative_pivots, solve_ordered
from dalembert.linalg.sparse_lu import factorize as factorize_lu

REGULARISATION = 1e-10
"""eps and mu of the scaled system, where nothing asks for more."""

STRONG_REGULARISATION = 1e-7
"""eps and mu for massless unknowns and for null vectors: ``eps * mu`` is still seen beside one."""

SLENDER_REGULARISATION = 1e-15
"""eps for the stiffness of slender beams, which is that much smaller across than along."""

METRIC_REGULARISATION = 1e-12
"""eps of the smallest multipliers, relative to the squared singular values of A."""

ROUNDING = 1e-15
"""A relative residual that is not worth another pass."""

_SLOW = 0.5  # a pass that gains less than this factor is the last one
_ACCURATE = 1e-12  # a relative residual that needs no explanation
_FORCES = 1e-3  # part of the forces that counts in the size of an acceleration, scaled
_NULL = 1e-9  # K0 times a null vector is smaller than this, scaled
_NEGLIGIBLE = 1e-12  # an entry of A beside the largest of its row or column
_MEMBER = 1e-6  # what is smaller than this, relative to the largest, takes no part in a null vector


class InconsistentConstraintsError(SolveError):
    """No x satisfies all constraint rows.

    Attributes
    ----------
    rows : array of int
        The rows of A that contradict each other.
    mismatch : float
        Largest residual ``|A x - b|`` of these rows, in the units of b.
    """

    def __init__(self, rows: Index, mismatch: float) -> None:
        self.rows = rows
        self.mismatch = mismatch
        super().__init__(
            f"the constraint rows {_listed(rows)} contradict each other: they depend on one another, "
            f"and their right sides differ by {mismatch:.3g} from any that could be met"
        )


class UndeterminedUnknownsError(SolveError):
    """[M; A] has not full rank: some x moves without inertia (or stiffness) and without constraint.

    Attributes
    ----------
    columns : array of int
        The unknowns that take part in such motions.
    """

    def __init__(self, columns: Index) -> None:
        self.columns = columns
        super().__init__(
            f"the unknowns {_listed(columns)} are not determined: [M; A] has not full rank, "
            "they can move without inertia or stiffness and without violating a constraint"
        )


def _vector(name: str, values: Array, size: int) -> Array:
    """Return a contiguous vector, checked."""
    vector = np.ascontiguousarray(values, dtype=float)
    if vector.shape != (size,):
        raise ValueError(f"{name} has the shape {vector.shape}, but {size} numbers are needed")
    if not np.isfinite(vector).all():
        raise SolveError(f"{name} of the saddle system contains numbers that are not finite")
    return vector


def _listed(numbers: Index) -> str:
    """Return the first dozen numbers as text."""
    return f"[{', '.join(str(k) for k in numbers[:12])}{f', ... ({numbers.size} in all)' if numbers.size > 12 else ''}]"


class SaddlePlan(NamedTuple):
    """The pattern of a saddle system, analysed. Places are places in the elimination order.

    Attributes
    ----------
    lu : LuPlan
        Plan of the factorisation.
    place : array of int, shape (n + m,)
        Place of each unknown: x first, then lam.
    m_row, m_col : array of int
        Places of the entries of M.
    a_row, a_col : array of int
        Places of the entries of A; ``a_row`` is that of the multiplier.
    n, m : int
        Number of unknowns x and of constraint rows.
    """

    lu: LuPlan
    place: Index
    m_row: Index
    m_col: Index
    a_row: Index
    a_col: Index
    n: int
    m: int


class SaddleWork(NamedTuple):
    """The numbers of one saddle system; all vectors in elimination order and scaled.

    Attributes
    ----------
    scale : array, shape (n + m,)
        The unknowns are ``scale * y``.
    values : array
        Scaled entries of M, those of A, then the diagonal that regularises.
    store : array
        Factors.
    y, rhs, residual, step : array, shape (n + m,)
        Solution, right side, residual, last correction.
    """

    scale: Array
    values: Array
    store: Array
    y: Array
    rhs: Array
    residual: Array
    step: Array


def _entries(matrix: Any) -> sp.coo_matrix:
    """Return a matrix as coordinate entries, in the order of its values."""
    return matrix if sp.issparse(matrix) and matrix.format == "coo" else sp.coo_matrix(matrix)


def analyse_saddle(M: Any, A: Any) -> SaddlePlan:
    """Return the plan for saddle systems with the patterns of M and A.

    Parameters
    ----------
    M, A : sparse matrix or array
        Only the patterns count. The order of the entries (``.data`` of a COO, CSC or CSR matrix) is the order of the values
        that `set_values` takes; several entries at one place are added.
    """
    m_entries, a_entries = _entries(M), _entries(A)
    n = a_entries.shape[1]
    if m_entries.shape != (n, n):
        raise ValueError(f"M is {m_entries.shape}, but A has {n} columns")
    places = [np.asarray(part, dtype=np.int32).tobytes() for one in (m_entries, a_entries) for part in (one.row, one.col)]
    return _analyse(a_entries.shape, *places)


@functools.lru_cache(maxsize=8)
def _analyse(shape: tuple[int, int], *places: bytes) -> SaddlePlan:
    """Return the plan for the places of the entries of M and A; analyses of one model meet the same patterns again."""
    (m, n), size = shape, sum(shape)
    m_row, m_col, a_row, a_col = (np.frombuffer(part, dtype=np.int32).astype(np.intp) for part in places)
    a_row = a_row + n
    diagonal = np.arange(size)
    number_m, number_a = np.arange(m_row.size), np.arange(a_row.size) + m_row.size
    lu = analyse_lu(
        np.concatenate([m_row, a_row, a_col, diagonal]),
        np.concatenate([m_col, a_col, a_row, diagonal]),
        size,
        source=np.concatenate([number_m, number_a, number_a, diagonal + m_row.size + a_row.size]),
    )
    place = np.argsort(lu.order).astype(np.intp)
    return SaddlePlan(lu, place, place[m_row], place[m_col], place[a_row], place[a_col], n, m)


def allocate_work(plan: SaddlePlan) -> SaddleWork:
    """Return the arrays that the compiled functions fill; scaled by one until `equilibrate` is called."""
    size = plan.n + plan.m
    values = np.zeros(plan.m_row.size + plan.a_row.size + size)
    return SaddleWork(np.ones(size), values, allocate(plan.lu), *(np.zeros(size) for _ in range(4)))


@compiled
def _power_of_two(x: float) -> float:
    """Return the power of two nearest to x > 0, in the logarithm."""
    return float(2.0 ** np.rint(np.log2(x)))


@compiled
def _largest(values: Array) -> float:
    """Return the largest absolute value."""
    result = 0.0
    for value in values:
        result = max(result, abs(value))
    return result


@compiled
def _scale_mass(plan: SaddlePlan, work: SaddleWork, m_values: Array) -> None:
    """Scale the unknowns so that the largest entry of each row and column of M is one; zero where M has none."""
    scale, largest = work.scale, work.step
    scale[:] = 1.0
    for sweep in range(8):
        largest[:] = 0.0
        for e in range(m_values.size):
            i, j = plan.m_row[e], plan.m_col[e]
            value = abs(m_values[e]) * scale[i] * scale[j]
            largest[i] = max(largest[i], value)
            largest[j] = max(largest[j], value)
        if sweep == 0:
            negligible = 1e-14 * _largest(largest)
            for k in range(plan.n):
                i = plan.place[k]
                if largest[i] <= negligible:
                    scale[i] = 0.0
        for i in range(scale.size):
            if scale[i] * largest[i] > 0.0:
                scale[i] /= math.sqrt(largest[i])


@compiled
def equilibrate(plan: SaddlePlan, work: SaddleWork, m_values: Array, a_values: Array) -> bool:
    """Choose the scales for these values; `set_values` must follow.

    Returns
    -------
    bool
        True if some unknowns have no entry in M (massless): they ask for `STRONG_REGULARISATION`.
    """
    scale, largest = work.scale, work.step
    _scale_mass(plan, work, m_values)
    massless = False
    for k in range(plan.n):
        massless = massless or scale[plan.place[k]] == 0.0
    for k in range(plan.n, plan.n + plan.m):
        scale[plan.place[k]] = 0.0
    # Rows from the unknowns that have a scale, then unknowns without one from the rows that have one, and so on; what is
    # rounding beside the largest entry of its row or column says nothing about a size.
    entries = work.residual
    entries[:] = 0.0
    for e in range(a_values.size):
        entries[plan.a_row[e]] = max(entries[plan.a_row[e]], abs(a_values[e]))
        entries[plan.a_col[e]] = max(entries[plan.a_col[e]], abs(a_values[e]))
    for _ in range(10 if massless else 1):
        largest[:] = 0.0
        for e in range(a_values.size):
            i, value = plan.a_row[e], abs(a_values[e])
            if value > _NEGLIGIBLE * entries[i]:
                largest[i] = max(largest[i], value * scale[plan.a_col[e]])
        for k in range(plan.n, plan.n + plan.m):
            i = plan.place[k]
            scale[i] = 1.0 / largest[i] if largest[i] > 0.0 else 0.0
        largest[:] = 0.0
        for e in range(a_values.size):
            i, value = plan.a_col[e], abs(a_values[e])
            if value > _NEGLIGIBLE * entries[i]:
                largest[i] = max(largest[i], value * scale[plan.a_row[e]])
        for k in range(plan.n):
            i = plan.place[k]
            if scale[i] == 0.0 and largest[i] > 0.0:
                scale[i] = 1.0 / largest[i]
    for i in range(scale.size):
        scale[i] = _power_of_two(scale[i]) if 0.0 < scale[i] < np.inf else 1.0
    return massless


@compiled
def set_values(plan: SaddlePlan, work: SaddleWork, m_values: Array, a_values: Array) -> None:
    """Take new values of M and A. The factors stay those of the old values until `factorize` is called."""
    scale, values = work.scale, work.values
    for e in range(m_values.size):
        values[e] = m_values[e] * scale[plan.m_row[e]] * scale[plan.m_col[e]]
    for e in range(a_values.size):
        values[m_values.size + e] = a_values[e] * scale[plan.a_row[e]] * scale[plan.a_col[e]]


@compiled
def _set_diagonal(plan: SaddlePlan, work: SaddleWork, eps: float, mu: float) -> None:
    """Set what regularises the matrix."""
    begin = plan.m_row.size + plan.a_row.size
    for k in range(plan.n):
        work.values[begin + k] = eps
    for k in range(plan.n, plan.n + plan.m):
        work.values[begin + k] = -mu


@compiled
def factorize(plan: SaddlePlan, work: SaddleWork, regularisation: float) -> int:
    """Factorise ``[M + eps I, A^T; A, -mu I]``, scaled, with ``eps = mu = regularisation``.

    Returns
    -------
    int
        -1, or the number of the front in which a pivot was zero or not finite.
    """
    _set_diagonal(plan, work, regularisation, regularisation)
    return factorize_lu(plan.lu, work.values, work.store)


@compiled
def _load(plan: SaddlePlan, work: SaddleWork, f: Array, b: Array, out: Array) -> None:
    """Scale a right side and put it in elimination order."""
    for k in range(plan.n):
        i = plan.place[k]
        out[i] = work.scale[i] * f[k]
    for k in range(plan.m):
        i = plan.place[plan.n + k]
        out[i] = work.scale[i] * b[k]


@compiled
def _store(plan: SaddlePlan, work: SaddleWork, x: Array, lam: Array) -> None:
    """Take the solution out of ``work.y``."""
    for k in range(plan.n):
        i = plan.place[k]
        x[k] = work.scale[i] * work.y[i]
    for k in range(plan.m):
        i = plan.place[plan.n + k]
        lam[k] = work.scale[i] * work.y[i]


@compiled
def _start(plan: SaddlePlan, work: SaddleWork, x: Array, lam: Array, warm: bool) -> None:
    """Set ``work.y`` to zero or to a given solution."""
    work.y[:] = 0.0
    if warm:
        for k in range(plan.n):
            i = plan.place[k]
            work.y[i] = x[k] / work.scale[i]
        for k in range(plan.m):
            i = plan.place[plan.n + k]
            work.y[i] = lam[k] / work.scale[i]


@compiled
def _subtract_product(plan: SaddlePlan, values: Array, y: Array, out: Array) -> float:
    """Subtract K0 y, with K0 the scaled matrix without regularisation; return the largest term of M x."""
    entries, largest = plan.m_row.size, 0.0
    for e in range(entries):
        term = values[e] * y[plan.m_col[e]]
        out[plan.m_row[e]] -= term
        largest = max(largest, abs(term))
    for e in range(plan.a_row.size):
        i, j, value = plan.a_row[e], plan.a_col[e], values[entries + e]
        out[i] -= value * y[j]
        out[j] -= value * y[i]
    return largest


@compiled
def constraint_product(plan: SaddlePlan, work: SaddleWork, x: Array, out: Array) -> None:
    """Write A x, with the A of `set_values`: a right side that redundant rows can meet; overwrites ``work.step``."""
    product, begin = work.step, plan.m_row.size
    for i in range(product.size):
        product[i] = 0.0
    for k in range(plan.n):
        i = plan.place[k]
        product[i] = x[k] / work.scale[i]
    for e in range(plan.a_row.size):  # a row's own place is not read as a column
        product[plan.a_row[e]] += work.values[begin + e] * product[plan.a_col[e]]
    for k in range(plan.m):
        i = plan.place[plan.n + k]
        out[k] = product[i] / work.scale[i]


@compiled
def _residual(plan: SaddlePlan, work: SaddleWork) -> float:
    """Set ``work.residual = rhs - K0 y``; return the largest term of M x."""
    copy(work.residual, work.rhs)
    return _subtract_product(plan, work.values, work.y, work.residual)


@compiled
def _relative_residual(plan: SaddlePlan, work: SaddleWork, size_mx: float) -> float:
    """Return the larger of |f - M x - A^T lam| / (|f| + |M x| + |lam|) and |b - A x| / (|b| + |x|), in largest entries.

    An x of zero is the difference of forces and only as exact as these: hence a small part of them beside |x|.
    """
    error_f = error_b = size_f = size_b = size_x = size_lam = 0.0
    for k in range(plan.n):
        i = plan.place[k]
        error_f = max(error_f, abs(work.residual[i]))
        size_f = max(size_f, abs(work.rhs[i]))
        size_x = max(size_x, abs(work.y[i]))
    for k in range(plan.n, plan.n + plan.m):
        i = plan.place[k]
        error_b = max(error_b, abs(work.residual[i]))
        size_b = max(size_b, abs(work.rhs[i]))
        size_lam = max(size_lam, abs(work.y[i]))
    for i in range(work.y.size):  # max() is blind to NaN
        if not abs(work.residual[i]) < np.inf:
            return np.inf
    relative_f = error_f / (size_f + size_mx + size_lam) if error_f > 0.0 else 0.0
    relative_b = error_b / (size_b + size_x + _FORCES * (size_f + size_lam)) if error_b > 0.0 else 0.0
    return max(relative_f, relative_b)


@compiled
def _relative_step(plan: SaddlePlan, work: SaddleWork) -> float:
    """Return how far the last pass moved x, relative to x, in largest entries."""
    size = step = 0.0
    for k in range(plan.n):
        i = plan.place[k]
        size = max(size, abs(work.y[i]))
        step = max(step, abs(work.step[i]))
    return step / size if size > 0.0 else 0.0


@compiled
def _is_last(residual: float, residual_before: float, moved: float, moved_before: float) -> bool:
    """Return whether another pass would be in vain.

    Passes gain a constant factor. At rounding level, x may still converge where the system is ill-conditioned.
    """
    if residual > ROUNDING:
        return residual > _SLOW * residual_before
    return moved > _SLOW * moved_before or moved * moved <= 10.0 * ROUNDING * moved_before


@compiled
def solve_refined(
    plan: SaddlePlan, work: SaddleWork, f: Array, b: Array, x: Array, lam: Array, passes: int, warm: bool
) -> tuple[float, int]:
    """Solve the saddle system of `set_values` with the factors of `factorize`.

    Parameters
    ----------
    plan, work
        Pattern and numbers.
    f, b : array, shape (n,) and (m,)
        Right sides.
    x, lam : array, shape (n,) and (m,)
        Solution, overwritten.
    passes : int
        Largest number of passes; one is a plain solve with the factors.
    warm : bool
        Start from the x and lam given, not from zero.

    Returns
    -------
    residual : float
        Relative residual of the scaled system: about 1e-16 when all is well. Compare it with what can be accepted; NaN and
        overflow come as infinity. After a single pass it is not known, and zero.
    passes : int
        Passes made.
    """
    _load(plan, work, f, b, work.rhs)
    _start(plan, work, x, lam, warm)
    if warm:
        _residual(plan, work)
    else:
        copy(work.residual, work.rhs)
    best, moved, done = np.inf, 1.0, 0
    while done < passes:
        copy(work.step, work.residual)
        solve_ordered(plan.lu, work.store, work.step)
        for i in range(work.y.size):
            work.y[i] += work.step[i]
        done += 1
        if passes == 1:
            best = 0.0
            break
        now, before = _relative_residual(plan, work, _residual(plan, work)), moved
        moved = _relative_step(plan, work)
        if not now < best and now > ROUNDING:  # worse: back to the last one
            for i in range(work.y.size):
                work.y[i] -= work.step[i]
            _residual(plan, work)
            break
        stop = _is_last(now, best, moved, before)
        best = now
        if stop:
            break
    _store(plan, work, x, lam)
    return best, done


@compiled
def factorize_metric(plan: SaddlePlan, work: SaddleWork, a_values: Array, weights: Array, eps: float) -> int:
    """Factorise ``[eps, A^T; A, -W]`` for `minimum_norm`, in a work of its own.

    Parameters
    ----------
    plan : SaddlePlan
        The plan of the saddle system.
    work : SaddleWork
        Another one than that of the saddle system.
    a_values : array
        Entries of A.
    weights : array, shape (m,)
        Positive weights of the squared multipliers.
    eps : float
        Relative to the squared singular values of A; `METRIC_REGULARISATION` as a rule.

    Returns
    -------
    int
        -1, or the number of the front in which a pivot was zero or not finite.
    """
    scale, largest, entries = work.scale, work.step, plan.m_row.size
    scale[:] = 0.0
    for k in range(plan.m):  # W to one by the scale of the rows; the columns to a largest entry of one by theirs
        scale[plan.place[plan.n + k]] = 1.0 / math.sqrt(weights[k])
    largest[:] = 0.0
    for e in range(a_values.size):
        largest[plan.a_col[e]] = max(largest[plan.a_col[e]], abs(a_values[e]) * scale[plan.a_row[e]])
    for k in range(plan.n):
        i = plan.place[k]
        scale[i] = 1.0 / largest[i] if largest[i] > 0.0 else 1.0
    work.values[:entries] = 0.0
    for e in range(a_values.size):
        work.values[entries + e] = a_values[e] * scale[plan.a_row[e]] * scale[plan.a_col[e]]
    _set_diagonal(plan, work, eps, 1.0)
    return factorize_lu(plan.lu, work.values, work.store)


@compiled
def minimum_norm(plan: SaddlePlan, work: SaddleWork, lam: Array, passes: int) -> float:
    """Replace lam by the smallest with the same ``A^T lam``, in the metric of `factorize_metric`.

    Repeats ``y = [eps, A^T; A, -1]^-1 [residual of A^T lam; 0]``, ``lam += A y``, in scaled variables.

    Returns
    -------
    float
        Relative residual of ``A^T lam``.
    """
    residual, step, new, entries = work.residual, work.step, work.y, plan.m_row.size
    residual[:] = 0.0
    new[:] = 0.0
    for e in range(plan.a_row.size):
        i, j = plan.a_row[e], plan.a_col[e]
        residual[j] += work.values[entries + e] * lam[plan.lu.order[i] - plan.n] / work.scale[i]
    first = best = _largest(residual)
    for _ in range(passes):
        if best <= ROUNDING * first:
            break
        copy(step, residual)
        solve_ordered(plan.lu, work.store, step)
        for k in range(plan.n, plan.n + plan.m):
            step[plan.place[k]] = 0.0
        for e in range(plan.a_row.size):
            step[plan.a_row[e]] += work.values[entries + e] * step[plan.a_col[e]]
        for e in range(plan.a_row.size):
            residual[plan.a_col[e]] -= work.values[entries + e] * step[plan.a_row[e]]
        now = _largest(residual)
        if not now < best:
            break
        for k in range(plan.n, plan.n + plan.m):
            new[plan.place[k]] += step[plan.place[k]]
        slow = now > 0.9 * best
        best = now
        if slow:
            break
    if first > 0.0 and best < first:
        for k in range(plan.m):
            i = plan.place[plan.n + k]
            lam[k] = work.scale[i] * new[i]
    return best / first if first > 0.0 else 0.0


class SaddleSolution(NamedTuple):
    """A solution and how much it may be believed.

    Attributes
    ----------
    x : array, shape (n,)
        Unknowns.
    lam : array, shape (m,)
        Multipliers, the smallest in the metric of the weights.
    residual : float
        Relative residual of the scaled system.
    passes : int
        Passes of refinement.
    pivoting : bool
        Whether the factorisation needed pivots.
    """

    x: Array
    lam: Array
    residual: float
    passes: int
    pivoting: bool


class SaddleSolver:
    """Saddle systems of one pattern, solved with all checks and fall-backs.

    Parameters
    ----------
    M, A : sparse matrix or array, or a SaddlePlan in place of both
        Patterns; see `analyse_saddle`.
    weights : array, shape (m,), optional
        Weights of the squared multipliers where these are not unique; ones unless given.
    tolerance : float
        Largest relative residual that is accepted.
    eps : float, optional
        Of the first factorisation, where it is not to be `REGULARISATION`: smaller for an M whose softest direction is softer
        than that, as the bending of a slender beam beside its stretching.

    Attributes
    ----------
    redundant : bool
        Whether rows of A depend on each other.

    Examples
    --------
    Two equal rows that hold a mass of 2 kg share its load of 6 N:

    >>> solver = SaddleSolver(np.eye(1), np.ones((2, 1)))
    >>> solver.factorize(np.array([2.0]), np.array([1.0, 1.0]))
    >>> solution = solver.solve(np.array([6.0]), np.zeros(2))
    >>> solution.x.round(12).tolist(), solution.lam.round(12).tolist()
    ([0.0], [3.0, 3.0])
    """

    def __init__(
        self, M: Any, A: Any = None, *, weights: Array | None = None, tolerance: float = 1e-9, eps: float | None = None
    ) -> None:
        self.plan: SaddlePlan = M if isinstance(M, SaddlePlan) else analyse_saddle(M, A)
        self.work = allocate_work(self.plan)
        self.weights = _vector("weights", np.ones(self.plan.m) if weights is None else weights, self.plan.m)
        self.tolerance = tolerance
        self.eps = eps
        self.redundant = False
        self._metric: SaddleWork | None = None
        self._pivoting: Callable[[Array], Array] | None = None
        self._levels: list[float] = []
        self._scaled = False

    def factorize(self, M_values: Array, A_values: Array, *, rescale: bool = True, check: bool = True) -> None:
        """Factorise with new values, given in the order of the pattern's entries.

        Parameters
        ----------
        M_values, A_values : array
            Entries of M and A.
        rescale : bool
            Choose the scales anew; those of the last values otherwise.
        check : bool
            Look for undetermined unknowns and for redundant rows, with factors of their own; what was found last is assumed
            otherwise.

        Raises
        ------
        UndeterminedUnknownsError
            If [M; A] has not full rank.
        """
        M_values = _vector("M_values", M_values, self.plan.m_row.size)
        A_values = _vector("A_values", A_values, self.plan.a_row.size)
        if rescale or not self._scaled:
            self._massless = equilibrate(self.plan, self.work, M_values, A_values)
            self._scaled = True
        set_values(self.plan, self.work, M_values, A_values)
        self._a_values, self._metric_eps = A_values, math.inf
        if check:
            self._levels = [STRONG_REGULARISATION]
            self._next_level()
            self._probe()
        if not (check and self._massless):
            self._levels = [STRONG_REGULARISATION] if self._massless else [REGULARISATION, STRONG_REGULARISATION]
            self._next_level()

    def solve(self, f: Array, b: Array) -> SaddleSolution:
        """Solve for one right side.

        Raises
        ------
        InconsistentConstraintsError
            If b is not in the range of A.
        SolveError
            If no factorisation brings the residual below the tolerance.
        """
        f, b = _vector("f", f, self.plan.n), _vector("b", b, self.plan.m)
        x, lam = np.empty(self.plan.n), np.empty(self.plan.m)
        while True:
            residual, passes = self._refine(f, b, x, lam)
            if residual <= _ACCURATE:
                break
            if self._pivoting is not None or self._contradiction() is not None:  # no other factors will do better
                if residual <= self.tolerance:
                    break
                self._refuse(residual)
            self._next_level()
        if self.redundant:
            self._minimum_norm(lam)
        return SaddleSolution(x, lam, float(residual), int(passes), self._pivoting is not None)

    def least_squares(self, f: Array, b: Array, *, passes: int = 3) -> SaddleSolution:
        """Return the solution after a few passes, without asking that all rows can be met: for corrections that are repeated.

        Rows that contradict each other are met in the sense of least squares, measured by the scaled rows.
        """
        x, lam = np.empty(self.plan.n), np.empty(self.plan.m)
        residual, made = self._refine(_vector("f", f, self.plan.n), _vector("b", b, self.plan.m), x, lam, passes)
        return SaddleSolution(x, lam, float(residual), int(made), self._pivoting is not None)

    def negative_directions(self) -> int:
        """Return on how many independent directions with A x = 0 a symmetric M is negative, by the signs of the pivots.

        Sylvester's law of inertia: the factors of the symmetric matrix [M, A^T; A, -mu] have m negative pivots for the rows,
        and one more for each such direction. Directions on which M is zero count as positive.
        """
        if self._pivoting is not None:
            raise SolveError("the signs of the pivots are not known: the saddle system needed a search for pivots")
        return count_negative_pivots(self.plan.lu, self.work.store) - self.plan.m

    def use_pivots(self) -> None:
        """Factorise the values of `factorize` again, by SuperLU with a search for pivots: slower, for matrices that need it."""
        self._levels = []
        self._next_level()

    def _next_level(self) -> None:
        """Factorise with the next larger regularisation, at last with pivots."""
        self._pivoting = None
        while self._levels:
            level = self._levels.pop(0)
            _set_diagonal(self.plan, self.work, level if self.eps is None else min(level, self.eps), level)
            if factorize_lu(self.plan.lu, self.work.values, self.work.store) < 0:
                return
        _set_diagonal(self.plan, self.work, REGULARISATION if self.eps is None else self.eps, REGULARISATION)
        try:
            self._pivoting = splu(self._matrix()).solve
        except RuntimeError as error:
            raise SolveError(f"the saddle system cannot be factorised: {error}") from error

    def _matrix(self) -> sp.csc_matrix:
        """Return the scaled matrix with its regularisation, in elimination order."""
        plan, size = self.plan, self.plan.n + self.plan.m
        rows = np.concatenate([plan.m_row, plan.a_row, plan.a_col, plan.place])
        cols = np.concatenate([plan.m_col, plan.a_col, plan.a_row, plan.place])
        m_part, a_part, diagonal = np.split(self.work.values, np.cumsum([plan.m_row.size, plan.a_row.size]))
        return sp.csc_matrix((np.concatenate([m_part, a_part, a_part, diagonal]), (rows, cols)), shape=(size, size))

    def _apply(self, rhs: Array) -> Array:
        """Solve with the factors, in elimination order."""
        if self._pivoting is not None:
            return self._pivoting(rhs)
        result = rhs.copy()
        solve_ordered(self.plan.lu, self.work.store, result)
        return result

    def _refine(self, f: Array, b: Array, x: Array, lam: Array, passes: int = 60) -> tuple[float, int]:
        """Solve by refinement, whatever made the factors; the pivoted ones in Python."""
        if self._pivoting is None:
            return solve_refined(self.plan, self.work, f, b, x, lam, passes, False)
        plan, work = self.plan, self.work
        _load(plan, work, f, b, work.rhs)
        work.y[:] = 0.0
        copy(work.residual, work.rhs)
        best, moved, done, stop = np.inf, 1.0, 0, False
        while done < passes and not stop:
            work.step[:] = self._apply(work.residual)
            work.y[:] += work.step
            done += 1
            now, before = _relative_residual(plan, work, _residual(plan, work)), moved
            moved = _relative_step(plan, work)
            if not now < best and now > ROUNDING:
                work.y[:] -= work.step
                _residual(plan, work)
                break
            stop = _is_last(now, best, moved, before)
            best = now
        _store(plan, work, x, lam)
        return best, done

    def _product(self, vector: Array) -> Array:
        """Return K0 times a vector, in elimination order."""
        negative = np.zeros(vector.size)
        _subtract_product(self.plan, self.work.values, vector, negative)
        return -negative

    def _null_vector(self, part: Index, start: Array) -> Array | None:
        """Return a null vector of K0 within some unknowns, scaled to a largest entry of one, or None.

        Factors that are not clear about it are replaced by those of the next level.
        """
        inside = np.zeros(start.size, dtype=bool)
        inside[self.plan.place[part]] = True
        start = np.where(inside, start, 0.0)
        while True:
            vector, clear = self._damped(start, inside)
            if clear or self._pivoting is not None:
                return vector
            self._next_level()

    def _damped(self, vector: Array, inside: NDArray[np.bool_]) -> tuple[Array | None, bool]:
        """Return what refinement for a right side of zero, ``v - K^-1 K0 v``, leaves of a vector: the part in the null space.

        Also whether it is clear: refinement that diverges or dithers says nothing.
        """
        size, left = float(np.abs(vector).max(initial=0.0)), 1.0
        for _ in range(30):
            if size == 0.0 or left < 1e-5:
                return None, True
            vector = vector / size
            product = self._product(vector)
            if np.abs(product).max() < _NULL:
                return vector, True
            vector = np.where(inside, vector - self._apply(product), 0.0)
            size = float(np.abs(vector).max(initial=0.0))
            left *= size
            if not size < 10.0:
                break
        return None, False

    def _probe(self) -> None:
        """Look for null vectors, from two random starts: one may miss them."""
        n, size = self.plan.n, self.plan.n + self.plan.m
        x_part, lam_part = np.arange(n), np.arange(n, size)
        self.redundant = False
        for start in np.random.default_rng(0).standard_normal((2, size)):
            free = self._null_vector(x_part, start)
            if free is not None:
                raise UndeterminedUnknownsError(self._members(free, x_part))
            self.redundant = self.redundant or self._null_vector(lam_part, start) is not None

    def _members(self, vector: Array, part: Index) -> Index:
        """Return which of some unknowns take part in a null vector, counted from the first of them."""
        values = np.abs(vector[self.plan.place[part]])
        return np.flatnonzero(values > _MEMBER * values.max(initial=0.0))

    def _contradiction(self) -> Array | None:
        """Return what of the right side lies in the null space of A^T, along the residual of the last solve, or None.

        Poor factors leave residuals there, too, but those are not a part of the right side.
        """
        rhs, residual = self.work.rhs, self.work.residual
        if not np.isfinite(residual).all():
            return None
        null = self._null_vector(np.arange(self.plan.n, self.plan.n + self.plan.m), residual)
        if null is None or not abs(null @ rhs) > 0.5 * abs(null @ residual):
            return None
        return null * (null @ rhs) / (null @ null)

    def _refuse(self, residual: float) -> None:
        """Say why there is no solution."""
        part = self._contradiction()
        if part is None:
            self._probe()
            raise SolveError(
                f"the saddle system could not be solved: the relative residual stays at {residual:.3g}, also with pivots; "
                "it is too ill-conditioned"
            )
        rows = self._members(part, np.arange(self.plan.n, self.plan.n + self.plan.m))
        places = self.plan.place[self.plan.n + rows]
        raise InconsistentConstraintsError(rows, float(np.abs(part[places] / self.work.scale[places]).max()))

    def _minimum_norm(self, lam: Array) -> None:
        """Make lam the smallest one; with a smaller eps, once and for these values, where rows are of very different size."""
        if self._metric is None:
            self._metric = allocate_work(self.plan)
        plan, metric, given, residual = self.plan, self._metric, lam.copy(), 1.0
        for eps in (METRIC_REGULARISATION, 0.01 * METRIC_REGULARISATION):
            if eps > self._metric_eps:
                continue
            if eps < self._metric_eps and factorize_metric(plan, metric, self._a_values, self.weights, eps) >= 0:
                break
            self._metric_eps = eps
            lam[:] = given
            residual = minimum_norm(plan, metric, lam, 60)
            if residual <= self.tolerance:
                return
        raise SolveError(
            f"the smallest multipliers could not be found: the relative residual of A^T lam stays at {residual:.3g}; "
            "the rows of A, divided by the roots of their weights, are of too different size"
        )


def solve_saddle(M: Any, A: Any, f: Array, b: Array, *, weights: Array | None = None) -> SaddleSolution:
    """Solve one saddle system.

    Parameters
    ----------
    M : sparse matrix or array, shape (n, n)
        Mass matrix.
    A : sparse matrix or array, shape (m, n)
        Constraint Jacobian.
    f, b : array, shape (n,) and (m,)
        Right sides.
    weights : array, shape (m,), optional
        Weights of the squared multipliers where these are not unique.

    Examples
    --------
    A mass of 1 kg and a massless body, linked rigidly, under 3 N on the massless one:

    >>> solution = solve_saddle(np.diag([1.0, 0.0]), np.array([[1.0, -1.0]]), np.array([0.0, 3.0]), np.zeros(1))
    >>> solution.x.round(12).tolist(), solution.lam.round(12).tolist()
    ([3.0, 3.0], [-3.0])
    """
    m_entries, a_entries = _entries(M), _entries(A)
    solver = SaddleSolver(m_entries, a_entries, weights=weights)
    solver.factorize(m_entries.data, a_entries.data)
    return solver.solve(f, b)
