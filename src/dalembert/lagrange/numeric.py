"""Equations from plain Python functions; derivatives that are not given are made by complex steps or differences.

A complex step ``Im f(x + i h)/h`` with h = 1e-30 is exact to rounding, and is taken wherever a function answers complex
numbers with complex numbers: NumPy's functions do, and one that drops imaginary parts, as abs does, is found out. Elsewhere
central differences with a step of 6e-6 of the size: about 1e-10 of the function's size for first derivatives. b'' is a first
derivative of the velocity residual along the motion, the tangents of the forces are first derivatives of their functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.equations import Dynamics, Tangents

Function = Callable[..., Any]

COMPLEX_STEP, REAL_STEP = 1e-30, 6e-6


class NumericEquations:
    """A user's functions of t, q, v.

    Parameters
    ----------
    names : tuple of str
        Of the coordinates.
    mass : function of (t, q), or array
    force : function of (t, q, v)
    holonomic : function of (t, q), optional
    nonholonomic : function of (t, q, v), optional
    non_ideal : function of (t, q, v), optional
    jacobian : function of (t, q, v), optional
        A, all rows.
    acceleration_right_side : function of (t, q, v), optional
        b'', all rows.
    potential_energy : function of (t, q), optional
    element : str
        How errors call the system.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        mass: Any,
        force: Function,
        *,
        holonomic: Function | None = None,
        nonholonomic: Function | None = None,
        non_ideal: Function | None = None,
        jacobian: Function | None = None,
        acceleration_right_side: Function | None = None,
        potential_energy: Function | None = None,
        element: str = "mechanics",
    ) -> None:
        self.names, self.element = names, element
        self.parameters: dict[str, float] = {}
        self._mass: Function = mass if callable(mass) else lambda t, q: np.asarray(mass, float)
        self._force, self._phi, self._psi, self._C = force, holonomic, nonholonomic, non_ideal
        self._given_jacobian, self._given_right_side = jacobian, acceleration_right_side
        self._potential = potential_energy
        n = len(names)
        zero = np.zeros(n)
        self.n_holonomic = 0 if holonomic is None else self._called("holonomic", holonomic, 0.0, zero + 0.1).size
        self.n_nonholonomic = (
            0 if nonholonomic is None else self._called("nonholonomic", nonholonomic, 0.0, zero + 0.1, zero).size
        )
        self._check_sizes(n)

    def _check_sizes(self, n: int) -> None:
        probe = np.full(n, 0.1)
        M, Q = np.asarray(self._mass(0.0, probe)), self._called("force", self._force, 0.0, probe, probe)
        if M.shape != (n, n):
            raise ModelError(self.element, f"the mass matrix is {M.shape} for {n} coordinates", f"return {n} rows of {n}")
        if Q.shape != (n,):
            raise ModelError(
                self.element, f"the force has {Q.size} entries for {n} coordinates", "return one for each coordinate"
            )

    def _called(self, label: str, function: Function, *arguments: Any) -> Array:
        try:
            return np.atleast_1d(np.asarray(function(*arguments)))
        except Exception as error:
            raise ModelError(
                self.element, f"the function {label!r} failed: {error!r}", "try it on an example of t, q, v"
            ) from error

    # --- the functions themselves ----------------------------------------------------------------------------------------

    def positions(self, t: float, q: Array) -> Array:
        """Return phi."""
        return np.zeros(0) if self._phi is None else np.atleast_1d(np.asarray(self._phi(t, q), float))

    def velocities(self, t: float, q: Array, v: Array) -> Array:
        """Return phi_q v + phi_t, then psi."""
        parts = []
        if self._phi is not None:
            phi = self._phi
            parts.append(self.matrix(t, q, v)[: self.n_holonomic] @ v + derivative(lambda s: phi(s[0], q), np.array([t]))[:, 0])
        if self._psi is not None:
            parts.append(np.atleast_1d(np.asarray(self._psi(t, q, v), float)))
        return np.concatenate(parts) if parts else np.zeros(0)

    def mass(self, t: float, q: Array) -> Array:
        """Return M."""
        return np.asarray(self._mass(t, q), float)

    def dynamics(self, t: float, q: Array, v: Array) -> Dynamics:
        """Return M, Q, C, A and b''."""
        C = np.zeros(q.size) if self._C is None else np.asarray(self._C(t, q, v), float)
        A = self.matrix(t, q, v)
        return Dynamics(self.mass(t, q), np.asarray(self._force(t, q, v), float), C, A, self._right_side(t, q, v))

    def matrix(self, t: float, q: Array, v: Array) -> Array:
        """Return A: phi_q, then psi_v."""
        if self._given_jacobian is not None:
            return np.asarray(self._given_jacobian(t, q, v), float).reshape(-1, q.size)
        parts = [np.zeros((0, q.size))]
        if self._phi is not None:
            parts.append(derivative(lambda x: self._phi(t, x), q))  # type: ignore[misc]
        if self._psi is not None:
            parts.append(derivative(lambda x: self._psi(t, q, x), v))  # type: ignore[misc]
        return np.vstack(parts)

    def _right_side(self, t: float, q: Array, v: Array) -> Array:
        if self._given_right_side is not None:
            return np.asarray(self._given_right_side(t, q, v), float)
        if self.n_holonomic + self.n_nonholonomic == 0:
            return np.zeros(0)
        return -_along(lambda s: self.velocities(t + s, q + s * v, v), 1.0 + float(np.abs(v).max(initial=0.0)))

    def tangents(self, t: float, q: Array, v: Array, a: Array, lam: Array) -> Tangents:
        """Return all derivatives at constant v' and lambda."""

        def force(x: Array, y: Array) -> Array:
            C = 0.0 if self._C is None else np.asarray(self._C(t, x, y))
            return np.asarray(self._force(t, x, y)) + C

        def pull(x: Array, y: Array) -> Array:
            return self.matrix(t, x, y).T @ lam

        return Tangents(
            K=-derivative(lambda x: force(x, v), q),
            K_c=real_derivative(lambda x: pull(x, v), q),
            K_i=derivative(lambda x: np.asarray(self._mass(t, x)) @ a, q),
            D=real_derivative(lambda y: pull(q, y), v) - derivative(lambda y: force(q, y), v),
            B=real_derivative(lambda x: self.velocities(t, x, v), q),
        )

    def energies(self, t: float, q: Array, v: Array) -> tuple[float, float]:
        """Return kinetic and potential energy [J]; NaN where they are not known."""
        kinetic = 0.5 * float(v @ (self.mass(t, q) @ v))
        return kinetic, float("nan") if self._potential is None else float(self._potential(t, q))


def _complex(function: Function, x: Any) -> Any:
    """Return a function's complex answer to a complex number, or None if it has none."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")  # casts that drop an imaginary part, among others
            value = np.atleast_1d(np.asarray(function(x)))
    except (TypeError, ValueError, Warning):
        return None
    return value if np.iscomplexobj(value) and np.isfinite(value).all() else None


def _along(function: Function, speed: float) -> Array:
    """Return df/ds at s = 0 by differences of order four; what f depends on moves with a speed."""
    h = 1e-3 / speed
    near, far = ([np.atleast_1d(np.asarray(function(sign * k * h), float)) for sign in (1, -1)] for k in (1, 2))
    return np.asarray((8.0 * (near[0] - near[1]) - (far[0] - far[1])) / (12.0 * h))


def derivative(function: Function, x: Array) -> Array:
    """Return the Jacobian of a function, by complex steps if it can.

    Examples
    --------
    >>> derivative(lambda x: np.array([x[0] * x[1], abs(x[0])]), np.array([2.0, 3.0])).round(6).tolist()
    [[3.0, 2.0], [1.0, 0.0]]
    """
    columns = []
    for k in range(x.size):
        z = x.astype(complex)
        z[k] += 1j * COMPLEX_STEP
        value = _complex(function, z)
        if value is None:
            return real_derivative(function, x)
        columns.append(value.imag / COMPLEX_STEP)
    found = np.column_stack(columns)
    return found if _agrees(found, function, x) else real_derivative(function, x)


def _agrees(found: Array, function: Function, x: Array) -> bool:
    """Return whether a Jacobian is that of real numbers, tried along one direction: abs(), for one, drops imaginary parts."""
    direction = 1.0 + 0.37 * np.arange(x.size)
    ahead, behind = (np.atleast_1d(np.asarray(function(x + sign * REAL_STEP * direction), float)) for sign in (1.0, -1.0))
    size = np.abs(ahead) + np.abs(found) @ direction
    return bool(np.all(np.abs((ahead - behind) / (2.0 * REAL_STEP) - found @ direction) <= 1e-5 * size))


def real_derivative(function: Function, x: Array) -> Array:
    """Return the Jacobian of a function by central differences."""
    columns = []
    for k in range(x.size):
        h = REAL_STEP * max(1.0, abs(float(x[k])))
        ahead, behind = x.astype(float), x.astype(float)
        ahead[k] += h
        behind[k] -= h
        change = np.atleast_1d(np.asarray(function(ahead), float)) - np.atleast_1d(np.asarray(function(behind), float))
        columns.append(change / (2.0 * h))
    return np.column_stack(columns)
