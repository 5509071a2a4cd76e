"""Friction of a whole system: forces C that depend on the multipliers, which depend on C.

    M v' + A^T lambda = f + C(q, v, lambda),   A v' = b''

is solved by repeating the saddle solve with the C of the last multipliers: each repetition gains about the coefficient of
friction. So C is a function of t, q and v alone, and so are its tangents: where something slides, differences of the whole. At
rest C is zero, whatever lambda is, and only D = -dC/dv is left, at constant lambda.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from dalembert.errors import ModelError, SolveError
from dalembert.kernel.vec3 import Array
from dalembert.linalg.pattern import Pattern
from dalembert.linalg.rank import dependencies
from dalembert.linalg.saddle import SaddleSolver
from dalembert.system import assembly

if TYPE_CHECKING:
    from dalembert.system.system import System

REPETITIONS = 200
CONVERGED = 1e-13
"""Change of the multipliers in one repetition, relative to the largest, that is rounding."""

RUNAWAY = 1e6
"""Times the multipliers without friction: reactions that grow with the friction that they cause."""

_STEP = 1e-6  # of displacements [m], [rad], for differences
_SPEED = 1e-3  # of the velocity below which friction is viscous


class JointFriction:
    """The friction of a system's joints.

    Parameters
    ----------
    system : System
        Has frictions.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        t = system.tables.frictions
        columns = system._columns_of_pairs(t)
        rows, cols = np.repeat(columns, 12, axis=1).ravel(), np.tile(columns, (1, 12)).ravel()
        self._pattern = Pattern(rows, cols, (system.n_velocities, system.n_velocities))
        self._solver = SaddleSolver(system.mass(), system.jacobian(0.0, system.design.q))
        self._checked = False

    def check(self, t: float, q: Array) -> None:
        """Refuse friction from reactions that are not unique."""
        system = self.system
        self._checked = True
        dry = system.tables.frictions.coefficient > 0.0  # viscous friction asks for no reaction
        if not dry.any():
            return
        dependent = set(dependencies(system.jacobian(t, q), units=system.rotational).rows)
        for (friction, joint), asks in zip(system.layout.friction_joints.items(), dry, strict=True):
            if asks and dependent & {int(row) for row in system.layout.joint_rows[joint]}:
                problem = f"the reaction of joint {joint!r} is not unique (redundant constraints), and with it the friction"
                remedy = "release what is redundant (dalembert reactions says what), or take viscous friction only"
                self._checked = False
                raise ModelError(f"friction {friction!r}", problem, remedy)

    def force(self, t: float, q: Array, v: Array, f: Array) -> Array:
        """Return C for forces f without friction."""
        if not v.any():
            return np.zeros(v.size)
        return self._solved(t, q, v, f)[0]

    def _solved(self, t: float, q: Array, v: Array, f: Array) -> tuple[Array, Array]:
        """Return C and lambda."""
        system = self.system
        if not self._checked:
            self.check(t, q)
        A, J, b = system.jacobian(t, q), system.jacobian_terms(t, q), system.acceleration_right_side(t, q, v)
        self._solver.factorize(system.mass().data, A.data, check=False)
        now, C = system._at(t, q, v), np.zeros(v.size)
        lam = first = self._solver.least_squares(f, b, passes=20).lam
        for _ in range(REPETITIONS):
            full = np.zeros(v.size + 6)
            assembly.add_friction(system.tables, now, J, system.layout.term_row, lam, full)
            C, before = full[:-6], lam
            lam = self._solver.least_squares(f + C, b, passes=20).lam
            change, size = np.abs(lam - before).max(initial=0.0), np.abs(lam).max(initial=0.0)
            if change <= CONVERGED * size:
                return C, lam
            if size > RUNAWAY * np.abs(first).max(initial=0.0):
                break
        raise SolveError(
            f"friction and reactions do not settle at t = {t:.6g}: the joints jam ("
            + ", ".join(f"{name!r} in {joint!r}" for name, joint in system.layout.friction_joints.items())
            + "); is a coefficient too large?"
        )

    def damping(self, t: float, q: Array, v: Array, multipliers: Array | None) -> sp.csc_array:
        """Return -dC/dv."""
        if v.any():
            h = _SPEED * float(self.system.tables.frictions.velocity.min())
            return self._differences(lambda d: self._whole(t, q, v + d), h)
        lam = self._solved(t, q, v, self.system._applied(t, q, v))[1] if multipliers is None else multipliers
        blocks = np.zeros((self.system.tables.frictions.size, 12, 12))
        J, now = self.system.jacobian_terms(t, q), self.system._at(t, q, v)
        assembly.friction_damping(self.system.tables, now, J, self.system.layout.term_row, np.asarray(lam, float), blocks)
        return self._pattern.matrix(blocks.ravel())

    def stiffness(self, t: float, q: Array, v: Array) -> sp.csc_array:
        """Return -dC/dd; zero where nothing slides."""
        if not v.any():
            return sp.csc_array((v.size, v.size))
        return self._differences(lambda d: self._whole(t, self.system.advance(q, d), v), _STEP)

    def _whole(self, t: float, q: Array, v: Array) -> Array:
        return self._solved(t, q, v, self.system._applied(t, q, v))[0]

    def _differences(self, C: object, h: float) -> sp.csc_array:
        assert callable(C)
        n = self.system.n_velocities
        columns = []
        for k in range(n):
            d = np.zeros(n)
            d[k] = h
            near, far = C(d) - C(-d), C(2.0 * d) - C(-2.0 * d)
            columns.append((8.0 * near - far) / (12.0 * h))
        return sp.csc_array(-np.column_stack(columns))
