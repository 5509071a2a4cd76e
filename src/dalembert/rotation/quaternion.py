"""Unit quaternions, scalar first (Peng et al. 2024, appendices B and C).

A quaternion is a tuple ``(w, x, y, z)``; ``rho_WB`` takes components in B to components in W: ``r_W = rho (0, r_B) rho*``.
A small rotation d about the body's own axes changes it to ``rho (x) exp(d/2)``, so that
``delta rho = 1/2 rho (x) (0, d)`` (B.12a).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import Array, Mat3, Vec3, madd, mscale, outer, skew

Quaternion: TypeAlias = tuple[float, float, float, float]


@inlined
def load4(a: Array, i: int = 0) -> Quaternion:
    """Return ``a[i:i+4]`` as a quaternion."""
    return a[i], a[i + 1], a[i + 2], a[i + 3]


@inlined
def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the product a (x) b.

    Examples
    --------
    >>> multiply((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))
    (0.0, 0.0, 0.0, 1.0)
    """
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inlined
def conjugate(a: Quaternion) -> Quaternion:
    """Return rho*, the inverse rotation of a unit quaternion."""
    return a[0], -a[1], -a[2], -a[3]


@inlined
def imaginary(a: Quaternion) -> Vec3:
    """Return Im(rho), the vector part."""
    return a[1], a[2], a[3]


@inlined
def normalize(a: Quaternion) -> Quaternion:
    """Return the quaternion scaled to length one."""
    s = 1.0 / math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return s * a[0], s * a[1], s * a[2], s * a[3]


@inlined
def to_matrix(rho: Quaternion) -> Mat3:
    """Return the rotation matrix R(rho) (B.4).

    Examples
    --------
    >>> half = 0.5**0.5
    >>> [round(entry, 12) + 0.0 for entry in to_matrix((half, 0.0, 0.0, half))]
    [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """
    w, x, y, z = rho
    return (
        w * w + x * x - y * y - z * z, 2.0 * (x * y - z * w), 2.0 * (x * z + y * w),
        2.0 * (x * y + z * w), w * w - x * x + y * y - z * z, 2.0 * (y * z - x * w),
        2.0 * (x * z - y * w), 2.0 * (y * z + x * w), w * w - x * x - y * y + z * z,
    )  # fmt: skip


@compiled
def from_matrix(R: Mat3) -> Quaternion:
    """Return a quaternion of a rotation matrix, from its largest component: accurate at every angle.

    Examples
    --------
    >>> from_matrix((1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0))
    (0.0, 1.0, 0.0, 0.0)
    """
    w2 = 1.0 + R[0] + R[4] + R[8]  # four times the square of each component
    x2 = 1.0 + R[0] - R[4] - R[8]
    y2 = 1.0 - R[0] + R[4] - R[8]
    z2 = 1.0 - R[0] - R[4] + R[8]
    if w2 >= x2 and w2 >= y2 and w2 >= z2:
        rho = (w2, R[7] - R[5], R[2] - R[6], R[3] - R[1])
    elif x2 >= y2 and x2 >= z2:
        rho = (R[7] - R[5], x2, R[1] + R[3], R[2] + R[6])
    elif y2 >= z2:
        rho = (R[2] - R[6], R[1] + R[3], y2, R[5] + R[7])
    else:
        rho = (R[3] - R[1], R[2] + R[6], R[5] + R[7], z2)
    return normalize(rho)


@inlined
def half_sinc(s: float) -> float:
    """Return sin(sqrt(s)/2)/sqrt(s), smooth at s = 0."""
    if s < 1e-2:
        return 0.5 - s / 48.0 * (1.0 - s / 80.0 * (1.0 - s / 168.0 * (1.0 - s / 288.0)))
    root = math.sqrt(s)
    return math.sin(0.5 * root) / root


@inlined
def exponential(theta: Vec3) -> Quaternion:
    """Return the quaternion of a rotation vector [rad].

    Examples
    --------
    >>> [round(c, 12) for c in exponential((0.0, 0.0, math.pi))]
    [0.0, 0.0, 0.0, 1.0]
    """
    s = theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2]
    f = half_sinc(s)
    return math.cos(0.5 * math.sqrt(s)), f * theta[0], f * theta[1], f * theta[2]


@compiled
def logarithm(rho: Quaternion) -> Vec3:
    """Return the rotation vector [rad] of a unit quaternion, of length pi or less; accurate at 0 and at pi.

    Examples
    --------
    >>> logarithm((0.0, 1.0, 0.0, 0.0))[0] == math.pi
    True
    """
    sine = math.sqrt(rho[1] * rho[1] + rho[2] * rho[2] + rho[3] * rho[3])
    sign = 1.0 if rho[0] >= 0.0 else -1.0
    f = sign * 2.0
    if sine > 0.0:  # below 1e-162 its square underflows
        f *= math.atan2(sine, sign * rho[0]) / sine
    return f * rho[1], f * rho[2], f * rho[3]


@inlined
def advance(rho: Quaternion, d: Vec3) -> Quaternion:
    """Return rho (x) exp(d/2), normalised: the rotation d [rad] about the body's own axes comes after rho."""
    return normalize(multiply(rho, exponential(d)))


@inlined
def projection(rho: Quaternion) -> Mat3:
    """Return P(rho) = 1/2 (s I + tilde(v)) (C.1): ``delta Im(rho) = P(rho) theta`` (C.2)."""
    h = 0.5 * rho[0]
    return (
        h, -0.5 * rho[3], 0.5 * rho[2],
        0.5 * rho[3], h, -0.5 * rho[1],
        -0.5 * rho[2], 0.5 * rho[1], h,
    )  # fmt: skip


@inlined
def projection_tangent(rho: Quaternion, gamma: Vec3) -> Mat3:
    """Return G(rho, gamma) (C.11): ``delta(P(rho)) gamma = G theta`` (C.12).

    With ``1/2 (s I + tilde(v)) = P``, G = -1/4 gamma v^T - 1/2 tilde(gamma) P.
    """
    s, x, y, z = rho
    quarter = madd(outer(gamma, (x, y, z)), _skew_times(gamma, (s, -z, y, z, s, -x, -y, x, s)))
    return mscale(-0.25, quarter)


@inlined
def _skew_times(a: Vec3, B: Mat3) -> Mat3:
    """Return tilde(a) B."""
    return (
        a[1] * B[6] - a[2] * B[3], a[1] * B[7] - a[2] * B[4], a[1] * B[8] - a[2] * B[5],
        a[2] * B[0] - a[0] * B[6], a[2] * B[1] - a[0] * B[7], a[2] * B[2] - a[0] * B[8],
        a[0] * B[3] - a[1] * B[0], a[0] * B[4] - a[1] * B[1], a[0] * B[5] - a[1] * B[2],
    )  # fmt: skip


def f_plus(rho: ArrayLike) -> Array:
    """Return F_plus(rho), 3x4 (B.5b, third row corrected): ``Im(rho (x) a) = F_plus(rho) a``.

    Its transpose makes variations: ``rho (x) (0, d) = F_plus(rho*)^T d`` (B.13a).
    ``R(rho) = F_plus F_minus^T`` (B.5a) and ``F_plus F_plus^T = I`` (B.6a, corrected) for a unit quaternion.

    Examples
    --------
    >>> rho = np.array([0.5, 0.5, -0.5, 0.5])
    >>> bool(np.allclose(f_plus(rho) @ f_minus(rho).T, np.reshape(to_matrix(tuple(rho)), (3, 3))))
    True
    """
    s, v = _split(rho)
    return np.column_stack([v, s * np.eye(3) + _tilde(v)])


def f_minus(rho: ArrayLike) -> Array:
    """Return F_minus(rho), 3x4 (B.5c): ``Im(a (x) rho) = F_minus(rho) a``.

    Its transpose makes variations: ``(0, d) (x) rho = F_minus(rho*)^T d`` (B.13b, corrected).
    """
    s, v = _split(rho)
    return np.column_stack([v, s * np.eye(3) - _tilde(v)])


def _split(rho: ArrayLike) -> tuple[float, Array]:
    q = np.asarray(rho, float)
    return float(q[0]), q[1:]


def _tilde(v: Array) -> Array:
    return np.reshape(skew((float(v[0]), float(v[1]), float(v[2]))), (3, 3))


def from_rotation(rotation: Rotation) -> Quaternion:
    """Return the quaternion of a SciPy ``Rotation``, scalar part not negative.

    Examples
    --------
    >>> from_rotation(Rotation.from_rotvec([0.0, 0.0, 0.0]))
    (1.0, 0.0, 0.0, 0.0)
    """
    x, y, z, w = (float(c) for c in rotation.as_quat(canonical=True))
    return w, x + 0.0, y + 0.0, z + 0.0


def to_rotation(rho: ArrayLike) -> Rotation:
    """Return quaternions ``[w, x, y, z]`` (one or a stack) as a SciPy ``Rotation``.

    Examples
    --------
    >>> bool(np.allclose(to_rotation([0.0, 1.0, 0.0, 0.0]).as_rotvec(), [np.pi, 0.0, 0.0]))
    True
    """
    return Rotation.from_quat(np.roll(np.asarray(rho, float), -1, axis=-1))
