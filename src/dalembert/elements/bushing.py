"""Bushings, six springs and dampers between two frames: declaration, record, mathematics.

    x = [y; theta],     u = preload + k x + c x',     f = -B^T u,     B = dx/dd,  x' = B v

y = R_F2^T d is the place of F1 in F2, theta = log(R_F2^T R_F1) the rotation vector of F1 in F2. Without damping f is the
gradient of the potential energy ``preload . x + x . k x/2``. With E = R_F2(B2), X = E^T R_B2^T R_B1, s from B2's centre to
point 1 in B2, S = T(theta)^-T:

    B = [ E^T R_B2^T   -E^T R_B2^T R_B1 tilde(r_1)   -E^T R_B2^T    E^T tilde(s) ]
        [     0               S X                        0            -S E^T     ]

    K = B^T (k B + c N) + d(B^T)/dd u,     N = d(B v)/dd,     D = B^T c B
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.elements import checks
from dalembert.elements.joint import Place, check_frames, drawn_frames
from dalembert.elements.pair import relative_quaternion, separation, separation_rate, store_force_tangent
from dalembert.errors import ModelError
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import (
    Array,
    Mat3,
    Vec3,
    accumulate,
    accumulate_block,
    add,
    clear,
    cross,
    load,
    load_matrix,
    madd,
    matmul,
    matmult,
    mneg,
    mul,
    neg,
    skew,
    store,
    store_block,
    sub,
    tmatmul,
    tmul,
    transpose,
)
from dalembert.rotation import quaternion, so3

BUSHING = np.dtype(
    [
        ("body_1", np.intp),
        ("body_2", np.intp),
        ("point_1", np.float64, 3),  # r_F1 in B1 [m]
        ("point_2", np.float64, 3),  # r_F2 in B2 [m]
        ("quaternion_1", np.float64, 4),  # F1 in B1
        ("quaternion_2", np.float64, 4),  # F2 in B2
        ("rotation_2", np.float64, 9),  # E
        ("stiffness", np.float64, (6, 6)),  # k
        ("damping", np.float64, (6, 6)),  # c
        ("preload", np.float64, 6),
    ],
    align=True,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bushing:
    """An elastic, damped mounting between two frames, drawn in the design position as a joint is.

    Its six deflections are the place of F1 in F2 and the rotation vector of F1 in F2, both in the axes of F2; rotations stay
    below half a turn. ``preload + stiffness x + damping x'`` is what opposes them; for small rotations it is the force [N] and
    the torque [N m] on the main body in the axes of F2. It has the potential energy ``x.preload + x.stiffness x/2`` at every
    deflection, however large.

    Parameters
    ----------
    name : str
    main, driven : str
        Names of the two bodies, or ``"ground"``.
    at : Place
        Origin of both frames [m].
    axis, orientation : optional
        The x axis of F2, or the whole frame; the world's axes if not given.
    at_driven, axis_driven, orientation_driven : optional
        The same of F1, where the bushing is drawn deflected.
    stiffness : array_like
        Six numbers, x y z [N/m] and about x y z [N m/rad], or a symmetric 6x6 matrix.
    damping : array_like
        The same, [N s/m] and [N m s/rad].
    preload : array_like
        Six numbers [N], [N m]: what opposes a deflection already where F1 is in F2.

    Examples
    --------
    >>> mount = Bushing(name="mount", main="ground", driven="engine", at=(0, 0, 0), stiffness=(3e5, 3e5, 9e5, 40, 40, 20))
    >>> mount.stiffness[2].tolist()
    [0.0, 0.0, 900000.0, 0.0, 0.0, 0.0]
    """

    name: str
    main: str
    driven: str
    at: Place
    stiffness: ArrayLike
    damping: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    preload: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    axis: ArrayLike | None = None
    orientation: Rotation | ArrayLike | None = None
    at_driven: Place | None = None
    axis_driven: ArrayLike | None = None
    orientation_driven: Rotation | ArrayLike | None = None

    def __post_init__(self) -> None:
        element = self.element
        check_frames(element, self)
        for label in ("stiffness", "damping"):
            object.__setattr__(self, label, symmetric(element, label, getattr(self, label)))
        object.__setattr__(self, "preload", checks.vector(element, "preload", self.preload, 6))

    @property
    def element(self) -> str:
        """How errors call this bushing."""
        return checks.element_name("bushing", self.name)

    def frames(self, place: Any) -> tuple[Array, Rotation, Array, Rotation]:
        """Return (position, orientation) of F2 and of F1 in the world, as `Joint.frames`."""
        return drawn_frames(self.element, self, place)


def symmetric(element: str, label: str, value: ArrayLike) -> Array:
    """Return a symmetric, positive semidefinite 6x6 matrix from six numbers or 36."""
    try:
        A = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(element, f"{label} is not a list of numbers ({value!r})", "give 6 numbers or a 6x6 matrix") from None
    if A.shape not in ((6,), (6, 6)):
        raise ModelError(element, f"{label} has shape {A.shape}", "give 6 numbers or a 6x6 matrix")
    if not np.all(np.isfinite(A)):
        raise ModelError(element, f"{label} is not finite", "give finite numbers in SI units")
    A = np.diag(A) if A.ndim == 1 else A
    size = float(np.max(np.abs(A)))
    if np.max(np.abs(A - A.T)) > 1e-12 * size:
        raise ModelError(element, f"the {label} matrix is not symmetric", "a mounting that stores energy has a symmetric one")
    A = np.asarray(0.5 * (A + A.T))
    if np.linalg.eigvalsh(A)[0] < -1e-12 * size:
        raise ModelError(element, f"{label} is negative in some direction", "give numbers of zero or more")
    return A


@inlined
def _relative(bushing: Any, bodies: Any) -> tuple[Vec3, Vec3, Vec3, Vec3, Mat3]:
    """Return s, R_B2^T d' (both in B2), theta, the angular velocity of F1 relative to F2 (in F2), and X."""
    one, two = bodies[bushing.body_1], bodies[bushing.body_2]
    R1, R2, E = load_matrix(one.rotation), load_matrix(two.rotation), load_matrix(bushing.rotation_2)
    s = add(tmul(R2, separation(bushing, bodies)), load(bushing.point_2))
    e = add(tmul(R2, separation_rate(bushing, bodies)[0]), cross(load(two.angular_velocity), load(bushing.point_2)))
    X = matmul(transpose(E), tmatmul(R2, R1))
    omega = sub(mul(X, load(one.angular_velocity)), tmul(E, load(two.angular_velocity)))
    return s, e, quaternion.logarithm(relative_quaternion(bushing, bodies)), omega, X


@compiled
def _opposing(bushing: Any, bodies: Any, work: Array) -> None:
    """Write x, x' and u = preload + k x + c x' to the rows of `work`."""
    s, e, theta, omega, _ = _relative(bushing, bodies)
    E, w2 = load_matrix(bushing.rotation_2), load(bodies[bushing.body_2].angular_velocity)
    x, rate, u = work[0], work[1], work[2]
    store(x, 0, tmul(E, sub(s, load(bushing.point_2))))
    store(x, 3, theta)
    store(rate, 0, tmul(E, add(e, cross(s, w2))))
    store(rate, 3, mul(so3.tangent_inverse(neg(theta)), omega))
    for i in range(6):
        u[i] = bushing.preload[i]
        for j in range(6):
            u[i] += bushing.stiffness[i, j] * x[j] + bushing.damping[i, j] * rate[j]


@compiled
def add_force(bushing: Any, bodies: Any, work: Array, f: Array) -> None:
    """Add the force on both bodies: -R_F2 u_y at point 1 and the torque -R_F2 T^-1 u_theta on B1, their opposites on B2."""
    _opposing(bushing, bodies, work)
    u = work[2]
    s, _, theta, _, _ = _relative(bushing, bodies)
    R1, R2 = load_matrix(bodies[bushing.body_1].rotation), load_matrix(bodies[bushing.body_2].rotation)
    E = load_matrix(bushing.rotation_2)
    force, torque = mul(E, load(u)), mul(E, mul(so3.tangent_inverse(theta), load(u, 3)))  # on B2, in B2
    force_W, torque_W = mul(R2, force), mul(R2, torque)
    one, two = 6 * bushing.body_1, 6 * bushing.body_2
    accumulate(f, one, neg(force_W))
    accumulate(f, one + 3, neg(add(cross(load(bushing.point_1), tmul(R1, force_W)), tmul(R1, torque_W))))
    accumulate(f, two, force_W)
    accumulate(f, two + 3, add(cross(s, force), torque))


@compiled
def _store_derivatives(bushing: Any, bodies: Any, B: Array, N: Array) -> None:
    """Write B = dx/dd and N = d(B v)/dd at constant v to the first six rows of `B` and `N`.

    The rows of N in y, times E, with e = R_B2^T (v_1 + R_B1 w_1 x r_1 - v_2):

        [ -tilde(w_2) R_B2^T | R_B2^T R_B1 (-tilde(w_1 x r_1)) + tilde(w_2) R_B2^T R_B1 tilde(r_1)
         | tilde(w_2) R_B2^T | tilde(e) - tilde(w_2) tilde(s) ]

    in theta, with M = d(T^-T omega)/d(theta) at constant omega:

        [ 0 | M S X - S X tilde(w_1) | 0 | -M S E^T + S tilde(X w_1) E^T ]
    """
    s, e, theta, omega, X = _relative(bushing, bodies)
    E, R2 = load_matrix(bushing.rotation_2), load_matrix(bodies[bushing.body_2].rotation)
    w1, w2 = load(bodies[bushing.body_1].angular_velocity), load(bodies[bushing.body_2].angular_velocity)
    r, ER, ET = skew(load(bushing.point_1)), transpose(matmul(R2, E)), transpose(E)
    S = so3.tangent_inverse(neg(theta))
    SX, SE = matmul(S, X), matmul(S, ET)
    clear(B)
    store_block(B, 0, 0, ER)
    store_block(B, 0, 3, mneg(matmul(X, r)))
    store_block(B, 0, 6, mneg(ER))
    store_block(B, 0, 9, matmul(ET, skew(s)))
    store_block(B, 3, 3, SX)
    store_block(B, 3, 9, mneg(SE))

    w = tmatmul(E, matmul(skew(w2), E))  # tilde(w_2) in F2
    M = mneg(so3.tangent_inverse_derivative(neg(theta), omega))
    clear(N)
    store_block(N, 0, 0, mneg(matmul(w, ER)))
    store_block(N, 0, 3, madd(matmul(w, matmul(X, r)), mneg(matmul(X, skew(cross(w1, load(bushing.point_1)))))))
    store_block(N, 0, 6, matmul(w, ER))
    store_block(N, 0, 9, matmul(ET, madd(skew(e), mneg(matmul(skew(w2), skew(s))))))
    store_block(N, 3, 3, madd(matmul(M, SX), mneg(matmul(SX, skew(w1)))))
    store_block(N, 3, 9, madd(mneg(matmul(M, SE)), matmul(S, matmul(skew(mul(X, w1)), ET))))


@compiled
def _add_congruence(B: Array, k: Array, C: Array, kC: Array, K: Array) -> None:
    """Add B^T k C to K; k C is left in `kC`."""
    for i in range(6):
        for j in range(12):
            kC[i, j] = 0.0
            for n in range(6):
                kC[i, j] += k[i, n] * C[n, j]
    for i in range(12):
        for j in range(12):
            for n in range(6):
                K[i, j] += B[n, i] * kC[n, j]


@compiled
def _add_torque_tangent(bushing: Any, bodies: Any, u: Vec3, K: Array) -> None:
    """Add d(B_theta^T)/dd u to K.

    The torque m = T^-1 u is fixed in F2 up to its change M dtheta, M = d(T^-1 u)/d(theta), dtheta = S (X dphi_1 - E^T dphi_2):

        K22 = X^T M S X + tilde(X^T m),   K24 = -X^T (M S + tilde(m)) E^T,   K42 = -E M S X,   K44 = E M S E^T
    """
    _, _, theta, _, X = _relative(bushing, bodies)
    E = load_matrix(bushing.rotation_2)
    m = mul(so3.tangent_inverse(theta), u)
    MS = matmul(so3.tangent_inverse_derivative(theta, u), so3.tangent_inverse(neg(theta)))
    accumulate_block(K, 3, 3, madd(tmatmul(X, matmul(MS, X)), skew(tmul(X, m))))
    accumulate_block(K, 3, 9, mneg(tmatmul(X, matmult(madd(MS, skew(m)), E))))
    accumulate_block(K, 9, 3, mneg(matmul(E, matmul(MS, X))))
    accumulate_block(K, 9, 9, matmul(E, matmult(MS, E)))


@compiled
def tangents(bushing: Any, bodies: Any, work: Array, K: Array, D: Array) -> None:
    """Write K and D, 12x12 each; `work` (4 x 12 x 12) is for x, x', u, then B, N and their products with k or c.

    The part of a force that turns with B2 is that of Peng et al. 2024, eq. 45.
    """
    _opposing(bushing, bodies, work[0])
    u, B, N, product = work[0, 2], work[1], work[2], work[3]
    _store_derivatives(bushing, bodies, B, N)
    s = _relative(bushing, bodies)[0]
    R2, E = load_matrix(bodies[bushing.body_2].rotation), load_matrix(bushing.rotation_2)
    store_force_tangent(bushing, bodies, s, mul(R2, mul(E, load(u))), K)
    _add_torque_tangent(bushing, bodies, load(u, 3), K)
    _add_congruence(B, bushing.stiffness, B, product, K)
    _add_congruence(B, bushing.damping, N, product, K)
    clear(D)
    _add_congruence(B, bushing.damping, B, product, D)


@compiled
def energy(bushing: Any, bodies: Any, work: Array) -> float:
    """Return the potential energy [J]."""
    s, _, theta, _, _ = _relative(bushing, bodies)
    x = work[0]
    store(x, 0, tmul(load_matrix(bushing.rotation_2), sub(s, load(bushing.point_2))))
    store(x, 3, theta)
    total = 0.0
    for i in range(6):
        total += bushing.preload[i] * x[i]
        for j in range(6):
            total += 0.5 * x[i] * bushing.stiffness[i, j] * x[j]
    return total
