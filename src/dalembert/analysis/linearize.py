"""A system linearised about a state, with named inputs u and outputs y: second-order matrices, state space, transfer functions.

    M d'' + D d' + K d + A^T dl = B u,   A d = G u,   y = C_0 d + C_1 d' + C_l dl + ...

State space. With Z the null space of A and X a displacement that each prescribed motion causes, ``d = Z y + X u``, M
Z-orthogonal to X,

    y'' = -a_1 y' - a_0 y + b_1 u' + b_0 u           a_1 = (Z^T M Z)^-1 Z^T D Z  and so on

The states are z_1 = y and z_2 = y' - b_1 u, so that no derivative of an input is left. What depends on u' or u'' (a velocity or
a reaction while a coordinate is prescribed) has no state space; such an input is taken by its acceleration instead
(``"drive.acceleration"``), with the coordinate and its rate as two states more.

Where some rows restrict velocities only, the states are coordinates and velocities of different number (`rolling`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.analysis import rolling
from dalembert.analysis.assemble import assemble
from dalembert.analysis.equilibrium import equilibrium
from dalembert.analysis.pencil import Motion, Pencil, motion_at, steady_pencil
from dalembert.analysis.signals import Input, Output, inputs_of, outputs_of
from dalembert.errors import ModelError, SolveError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.linalg.dense import rank_and_null_space
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.state import State

PLACES = ("equilibrium", "design")


class StateSpace(NamedTuple):
    """z' = A z + B u, y = C z + D u."""

    A: Array
    B: Array
    C: Array
    D: Array


@dataclass(frozen=True, eq=False)
class Linearization:
    """A system linearised about a state.

    Attributes
    ----------
    system : MechanicalSystem
    at : Motion
        The state, with its accelerations and multipliers.
    pencil : Pencil
        M, D, K (with K_c and the inertial terms) and A, sparse, and the T that turns its coordinates into displacements.
    inputs, outputs : tuple
        See `signals`.
    """

    system: MechanicalSystem
    at: Motion
    pencil: Pencil
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]

    @property
    def state(self) -> State:
        """The state that it was linearised about."""
        return State(self.at.t, self.at.q, self.at.v)

    def reduced(self) -> tuple[Array, Array, Array, Array]:
        """Return Z, an orthonormal basis of what the constraints leave, and Z^T M Z, Z^T D Z, Z^T K Z."""
        Z = rank_and_null_space(self.pencil.A.toarray())[1]
        M, D, K = (Z.T @ (part @ Z) for part in self.pencil[:3])
        return Z, M, D, K

    def state_space(self) -> StateSpace:
        """Return A, B, C, D of ``z' = A z + B u, y = C z + D u``; see the module for the states."""
        return _state_space(self)

    @property
    def A(self) -> Array:
        """The matrix of the states."""
        return self.state_space().A

    @property
    def B(self) -> Array:
        """The matrix from inputs to states."""
        return self.state_space().B

    @property
    def C(self) -> Array:
        """The matrix from states to outputs."""
        return self.state_space().C

    @property
    def D(self) -> Array:
        """The matrix from inputs to outputs."""
        return self.state_space().D

    def to_scipy(self) -> Any:
        """Return a `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace as SciPyStateSpace

        self._needs_signals()
        return SciPyStateSpace(*self.state_space())

    def to_control(self) -> Any:
        """Return a `control.StateSpace` with named inputs and outputs (package python-control)."""
        try:
            import control
        except ImportError as error:
            raise ModelError("to_control", "the package 'control' is not installed", "pip install control") from error
        self._needs_signals()
        names = {"inputs": [one.name for one in self.inputs], "outputs": [one.name for one in self.outputs]}
        return control.ss(*self.state_space(), **names)

    def _needs_signals(self) -> None:
        for label in ("inputs", "outputs"):
            if not getattr(self, label):
                raise ModelError("linearize", f"it has no {label}", f"name some: linearize(model, {label}=[...])")


def linearize(
    model: Model | MechanicalSystem,
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    at: str = "equilibrium",
    state: State | None = None,
    t: float = 0.0,
    axes: Array | None = None,
    with_constraint_stiffness: bool = True,
) -> Linearization:
    """Return a system linearised about an equilibrium, its design position, or any state.

    Parameters
    ----------
    model : Model or MechanicalSystem
    inputs, outputs : iterable of str
        See `signals`: ``"arm.Fx"``, ``"drive"``; ``"arm.x"``, ``"hinge.angle_rate"``, ``"hinge.Fz"``.
    at : str
        ``"equilibrium"``: the nearest one. ``"design"``: as drawn (assembled), moving as drawn.
    state : State, optional
        About this state instead.
    t : float
        Time [s].
    axes : array, optional
        Angular velocity [rad/s] of the axes in which a steady motion looks constant; found by itself if not given.
    with_constraint_stiffness : bool
        Without K_c for comparison only: the result is then wrong.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("oscillator")
    >>> mass = model.body("mass", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    >>> rail = model.prismatic("rail", model.ground, mass, at=(1, 0, 0), axis=(1, 0, 0))
    >>> spring = model.spring("spring", model.ground, mass, at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=200.0)
    >>> lin = linearize(model, inputs=["mass.Fx"], outputs=["mass.x", "rail.distance_rate"])
    >>> lin.A.round(9).tolist(), (lin.C @ lin.B).round(9).tolist()
    ([[0.0, 1.0], [-100.0, -0.0]], [[0.0], [0.5]])
    """
    system: MechanicalSystem = build(model) if isinstance(model, Model) else model
    where = reference_motion(system, at=at, state=state, t=t)
    pencil = steady_pencil(system, where, axes=axes, with_constraints=with_constraint_stiffness)
    found = tuple(inputs_of(system, where, inputs)), tuple(outputs_of(system, where, outputs))
    return Linearization(system, where, pencil, *found)


def reference_motion(system: MechanicalSystem, *, at: str, state: State | None, t: float) -> Motion:
    """Return the state to linearise about, with its accelerations and multipliers."""
    if at not in PLACES:
        raise ModelError("at", f"unknown place {at!r}", nearest(at, PLACES))
    if state is not None:
        return motion_at(system, state.t, state.q, state.v)
    if at == "design":
        drawn = assemble(system, t=t)
        return motion_at(system, t, drawn.q, drawn.v)
    rest = equilibrium(system, t=t)
    zero = np.zeros(system.n_velocities)
    return Motion(t, rest.state.q, zero, zero, np.array(rest.multipliers.values))


def _state_space(lin: Linearization) -> StateSpace:
    if not lin.pencil.holonomic.all():
        return _of_rolling(lin)
    Z, M, D, K = lin.reduced()
    pencil, n = lin.pencil, Z.shape[1]
    try:
        inverse = np.linalg.inv(M)
    except np.linalg.LinAlgError as error:
        raise SolveError("massless directions have no state space; use the matrices of the pencil") from error
    free = np.column_stack([pencil.T.T @ one.force for one in lin.inputs]) if lin.inputs else np.zeros((Z.shape[0], 0))
    moved = np.column_stack([one.motion for one in lin.inputs]) if lin.inputs else np.zeros((pencil.A.shape[0], 0))
    X = np.linalg.pinv(pencil.A.toarray(), rcond=1e-11) @ moved
    X = X - Z @ (inverse @ (Z.T @ (pencil.M @ X)))
    a0, a1 = inverse @ K, inverse @ D
    b0, b1 = inverse @ (Z.T @ (free - pencil.K @ X)), -inverse @ (Z.T @ (pencil.D @ X))
    by_acceleration = np.array([one.by_acceleration for one in lin.inputs], dtype=bool)
    rows = _output_rows(lin, Z, X, free, a0, a1, b0, b1)
    return _assembled(n, a0, a1, b0, b1, by_acceleration, rows, lin)


def _of_rolling(lin: Linearization) -> StateSpace:
    """Return the state space where some rows restrict velocities only: coordinates, then velocities, fewer of them."""
    for one in lin.inputs:
        if np.any(one.motion):
            problem = f"motion {one.name!r} is no input where rows restrict velocities only"
            raise ModelError("linearize", problem, "take a force or a joint load, or use frequency_response")
    pencil, (d, rate, A, from_forces, _) = lin.pencil, rolling.reduced(lin.pencil)
    free = _stacked([pencil.T.T @ one.force for one in lin.inputs], d.shape[0])
    B = from_forces @ free
    C0 = _stacked([pencil.T.T @ one.position + pencil.T1.T @ one.rate for one in lin.outputs], d.shape[0]).T
    C1 = _stacked([pencil.T.T @ one.rate for one in lin.outputs], d.shape[0]).T
    Cl = _stacked([one.multiplier for one in lin.outputs], pencil.A.shape[0]).T
    L = Cl @ np.linalg.pinv(pencil.A.toarray().T, rcond=1e-11)  # A^T l = f - M d'' - D d' - K d
    C = C0 @ d + C1 @ rate - L @ (pencil.M @ (rate @ A) + pencil.D @ rate + pencil.K @ d)
    return StateSpace(A, B, C, L @ (free - pencil.M @ (rate @ B)))


def _stacked(columns: list[Array], height: int) -> Array:
    return np.column_stack(columns) if columns else np.zeros((height, 0))


class _Rows(NamedTuple):
    """Outputs y = y_0 z_1 + y_1 z' + u_0 u + u_1 u' + u_2 u'', with z' = dz_1/dt."""

    y0: Array
    y1: Array
    u0: Array
    u1: Array
    u2: Array


def _output_rows(lin: Linearization, Z: Array, X: Array, free: Array, a0: Array, a1: Array, b0: Array, b1: Array) -> _Rows:
    pencil, T = lin.pencil, lin.pencil.T
    shape = (len(lin.outputs), Z.shape[0])
    C0 = np.array([T.T @ one.position + pencil.T1.T @ one.rate for one in lin.outputs]).reshape(shape)
    C1 = np.array([T.T @ one.rate for one in lin.outputs]).reshape(shape)
    Cl = np.array([one.multiplier for one in lin.outputs]).reshape(len(lin.outputs), pencil.A.shape[0])
    y0, y1, u0, u1, u2 = C0 @ Z, C1 @ Z, C0 @ X, C1 @ X, np.zeros((shape[0], X.shape[1]))
    if np.abs(Cl).any():  # A^T l = B u - M d'' - D d' - K d
        L = Cl @ np.linalg.pinv(pencil.A.toarray().T, rcond=1e-11)
        M, D, K = (L @ part.toarray() for part in pencil[:3])
        y0, y1 = y0 - K @ Z + M @ Z @ a0, y1 - D @ Z + M @ Z @ a1
        u0, u1, u2 = u0 + L @ free - K @ X - M @ Z @ b0, u1 - D @ X - M @ Z @ b1, u2 - M @ X
    return _Rows(y0, y1, u0, u1, u2)


def _assembled(
    n: int, a0: Array, a1: Array, b0: Array, b1: Array, by_acceleration: NDArray[np.bool_], rows: _Rows, lin: Linearization
) -> StateSpace:
    """Put the blocks together; inputs by acceleration get their coordinate and its rate as states."""
    k, position = int(by_acceleration.sum()), ~by_acceleration
    left = np.abs(rows.u1[:, position]) + np.abs(rows.u2[:, position])
    size = np.abs(rows.u0[:, position]) + left + 1.0
    bad = np.argwhere(left > 1e-9 * size)
    if bad.size:
        name = [one.name for one in lin.inputs if not one.by_acceleration][bad[0][1]]
        output = lin.outputs[bad[0][0]].name
        problem = f"output {output!r} depends on the rate or the acceleration of motion {name!r}: there is no state space"
        raise ModelError(f"input {name!r}", problem, f"take '{name}.acceleration' as the input")
    eye, zero = np.eye(n), np.zeros
    bp, ba = by_acceleration, b0.shape[1]
    A = np.block([
        [zero((n, n)), eye, zero((n, 2 * k))],
        [-a0, -a1, b0[:, bp], b1[:, bp]],
        [zero((k, 2 * n)), zero((k, k)), np.eye(k)],
        [zero((k, 2 * n)), zero((k, 2 * k))],
    ])  # fmt: skip
    B = zero((2 * n + 2 * k, ba))
    B[:n, position] = b1[:, position]
    B[n : 2 * n, position] = b0[:, position] - a1 @ b1[:, position]
    B[2 * n + k :, bp] = np.eye(k)
    C = np.hstack([rows.y0, rows.y1, rows.u0[:, bp], rows.u1[:, bp]])
    D = zero((rows.y0.shape[0], ba))
    D[:, position] = rows.u0[:, position] + rows.y1 @ b1[:, position]
    D[:, bp] = rows.u2[:, bp]
    return StateSpace(A, B, C, D)
