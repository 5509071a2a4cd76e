"""Forces that a Python function computes: declaration, record, and the calls from compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dalembert.elements import checks
from dalembert.elements.checks import GROUND
from dalembert.errors import ModelError
from dalembert.kernel.callback import FunctionOfState, call_function_of_state
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Array
from dalembert.rotation.quaternion import advance, load4

USER_FORCE = np.dtype(
    [
        ("first", np.intp),  # of its bodies in the list of members
        ("count", np.intp),  # n
        ("callback", np.intp),  # in the callbacks
        ("entry", np.intp),  # where its 6n x 6n tangent starts in the array of all
    ],
    align=True,
)

FORCE, STIFFNESS, DAMPING = 0, 1, 2

StateFunction: TypeAlias = Callable[[float, Array, Array], Array]
"""``function(t, q, v)`` of time [s], positions (n, 7) and velocities (n, 6)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UserForce:
    """Forces and torques on one or several bodies from a Python function of their state.

    Parameters
    ----------
    name : str
    function : callable
        ``function(t, q, v)`` returns n rows of six numbers: force in the world's axes [N], torque about the centre of mass in
        the body's axes [N m]. Row i of q is position [m] and quaternion wxyz of body i, row i of v its velocity in the world
        [m/s] and its angular velocity in its own axes [rad/s].
    bodies : sequence of str
        The n bodies that the function looks at and acts on; the model's all if it is empty.
    stiffness, damping : callable, optional
        ``stiffness(t, q, v)`` and ``damping(t, q, v)`` return the 6n x 6n matrices -d(force)/d(d) and -d(force)/d(v), where d
        moves a body along the world's axes and turns it about its own. Central differences if not given.
    step : float
        Of the central differences, in m, rad, m/s and rad/s. Their error is about step^2 times the third derivative
        over six, plus 1e-16 over step times the force.

    Examples
    --------
    >>> import numpy as np
    >>> drag = UserForce(name="drag", bodies=["ball"], function=lambda t, q, v: -0.3 * v * [1, 1, 1, 0, 0, 0])
    >>> drag.function(0.0, np.zeros((1, 7)), np.ones((1, 6))).tolist()
    [[-0.3, -0.3, -0.3, -0.0, -0.0, -0.0]]
    """

    name: str
    function: StateFunction
    bodies: Sequence[str] = ()
    stiffness: StateFunction | None = None
    damping: StateFunction | None = None
    step: float = 1e-5

    def __post_init__(self) -> None:
        element = self.element
        object.__setattr__(self, "bodies", (self.bodies,) if isinstance(self.bodies, str) else tuple(self.bodies))
        for label in ("function", "stiffness", "damping"):
            given = getattr(self, label)
            if not callable(given) and (given is not None or label == "function"):
                raise ModelError(element, f"{label} is {given!r}, which is not a function", "give a function of (t, q, v)")
        if GROUND in self.bodies:
            raise ModelError(element, "it acts on the ground, which nothing moves", "leave the ground out")
        if len(set(self.bodies)) < len(self.bodies):
            raise ModelError(element, "a body is named twice", "name each body once")
        if checks.number(element, "step", self.step) <= 0.0:
            raise ModelError(element, f"the step is {self.step}", "give a positive one")

    @property
    def element(self) -> str:
        """How errors call this force."""
        return checks.element_name("user force", self.name)


@compiled
def _call(element: Any, members: Any, bodies: Any, t: float, callbacks: Any, order: int, work: Array) -> int:
    """Write q, v and what the function gives for an order to `work`; return where the result starts."""
    n = element.count
    for k in range(n):
        pose = bodies[members[element.first + k]]
        for i in range(3):
            work[7 * k + i] = pose.position[i]
            work[7 * n + 6 * k + i] = pose.velocity[i]
            work[7 * n + 6 * k + 3 + i] = pose.angular_velocity[i]
        for i in range(4):
            work[7 * k + 3 + i] = pose.quaternion[i]
    start = work.ctypes.data
    address = callbacks[element.callback].address
    call_function_of_state(address, t, order, start, start + 8 * 13 * n)
    return int(13 * n)


@compiled
def add_force(element: Any, members: Any, bodies: Any, t: float, callbacks: Any, exchange: Array, f: Array) -> None:
    """Add the force on all its bodies."""
    first = _call(element, members, bodies, t, callbacks, FORCE, exchange)
    for k in range(element.count):
        for i in range(6):
            f[6 * members[element.first + k] + i] += exchange[first + 6 * k + i]


@compiled
def tangents(element: Any, members: Any, bodies: Any, t: float, callbacks: Any, exchange: Array, K: Array, D: Array) -> None:
    """Write its entries of K and D, 6n x 6n each, row by row."""
    size = 36 * element.count * element.count
    first = _call(element, members, bodies, t, callbacks, STIFFNESS, exchange)
    for i in range(size):
        K[element.entry + i] = exchange[first + i]
    _call(element, members, bodies, t, callbacks, DAMPING, exchange)
    for i in range(size):
        D[element.entry + i] = exchange[first + i]


def exchange_size(users: Any) -> int:
    """Return how many numbers the largest exchange of a table of user forces, or of an expression, takes."""
    return max([5, *(13 * int(user.count) + 36 * int(user.count) ** 2 for user in users)])


@dataclass(frozen=True)
class UserForceSource:
    """What a user force is called back for: its force and its two tangents.

    Parameters
    ----------
    force : UserForce
    count : int
        Number of its bodies.
    """

    force: UserForce
    count: int

    @property
    def element(self) -> str:
        """How errors call the force."""
        return self.force.element

    def callback(self) -> FunctionOfState:
        """Return the C function for `add_force` and `tangents`."""
        n = self.count

        def function(t: float, order: int, x: list[float]) -> list[float]:
            return [float(one) for one in result(t, order, np.array(x)).flat]

        def result(t: float, order: int, x: Array) -> Array:
            q, v = x[: 7 * n].reshape(n, 7), x[7 * n :].reshape(n, 6)
            if order == STIFFNESS:
                return self._given("stiffness", t, q, v) if self.force.stiffness else self._stiffness(t, q, v)
            if order == DAMPING:
                return self._given("damping", t, q, v) if self.force.damping else self._damping(t, q, v)
            return self._given("function", t, q, v)

        return FunctionOfState(function, 13 * n, (6 * n, 36 * n * n, 36 * n * n))

    def _given(self, label: str, t: float, q: Array, v: Array) -> Array:
        """Return what one of the user's functions gives, checked."""
        try:
            result = np.asarray(getattr(self.force, label)(t, q.copy(), v.copy()), dtype=np.float64)
        except Exception as error:
            problem = f"its {label} failed at t = {t:g} s: {type(error).__name__}: {error}"
            raise ModelError(self.element, problem) from error
        n = self.count
        shapes = ((n, 6), (6 * n,)) if label == "function" else ((6 * n, 6 * n),)
        if result.shape not in shapes:
            raise ModelError(
                self.element, f"its {label} returned the shape {result.shape}", f"return an array of shape {shapes[0]}"
            )
        if not np.all(np.isfinite(result)) and np.all(np.isfinite(q)) and np.all(np.isfinite(v)):
            raise ModelError(self.element, f"its {label} is not finite at t = {t:g} s", "return finite numbers in N and N m")
        return result

    def _stiffness(self, t: float, q: Array, v: Array) -> Array:
        def moved(k: int, h: float) -> Array:
            body, i = divmod(k, 6)
            q_moved = q.copy()
            if i < 3:
                q_moved[body, i] += h
            else:
                turn = (h * (i == 3), h * (i == 4), h * (i == 5))
                q_moved[body, 3:] = advance(load4(q[body], 3), turn)
            return self._given("function", t, q_moved, v)

        return self._differences(moved)

    def _damping(self, t: float, q: Array, v: Array) -> Array:
        def moved(k: int, h: float) -> Array:
            v_moved = v.copy()
            v_moved[divmod(k, 6)] += h
            return self._given("function", t, q, v_moved)

        return self._differences(moved)

    def _differences(self, moved: Callable[[int, float], Array]) -> Array:
        h = self.force.step
        columns = [(moved(k, -h) - moved(k, h)).ravel() / (2.0 * h) for k in range(6 * self.count)]
        return np.column_stack(columns)
