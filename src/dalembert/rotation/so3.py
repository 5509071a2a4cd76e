"""Rotation vectors: exponential, logarithm and their tangents on SO(3).

``exp(theta)`` rotates by ``|theta|`` [rad] about theta. The tangent T belongs to the body's own axes, as all small
rotations of this library: ``exp(theta + delta) = exp(theta) exp(T(theta) delta)``, so ``w_B = T(theta) theta'``. In the
parent's axes the same rotation is ``T(theta)^T delta``. All are accurate to rounding at 0 and at pi.
"""

from __future__ import annotations

import math

from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Mat3, Vec3, cross, dot, madd, mscale, outer, skew
from dalembert.rotation import quaternion


@compiled
def exponential(theta: Vec3) -> Mat3:
    """Return the rotation matrix of a rotation vector [rad].

    Examples
    --------
    >>> [round(entry, 12) + 0.0 for entry in exponential((math.pi / 2, 0.0, 0.0))]
    [1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0]
    """
    return quaternion.to_matrix(quaternion.exponential(theta))


@compiled
def logarithm(R: Mat3) -> Vec3:
    """Return the rotation vector [rad] of a rotation matrix, of length pi or less.

    Examples
    --------
    >>> logarithm((-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0))[2] == math.pi
    True
    """
    return quaternion.logarithm(quaternion.from_matrix(R))


@compiled
def _polynomial(theta: Vec3, b: float, c: float) -> Mat3:
    """Return I + b tilde(theta) + c tilde(theta)^2."""
    x, y, z = theta
    return (
        1.0 - c * (y * y + z * z), c * x * y - b * z, c * x * z + b * y,
        c * x * y + b * z, 1.0 - c * (x * x + z * z), c * y * z - b * x,
        c * x * z - b * y, c * y * z + b * x, 1.0 - c * (x * x + y * y),
    )  # fmt: skip


@compiled
def tangent(theta: Vec3) -> Mat3:
    """Return T(theta) = I - (1 - cos)/angle^2 tilde(theta) + (angle - sin)/angle^3 tilde(theta)^2.

    Examples
    --------
    >>> tangent((0.0, 0.0, 0.0))
    (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    """
    s = dot(theta, theta)
    half = quaternion.half_sinc(s)
    if s < 1.0:
        c = 0.0  # sum of (-s)^k / (2k + 3)!, from the smallest term
        for k in range(9, 0, -1):
            c = (1.0 + c) * (-s) / ((2 * k + 2) * (2 * k + 3))
        c = (1.0 + c) / 6.0
    else:
        c = (1.0 - math.sin(math.sqrt(s)) / math.sqrt(s)) / s
    return _polynomial(theta, -2.0 * half * half, c)


@compiled
def tangent_inverse(theta: Vec3) -> Mat3:
    """Return T(theta)^-1, for rotations of less than a full turn.

    T^-1 = I + 1/2 tilde(theta) + (1 - angle/2 cot(angle/2))/angle^2 tilde(theta)^2.

    Examples
    --------
    >>> tangent_inverse((0.0, 0.0, 0.0))
    (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    """
    s = dot(theta, theta)
    if s < 0.25:  # sum of |B_2k| / (2k)! s^(k-1), with the Bernoulli numbers B_2k
        c = 1.0 / 47900160.0 + s * (691.0 / 1307674368000.0 + s / 74724249600.0)
        c = 1.0 / 12.0 + s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s * (1.0 / 1209600.0 + s * c)))
    else:
        c = (1.0 - 0.5 * math.cos(0.5 * math.sqrt(s)) / quaternion.half_sinc(s)) / s
    return _polynomial(theta, 0.5, c)


@compiled
def tangent_inverse_derivative(theta: Vec3, u: Vec3) -> Mat3:
    """Return d(T(theta)^-1 u)/d(theta) at constant u, for rotations of less than a full turn.

    With T^-1 u = u + 1/2 theta x u + c theta x (theta x u), c(s), s = theta . theta:

        -1/2 tilde(u) + c ((theta . u) I + theta u^T - 2 u theta^T) + 2 c' (theta x (theta x u)) theta^T

    Examples
    --------
    >>> tangent_inverse_derivative((0.0, 0.0, 0.0), (0.0, 0.0, 2.0))[:3]
    (0.0, 1.0, 0.0)
    """
    s = dot(theta, theta)
    if s < 0.25:  # the series of `tangent_inverse`, and its derivative
        c = 1.0 / 47900160.0 + s * (691.0 / 1307674368000.0 + s / 74724249600.0)
        c = 1.0 / 12.0 + s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s * (1.0 / 1209600.0 + s * c)))
        rate = 3455.0 / 1307674368000.0 + s * (6.0 / 74724249600.0 + s * 25319.0 / 10670622842880000.0)
        rate = 1.0 / 720.0 + s * (2.0 / 30240.0 + s * (3.0 / 1209600.0 + s * (4.0 / 47900160.0 + s * rate)))
    else:
        h, cosine = quaternion.half_sinc(s), math.cos(0.5 * math.sqrt(s))
        c = (1.0 - 0.5 * cosine / h) / s
        rate = ((0.125 / h - 0.25 * cosine) / (h * s) - c) / s
    double = cross(theta, cross(theta, u))
    d = c * dot(theta, u)
    result = madd(mscale(-0.5, skew(u)), (d, 0.0, 0.0, 0.0, d, 0.0, 0.0, 0.0, d))
    result = madd(result, madd(mscale(c, outer(theta, u)), mscale(-2.0 * c, outer(u, theta))))
    return madd(result, mscale(2.0 * rate, outer(double, theta)))
