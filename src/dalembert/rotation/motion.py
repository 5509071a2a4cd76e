"""A rotation vector that depends on time: its quaternion, angular velocity and angular acceleration."""

from __future__ import annotations

import math

from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import Vec3, add, dot, scale
from dalembert.rotation.quaternion import Quaternion, conjugate, half_sinc, imaginary, multiply


@compiled
def _derivatives_of_half_sinc(s: float) -> tuple[float, float]:
    """Return the first and second derivative of sin(sqrt(s)/2)/sqrt(s) with respect to s.

    With f = half_sinc and c = cos(sqrt(s)/2): f' = (c/2 - f)/(2 s), f'' = -(f/8 + 3 f')/(2 s).
    """
    if s < 4.0:  # f = sum (-s/4)^k / (2 (2k+1)!)
        term, first, second = 0.5, 0.0, 0.0
        for k in range(1, 16):
            term *= -0.25 / (2 * k * (2 * k + 1))  # now (-1/4)^k / (2 (2k+1)!)
            first += k * term * s ** (k - 1)
            if k > 1:
                second += k * (k - 1) * term * s ** (k - 2)
        return first, second
    f = half_sinc(s)
    first = (0.5 * math.cos(0.5 * math.sqrt(s)) - f) / (2.0 * s)
    return first, -(0.125 * f + 3.0 * first) / (2.0 * s)


@compiled
def from_rotation_vector(theta: Vec3, rate: Vec3, acceleration: Vec3) -> tuple[Quaternion, Vec3, Vec3]:
    """Return rho = exp(theta/2), its angular velocity and acceleration [rad/s, rad/s2] in the parent's axes.

    ``w = 2 Im(rho' rho*)`` and ``w' = 2 Im(rho'' rho*)``, smooth over any number of turns.

    Examples
    --------
    >>> rho, w, alpha = from_rotation_vector((0.0, 0.0, 3.0), (0.0, 0.0, 2.0), (0.0, 0.0, 1.0))
    >>> [round(x, 12) for x in (w[2], alpha[2])]
    [2.0, 1.0]
    """
    s = dot(theta, theta)
    s1 = 2.0 * dot(theta, rate)
    s2 = 2.0 * (dot(rate, rate) + dot(theta, acceleration))
    f = half_sinc(s)
    df, ddf = _derivatives_of_half_sinc(s)
    v = scale(f, theta)
    v1 = add(scale(df * s1, theta), scale(f, rate))
    v2 = add(scale(ddf * s1 * s1 + df * s2, theta), add(scale(2.0 * df * s1, rate), scale(f, acceleration)))
    rho = (math.cos(0.5 * math.sqrt(s)), v[0], v[1], v[2])
    rho1 = (-0.25 * f * s1, v1[0], v1[1], v1[2])
    rho2 = (-0.25 * (df * s1 * s1 + f * s2), v2[0], v2[1], v2[2])
    back = conjugate(rho)
    return rho, scale(2.0, imaginary(multiply(rho1, back))), scale(2.0, imaginary(multiply(rho2, back)))
