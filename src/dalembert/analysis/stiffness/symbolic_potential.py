"""Potential energies given as SymPy expressions; see `Potential.sympy`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from dalembert.analysis.stiffness.force_field import ForceField
from dalembert.analysis.stiffness.hessians import Chart
from dalembert.analysis.stiffness.potential import Components, Derivatives, PlanarPotential, Potential, fixed_or_corotational
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array
from dalembert.rotation.euler import EulerSet, euler_set


def symbolic_potential(
    expression: Any,
    position: Sequence[Any],
    rotation: Sequence[Any],
    *,
    euler: str | EulerSet | None,
    components: Components,
    parameters: Mapping[Any, float],
    bodies: tuple[str, ...],
) -> Potential:
    """Return the potential energy that fits what its rotations are given in."""
    places, turns = list(position), [one for row in rotation for one in (row if isinstance(row, list | tuple) else [row])]
    if isinstance(rotation, sp.MatrixBase):
        turns = list(rotation)
    n, energy = len(bodies), _Derivatives(expression, places, turns, parameters)
    kinds = {(3 * n, 3 * n): _OfAngles, (3 * n, 9 * n): _OfEntries, (2 * n, n): _OfPlane}
    kind = kinds.get((len(places), len(turns)))
    if kind is None:
        raise ModelError(
            "potential energy",
            f"{len(places)} positions and {len(turns)} rotations do not fit {n} bod{'y' if n == 1 else 'ies'}",
            "give a body three positions and three angles or nine entries of R, in a plane two and one",
        )
    if (kind is _OfAngles) != (euler is not None):
        needed = "name the set of the angles: euler='321'" if kind is _OfAngles else "leave `euler` out: there are no angles"
        raise ModelError("potential energy", "the set of Euler angles does not fit the rotations", needed)
    if components not in ("world", "body") or (components == "body" and kind is not _OfAngles):
        problem = f"components {components!r} cannot be had with these rotations"
        raise ModelError("potential energy", problem, "use 'world', or 'body' with Euler angles")
    found = kind(energy, bodies)
    found.components, found.euler = components, euler_set(euler) if euler is not None else None
    return found


class _Derivatives:
    """U and its derivatives with respect to all positions, then all rotations, as functions of numbers."""

    def __init__(self, expression: Any, places: list[Any], turns: list[Any], parameters: Mapping[Any, float]) -> None:
        U = sp.sympify(expression).xreplace({sp.sympify(name): sp.Float(value) for name, value in parameters.items()})
        variables = [*places, *turns]
        if not isinstance(U, sp.Expr) or U.is_Matrix:
            raise ModelError(
                "potential energy", f"{expression!r} is no scalar expression", "a potential energy is one number [J]"
            )
        unknown = sorted(str(one) for one in U.free_symbols - set(variables))
        if unknown:
            raise ModelError("potential energy", f"unknown symbols {', '.join(unknown)}", "give them values: parameters={...}")
        gradient = [sp.diff(U, one) for one in variables]
        hessian = [sp.diff(row, one) for row in gradient for one in variables]
        self._function = sp.lambdify(variables, [gradient, hessian], modules="numpy", cse=True)
        self.size = len(variables)

    def __call__(self, values: Array) -> Derivatives:
        with np.errstate(all="ignore"):
            gradient, hessian = (np.array(part, dtype=complex) for part in self._function(*values))
        numbers = np.concatenate([gradient, hessian])
        if not np.isfinite(numbers).all() or np.abs(numbers.imag).max(initial=0.0) > 0.0:
            raise ModelError("potential energy", "its derivatives are not finite at this pose", "look at another pose")
        return gradient.real, hessian.real.reshape(self.size, self.size)


class _Symbolic(Potential):
    """An expression; what its rotations are is up to the subclasses."""

    components: Components
    euler: EulerSet | None

    def __init__(self, energy: _Derivatives, bodies: tuple[str, ...]) -> None:
        self.bodies = bodies
        self._energy_of = energy


class _OfAngles(_Symbolic):
    """In X or x and the angles of one set."""

    def _set(self, euler: str | EulerSet) -> EulerSet:
        assert self.euler is not None
        return self.euler

    def _field(self, X: Array, charts: Sequence[Chart]) -> ForceField:
        other = [chart for chart in charts if chart.euler.name != chart.wanted]
        if other:
            raise ModelError(
                f"Euler set '{other[0].wanted}'",
                "it is singular at this pose, and the potential energy is written in its angles",
                f"write it in the set '{other[0].euler.name}', which is regular there, or in the entries of R",
            )
        places = X if self.components == "world" else np.einsum("nji,nj->ni", _matrices(charts), X)
        g, H = self._energy_of(np.concatenate([places.ravel(), *(chart.angles for chart in charts)]))
        order = _body_by_body(len(X), 3)
        return fixed_or_corotational(self.bodies, X, charts, (g[order], H[np.ix_(order, order)]), self.components)


class _OfEntries(_Symbolic):
    """In X and the nine entries of R: any set of Euler angles by the chain rule."""

    def _derivatives(self, X: Array, charts: Sequence[Chart]) -> Derivatives:
        n = len(X)
        g, H = self._energy_of(np.concatenate([X.ravel(), _matrices(charts).ravel()]))
        J = np.zeros((12 * n, 6 * n))  # d(X, R)/d(X, nu)
        for k, chart in enumerate(charts):
            J[3 * k : 3 * k + 3, 6 * k : 6 * k + 3] = np.eye(3)
            turned = chart.euler.matrix_derivative(chart.angles).reshape(3, 9)
            J[3 * n + 9 * k : 3 * n + 9 * k + 9, 6 * k + 3 : 6 * k + 6] = turned.T
        hessian = J.T @ H @ J
        for k, chart in enumerate(charts):
            U_R = g[3 * n + 9 * k : 3 * n + 9 * k + 9].reshape(3, 3)
            here = slice(6 * k + 3, 6 * k + 6)
            hessian[here, here] += np.einsum("mi,jkmi->jk", U_R, _second_derivative(chart))
        return J.T @ g, hessian


class _OfPlane(_Symbolic, PlanarPotential):
    """In X_1, X_2 and psi."""

    def _planar_derivatives(self, place: Array, psi: Array) -> Derivatives:
        g, H = self._energy_of(np.concatenate([place.ravel(), psi]))
        order = _body_by_body(len(psi), 2, 1)
        return g[order], H[np.ix_(order, order)]


def _matrices(charts: Sequence[Chart]) -> Array:
    return np.stack([chart.euler.matrix(chart.angles) for chart in charts])


def _second_derivative(chart: Chart) -> Array:
    """Return d2R/(dnu^j dnu^k): columns ``dg_k/dnu^j x e_i + g_k x (g_j x e_i)``, from (119)."""
    g, dg = chart.g, chart.euler.basis_derivative(chart.angles)
    e = chart.euler.matrix(chart.angles).T
    turned = np.cross(g[:, None], e[None])  # g_j x e_i at [j, i]
    second = np.cross(dg.swapaxes(0, 1)[:, :, None], e[None, None]) + np.cross(g[None, :, None], turned[:, None])
    return np.asarray(np.swapaxes(second, -1, -2))


def _body_by_body(n: int, places: int, turns: int = 3) -> NDArray[np.intp]:
    """Return the order (x_1, nu_1, x_2, nu_2, ...) of values that stand as (x_1, x_2, ..., nu_1, nu_2, ...)."""
    numbers = np.arange(n * (places + turns))
    return np.hstack([numbers[: n * places].reshape(n, places), numbers[n * places :].reshape(n, turns)]).ravel()
