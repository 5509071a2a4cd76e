"""Initial assembly: positions and velocities that satisfy the constraints, near the drawn ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from dalembert.errors import ModelError, SolveError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.linalg.rank import dependencies
from dalembert.linalg.saddle import InconsistentConstraintsError, SaddleSolver
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.state import State
from dalembert.system.system import System

LARGEST_TURN = 0.5
"""Largest rotation of a body in one iteration [rad]."""

ITERATIONS = 100

VELOCITY_ITERATIONS = 30

NEGLIGIBLE = 1e-11
"""A gap [m], [sine of half an angle] that is rounding."""

MOST_NULL_VECTORS = 300
"""Contradictions that are looked at, where gaps are accepted."""

ROUNDING, CONTRADICTION = 1e-13, 1e-9
"""Errors of velocities, relative to the largest one: not worth a correction, and not yet a contradiction of redundant rows."""


class AssemblyError(SolveError):
    """The joints cannot be closed.

    Attributes
    ----------
    joint : str
        The constraint row with the largest residual.
    residual : float
        Its residual: metres, or the sine of half an angle.
    state : State
        The best position found.
    joints : tuple of str
        All that contradict each other.
    contradiction : float
        What one of them would have to stay open by if all others were closed: metres, or the sine of half an angle.
    """

    def __init__(self, joint: str, residual: float, state: State, joints: tuple[str, ...], contradiction: float) -> None:
        self.joint = joint
        self.residual = residual
        self.state = state
        self.joints = joints
        self.contradiction = contradiction
        listed = ", ".join(repr(one) for one in joints[:8]) + (f" and {len(joints) - 8} more" if len(joints) > 8 else "")
        super().__init__(
            f"the model cannot be assembled: {joint!r} stays open by {_gap(joint, residual)} however the bodies are moved from "
            f"here; {listed} contradict each other by {_gap(joint, contradiction)}: draw them to fit, release what is "
            "redundant, or accept gaps by the model's tolerance"
        )


def _gap(row: str, size: float) -> str:
    """Return a residual with its unit."""
    angle = row.rpartition(".")[2].startswith("R")
    return f"{2.0 * np.arcsin(min(1.0, size)):.3g} rad" if angle else f"{size:.3g} m"


def assemble(
    system: MechanicalSystem,
    *,
    t: float = 0.0,
    hold: Iterable[str] = (),
    length: float = 1.0,
    tolerance: float = 1e-12,
) -> State:
    """Return the state nearest to the design position that satisfies all constraints at time t.

    Newton's method on phi with the smallest corrections (Masarati 2011, eq. 17), bodies turning by half a radian at the most in
    one iteration and the step halved until the residual falls; then the nearest velocities with A v = b' (weighted by M).

    Where redundant rows contradict each other, joints that were drawn open stay open as far as the model's tolerance allows;
    the system keeps these gaps.

    Parameters
    ----------
    system : MechanicalSystem
    t : float
        [s].
    hold : iterable of str
        Bodies (``"crank"``) and joint coordinates (``"hinge.angle"``) of a multibody system that keep their drawn values.
    length : float
        Arm at which a rotation counts like a displacement in "nearest" [m].
    tolerance : float
        Of the residual [m], [sine of half an angle]; a hundred times as much where rounding ends the iteration.

    Raises
    ------
    AssemblyError
        With the joint that cannot close, and by how much; with the joints that contradict each other.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum")
    >>> bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1.1))
    >>> hinge = model.revolute("hinge", model.ground, bob, at=(0, 0, 0), at_driven=(0, 0, -0.1), axis=(0, 1, 0))
    >>> assemble(da.build(model)).q[:3].round(12).tolist()
    [0.0, 0.0, -1.0]
    """
    correction = _Correction(system, list(hold), length)
    q, residual = _closed(system, correction, t, tolerance)
    if _is_open(residual, q, tolerance) and accept_gaps(system, t):
        q, residual = _closed(system, correction, t, tolerance)
    if _is_open(residual, q, tolerance):
        raise _assembly_error(system, t, q, residual)
    return State(t, q, _velocities(system, t, q))


def _closed(system: MechanicalSystem, correction: _Correction, t: float, tolerance: float) -> tuple[Array, Array]:
    """Return the position at which joints are closed as far as they can be, and what is left of phi."""
    q = system.design.q
    residual = _holonomic(system, system.constraint(t, q))
    for _ in range(ITERATIONS):
        if _largest(residual) <= tolerance:
            break
        trial, after = correction.improved(t, q, residual)
        if not np.linalg.norm(after) < np.linalg.norm(residual):
            break
        q, residual = trial, after
    return q, residual


def _is_open(residual: Array, q: Array, tolerance: float) -> bool:
    return _largest(residual) > 100.0 * tolerance * max(1.0, _largest(q))


def _needed_gaps(system: MechanicalSystem, t: float) -> Array:
    """Return what rows that are drawn open have to stay open by, because redundant rows contradict each other.

    What null vectors n of A^T (holonomic rows, as drawn) make of phi, no motion of the bodies changes: gaps g with n . g = n .
    phi for all of them, in the rows that are drawn open.
    """
    q, rows = system.design.q, np.flatnonzero(system.holonomic)
    phi, gaps = system.constraint(t, q)[rows], np.zeros(system.n_constraints)
    null = dependencies(holonomic_rows(system, system.jacobian(t, q))).sample(MOST_NULL_VECTORS)
    drawn_open = np.flatnonzero(np.abs(phi) > ROUNDING)
    if null.size and drawn_open.size:
        gaps[rows[drawn_open]] = np.linalg.lstsq(null[drawn_open].T, null.T @ phi, rcond=1e-9)[0]
    return gaps


def accept_gaps(system: MechanicalSystem, t: float) -> bool:
    """Let contradicting joints stay open as far as the model's tolerance allows; False if there is nothing to do, or too much.

    For states that come from elsewhere; `assemble` does it by itself.
    """
    if not isinstance(system, System) or system.tolerance == 0.0:
        return False
    gaps = _needed_gaps(system, t)
    if not NEGLIGIBLE < _largest(gaps) <= system.tolerance:
        return False
    system.tables.gaps[:] += gaps
    return True


def _assembly_error(system: MechanicalSystem, t: float, q: Array, residual: Array) -> AssemblyError:
    """Return the error that names the row that stays open furthest, and what contradicts it.

    At the best position A^T phi = 0; if the row k alone stayed open, it would have to by |phi|^2 / |phi_k|.
    """
    rows, worst = np.flatnonzero(system.holonomic), int(np.argmax(np.abs(residual)))
    taking_part = {system.row_names[rows[k]] for k in np.flatnonzero(np.abs(residual) > 1e-3 * abs(residual[worst]))}
    joints = tuple(dict.fromkeys(name.rpartition(".")[0] or name for name in system.row_names if name in taking_part))
    size, gaps = abs(float(residual[worst])), _needed_gaps(system, t)
    contradiction = _largest(gaps) or float(residual @ residual) / size
    return AssemblyError(system.row_names[rows[worst]], size, State(t, q, system.design.v), joints, contradiction)


class _Correction:
    """The smallest displacement d with A d = -phi that leaves what is held: W d + A^T mu = 0."""

    def __init__(self, system: MechanicalSystem, hold: list[str], length: float) -> None:
        self.system = system
        self.held = [self._held(name) for name in hold]
        self._W = sp.diags_array(np.where(system.rotational, length**2, 1.0)).tocoo()
        self._solver = SaddleSolver(self._W, self._rows(system.design.t, system.design.q))

    def _held(self, name: str) -> int | tuple[str, str]:
        """Return the number of a body, or a joint and its coordinate."""
        if not isinstance(self.system, System):
            raise ModelError(f"held coordinate {name!r}", "this system has no bodies and joints", "leave `hold` out")
        layout = self.system.layout
        if name in layout.bodies:
            return layout.bodies.index(name)
        joint, _, coordinate = name.rpartition(".")
        if (joint, coordinate) in layout.observers:
            return joint, coordinate
        known = [*layout.bodies, *(f"{j}.{c}" for j, c in layout.observers)]
        raise ModelError(f"held coordinate {name!r}", "there is no such body or joint coordinate", nearest(name, known))

    def _rows(self, t: float, q: Array) -> sp.csc_array:
        """Return A, and below it the rows of what is held."""
        system, n = self.system, self.system.n_velocities
        rows = [holonomic_rows(system, system.jacobian(t, q))]
        for held in self.held:
            if isinstance(held, tuple):
                assert isinstance(system, System)
                rows.append(sp.csr_array(system.coordinate_gradient(*held, q)[None, :]))
            else:
                rows.append(sp.csr_array((np.ones(6), (np.arange(6), np.arange(6 * held, 6 * held + 6))), shape=(6, n)))
        return sp.vstack(rows, format="csc") if self.held else rows[0]

    def improved(self, t: float, q: Array, residual: Array) -> tuple[Array, Array]:
        """Return q after one damped Newton correction, and its residual."""
        A = self._rows(t, q)
        if self.held:  # the pattern of their rows may change
            self._solver = SaddleSolver(self._W, A)
        self._solver.factorize(self._W.data, A.data, check=False)
        b = np.concatenate([-residual, np.zeros(A.shape[0] - residual.size)])
        d = self._solver.least_squares(np.zeros(A.shape[1]), b).x
        turn = _largest(d[self.system.rotational])
        step = min(1.0, LARGEST_TURN / turn) if turn > 0.0 else 1.0
        size = np.linalg.norm(residual)
        for _ in range(12):
            trial = self.system.advance(q, step * d)
            after = _holonomic(self.system, self.system.constraint(t, trial))
            if np.linalg.norm(after) < size:
                return trial, after
            step *= 0.5
        return q, residual


def holonomic_rows(system: MechanicalSystem, A: sp.csc_array) -> sp.csc_array:
    """Return the rows of A that restrict positions."""
    return A if system.holonomic.all() else A.tocsr()[np.flatnonzero(system.holonomic)].tocsc()


def _holonomic(system: MechanicalSystem, phi: Array) -> Array:
    """Return the entries of phi that restrict positions."""
    return np.asarray(phi[system.holonomic])


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


def _velocities(system: MechanicalSystem, t: float, q: Array) -> Array:
    """Return the velocities nearest to those drawn, measured by M, with A v = b'."""
    v, M, zero = system.design.v, system.mass(t, q), np.zeros(system.n_velocities)
    solver = SaddleSolver(M, system.jacobian(t, q, v))
    size = max(_largest(v), _largest(system.velocity_residual(t, q, zero)))
    try:
        for _ in range(VELOCITY_ITERATIONS):  # one is enough where the rows are linear in v
            error = -system.velocity_residual(t, q, v)
            if _largest(error) <= ROUNDING * size:
                return v.copy()
            solver.factorize(M.data, system.jacobian(t, q, v).data)
            v = np.asarray(v + solver.solve(zero, error).x)
            size = max(size, _largest(v))
        return v
    except InconsistentConstraintsError as contradiction:
        if contradiction.mismatch <= CONTRADICTION * size:
            return np.asarray(v + solver.least_squares(zero, error).x)
        rows = ", ".join(f"'{system.row_names[row]}'" for row in contradiction.rows[:8])
        raise SolveError(
            f"no velocities satisfy the constraints: the motions prescribed at {rows} contradict others "
            f"by {contradiction.mismatch:.3g} m/s or rad/s"
        ) from contradiction
