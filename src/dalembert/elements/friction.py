"""Friction in joints: the part C of a constraint force that does work, in proportion to the joint's own reaction.

The reaction of the joint on its driven body, at the origin of F1 and without what drives the joint along its freedoms, is F, T.
With the velocity v of F1 relative to F2 and its angular velocity w, in the directions that the joint leaves free, in F2,

    N = |F| + 2 |T| / length                        a guide of some length carries moments by pairs of forces
    force on the driven body   -(mu N s(|v|) / |v| + c) v
    torque on it               -r^2 (mu N s(r |w|) / (r |w|) + c) w                  s(u) = tanh(u / u_0)

so that the surfaces slide at r |w| in a bearing of radius r. Coulomb's law is regularised: below u_0 friction is viscous, and a
body held by it creeps. As generalised forces they are G^T (force) + H^T (torque) with v = G u, w = H u, u the velocities of
both bodies, and C is their sum (Udwadia and Schutte 2010, eq. 6). N depends on the multipliers, these on C: see
system/friction.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.elements import checks
from dalembert.elements.pair import separation
from dalembert.errors import ModelError
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import (
    Array,
    Vec3,
    accumulate,
    add,
    clear,
    cross,
    load,
    load_matrix,
    matmul,
    mneg,
    mul,
    norm,
    scale,
    skew,
    store_block,
    sub,
    tmatmul,
    tmul,
    transpose,
)
from dalembert.linalg.pattern import Indices

FRICTION = np.dtype(
    [
        ("body_1", np.intp),
        ("body_2", np.intp),
        ("point_1", np.float64, 3),  # F1 in B1 [m]
        ("point_2", np.float64, 3),  # F2 in B2 [m]
        ("rotation_2", np.float64, 9),  # F2 in B2
        ("free", np.float64, 6),  # 1 for the directions of F2 that the joint leaves free: translations, rotations
        ("first_term", np.intp),  # of the joint, in the Jacobian
        ("last_term", np.intp),
        ("coefficient", np.float64),  # mu
        ("radius", np.float64),  # r [m]
        ("lever", np.float64),  # 2 / length [1/m]; 0: moments do not count
        ("velocity", np.float64),  # u_0 [m/s]
        ("viscous", np.float64),  # c [N s/m]
    ],
    align=True,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Friction:
    """Friction in a joint, from the joint's own reaction: Coulomb's, regularised, and viscous.

    Where the reaction is not unique (a door on two hinges), it is refused: then nobody can know the friction either.

    Parameters
    ----------
    name : str
    joint : str
        Name of a joint that leaves something free: revolute, prismatic, spherical, planar, ...
    coefficient : float
        mu of Coulomb's law; constant, the same at rest and sliding.
    radius : float
        Of the bearing or ball, where the surfaces slide [m]; needed where the joint turns.
    length : float, optional
        Of the guide or bearing [m]: its moments press the surfaces, too, as pairs of forces at its ends.
    velocity : float
        Below about this sliding velocity friction is viscous [m/s].
    viscous : float
        Force per sliding velocity, whatever the reaction is [N s/m].

    Examples
    --------
    >>> Friction(name="rust", joint="hinge", coefficient=0.3, radius=0.01).velocity
    0.001
    """

    name: str
    joint: str
    coefficient: float = 0.0
    radius: float = 0.0
    length: float | None = None
    velocity: float = 1e-3
    viscous: float = 0.0

    def __post_init__(self) -> None:
        for label in ("coefficient", "radius", "viscous"):
            checks.number(self.element, label, getattr(self, label), minimum=0.0)
        for label in ("length", "velocity"):
            value = getattr(self, label)
            if value is not None and not checks.number(self.element, label, value, minimum=0.0) > 0.0:
                raise ModelError(
                    self.element, f"its {label} is zero", "give a length [m]" if label == "length" else "give 0.001"
                )
        if self.coefficient == self.viscous == 0.0:
            raise ModelError(self.element, "it does nothing", "give coefficient or viscous")

    @property
    def element(self) -> str:
        """How errors call this friction."""
        return checks.element_name("friction", self.name)


@compiled
def _relative_motion(joint: Any, bodies: Any, work: Array) -> tuple[Vec3, Vec3]:
    """Return v and w in F2, free directions only; write G to work[0][:3] and H to work[1][:3], other rows zero.

    G = R_F2^T [ I | -R_B1 tilde(r_1) | -I | R_B2 tilde(a) ],   H = R_F2^T [ 0 | R_B1 | 0 | -R_B2 ],   a from B2 to F1, in B2.
    """
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    R1, R2 = load_matrix(one.rotation), load_matrix(two.rotation)
    F2 = matmul(R2, load_matrix(joint.rotation_2))
    a = add(tmul(R2, separation(joint, bodies)), load(joint.point_2))
    to_1, to_2 = tmatmul(F2, R1), tmatmul(F2, R2)
    G, H = work[0], work[1]
    clear(G)
    clear(H)
    store_block(G, 0, 0, transpose(F2))
    store_block(G, 0, 3, mneg(matmul(to_1, skew(load(joint.point_1)))))
    store_block(G, 0, 6, mneg(transpose(F2)))
    store_block(G, 0, 9, matmul(to_2, skew(a)))
    store_block(H, 0, 3, to_1)
    store_block(H, 0, 9, mneg(to_2))
    for i in range(3):
        for k in range(12):
            G[i, k] *= joint.free[i]
            H[i, k] *= joint.free[3 + i]
    v1, w1, v2, w2 = load(one.velocity), load(one.angular_velocity), load(two.velocity), load(two.angular_velocity)
    return _rate(G, v1, w1, v2, w2), _rate(H, v1, w1, v2, w2)


@inlined
def _rate(G: Array, v1: Vec3, w1: Vec3, v2: Vec3, w2: Vec3) -> Vec3:
    """Return the first three rows of G times the velocities of both bodies."""
    return _row(G, 0, v1, w1, v2, w2), _row(G, 1, v1, w1, v2, w2), _row(G, 2, v1, w1, v2, w2)


@inlined
def _row(G: Array, i: int, v1: Vec3, w1: Vec3, v2: Vec3, w2: Vec3) -> float:
    total = 0.0
    for k in range(3):
        total += G[i, k] * v1[k] + G[i, 3 + k] * w1[k] + G[i, 6 + k] * v2[k] + G[i, 9 + k] * w2[k]
    return total


@compiled
def normal_force(joint: Any, bodies: Any, J: Array, term_row: Indices, lam: Array) -> float:
    """Return N, the force between the surfaces [N], from the terms of the joint's Jacobian and the multipliers."""
    one = bodies[joint.body_1]
    R1 = load_matrix(one.rotation)
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(joint.first_term, joint.last_term):
        force = sub(force, scale(lam[term_row[k]], load(J[k], 0)))
        torque = sub(torque, scale(lam[term_row[k]], load(J[k], 3)))
    F2 = matmul(load_matrix(bodies[joint.body_2].rotation), load_matrix(joint.rotation_2))
    at_F1 = sub(mul(R1, torque), cross(mul(R1, load(joint.point_1)), force))
    F, T = tmul(F2, force), tmul(F2, at_F1)
    keep = joint.free
    F = (F[0] * (1.0 - keep[0]), F[1] * (1.0 - keep[1]), F[2] * (1.0 - keep[2]))
    T = (T[0] * (1.0 - keep[3]), T[1] * (1.0 - keep[4]), T[2] * (1.0 - keep[5]))
    return float(norm(F) + joint.lever * norm(T))


@inlined
def _braking(joint: Any, N: float, speed: float) -> tuple[float, float]:
    """Return b = mu N s(u)/u + c, and its derivative with respect to the sliding velocity u, divided by u."""
    x = speed / joint.velocity
    if x < 1e-4:  # s(u)/u = (1 - x^2/3)/u_0
        return joint.coefficient * N / joint.velocity + joint.viscous, -2.0 / 3.0 * joint.coefficient * N / joint.velocity**3
    s = math.tanh(x)
    slope = ((1.0 - s * s) / joint.velocity - s / speed) / speed
    return joint.coefficient * N * s / speed + joint.viscous, joint.coefficient * N * slope / speed


@compiled
def add_force(joint: Any, bodies: Any, J: Array, term_row: Indices, lam: Array, work: Array, f: Array) -> None:
    """Add the friction on both bodies for given multipliers."""
    v, w = _relative_motion(joint, bodies, work)
    N = normal_force(joint, bodies, J, term_row, lam)
    force = scale(-_braking(joint, N, norm(v))[0], v)
    torque = scale(-joint.radius * joint.radius * _braking(joint, N, joint.radius * norm(w))[0], w)
    for block in range(4):
        body = joint.body_1 if block < 2 else joint.body_2
        accumulate(f, 6 * body + 3 * (block % 2), add(_times(work[0], 3 * block, force), _times(work[1], 3 * block, torque)))


@inlined
def _times(G: Array, column: int, x: Vec3) -> Vec3:
    """Return three columns of G, from one on, times x."""
    a = G[0, column] * x[0] + G[1, column] * x[1] + G[2, column] * x[2]
    b = G[0, column + 1] * x[0] + G[1, column + 1] * x[1] + G[2, column + 1] * x[2]
    c = G[0, column + 2] * x[0] + G[1, column + 2] * x[1] + G[2, column + 2] * x[2]
    return a, b, c


@compiled
def damping(joint: Any, bodies: Any, J: Array, term_row: Indices, lam: Array, work: Array, D: Array) -> None:
    """Write D = -dC/dv at constant multipliers to the 12x12 matrix D: G^T (b I + b' v v^T) G, the same with H, r w."""
    v, w = _relative_motion(joint, bodies, work)
    N, r = normal_force(joint, bodies, J, term_row, lam), joint.radius
    b, slope = _braking(joint, N, norm(v))
    b_w, slope_w = _braking(joint, N, r * norm(w))
    G, H = work[0], work[1]
    for i in range(12):
        for k in range(12):
            total = along_i = along_k = turn_i = turn_k = 0.0
            for j in range(3):
                total += b * G[j, i] * G[j, k] + r * r * b_w * H[j, i] * H[j, k]
                along_i += G[j, i] * v[j]
                along_k += G[j, k] * v[j]
                turn_i += H[j, i] * w[j]
                turn_k += H[j, k] * w[j]
            D[i, k] = total + slope * along_i * along_k + r**4 * slope_w * turn_i * turn_k
