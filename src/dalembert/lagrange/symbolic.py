"""Equations from SymPy expressions: every derivative is symbolic, shared subexpressions are computed once, all is compiled.

L = T - V       M = L_vv,    Q = L_q - L_vq v - L_vt + (given forces)
phi             A = phi_q,   b'' = -(phi_q v)_q v - 2 phi_qt v - phi_tt
psi             A = psi_v,   b'' = -psi_q v - psi_t
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.equations import Dynamics, Tangents
from dalembert.lagrange.generate import module_from

TIME = sp.Symbol("t")


class SymbolicEquations:
    """A user's equations as compiled functions.

    Parameters
    ----------
    coordinates : sequence of Symbol or of functions of t
    velocities : sequence of Symbol
        Stand for the derivatives of the coordinates.
    mass, force, lagrangian, kinetic_energy, potential_energy, holonomic, nonholonomic, non_ideal
        See `Mechanics`.
    parameters : mapping of Symbol to float
    element : str
        How errors call the system.
    """

    def __init__(
        self,
        coordinates: Sequence[Any],
        velocities: Sequence[sp.Symbol] | None,
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
        element: str = "mechanics",
    ) -> None:
        self.element = element
        self._name_symbols(coordinates, velocities, parameters or {})
        n = len(self.names)
        T, V = (self._expression(one) if one is not None else None for one in (kinetic_energy, potential_energy))
        L = self._lagrangian(lagrangian, T, V)
        given = self._column(force, n, "force")
        M, Q = self._equations_of_motion(mass, L, given)
        self._energies = _energies_of(M, self._v, T, V)
        phi = sp.Matrix([self._expression(one) for one in holonomic])
        psi = sp.Matrix([self._expression(one) for one in nonholonomic])
        self.n_holonomic, self.n_nonholonomic = len(phi), len(psi)
        C = self._column(non_ideal, n, "non_ideal")
        self._set_up(M, Q, C, phi, psi)
        self._module: ModuleType | None = None
        self._tangent_module: ModuleType | None = None
        self._check_symbols()

    # --- symbols --------------------------------------------------------------------------------------------------------

    def _name_symbols(self, coordinates: Sequence[Any], velocities: Any, parameters: Mapping[Any, float]) -> None:
        """Choose plain symbols for coordinates (``q[0]``), velocities and parameters, and remember what they stand for."""
        if not coordinates:
            raise ModelError(self.element, "it has no coordinates", "name them: coordinates=[x, y]")
        self.names = tuple(str(one.func) if isinstance(one, AppliedUndef) else str(one) for one in coordinates)
        if len(set(self.names)) != len(self.names):
            raise ModelError(self.element, f"a coordinate stands twice in {list(self.names)}", "name each once")
        n = len(self.names)
        self._q = [sp.Symbol(f"q[{k}]", real=True) for k in range(n)]
        self._v = [sp.Symbol(f"v[{k}]", real=True) for k in range(n)]
        self._a = [sp.Symbol(f"a[{k}]", real=True) for k in range(n)]
        known = list(parameters)
        self._p = [sp.Symbol(f"p[{k}]", real=True) for k in range(len(known))]
        self.parameters = {str(one): float(value) for one, value in parameters.items()}
        self._rates: list[tuple[Any, Any]] = []
        self._places: list[tuple[Any, Any]] = []
        for k, one in enumerate(coordinates):
            if isinstance(one, AppliedUndef):
                (time,) = one.args
                self._rates.append((sp.Derivative(one, time), self._v[k]))
            self._places.append((one, self._q[k]))
        if velocities is not None:
            if len(velocities) != n:
                raise ModelError(self.element, f"{len(velocities)} velocities for {n} coordinates", "give one for each")
            self._rates += list(zip(velocities, self._v, strict=True))
        time = sp.Symbol("t", real=True)
        self._others = [
            *zip([sp.sympify(one) for one in known], self._p, strict=True),
            (TIME, time),
            (sp.Symbol("t", real=True), time),
        ]
        self._t = time
        functions = [one for one in coordinates if isinstance(one, AppliedUndef)]
        if functions:
            self._others.append((functions[0].args[0], time))

    def _expression(self, given: Any) -> Any:
        """Return an expression in plain symbols: derivatives first, then coordinates, parameters and time."""
        try:
            expression = sp.sympify(given)
        except (sp.SympifyError, TypeError) as error:
            raise ModelError(self.element, f"{given!r} is not an expression", "give SymPy expressions") from error
        expression = expression.doit() if expression.has(sp.Derivative) else expression
        for old, new in (*self._rates, *self._places, *self._others):
            expression = expression.xreplace({old: new}) if not isinstance(old, sp.Derivative) else expression.subs(old, new)
        return expression

    def _column(self, given: Any, n: int, label: str) -> sp.Matrix:
        values = [0] * n if given is None else list(sp.Matrix(given)) if isinstance(given, sp.MatrixBase) else list(given)
        if len(values) != n:
            raise ModelError(
                self.element, f"{label} has {len(values)} entries for {n} coordinates", "give one for each coordinate"
            )
        return sp.Matrix([self._expression(one) for one in values])

    def _check_symbols(self) -> None:
        allowed = {*self._q, *self._v, *self._p, self._t}
        everything = [*self._dynamics[0], *self._dynamics[1], *self._dynamics[2], *self._dynamics[3], *self._phi]
        unknown = set().union(*(sp.sympify(one).free_symbols for one in everything)) - allowed
        if unknown:
            names = ", ".join(sorted(str(one) for one in unknown))
            raise ModelError(
                self.element, f"unknown symbols: {names}", "name them as coordinates, or give numbers in parameters={...}"
            )

    # --- mathematics ----------------------------------------------------------------------------------------------------

    def _lagrangian(self, lagrangian: Any, T: Any, V: Any) -> Any:
        if lagrangian is not None and T is not None:
            raise ModelError(self.element, "both a Lagrangian and a kinetic energy are given", "give one of them")
        if lagrangian is not None:
            return self._expression(lagrangian)
        return None if T is None else T - (0 if V is None else V)

    def _equations_of_motion(self, mass: Any, L: Any, given: sp.Matrix) -> tuple[sp.Matrix, sp.Matrix]:
        """Return M and Q."""
        n = len(self.names)
        if (mass is None) == (L is None):
            raise ModelError(
                self.element, "the inertia is not given, or twice", "give mass=..., kinetic_energy=... or lagrangian=..."
            )
        if L is None:
            M = sp.Matrix(mass).applyfunc(self._expression)
            if M.shape != (n, n):
                raise ModelError(self.element, f"the mass matrix is {M.shape} for {n} coordinates", f"give {n} rows of {n}")
            return M, given
        q, v = sp.Matrix(self._q), sp.Matrix(self._v)
        momentum = sp.Matrix([L]).jacobian(v).T
        M = momentum.jacobian(v)
        Q = sp.Matrix([L]).jacobian(q).T - momentum.jacobian(q) * v - momentum.diff(self._t)
        return M, Q + given

    def _set_up(self, M: sp.Matrix, Q: sp.Matrix, C: sp.Matrix, phi: sp.Matrix, psi: sp.Matrix) -> None:
        """Make the expressions of all functions."""
        q, v, a, t = sp.Matrix(self._q), sp.Matrix(self._v), sp.Matrix(self._a), self._t
        n, m = len(q), len(phi) + len(psi)
        lam = sp.Matrix([sp.Symbol(f"lam[{k}]", real=True) for k in range(m)]) if m else sp.zeros(0, 1)
        rates = (phi.jacobian(q) * v + phi.diff(t)) if len(phi) else sp.zeros(0, 1)
        velocity = sp.Matrix([*rates, *psi])
        A = velocity.jacobian(v) if m else sp.zeros(0, n)
        b = -(velocity.jacobian(q) * v + velocity.diff(t)) if m else sp.zeros(0, 1)
        self._phi, self._velocity = list(phi), list(velocity)
        self._dynamics = (list(M), list(Q), list(C), list(A), list(b))
        force = Q + C
        pull = A.T * lam if m else sp.zeros(n, 1)
        self._tangents: Callable[[], tuple[list[Any], ...]] = lambda: (
            list(-force.jacobian(q)),
            list(pull.jacobian(q)),
            list((M * a).jacobian(q)),
            list((pull - force).jacobian(v)),
            list(velocity.jacobian(q)) if m else [],
        )

    # --- numbers --------------------------------------------------------------------------------------------------------

    def _functions(self) -> ModuleType:
        if self._module is None:
            functions = {
                "dynamics": self._dynamics,
                "mass": (self._dynamics[0],),
                "matrix": (self._dynamics[3],),
                "positions": (self._phi,),
                "velocities": (self._velocity,),
                "energies": (self._energies,),
            }
            self._module = module_from(functions, ("t", "q", "v", "p"))
        return self._module

    def values(self) -> Array:
        """Return the parameters, in the order in which they were given."""
        return np.array(list(self.parameters.values()), dtype=float)

    def dynamics(self, t: float, q: Array, v: Array) -> Dynamics:
        """Return M, Q, C, A and b''."""
        n, m = len(self.names), self.n_holonomic + self.n_nonholonomic
        out = Dynamics(*(np.empty(size) for size in (n * n, n, n, m * n, m)))
        self._functions().dynamics(float(t), _flat(q), _flat(v), self.values(), *out)
        return Dynamics(out.M.reshape(n, n), out.Q, out.C, out.A.reshape(m, n), out.b)

    def mass(self, t: float, q: Array) -> Array:
        """Return M."""
        n = len(self.names)
        out = np.empty(n * n)
        self._functions().mass(float(t), _flat(q), np.zeros(n), self.values(), out)
        return out.reshape(n, n)

    def matrix(self, t: float, q: Array, v: Array) -> Array:
        """Return A."""
        n = len(self.names)
        out = np.empty((self.n_holonomic + self.n_nonholonomic) * n)
        self._functions().matrix(float(t), _flat(q), _flat(v), self.values(), out)
        return out.reshape(-1, n)

    def positions(self, t: float, q: Array) -> Array:
        """Return phi."""
        out = np.empty(self.n_holonomic)
        self._functions().positions(float(t), _flat(q), np.zeros(len(self.names)), self.values(), out)
        return out

    def velocities(self, t: float, q: Array, v: Array) -> Array:
        """Return phi_q v + phi_t, then psi."""
        out = np.empty(self.n_holonomic + self.n_nonholonomic)
        self._functions().velocities(float(t), _flat(q), _flat(v), self.values(), out)
        return out

    def energies(self, t: float, q: Array, v: Array) -> tuple[float, float]:
        """Return kinetic and potential energy [J]; NaN where they are not known."""
        out = np.empty(2)
        self._functions().energies(float(t), _flat(q), _flat(v), self.values(), out)
        return float(out[0]), float(out[1])

    def tangents(self, t: float, q: Array, v: Array, a: Array, lam: Array) -> Tangents:
        """Return all derivatives at constant v' and lambda."""
        if self._tangent_module is None:
            self._tangent_module = module_from({"tangents": self._tangents()}, ("t", "q", "v", "a", "lam", "p"))
        n, m = len(self.names), self.n_holonomic + self.n_nonholonomic
        out = [np.empty(n * n) for _ in range(4)] + [np.empty(m * n)]
        self._tangent_module.tangents(float(t), _flat(q), _flat(v), _flat(a), _flat(lam), self.values(), *out)
        return Tangents(*(one.reshape(-1, n) for one in out))


def _flat(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=float)


def _energies_of(M: sp.Matrix, v: list[sp.Symbol], T: Any, V: Any) -> list[Any]:
    """Return kinetic energy, as given or v M v/2, and potential energy, NaN if it is not given."""
    rates = sp.Matrix(v)
    kinetic = (rates.T * M * rates)[0] / 2 if T is None else T
    return [kinetic, sp.Float("nan") if V is None else V]
