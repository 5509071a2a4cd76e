"""Force fields from a potential energy of one's own: as a function of (R, x), or as a SymPy expression.

What a potential energy is given in decides which of the paper's formulas make the field of its derivatives (hessians.py):

    X and Euler angles        U2, U4      F = -dU/dX,      M   = -G^T dU/dnu      2Kc, 4Kc by (35)
    x = Q X and Euler angles  U1, U3      F = -Q^T dU/dx,  M_O = -G^T dU/dnu      1Kc, 3Kc by (28)
    X and the entries of R    by the chain rule in X and any set of Euler angles: U_nu = U_R : R_nu and so on
    a function of (R, x)      by central differences of sixth order in X and any set
    X and psi, in a plane     (59), (105): derivatives out of the plane are left at zero

X is the place of the centre, or of any other material point: the field is then that of this point, and `ForceField.at` goes on
to others. Derivatives of expressions are symbolic. Differences are made with two steps, which have to agree: what jumps, or has
corners, or more than one value at a pose, is no potential energy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.analysis.stiffness.force_field import ForceField
from dalembert.analysis.stiffness.hessians import Chart, chart_at, from_corotational, from_fixed
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array
from dalembert.rotation.euler import EulerSet, euler_set

if TYPE_CHECKING:
    import sympy

Components: TypeAlias = Literal["world", "body"]
Derivatives: TypeAlias = tuple[Array, Array]

STEP = 3e-3
"""Of the differences: of the length scale, and in rad. They are good to about 1e-9 of the Hessian's size."""

SMOOTH = 1e-5
"""Largest difference of the Hessians of two steps, relative to their size."""

_FIRST = np.array([45.0, -9.0, 1.0]) / 60.0
_SECOND = np.array([270.0, -27.0, 2.0]) / 180.0
_IN_PLANE = (0, 1, 3)  # X_1, X_2 and psi = nu^1 of the set 321


class Potential:
    """A potential energy U of one body or of several.

    Parameters
    ----------
    function : callable
        ``U(R, x)`` [J]. One body: R_WB, shape (3, 3), and its place, shape (3,) [m]; several: shapes (n, 3, 3) and (n, 3).
    bodies : sequence of str, optional
        Names of the bodies where there are several.
    length : float
        A length [m] over which U changes little; the differences step by a small part of it.

    Examples
    --------
    >>> spring = Potential(lambda R, x: 50.0 * (np.linalg.norm(x + R @ [0.1, 0, 0]) - 0.9) ** 2)
    >>> field = spring.field([1.0, 0, 0])
    >>> (field.force.round(6) + 0.0).tolist()
    [[-20.0, 0.0, 0.0]]
    """

    def __init__(self, function: Callable[..., float], *, bodies: Sequence[str] = ("body",), length: float = 1.0) -> None:
        self.bodies = tuple(bodies)
        self._function = function
        self._length = float(length)

    @property
    def element(self) -> str:
        """How errors call it."""
        return "potential energy"

    def field(
        self, position: ArrayLike, orientation: Rotation | ArrayLike | None = None, *, euler: str | EulerSet = "321"
    ) -> ForceField:
        """Return the field at a pose.

        Parameters
        ----------
        position : array_like, shape (3,) or (n, 3)
            [m].
        orientation : Rotation or array_like of shape (3, 3) or (n, 3, 3), optional
            R_WB of each body; as the world if not given.
        euler : str or EulerSet
            The set to differentiate in; the Cartesian matrices do not depend on it. Where it is singular another one is taken.
        """
        X = _array(self.element, "position", position, (len(self.bodies), 3))
        R = self._rotations(orientation)
        return self._field(X, [chart_at(one, self._set(euler)) for one in R])

    def _set(self, euler: str | EulerSet) -> EulerSet:
        return euler_set(euler)

    def _rotations(self, orientation: Rotation | ArrayLike | None) -> Array:
        n = len(self.bodies)
        if orientation is None:
            return np.broadcast_to(np.eye(3), (n, 3, 3))
        given = orientation.as_matrix() if isinstance(orientation, Rotation) else orientation
        return _array(self.element, "orientation", given, (n, 3, 3))

    def _field(self, X: Array, charts: Sequence[Chart]) -> ForceField:
        gradient, hessian = self._derivatives(X, charts)
        return from_fixed(self.bodies, X, charts, gradient, hessian)

    def _derivatives(self, X: Array, charts: Sequence[Chart]) -> Derivatives:
        """Return gradient and Hessian in (X, nu) of each body."""
        start = np.concatenate([np.concatenate([x, chart.angles]) for x, chart in zip(X, charts, strict=True)])
        step = np.tile(np.repeat([STEP * self._length, STEP], 3), len(X))

        def energy(c: Array) -> float:
            parts = c.reshape(-1, 6)
            R = np.stack([chart.euler.matrix(one[3:]) for chart, one in zip(charts, parts, strict=True)])
            return self._energy(R, parts[:, :3])

        return differences(energy, start, step, self.element)

    def _energy(self, R: Array, x: Array) -> float:
        return _one_number(self._function(R, x) if len(x) > 1 else self._function(R[0], x[0]), self.element)

    @classmethod
    def sympy(
        cls,
        expression: sympy.Expr,
        position: Sequence[Any],
        rotation: Sequence[Any],
        *,
        euler: str | EulerSet | None = None,
        components: Components = "world",
        parameters: Mapping[Any, float] | None = None,
        bodies: Sequence[str] = ("body",),
    ) -> Potential:
        """Return a potential energy given as a SymPy expression.

        Parameters
        ----------
        expression : sympy.Expr
            U [J].
        position : sequence of Symbol
            X_1, X_2, X_3 of each body, one body after the other; two a body in a plane.
        rotation : sequence of Symbol
            Three Euler angles of each body, with `euler` naming their set; or the nine entries of R_WB, row by row; or, in a
            plane, the angle psi of each body.
        euler : str or EulerSet, optional
            The set that the angles belong to.
        components : {"world", "body"}
            Whether the position has its components along fixed axes, X, or along those of the body, x = Q X.
        parameters : mapping of Symbol to float, optional
            Values of the other symbols.
        bodies : sequence of str
            Names of the bodies where there are several.

        Examples
        --------
        >>> import sympy as sp
        >>> X, Y, Z, psi, theta, phi, k = sp.symbols("X Y Z psi theta phi k")
        >>> U = k / 2 * (X**2 + Y**2 + 4 * Z**2) + sp.cos(theta)
        >>> bowl = Potential.sympy(U, [X, Y, Z], [psi, theta, phi], euler="321", parameters={k: 3.0})
        >>> bowl.field([1.0, 2.0, 0.0]).stiffness.diagonal().round(9).tolist()
        [3.0, 3.0, 12.0, 0.0, -1.0, 0.0]
        """
        from dalembert.analysis.stiffness.symbolic_potential import symbolic_potential

        return symbolic_potential(
            expression,
            position,
            rotation,
            euler=euler,
            components=components,
            parameters=parameters or {},
            bodies=tuple(bodies),
        )

    @classmethod
    def planar(
        cls, function: Callable[..., float], *, bodies: Sequence[str] = ("body",), length: float = 1.0
    ) -> PlanarPotential:
        """Return a potential energy of motions in the plane of E_1 and E_2: ``U(psi, x)`` [J] (59), (105).

        One body: an angle [rad] and its place, shape (2,); several: shapes (n,) and (n, 2).
        """
        return PlanarPotential(function, bodies=bodies, length=length)


class PlanarPotential(Potential):
    """A potential energy of motions in a plane; made by `Potential.planar` and `Potential.sympy`."""

    def field(  # type: ignore[override]
        self, position: ArrayLike, orientation: ArrayLike = 0.0, *, euler: str | EulerSet = "321"
    ) -> ForceField:
        """Return the field at places of shape (2,) or (n, 2) [m] and angles psi [rad]; what is out of the plane stays zero."""
        n = len(self.bodies)
        place = _array(self.element, "position", position, (n, 2))
        psi = _array(self.element, "orientation", orientation, (n,))
        charts = [Chart(euler_set("321"), np.array([one, 0.0, 0.0]), "321") for one in psi]
        gradient, hessian = self._planar_derivatives(place, psi)
        entries = (6 * np.arange(n)[:, None] + _IN_PLANE).ravel()
        g, H = np.zeros(6 * n), np.zeros((6 * n, 6 * n))
        g[entries], H[np.ix_(entries, entries)] = gradient, hessian
        return from_fixed(self.bodies, np.column_stack([place, np.zeros(n)]), charts, g, H)

    def _planar_derivatives(self, place: Array, psi: Array) -> Derivatives:
        """Return gradient and Hessian in (X_1, X_2, psi) of each body."""
        start = np.column_stack([place, psi]).ravel()
        step = np.tile([STEP * self._length, STEP * self._length, STEP], len(psi))

        def energy(c: Array) -> float:
            x, turn = c.reshape(-1, 3)[:, :2], c.reshape(-1, 3)[:, 2]
            value = self._function(turn, x) if len(turn) > 1 else self._function(float(turn[0]), x[0])
            return _one_number(value, self.element)

        return differences(energy, start, step, self.element)


def fixed_or_corotational(
    bodies: tuple[str, ...], X: Array, charts: Sequence[Chart], derivatives: Derivatives, components: Components
) -> ForceField:
    """Return the field of derivatives in (X, nu) or in (x, nu)."""
    if components == "world":
        return from_fixed(bodies, X, charts, *derivatives)
    return from_corotational(X, charts, *derivatives).field.centred(bodies)


def differences(energy: Callable[[Array], float], start: Array, step: Array, element: str) -> Derivatives:
    """Return gradient and Hessian by central differences; refuse what two steps do not agree about.

    Examples
    --------
    >>> g, H = differences(lambda c: np.sin(c[0]) * c[1], np.array([0.0, 2.0]), np.array([1e-3, 1e-3]), "U")
    >>> g.round(9).tolist(), (H.round(6) + 0.0).tolist()
    ([2.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])
    """
    gradient, hessian = _scaled_differences(energy, start, step)
    _, wide = _scaled_differences(energy, start, 2.0 * step)
    size = np.abs(hessian).max() + np.abs(gradient).max() + 1e-13 * abs(energy(start)) / SMOOTH
    error = float(np.abs(hessian - 0.25 * wide).max() / size) if size > 0.0 else 0.0
    if not error <= SMOOTH:
        raise ModelError(
            element,
            f"it is none at this pose: its second derivatives by two steps differ by {error:.1g} of their size",
            "it has to be smooth and to have one value at a pose (an angle that jumps, a corner?); or give `length`, a length "
            "over which it changes little",
        )
    return gradient / step, hessian / np.outer(step, step)


def _scaled_differences(energy: Callable[[Array], float], start: Array, step: Array) -> Derivatives:
    """Return gradient and Hessian with respect to coordinates that are counted in steps."""
    n, middle = start.size, energy(start)

    def line(direction: Array) -> tuple[float, float]:
        ends = np.array([[energy(start + s * k * step * direction) for s in (1.0, -1.0)] for k in (1, 2, 3)])
        return float(_FIRST @ (ends[:, 0] - ends[:, 1])), float(_SECOND @ (ends[:, 0] + ends[:, 1] - 2.0 * middle))

    eye = np.eye(n)
    along = np.array([line(e) for e in eye])
    hessian = np.diag(along[:, 1])
    for i, j in combinations(range(n), 2):
        hessian[i, j] = hessian[j, i] = 0.25 * (line(eye[i] + eye[j])[1] - line(eye[i] - eye[j])[1])
    return along[:, 0], hessian


def _one_number(value: Any, element: str) -> float:
    """Return what a function of the user gave as one finite number."""
    array = np.asarray(value)
    if array.size != 1 or not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
        what = f"an array of shape {array.shape}" if array.size != 1 else repr(value)
        raise ModelError(element, f"the function gives {what}", "a potential energy is one real number [J]")
    number = float(array.reshape(()))
    if not np.isfinite(number):
        raise ModelError(element, f"its value near this pose is {number}", "it has to be finite around the pose")
    return number


def _array(element: str, label: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return finite numbers of a shape; for one body its own axis may be left out."""
    array = np.asarray(value, float)
    if array.shape not in ((shape, shape[1:]) if shape[0] == 1 else (shape,)):
        raise ModelError(element, f"{label} has the shape {array.shape}", f"give the shape {shape}")
    if not np.isfinite(array).all():
        raise ModelError(element, f"{label} has entries that are not finite", "give finite numbers")
    return array.reshape(shape)
