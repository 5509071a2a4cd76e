"""Half-way between two orientations: the helicoidal interpolation of Masarati 2011, eqs. 36 and 37, at its middle.

    theta = ax(log(R_1^T R_2)),      R_I = R_1 exp(theta/2) = R_2 exp(-theta/2)      (the print lacks this minus)

Let a, b, c be small rotations of R_1, R_2, R_I, all in the axes of R_I. With s = theta . theta and h = |theta|/2:

    d(theta) = Sigma (b - a),                      Sigma = I - sigma tilde(theta)^2,    sigma = (h/sin h - 1)/s
    c = (a + b)/2 - g theta x (b - a),             g = tan(h/2)/(4h)

so that c = C_a a + C_b b with C_a = I/2 + g tilde(theta), C_b = C_a^T. All of it is regular up to a relative rotation of pi.
"""

from __future__ import annotations

import math

from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import Mat3, Vec3, add, cross, dot, madd, mscale, outer, scale, skew, sub
from dalembert.rotation.quaternion import Quaternion, normalize


@inlined
def middle(rho_1: Quaternion, rho_2: Quaternion) -> Quaternion:
    """Return the quaternion half-way between two: their sum, scaled to length one.

    Examples
    --------
    >>> [round(x, 12) for x in middle((1.0, 0.0, 0.0, 0.0), (-0.5, 0.0, 0.0, -(0.75**0.5)))]
    [0.866025403784, 0.0, 0.0, 0.5]
    """
    w, x, y, z = rho_1
    sign = 1.0 if w * rho_2[0] + x * rho_2[1] + y * rho_2[2] + z * rho_2[3] >= 0.0 else -1.0
    return normalize((w + sign * rho_2[0], x + sign * rho_2[1], y + sign * rho_2[2], z + sign * rho_2[3]))


_H_OVER_SINE = (1 / 6, 7 / 360, 31 / 15120, 127 / 604800, 73 / 3421440, 1414477 / 653837184000, 8191 / 37362124800)
"""Coefficients of h/sin h - 1, from h^2 on."""

_TANGENT_OVER_X = (1.0, 1 / 3, 2 / 15, 17 / 315, 62 / 2835, 1382 / 155925, 21844 / 6081075, 929569 / 638512875)
"""Coefficients of tan x / x, in x^2."""


@inlined
def _polynomial(coefficients: tuple[float, ...], x: float) -> tuple[float, float]:
    """Return a polynomial and its derivative (Horner)."""
    value, slope = 0.0, 0.0
    for k in range(len(coefficients) - 1, -1, -1):
        slope = value + x * slope
        value = coefficients[k] + x * value
    return value, slope


@compiled
def coefficients(s: float) -> tuple[float, float, float, float]:
    """Return sigma, g and their derivatives by s.

    Examples
    --------
    >>> coefficients(0.0) == (1.0 / 24.0, 0.125, 7.0 / 5760.0, 1.0 / 384.0)
    True
    """
    if s < 0.25:
        sigma, sigma_rate = _polynomial(_H_OVER_SINE, 0.25 * s)
        g, g_rate = _polynomial(_TANGENT_OVER_X, 0.0625 * s)
        return 0.25 * sigma, 0.125 * g, 0.0625 * sigma_rate, 0.0078125 * g_rate
    h = 0.5 * math.sqrt(s)
    q, tangent = h / math.sin(h), math.tan(0.5 * h)
    sigma, g = (q - 1.0) / s, 0.25 * tangent / h
    sigma_rate = (0.5 * q * (1.0 - q * math.cos(h)) / s - sigma) / s
    return sigma, g, sigma_rate, (0.125 * (1.0 + tangent * tangent) - g) / (2.0 * s)


@inlined
def stretch(theta: Vec3, sigma: float) -> Mat3:
    """Return Sigma = I - sigma tilde(theta)^2: ``d(theta) = Sigma (b - a)``."""
    x, y, z = theta
    return (
        1.0 + sigma * (y * y + z * z), -sigma * x * y, -sigma * x * z,
        -sigma * x * y, 1.0 + sigma * (x * x + z * z), -sigma * y * z,
        -sigma * x * z, -sigma * y * z, 1.0 + sigma * (x * x + y * y),
    )  # fmt: skip


@inlined
def stretch_derivative(theta: Vec3, u: Vec3, sigma: float, rate: float) -> Mat3:
    """Return d(Sigma u)/d(theta) at constant u.

    -sigma ((theta . u) I + theta u^T - 2 u theta^T) - 2 sigma' (theta x (theta x u)) theta^T
    """
    d = -sigma * dot(theta, u)
    result = madd((d, 0.0, 0.0, 0.0, d, 0.0, 0.0, 0.0, d), mscale(-sigma, outer(theta, u)))
    double = cross(theta, cross(theta, u))
    return madd(result, outer(sub(scale(2.0 * sigma, u), scale(2.0 * rate, double)), theta))


@inlined
def share(theta: Vec3, g: float) -> Mat3:
    """Return C_a = I/2 + g tilde(theta); C_b is its transpose."""
    x, y, z = g * theta[0], g * theta[1], g * theta[2]
    return 0.5, -z, y, z, 0.5, -x, -y, x, 0.5


@inlined
def shared(theta: Vec3, g: float, a: Vec3, b: Vec3) -> Vec3:
    """Return C_a a + C_b b = (a + b)/2 + g theta x (a - b)."""
    return add(scale(0.5, add(a, b)), scale(g, cross(theta, sub(a, b))))


@inlined
def share_derivative(theta: Vec3, w: Vec3, g: float, rate: float) -> Mat3:
    """Return d(g theta x w)/d(theta) at constant w: -g tilde(w) + 2 g' (theta x w) theta^T."""
    return madd(mscale(-g, skew(w)), mscale(2.0 * rate, outer(cross(theta, w), theta)))
