"""Inputs and outputs of a linearised system by their names.

| input | is |
| --- | --- |
| ``"arm.Fx"``, ``"arm.Tz"`` | a force [N] at the centre of a body or at a frame, a torque [N m]; world axes |
| ``"hinge.angle"``, ``"slide.distance"`` | a torque or a force along the coordinate of a joint |
| ``"wind"`` | a load of the model: a factor of it; a joint load: its torque or force |
| ``"drive"`` | a motion of the model: the prescribed coordinate [rad], [m] |
| ``"drive.acceleration"`` | the same, by its second derivative: for outputs that depend on it |

| output | is |
| --- | --- |
| ``"arm.x"``, ``"arm.rx"`` | displacement of a body's centre or of a frame's origin [m], small rotation [rad]; world axes |
| ``"arm.vx"``, ``"arm.wx"`` | their rates: velocity in world axes, angular velocity in world axes |
| ``"hinge.angle"``, ``"hinge.angle_rate"`` | coordinate of a joint and its rate; so is ``distance`` |
| ``"hinge.Fx"``, ``"hinge.Tz"`` | reaction on the driven body, in the joint's frame F2 [N], [N m] |

Systems of a user's own equations know their coordinates (``"x"``), the rates (``"x'"``), the generalised forces (``"x"`` as an
input) and the multipliers (the names of the rows).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dalembert.analysis.pencil import Motion
from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import to_rotation
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.system import System

AXES = ("x", "y", "z")
WRENCH = ("Fx", "Fy", "Fz", "Tx", "Ty", "Tz")
_STEP = 1e-5  # of central differences: their error is some 1e-10


class Input(NamedTuple):
    """What an input does: M d'' + D d' + K d + A^T dl = force u,  A d = motion u (or its second derivative is u)."""

    name: str
    force: Array
    motion: Array
    by_acceleration: bool = False


class Output(NamedTuple):
    """What an output shows: position . d + rate . d' + multiplier . dl."""

    name: str
    position: Array
    rate: Array
    multiplier: Array


def inputs_of(system: MechanicalSystem, at: Motion, names: Iterable[str]) -> list[Input]:
    """Return what the named inputs do."""
    if isinstance(system, System):
        return [_Bodies(system, at).input(name) for name in names]
    found = []
    for name in names:
        force = np.zeros(system.n_velocities)
        force[_place(name, system.velocity_names, "input")] = 1.0
        found.append(Input(name, force, np.zeros(system.n_constraints)))
    return found


def outputs_of(system: MechanicalSystem, at: Motion, names: Iterable[str]) -> list[Output]:
    """Return what the named outputs show."""
    if isinstance(system, System):
        return [_Bodies(system, at).output(name) for name in names]
    found = []
    for name in names:
        zero, rate, multiplier = (np.zeros(k) for k in (system.n_velocities, system.n_velocities, system.n_constraints))
        position = zero.copy()
        if name in system.row_names:
            multiplier[system.row_names.index(name)] = 1.0
        elif name.endswith("'"):
            place = _place(name[:-1], system.velocity_names, "output")
            rate[place] = 1.0
            position = system.transport(at.v).toarray()[place]
        else:
            position[_place(name, system.velocity_names, "output")] = 1.0
        found.append(Output(name, position, rate, multiplier))
    return found


def _place(name: str, known: Iterable[str], kind: str) -> int:
    names = list(known)
    if name not in names:
        raise ModelError(f"{kind} {name!r}", "there is no such coordinate", nearest(name, names))
    return names.index(name)


class _Bodies:
    """The signals of bodies and joints at a state."""

    def __init__(self, system: System, at: Motion) -> None:
        self.system, self.at = system, at
        self.n, self.m = system.n_velocities, system.n_constraints

    def input(self, name: str) -> Input:
        """Return what an input does."""
        owner, _, part = name.rpartition(".")
        system, nothing = self.system, np.zeros(self.m)
        if part in WRENCH and self._is_point(owner):
            return Input(name, self._jacobian_of_point(owner)[WRENCH.index(part)], nothing)
        if (owner, part) in system.layout.observers:
            return Input(name, system.coordinate_gradient(owner, part, self.at.q), nothing)
        motion = name.removesuffix(".acceleration")
        if motion in system.motion_names:
            moved = system.motion_right_side(motion, self.at.t, self.at.q)
            return Input(name, np.zeros(self.n), moved, by_acceleration=motion != name)
        if name in system.layout.force_elements:
            return Input(name, system.load_force(name, self.at.t, self.at.q), nothing)
        raise ModelError(f"input {name!r}", "there is no such input", nearest(name, self._known_inputs()))

    def output(self, name: str) -> Output:
        """Return what an output shows."""
        owner, _, part = name.rpartition(".")
        observers, zero, none = self.system.layout.observers, np.zeros(self.n), np.zeros(self.m)
        places, rates = [*AXES, "rx", "ry", "rz"], ["vx", "vy", "vz", "wx", "wy", "wz"]
        if part in places and self._is_point(owner):
            return Output(name, self._jacobian_of_point(owner)[places.index(part)], zero, none)
        if part in rates and self._is_point(owner):
            row = rates.index(part)
            change = self._along(lambda q: self._jacobian_of_point(owner, q)[row] @ self.at.v)
            return Output(name, *self._rate(self._jacobian_of_point(owner)[row], change), none)
        if (owner, part) in observers:
            return Output(name, self.system.coordinate_gradient(owner, part, self.at.q), zero, none)
        if part.endswith("_rate") and (owner, part.removesuffix("_rate")) in observers:
            label = part.removesuffix("_rate")
            change = self._along(lambda q: self.system.coordinate_gradient(owner, label, q) @ self.at.v)
            return Output(name, *self._rate(self.system.coordinate_gradient(owner, label, self.at.q), change), none)
        if part in WRENCH and owner in self.system.layout.joint_frames:
            return self._reaction(name, owner, WRENCH.index(part))
        raise ModelError(f"output {name!r}", "there is no such output", nearest(name, self._known_outputs()))

    def _is_point(self, owner: str) -> bool:
        return owner in self.system.layout.bodies or owner in self.system.layout.frames

    def _jacobian_of_point(self, owner: str, q: Array | None = None) -> Array:
        """Return six rows: velocity of a body's centre or a frame's origin, and angular velocity, in world axes."""
        system, q = self.system, self.at.q if q is None else q
        body, offset = (system.layout.bodies.index(owner) if owner in system.layout.bodies else -1), np.zeros(3)
        if body < 0:
            body, offset, _ = system.layout.frames[owner]
        rows = np.zeros((6, self.n))
        if body == system.n_bodies:  # fixed in the ground
            return rows
        R = to_rotation(q[7 * body + 3 : 7 * body + 7]).as_matrix()
        tilde = np.array([[0.0, -offset[2], offset[1]], [offset[2], 0.0, -offset[0]], [-offset[1], offset[0], 0.0]])
        rows[:3, 6 * body : 6 * body + 3] = np.eye(3)
        rows[:3, 6 * body + 3 : 6 * body + 6] = -R @ tilde
        rows[3:, 6 * body + 3 : 6 * body + 6] = R
        return rows

    def _rate(self, gradient: Array, change: Array) -> tuple[Array, Array]:
        """Return what d and d' do to ``gradient(q) . v``: dv = d' + N d, and the change of the gradient."""
        return np.asarray(gradient @ self.system.transport(self.at.v)) + change, gradient

    def _along(self, value: object) -> Array:
        """Return the derivative of a number with respect to d, by central differences; zero at rest."""
        if not self.at.v.any():
            return np.zeros(self.n)
        return self._differences(value, range(self.n))

    def _differences(self, value: object, columns: Iterable[int]) -> Array:
        assert callable(value)
        result = np.zeros(self.n)
        for k in columns:
            d = np.zeros(self.n)
            d[k] = _STEP
            ahead, behind = (value(self.system.advance(self.at.q, sign * d)) for sign in (1.0, -1.0))
            result[k] = (ahead - behind) / (2.0 * _STEP)
        return result

    def _reaction(self, name: str, joint: str, component: int) -> Output:
        system, layout = self.system, self.system.layout

        def value(q: Array, lam: Array) -> float:
            reaction = system.reaction(joint, self.at.t, q, lam)
            return float(np.concatenate([reaction.force, reaction.torque])[component])

        multiplier = np.zeros(self.m)
        for row in layout.joint_rows[joint]:
            unit = np.zeros(self.m)
            unit[row] = 1.0
            multiplier[row] = value(self.at.q, unit)
        columns = [6 * body + k for body in layout.joint_bodies[joint] if body < system.n_bodies for k in range(6)]
        position = self._differences(lambda q: value(q, self.at.lam), columns)
        return Output(name, position, np.zeros(self.n), multiplier)

    def _known_inputs(self) -> list[str]:
        layout = self.system.layout
        points = [f"{one}.{part}" for one in (*layout.bodies, *layout.frames) for part in WRENCH]
        joints = [f"{joint}.{part}" for joint, part in layout.observers]
        return [*points, *joints, *layout.force_elements, *self.system.motion_names]

    def _known_outputs(self) -> list[str]:
        layout = self.system.layout
        parts = (*AXES, "rx", "ry", "rz", "vx", "vy", "vz", "wx", "wy", "wz")
        points = [f"{one}.{part}" for one in (*layout.bodies, *layout.frames) for part in parts]
        joints = [f"{joint}.{part}{rate}" for joint, part in layout.observers for rate in ("", "_rate")]
        return [*points, *joints, *(f"{joint}.{part}" for joint in layout.joint_frames for part in WRENCH)]
