"""The twelve sets of Euler angles, their bases and connection coefficients (Metzger, Faruk Senan & O'Reilly 2010).

A set is three axes i, j, k: the body turns by nu^1 about its axis i, then by nu^2 about its new axis j, then by nu^3
about its newest axis k, so that ``R_WB = R_i(nu^1) R_j(nu^2) R_k(nu^3)``. Sets are named by their digits, ``"321"``;
letters in either case name the same, always about the *moving* axes (SciPy's intrinsic ``"ZYX"``).

The angular velocity is ``nu'^1 g_1 + nu'^2 g_2 + nu'^3 g_3`` (3) in the Euler basis g_i, which are the three axes of
rotation; the dual Euler basis g^i has ``g^i . g_k = delta^i_k`` (4) and reads the rates, and a moment from a
potential, ``M = -sum dU/dnu^k g^k`` (11).

All twelve sets follow from one picture, drawn in the frame after the first rotation. There, with l the axis
perpendicular to i and j, and s = +1 if (i, j, l) is right-handed, -1 if not::

    g_1 = E_i    g_2 = E_j    g_3 = p E_i + n E_l
    g^1 = E_i - p/n E_l    g^2 = E_j    g^3 = E_l / n

    k = l (asymmetric):  p = s sin nu^2    n =  cos nu^2      singular at nu^2 = +-90 deg
    k = i (symmetric):   p =  cos nu^2     n = -s sin nu^2    singular at nu^2 = 0 and 180 deg

Where n = 0 the first and the third axis coincide; what needs the dual basis is refused there. Vectors are rows: row k
of `EulerSet.dual_basis` is g^k, which makes it the paper's matrix G. Leading axes of the arguments are stacks of
angles or rotations. Complex angles pass through matrix, bases and coefficients, so that complex-step derivatives work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array

Frame: TypeAlias = Literal["world", "body"]

SINGULAR = 1e-8
"""A set is refused where |n| is below this: 1 - p is then less than rounding, and R no longer tells the axes apart."""

_ORTHOGONAL = 1e-5  # six printed digits of a matrix pass


@dataclass(frozen=True)
class EulerSet:
    """One of the twelve sets of Euler angles.

    Parameters
    ----------
    axes : tuple of int
        The axes i, j, k of the three rotations, counted from 0; neighbours differ.

    Examples
    --------
    >>> yaw_pitch_roll = euler_set("321")
    >>> yaw_pitch_roll.matrix([np.pi / 2, 0.0, 0.0]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    >>> yaw_pitch_roll.angles(Rotation.from_euler("ZYX", [30.0, 20.0, 10.0], degrees=True)) * 180.0 / np.pi
    array([30., 20., 10.])
    """

    axes: tuple[int, int, int]

    def __post_init__(self) -> None:
        i, j, k = self.axes
        if not {i, j, k} <= {0, 1, 2} or i == j or j == k:
            raise ModelError(f"Euler set with axes {self.axes}", "is none", "use axes 0, 1, 2 with unequal neighbours")

    @property
    def name(self) -> str:
        """The digits of the axes, counted from 1: ``"321"``."""
        return "".join(str(axis + 1) for axis in self.axes)

    @property
    def sequence(self) -> str:
        """The same set as SciPy writes it: ``"ZYX"``, intrinsic."""
        return "".join("XYZ"[axis] for axis in self.axes)

    @property
    def symmetric(self) -> bool:
        """True if the first axis is also the third, as in ``"313"``."""
        return self.axes[0] == self.axes[2]

    def matrix(self, angles: ArrayLike) -> Array:
        """Return R_WB, which takes components in the body to components in the world.

        Parameters
        ----------
        angles : array_like, shape (..., 3)
            nu^1, nu^2, nu^3 [rad].

        Returns
        -------
        ndarray, shape (..., 3, 3)
        """
        nu = _angles(angles)
        i, j, k = self.axes
        R: Array = _turn(i, nu[..., 0]) @ _turn(j, nu[..., 1]) @ _turn(k, nu[..., 2])
        return R

    def rotation(self, angles: ArrayLike) -> Rotation:
        """Return the angles [rad] as a SciPy ``Rotation``.

        Examples
        --------
        >>> euler_set("313").rotation([0.1, 0.2, 0.3]).as_euler("ZXZ")
        array([0.1, 0.2, 0.3])
        """
        return Rotation.from_euler(self.sequence, _angles(angles))

    def angles(self, R_WB: Rotation | ArrayLike) -> Array:
        """Return the Euler angles [rad] of a rotation, accurate at every angle that is not singular.

        The first and the third are between -pi and pi, the second is between -pi/2 and pi/2 (0 and pi in a symmetric
        set).

        Parameters
        ----------
        R_WB : scipy Rotation or array_like, shape (..., 3, 3)
            From body to world.

        Returns
        -------
        ndarray, shape (..., 3)

        Raises
        ------
        ModelError
            If the set is singular at this rotation, or if the matrix is none of a rotation.
        """
        R = _matrix(R_WB)
        i, j, k = self.axes
        third, s = self._third_axis()
        side = -s if self.symmetric else 1  # the sign of n where nu^2 is in its range
        first = np.arctan2(-side * s * R[..., j, k], side * R[..., third, k])  # R E_k = g_3
        rest = np.swapaxes(_turn(i, first), -1, -2) @ R  # R_j(nu^2) R_k(nu^3)
        p, n = rest[..., i, k], rest[..., third, k]
        second = np.arctan2(-s * n, p) if self.symmetric else np.arctan2(s * p, n)
        aside, sign = _perpendicular(k, j)
        last = np.arctan2(-sign * rest[..., j, aside], rest[..., j, j])  # g_2 in the body
        nu: Array = np.stack([first, second, last], axis=-1)
        self._refuse_singular(nu)
        return nu

    def regularity(self, angles: ArrayLike) -> Array:
        """Return ``|g_1 . (g_2 x g_3)|`` = |n|: 1 where the Euler basis is orthonormal, 0 where the set is singular.

        Examples
        --------
        >>> round(float(euler_set("313").regularity([0.3, np.pi / 6, -0.4])), 12)
        0.5
        """
        regularity: Array = np.abs(self._tilt(_angles(angles))[1])
        return regularity

    def basis(self, angles: ArrayLike, *, frame: Frame = "world") -> Array:
        """Return the Euler basis, rows g_1, g_2, g_3: the axes of the three rotations (125).

        Parameters
        ----------
        angles : array_like, shape (..., 3)
            nu^1, nu^2, nu^3 [rad].
        frame : {"world", "body"}
            The axes that the components belong to.

        Returns
        -------
        ndarray, shape (..., 3, 3)

        Examples
        --------
        >>> euler_set("321").basis([0.0, 0.0, 0.0])
        array([[0., 0., 1.],
               [0., 1., 0.],
               [1., 0., 0.]])
        """
        nu = _angles(angles)
        p, n = self._tilt(nu)
        rows = self._rows_one_two(nu)
        rows[..., 2, self.axes[0]] = p
        rows[..., 2, self._third_axis()[0]] = n
        return self._components(rows, nu, frame)

    def dual_basis(self, angles: ArrayLike, *, frame: Frame = "world") -> Array:
        """Return the dual Euler basis, rows g^1, g^2, g^3; in world components the paper's matrix G (7), (126).

        Parameters
        ----------
        angles : array_like, shape (..., 3)
            nu^1, nu^2, nu^3 [rad].
        frame : {"world", "body"}
            The axes that the components belong to.

        Returns
        -------
        ndarray, shape (..., 3, 3)

        Raises
        ------
        ModelError
            If the set is singular at these angles.
        """
        nu = _angles(angles)
        self._refuse_singular(nu)
        p, n = self._tilt(nu)
        third = self._third_axis()[0]
        rows = self._rows_one_two(nu)
        rows[..., 0, third] = -p / n
        rows[..., 2, third] = 1.0 / n
        return self._components(rows, nu, frame)

    def angular_velocity(self, angles: ArrayLike, rates: ArrayLike, *, frame: Frame = "world") -> Array:
        """Return the angular velocity [rad/s] of the angles' rates [rad/s] (3), in world or body components.

        Examples
        --------
        >>> euler_set("321").angular_velocity([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
        array([3., 2., 1.])
        """
        w: Array = np.einsum("...k,...kn->...n", np.asarray(rates), self.basis(angles, frame=frame))
        return w

    def rates(self, angles: ArrayLike, angular_velocity: ArrayLike, *, frame: Frame = "world") -> Array:
        """Return the angles' rates [rad/s] of an angular velocity [rad/s] in world or body components (21).

        Raises
        ------
        ModelError
            If the set is singular at these angles.
        """
        w = np.asarray(angular_velocity)
        rates: Array = np.einsum("...kn,...n->...k", self.dual_basis(angles, frame=frame), w)
        return rates

    def connection_coefficients(self, angles: ArrayLike) -> Array:
        """Return gamma[i, j, k] = dg_j/dnu^k . g^i = -dg^i/dnu^k . g_j [1/rad] (5), (6).

        They are scalars and belong to no frame; d/dnu^k is the change that the world sees. As g_j turns with the
        rotations before it only, ``dg_j/dnu^k = g_k x g_j`` for k < j and zero otherwise, which leaves five.

        Parameters
        ----------
        angles : array_like, shape (..., 3)
            nu^1, nu^2, nu^3 [rad].

        Returns
        -------
        ndarray, shape (..., 3, 3, 3)

        Raises
        ------
        ModelError
            If the set is singular at these angles.

        Examples
        --------
        >>> gamma = euler_set("321").connection_coefficients([0.3, 0.2, 0.1])
        >>> bool(np.isclose(gamma[1, 2, 0], np.cos(0.2)))  # (129)
        True
        """
        nu = _angles(angles)
        self._refuse_singular(nu)
        p, n = self._tilt(nu)
        s = self._third_axis()[1]
        gamma: Array = np.zeros((*nu.shape[:-1], 3, 3, 3), dtype=nu.dtype)
        gamma[..., 0, 1, 0] = gamma[..., 2, 2, 1] = -s * p / n  # g_1 x g_2 = s E_l, g_2 x g_3 = s (n E_i - p E_l)
        gamma[..., 2, 1, 0] = gamma[..., 0, 2, 1] = s / n
        gamma[..., 1, 2, 0] = -s * n  # g_1 x g_3 = -s n E_j
        return gamma

    def matrix_derivative(self, angles: ArrayLike) -> Array:
        """Return dR_WB/dnu^k at [k] [1/rad]: its columns are ``de_i/dnu^k = g_k x e_i`` (119).

        Returns
        -------
        ndarray, shape (..., 3, 3, 3)
        """
        g, R = self.basis(angles), self.matrix(angles)
        derivative: Array = np.cross(g[..., :, None, :], np.swapaxes(R, -1, -2)[..., None, :, :])
        return np.swapaxes(derivative, -1, -2)

    def basis_derivative(self, angles: ArrayLike, *, frame: Frame = "world") -> Array:
        """Return the derivatives of the components of g_j with respect to nu^k at [j, k] [1/rad].

        In the world these are the components of ``dg_j/dnu^k = g_k x g_j`` for k < j, in the body those of
        ``g_j x g_k`` for k > j, else zero.

        Returns
        -------
        ndarray, shape (..., 3, 3, 3)
        """
        g = self.basis(angles, frame=frame)
        turned: Array = np.cross(g[..., None, :, :], g[..., :, None, :])  # g_k x g_j at [j, k]
        moves = np.tri(3, k=-1)[..., None]
        return turned * moves if frame == "world" else -turned * np.swapaxes(moves, 0, 1)

    def dual_basis_derivative(self, angles: ArrayLike, *, frame: Frame = "world") -> Array:
        """Return the derivatives of the components of g^i with respect to nu^k at [i, k] [1/rad].

        In the world ``dg^i/dnu^k = -sum_j gamma^i_jk g^j`` (8); in the body the turning of the body is taken off,
        ``- g_k x g^i``.

        Returns
        -------
        ndarray, shape (..., 3, 3, 3)

        Raises
        ------
        ModelError
            If the set is singular at these angles.
        """
        dual = self.dual_basis(angles, frame=frame)
        change: Array = -np.einsum("...ijk,...jn->...ikn", self.connection_coefficients(angles), dual)
        if frame == "world":
            return change
        g = self.basis(angles, frame=frame)
        return change - np.cross(g[..., None, :, :], dual[..., :, None, :])

    def _third_axis(self) -> tuple[int, int]:
        """Return l and s: ``E_i x E_j = s E_l``."""
        return _perpendicular(self.axes[0], self.axes[1])

    def _tilt(self, nu: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return p and n: ``g_3 = p E_i + n E_l`` in the frame after the first rotation."""
        sine, cosine = np.sin(nu[..., 1]), np.cos(nu[..., 1])
        s = self._third_axis()[1]
        return (cosine, -s * sine) if self.symmetric else (s * sine, cosine)

    def _rows_one_two(self, nu: NDArray[Any]) -> NDArray[Any]:
        """Return rows E_i, E_j and zero."""
        rows = np.zeros((*nu.shape[:-1], 3, 3), dtype=nu.dtype)
        rows[..., 0, self.axes[0]] = 1.0
        rows[..., 1, self.axes[1]] = 1.0
        return rows

    def _components(self, rows: NDArray[Any], nu: NDArray[Any], frame: Frame) -> Array:
        """Turn rows in the frame after the first rotation to rows in the world or in the body."""
        i, j, k = self.axes
        if frame == "world":
            turned: Array = rows @ np.swapaxes(_turn(i, nu[..., 0]), -1, -2)
        elif frame == "body":
            turned = rows @ _turn(j, nu[..., 1]) @ _turn(k, nu[..., 2])
        else:
            raise ModelError(f"frame {frame!r}", "is not known", nearest(str(frame), ["world", "body"]))
        return turned

    def _refuse_singular(self, nu: NDArray[Any]) -> None:
        """Raise if the first and the third axis coincide at one of the angles, and name a set that is regular there."""
        regular = np.abs(self._tilt(nu)[1]) >= SINGULAR
        singular = nu.real[~regular & ~np.isnan(nu[..., 1])]
        if singular.size:
            raise ModelError(
                f"Euler set '{self.name}'",
                f"it is singular at a second angle of {np.degrees(singular[0, 1]):.6g} deg: "
                "its first and third axis coincide there",
                f"use the set '{most_regular_set(self.matrix(singular[0])).name}', which is regular there",
            )


EULER_SETS: Mapping[str, EulerSet] = MappingProxyType(
    {a.name: a for a in (EulerSet((i, j, k)) for i, j, k in product(range(3), repeat=3) if i != j != k)}
)
"""All twelve sets by their digits: ``"121"``, ``"123"``, ..., ``"323"``."""


def euler_set(name: str | EulerSet) -> EulerSet:
    """Return a set by its digits or by its letters; in either case it turns about the moving axes.

    Examples
    --------
    >>> euler_set("zyx") == euler_set("3-2-1") == EULER_SETS["321"]
    True
    >>> euler_set("zzx")
    Traceback (most recent call last):
        ...
    dalembert.errors.ModelError: Euler set 'zzx': it is none of the twelve; give three digits 1 to 3
    (or letters x, y, z), neighbours unequal, like '321'
    """
    if isinstance(name, EulerSet):
        return name
    digits = name.replace("-", "").lower().translate(str.maketrans("xyz", "123"))
    if digits not in EULER_SETS:
        raise ModelError(
            f"Euler set {name!r}",
            "it is none of the twelve",
            "give three digits 1 to 3 (or letters x, y, z), neighbours unequal, like '321'",
        )
    return EULER_SETS[digits]


def most_regular_set(R_WB: Rotation | ArrayLike, among: Iterable[str] = ("321", "313", *EULER_SETS)) -> EulerSet:
    """Return the set that stays farthest from singular at a rotation or at all of a stack, the first of equals.

    Examples
    --------
    >>> most_regular_set(Rotation.identity()).name
    '321'
    """
    R = _matrix(R_WB)
    sets = [euler_set(name) for name in among]
    # p = E_i . g_3 = R_ik, of magnitude 1 where the set is singular; rounded so that equals stay equal
    return min(sets, key=lambda a: round(float(np.max(np.abs(R[..., a.axes[0], a.axes[2]]))), 9))


def _perpendicular(i: int, j: int) -> tuple[int, int]:
    """Return the axis l and the sign s of ``E_i x E_j = s E_l``."""
    return 3 - i - j, 1 if (i + 1) % 3 == j else -1


def _turn(axis: int, angle: NDArray[Any]) -> NDArray[Any]:
    """Return the rotation matrix about one coordinate axis."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((*angle.shape, 3, 3), dtype=angle.dtype)
    R[..., axis, axis] = 1.0
    R[..., j, j] = R[..., k, k] = np.cos(angle)
    R[..., k, j] = np.sin(angle)
    R[..., j, k] = -R[..., k, j]
    return R


def _angles(angles: ArrayLike) -> NDArray[Any]:
    """Return angles as an array of three along the last axis, complex if they were."""
    nu = np.asarray(angles)
    nu = nu if np.iscomplexobj(nu) else nu.astype(np.float64)
    if nu.ndim == 0 or nu.shape[-1] != 3:
        raise ModelError("Euler angles", f"three are needed along the last axis, the shape is {nu.shape}")
    return nu


def _matrix(R_WB: Rotation | ArrayLike) -> Array:
    """Return a rotation as its matrix, and refuse a matrix that is none."""
    if isinstance(R_WB, Rotation):
        R: Array = R_WB.as_matrix()
        return R
    R = np.asarray(R_WB, float)
    if R.shape[-2:] != (3, 3):
        raise ModelError("rotation matrix", f"it is 3 by 3, the shape is {R.shape}")
    if not np.isfinite(R).all():
        raise ModelError("rotation matrix", "it has entries that are not finite")
    error = float(np.max(np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)), initial=0.0))
    if error > _ORTHOGONAL or np.any(np.linalg.det(R) < 0.0):
        raise ModelError(
            "rotation matrix",
            f"its columns are not three right-handed unit vectors at right angles (off by {error:.2g})",
            "give an orthogonal matrix with determinant +1, or a scipy Rotation",
        )
    return R
