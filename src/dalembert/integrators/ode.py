"""Constraints on somebody's ODE: `constrain` (Masarati 2011, sections 3.4 and 3.5), for the solvers of SciPy.

The state is y = {x; v; w}: positions, their rates, and others that have nothing to do with mechanics and are left alone. An
evaluation of the constrained rates does what section 3.5 lists:

    x  nearest with phi(x, t) = 0                                              (16), (17)
    v  nearest with A v = b'                                                   (11a)
    y' = f(t, y) of the unconstrained problem, at the corrected state
    v' = a - M^-1 A^T (A M^-1 A^T)^+ (A a - b'')                               (11b)

so that the problem stays an ordinary one of the same size. `ConstrainedOde.method` makes any solver class of SciPy project its
state between steps, too. With Ritz forms x = X q the same holds with A X, X^T M X, X^T W X (23) to (26); where A X loses rank,
constraints that the forms cannot meet are met in the sense of least squares.

P. Masarati, Adding kinematic constraints to purely differential dynamics, Comput. Mech. 47 (2011).
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.integrate
from numpy.typing import ArrayLike

from dalembert.errors import ModelError, SolveError, nearest
from dalembert.formulations.masarati import corrected_acceleration, projected_position, projected_velocity, solve
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.numeric import Function, NumericEquations, derivative

SOLVERS: dict[str, Any] = {name: getattr(scipy.integrate, name) for name in ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")}


class ConstrainedOde:
    """An ODE with constraints added to it, for `scipy.integrate.solve_ivp`; called with (t, y), it returns y'.

    Parameters
    ----------
    rhs : function of (t, y)
        y' of the unconstrained problem.
    residual : function of (y, y', t), instead of `rhs`
        Zero for the unconstrained problem (18); its rows at the places of `velocity` are the balances of momentum.
    position, velocity : slice or sequence of int
        Places in y of the positions x and of their rates v.
    constraint : function of (t, x), optional
        phi, which is zero; its derivatives are made by complex steps where it allows them, else by differences.
    nonholonomic : function of (t, x, v), optional
        psi, which is zero; need not be linear in v.
    jacobian : function of (t, x, v), optional
        A of all rows, phi first.
    mass : array or function of (t, x)
        M of the mechanical part; a vector is its diagonal. Not needed with `residual`.
    weights : {"mass", "identity"} or array
        Metric W in which corrected positions and velocities are nearest.
    forms : array, optional
        Ritz forms X, columns: x = X q, and y holds q and its rates. M and W may be given for x or for q.
    tolerance : float
        Of phi.
    projections : bool
        Without them only the accelerations are corrected (8), and positions and velocities drift: for comparison.

    Examples
    --------
    A point that falls freely becomes a pendulum:

    >>> from scipy.integrate import solve_ivp
    >>> fall = lambda t, y: np.array([y[2], y[3], 0.0, -9.81])
    >>> pendulum = constrain(
    ...     fall, position=[0, 1], velocity=[2, 3], mass=[1.0, 1.0], constraint=lambda t, x: np.sqrt(x[0]**2 + x[1]**2) - 1.0
    ... )
    >>> run = solve_ivp(pendulum, (0, 10), [1.0, 0, 0, 0], method=pendulum.method("RK45"), rtol=1e-8, atol=1e-8)
    >>> bool(abs(np.hypot(run.y[0], run.y[1]) - 1.0).max() < 1e-12)
    True
    """

    def __init__(
        self,
        rhs: Function | None = None,
        *,
        residual: Function | None = None,
        position: Any,
        velocity: Any,
        constraint: Function | None = None,
        nonholonomic: Function | None = None,
        jacobian: Function | None = None,
        mass: Any = None,
        weights: Any = "mass",
        forms: ArrayLike | None = None,
        tolerance: float = 1e-12,
        projections: bool = True,
    ) -> None:
        self._rhs, self._residual = rhs, residual
        self._x, self._v = position, velocity
        self._forms = None if forms is None else np.asarray(forms, float)
        self._mass, self._weights, self.tolerance = mass, weights, tolerance
        self._projections = projections
        self._given = (constraint, nonholonomic, jacobian)
        self._constraints: NumericEquations | None = None
        self._check()

    def _check(self) -> None:
        element = "constrain"
        if (self._rhs is None) == (self._residual is None):
            raise ModelError(element, "the ODE is not given, or twice", "give rhs(t, y) or residual=g(y, y', t)")
        if self._given[0] is None and self._given[1] is None:
            raise ModelError(element, "no constraint is given", "give constraint=phi(t, x) or nonholonomic=psi(t, x, v)")
        if self._rhs is not None and self._mass is None:
            remedy = "give mass=...: it decides along which accelerations the constraint forces act"
            raise ModelError(element, "the mass matrix is not given", remedy)
        if isinstance(self._weights, str) and self._weights not in ("mass", "identity"):
            raise ModelError(element, f"unknown weights {self._weights!r}", nearest(self._weights, ("mass", "identity")))

    # --- what solvers call ----------------------------------------------------------------------------------------------

    def __call__(self, t: float, y: Array) -> Array:
        """Return y' of the constrained problem."""
        return self._rates(t, y)[0]

    def project(self, t: ArrayLike, y: ArrayLike) -> Array:
        """Return the nearest state that satisfies the constraints; also columns of states at several times."""
        states = np.array(y, float)
        if states.ndim == 2:
            times = np.broadcast_to(np.asarray(t, float), states.shape[1])
            return np.column_stack([self._projected(float(s), one)[0] for s, one in zip(times, states.T, strict=True)])
        return self._projected(float(np.asarray(t)), states)[0]

    def multipliers(self, t: ArrayLike, y: ArrayLike) -> Array:
        """Return lambda; the constraints pull with -A^T lambda. Columns of states at several times give columns."""
        states = np.asarray(y, float)
        if states.ndim == 2:
            times = np.broadcast_to(np.asarray(t, float), states.shape[1])
            return np.column_stack([self._rates(float(s), one)[1] for s, one in zip(times, states.T, strict=True)])
        return self._rates(float(np.asarray(t)), states)[1]

    def violation(self, t: float, y: Array) -> tuple[float, float]:
        """Return the largest residuals of positions and of velocities."""
        rows = self._rows(y)
        x, v = y[self._x], y[self._v]
        return _largest(rows.positions(t, x)), _largest(rows.velocities(t, x, v))

    def method(self, base: Any = "RK45") -> Any:
        """Return a solver class of SciPy that projects its state after each step: ``solve_ivp(..., method=...)``.

        LSODA keeps a history that cannot be changed from outside: its evaluations are projected, its state only where you
        call `project`.
        """
        if isinstance(base, str) and base not in SOLVERS:
            raise ModelError("constrain", f"unknown solver {base!r}", nearest(base, SOLVERS))
        kind = SOLVERS[base] if isinstance(base, str) else base
        return _projecting(kind, self) if self._projections and not issubclass(kind, scipy.integrate.LSODA) else kind

    def solve(self, t_span: tuple[float, float], y0: ArrayLike, *, method: Any = "RK45", **options: Any) -> Any:
        """Return what `solve_ivp` gives with projections between steps and in what is put out, with the multipliers."""
        begin = self.project(t_span[0], np.asarray(y0, float))
        run = scipy.integrate.solve_ivp(self, t_span, begin, method=self.method(method), **options)
        run.y = self.project(run.t, run.y)
        run.multipliers = self.multipliers(run.t, run.y)
        return run

    # --- section 3.5 ----------------------------------------------------------------------------------------------------

    def _rows(self, y: Array) -> NumericEquations:
        """Return the constraints on the coordinates that y holds."""
        if self._constraints is None:
            n = np.asarray(y)[self._x].size
            if np.asarray(y)[self._v].size != n:
                raise ModelError("constrain", "positions and velocities differ in number", "name one rate for each position")
            X = self._forms
            phi, psi, A = self._given
            if X is not None and X.shape[1] != n:
                raise ModelError("constrain", f"{X.shape[1]} forms for {n} coordinates", "give one column for each")
            names = tuple(f"x[{k}]" for k in range(n))
            self._constraints = NumericEquations(
                names,
                np.eye(n),
                lambda t, q, v: np.zeros(n),
                holonomic=phi if X is None or phi is None else lambda t, q: phi(t, X @ q),
                nonholonomic=psi if X is None or psi is None else lambda t, q, v: psi(t, X @ q, X @ v),
                jacobian=A if X is None or A is None else lambda t, q, v: np.asarray(A(t, X @ q, X @ v)) @ X,
                element="constrain",
            )
        return self._constraints

    def _reduced(self, given: Any) -> Array:
        """Return a mass or weight matrix for the coordinates that y holds."""
        matrix = np.asarray(given, float)
        matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
        X = self._forms
        return np.asarray(X.T @ matrix @ X) if X is not None and len(matrix) == len(X) else matrix

    def _metric(self, M: Array) -> Array:
        if not isinstance(self._weights, str):
            return self._reduced(self._weights)
        if self._weights == "mass":
            return M
        return self._reduced(np.eye(len(M if self._forms is None else self._forms)))

    def _mass_at(self, t: float, y: Array) -> Array:
        if self._residual is not None:
            return np.array(self._inertia(t, y, np.zeros(y.size))[self._v][:, self._v])
        given = self._mass(t, y[self._x]) if callable(self._mass) else self._mass
        return self._reduced(given)

    def _inertia(self, t: float, y: Array, rates: Array) -> Array:
        """Return dg/dy'."""
        g = cast(Function, self._residual)
        return np.asarray(derivative(lambda one: g(y, one, t), rates), float)

    def _projected(self, t: float, y: Array) -> tuple[Array, Array]:
        """Return the corrected state, and M there."""
        rows = self._rows(y)
        y = np.array(y, float)
        M = self._mass_at(t, y)
        W, h = self._metric(M), rows.n_holonomic
        x, v = y[self._x], y[self._v]
        if h:
            gaps = rows.positions(t, x)
            if _largest(gaps) > self.tolerance:
                x, left = projected_position(
                    x, lambda one: rows.positions(t, one), lambda one: rows.matrix(t, one, v)[:h], W=W, tolerance=self.tolerance
                )
                if left > 100.0 * self.tolerance * max(1.0, _largest(x)) and self._forms is None:
                    raise SolveError(f"the constraints cannot be met at t = {t:.6g}: phi stays at {left:.3g}")
                y[self._x] = x
                M = self._mass_at(t, y)
        y[self._v] = self._projected_velocity(t, x, v, self._metric(M))
        return y, M

    def _projected_velocity(self, t: float, x: Array, v: Array, W: Array) -> Array:
        """Return the nearest velocities that all rows allow: once where these are linear in v, else by Newton's method."""
        rows, before = cast(NumericEquations, self._constraints), np.inf
        for _ in range(8 if rows.n_nonholonomic else 2):
            error = rows.velocities(t, x, v)
            size = _largest(error)
            if size <= 1e-14 * max(1.0, _largest(v)) or not size < 0.5 * before:
                break
            A, before = rows.matrix(t, x, v), size
            v = projected_velocity(v, A, A @ v - error, W)[0]
        return v

    def _rates(self, t: float, y: Array) -> tuple[Array, Array]:
        """Return y' and lambda."""
        y = np.asarray(y, float)
        y, M = self._projected(t, y) if self._projections else (y, self._mass_at(t, y))
        rows, x, v = self._rows(y), y[self._x], y[self._v]
        parts = rows.dynamics(t, x, v)
        if self._residual is None:
            rates = np.array(cast(Function, self._rhs)(t, y), float)
            response = solve(M, parts.A.T)
            rates[self._x] = v
            rates[self._v], lam = corrected_acceleration(rates[self._v], response, parts.A, parts.b)
            return rates, lam
        rates, E = self._solved(t, y)
        load = np.zeros((y.size, len(parts.b)))
        load[self._v] = parts.A.T
        response = solve(E, load)
        _, lam = corrected_acceleration(rates[self._v], response[self._v], parts.A, parts.b)
        return rates - response @ lam, lam

    def _solved(self, t: float, y: Array) -> tuple[Array, Array]:
        """Return y' of g(y, y', t) = 0 (18), and dg/dy' there, by Newton's method."""
        g, rates = cast(Function, self._residual), np.zeros(y.size)
        for _ in range(20):
            E, left = self._inertia(t, y, rates), np.asarray(g(y, rates, t), float)
            try:
                step = np.linalg.solve(E, -left)
            except np.linalg.LinAlgError as error:
                raise SolveError(f"g(y, y', t) = 0 does not determine y' at t = {t:.6g}: dg/dy' is singular") from error
            rates = rates + step
            if _largest(step) <= 1e-12 * max(1.0, _largest(rates)):
                return rates, E
        raise SolveError(f"g(y, y', t) = 0 could not be solved for y' at t = {t:.6g}; the last change was {_largest(step):.3g}")


constrain = ConstrainedOde
"""What a user calls: ``da.constrain(rhs, ...)``."""


def _projecting(kind: Any, ode: ConstrainedOde) -> Any:
    """Return a solver class whose state is projected after each step.

    The rates that it keeps for the next step stay right: those of a state are those of its projection.
    """

    class Projecting(kind):  # type: ignore[misc]
        y: Any

        def _step_impl(self) -> tuple[bool, Any]:
            made, message = super()._step_impl()
            if made:
                self.y = ode.project(self.t, self.y)
                if issubclass(kind, scipy.integrate.BDF):
                    self.D[0] = self.y
            return made, message

    Projecting.__name__ = f"Projecting{kind.__name__}"
    return Projecting


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
