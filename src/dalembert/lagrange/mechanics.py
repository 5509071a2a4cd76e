"""`Mechanics`: a mechanical system from a user's own equations, with the protocol that all analyses take (system/protocol.py).

    M(q, t) v' = Q(q, v, t) + Q^c,     phi(q, t) = 0,     psi(q, v, t) = 0,     q' = v
    w^T Q^c = w^T C(q, v, t) for every w with A w = 0:   Q^c = C - A^T lambda         (Udwadia and Schutte 2010, eqs. 5, 6)

M may be singular where the constraints make the motion unique, rows of A may depend on each other, psi may be nonlinear in v.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.equations import Dynamics, Equations, Tangents
from dalembert.system.state import State


class Mechanics:
    """A mechanical system in coordinates of one's own, from SymPy expressions; `from_functions` for plain functions.

    Parameters
    ----------
    name : str
    coordinates : sequence of Symbol, or of functions of t (``dynamicsymbols``)
    velocities : sequence of Symbol, optional
        Stand for the rates of the coordinates; needed where these are plain symbols. Derivatives of functions need none.
    mass : matrix, optional
        M(q, t). Instead of it: `kinetic_energy`, with `potential_energy`, or a `lagrangian`.
    force : sequence, optional
        Given forces Q(q, v, t); beside those that follow from a Lagrangian.
    holonomic, nonholonomic : sequence
        phi(q, t) and psi(q, v, t), which are zero.
    non_ideal : sequence, optional
        C(q, v, t): what the constraint forces do work with.
    parameters : mapping of Symbol to float
        Numbers for all other symbols; may be changed later in `parameters`, without compiling anew.
    position, velocity : array_like, optional
        Where it starts; zero if not given.
    breaks : sequence of float
        Times at which the expressions jump in a derivative, to be hit by the steps [s].

    Examples
    --------
    >>> import sympy as sp
    >>> x, z, vx, vz, m, g, L = sp.symbols("x z vx vz m g L")
    >>> pendulum = Mechanics(
    ...     "pendulum", [x, z], [vx, vz], kinetic_energy=m * (vx**2 + vz**2) / 2, potential_energy=m * g * z,
    ...     holonomic=[sp.sqrt(x**2 + z**2) - L], parameters={m: 2, g: 9.81, L: 1}, position=[1, 0],
    ... )
    >>> import dalembert as da
    >>> da.accelerations(pendulum, 0.0, pendulum.design.q, pendulum.design.v).acceleration.round(9).tolist()
    [0.0, -9.81]
    """

    def __init__(
        self,
        name: str,
        coordinates: Sequence[Any],
        velocities: Sequence[Any] | None = None,
        *,
        mass: Any = None,
        force: Any = None,
        lagrangian: Any = None,
        kinetic_energy: Any = None,
        potential_energy: Any = None,
        holonomic: Sequence[Any] = (),
        nonholonomic: Sequence[Any] = (),
        non_ideal: Any = None,
        parameters: Mapping[Any, float] | None = None,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        breaks: Sequence[float] = (),
    ) -> None:
        from dalembert.lagrange.symbolic import SymbolicEquations

        equations = SymbolicEquations(
            coordinates,
            velocities,
            mass=mass,
            force=force,
            lagrangian=lagrangian,
            kinetic_energy=kinetic_energy,
            potential_energy=potential_energy,
            holonomic=holonomic,
            nonholonomic=nonholonomic,
            non_ideal=non_ideal,
            parameters=parameters,
            element=f"mechanics {name!r}",
        )
        self._take(name, equations.names, equations, position, velocity, breaks)

    @classmethod
    def from_functions(
        cls,
        name: str,
        coordinates: Sequence[str],
        *,
        mass: Any,
        force: Callable[..., Any],
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        breaks: Sequence[float] = (),
        **functions: Any,
    ) -> Mechanics:
        """Return a system of plain functions: ``mass(t, q)`` or an array, ``force(t, q, v)``, others as in `NumericEquations`.

        Derivatives that are not given are made by complex steps where the functions allow it, else by differences.

        Examples
        --------
        >>> pendulum = Mechanics.from_functions(
        ...     "pendulum", ["x", "z"], mass=np.eye(2), force=lambda t, q, v: np.array([0.0, -9.81]),
        ...     holonomic=lambda t, q: np.sqrt(q[0] ** 2 + q[1] ** 2) - 1.0, position=[1.0, 0.0],
        ... )
        >>> pendulum.n_constraints
        1
        """
        from dalembert.lagrange.numeric import NumericEquations

        self = cls.__new__(cls)
        names = tuple(str(one) for one in coordinates)
        equations = NumericEquations(names, mass, force, element=f"mechanics {name!r}", **functions)
        self._take(name, names, equations, position, velocity, breaks)
        return self

    @classmethod
    def from_sympy_mechanics(cls, name: str, method: Any, **more: Any) -> Mechanics:
        """Return the system of a LagrangesMethod of `sympy.physics.mechanics`, or of a KanesMethod with speeds ``u = q'``.

        `more` is what the object does not hold: parameters, position, velocity, non_ideal.
        """
        from dalembert.lagrange.sympy_objects import arguments_of

        return cls(name, **arguments_of(name, method), **more)

    def _take(
        self,
        name: str,
        names: tuple[str, ...],
        equations: Equations,
        position: Any,
        velocity: Any,
        breaks: Sequence[float],
    ) -> None:
        self.name, self.coordinates, self.equations = name, names, equations
        self.breaks = tuple(float(one) for one in breaks)
        n = len(names)
        self.n_positions = self.n_velocities = n
        self.n_constraints = equations.n_holonomic + equations.n_nonholonomic
        start = []
        for label, values in (("position", position), ("velocity", velocity)):
            array = np.zeros(n) if values is None else np.asarray(values, dtype=float)
            if array.shape != (n,) or not np.isfinite(array).all():
                raise ModelError(
                    f"mechanics {name!r}", f"{label} is {values!r}", f"give {n} finite numbers: {', '.join(names)}"
                )
            start.append(array)
        self.design = State(0.0, start[0], start[1])
        full = np.arange(n)
        self._square = np.tile(full, n), np.arange(n + 1) * n
        self._rows = np.tile(np.arange(self.n_constraints), n), np.arange(n + 1) * self.n_constraints
        self._last: tuple[Any, Dynamics] | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name; assign numbers to change them."""
        self._last = None
        parameters: dict[str, float] = getattr(self.equations, "parameters", {})
        return parameters

    # --- the protocol ---------------------------------------------------------------------------------------------------

    @property
    def holonomic(self) -> NDArray[np.bool_]:
        """Which rows come from a phi(t, q) = 0: the first ones."""
        return np.arange(self.n_constraints) < self.equations.n_holonomic

    @property
    def rotational(self) -> NDArray[np.bool_]:
        """Which entries of d are small rotations: none is known to be one."""
        return np.zeros(self.n_velocities, dtype=bool)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Constraint rows: ``"phi[0]"``, ``"psi[0]"``."""
        counts = (("phi", self.equations.n_holonomic), ("psi", self.equations.n_nonholonomic))
        return tuple(f"{label}[{k}]" for label, count in counts for k in range(count))

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """The coordinates."""
        return self.coordinates

    def dynamics(self, t: float, q: Array, v: Array) -> Dynamics:
        """Return M, Q, C, A and b'' as dense arrays; those of the last state are remembered."""
        key = (t, q.tobytes(), v.tobytes())
        if self._last is None or self._last[0] != key:
            self._last = key, self.equations.dynamics(t, q, v)
        return self._last[1]

    def mass(self, t: float = 0.0, q: Array | None = None) -> sp.csc_array:
        """Return M."""
        q = self.design.q if q is None else q
        return self._sparse(self.equations.mass(t, q))

    def force(self, t: float, q: Array, v: Array) -> Array:
        """Return Q + C, terms quadratic in the velocities included: what accelerates beside ideal constraint forces."""
        parts = self.dynamics(t, q, v)
        return parts.Q + parts.C

    def non_ideal_force(self, t: float, q: Array, v: Array) -> Array:
        """Return C."""
        return self.dynamics(t, q, v).C.copy()

    def constraint(self, t: float, q: Array) -> Array:
        """Return phi; zero for the rows psi."""
        return np.concatenate([self.equations.positions(t, q), np.zeros(self.equations.n_nonholonomic)])

    def jacobian(self, t: float, q: Array, v: Array | None = None) -> sp.csc_array:
        """Return A: phi_q, then psi_v, which may depend on v."""
        A = self.equations.matrix(t, q, np.zeros(self.n_velocities) if v is None else v)
        indices, indptr = self._rows
        return sp.csc_array((A.ravel(order="F"), indices, indptr), shape=A.shape)

    def velocity_residual(self, t: float, q: Array, v: Array) -> Array:
        """Return ``A v - b'``: of a psi, psi itself."""
        return self.equations.velocities(t, q, v)

    def velocity_right_side(self, t: float, q: Array) -> Array:
        """Return b' of A v = b', where the rows are linear in v."""
        return -self.equations.velocities(t, q, np.zeros(self.n_velocities))

    def acceleration_right_side(self, t: float, q: Array, v: Array) -> Array:
        """Return b'' of A v' = b''."""
        return self.dynamics(t, q, v).b.copy()

    def tangents(self, t: float, q: Array, v: Array, a: Array | None = None, multipliers: Array | None = None) -> Tangents:
        """Return all derivatives as dense arrays."""
        a = np.zeros(self.n_velocities) if a is None else a
        lam = np.zeros(self.n_constraints) if multipliers is None else multipliers
        return self.equations.tangents(t, q, v, np.asarray(a, float), np.asarray(lam, float))

    def stiffness(self, t: float, q: Array, v: Array, multipliers: Array, *, with_constraints: bool = True) -> sp.csc_array:
        """Return K = d(A^T lambda - Q - C)/dq; without K_c if `with_constraints` is false."""
        parts = self.tangents(t, q, v, None, multipliers)
        return self._sparse(parts.K + parts.K_c if with_constraints else parts.K)

    def damping(self, t: float, q: Array, v: Array, multipliers: Array | None = None) -> sp.csc_array:
        """Return D = d(A^T lambda - Q - C)/dv."""
        return self._sparse(self.tangents(t, q, v, None, multipliers).D)

    def inertia_stiffness(self, t: float, q: Array, a: Array) -> sp.csc_array:
        """Return d(M a)/dq."""
        return self._sparse(self.tangents(t, q, np.zeros(self.n_velocities), a).K_i)

    def velocity_stiffness(self, t: float, q: Array, v: Array) -> sp.csc_array:
        """Return d(A v - b')/dq at constant v."""
        return sp.csc_array(self.tangents(t, q, v).B)

    def transport(self, v: Array) -> sp.csc_array:
        """Return N of dv = d' + N d: zero, because q' = v."""
        return sp.csc_array((self.n_velocities, self.n_velocities))

    def advance(self, q: Array, d: Array) -> Array:
        """Return q + d."""
        return np.asarray(q + d, dtype=float)

    def energies(self, t: float, q: Array, v: Array) -> tuple[float, float]:
        """Return kinetic and potential energy [J]; NaN where they are not known."""
        return self.equations.energies(t, q, v)

    def _sparse(self, square: Array) -> sp.csc_array:
        indices, indptr = self._square
        return sp.csc_array((square.ravel(order="F"), indices, indptr), shape=square.shape)

    def __repr__(self) -> str:
        counts = f"{self.equations.n_holonomic} holonomic, {self.equations.n_nonholonomic} nonholonomic constraints"
        return f"{self.name}: coordinates {', '.join(self.coordinates)}; {counts}"
