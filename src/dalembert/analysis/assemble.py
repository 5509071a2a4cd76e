"""Initial assembly: positions and velocities that satisfy the constraints, near the drawn ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from dalembert.errors import ModelError, SolveError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.linalg.saddle import InconsistentConstraintsError, SaddleSolver
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.state import State
from dalembert.system.system import System

LARGEST_TURN = 0.5
"""Largest rotation of a body in one iteration [rad]."""

ITERATIONS = 100

VELOCITY_ITERATIONS = 30

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
    """

    def __init__(self, joint: str, residual: float, state: State) -> None:
        self.joint = joint
        self.residual = residual
        self.state = state
        angle = joint.rpartition(".")[2].startswith("R")
        gap = f"{2.0 * np.arcsin(min(1.0, residual)):.3g} rad" if angle else f"{residual:.3g} m"
        super().__init__(f"the model cannot be assembled: {joint!r} stays open by {gap} however the bodies are moved from here")


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
        With the joint that cannot close, and by how much.

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
    q = system.design.q
    residual = _holonomic(system, system.constraint(t, q))
    for _ in range(ITERATIONS):
        if _largest(residual) <= tolerance:
            break
        trial, after = correction.improved(t, q, residual)
        if not np.linalg.norm(after) < np.linalg.norm(residual):
            break
        q, residual = trial, after
    if _largest(residual) > 100.0 * tolerance * max(1.0, np.abs(q).max(initial=0.0)):
        worst = int(np.argmax(np.abs(residual)))
        row = int(np.flatnonzero(system.holonomic)[worst])
        residual = system.constraint(t, q)
        raise AssemblyError(system.row_names[row], abs(float(residual[row])), State(t, q, system.design.v))
    return State(t, q, _velocities(system, t, q))


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
