"""Two-node beam elements: declaration, record, mathematics (Masarati 2011, appendix, eqs. 31 to 37).

Nodes 1 and 2 are frames in two bodies, at x_1 and x_2, their x axes along the beam. With d = x_2 - x_1 and R_I half-way (36):

    y = R_I^T d,   theta = log(R_1^T R_2),     l e = y - y_0,   l k = theta - theta_0                        (33), (34), (37)
    [n; m] = stiffness [e; k] + damping [e'; k']                                                            (32)

The half-chunks of the two nodes exchange the force f_I = R_I n and the moment m_I at the point x_I half-way between them:

    node 1:  f_I  and  (x_I - x_1) x f_I + m_I,        node 2: the opposite with (x_I - x_2)                (31)

With small rotations a, b of the nodes in the axes of R_I (rotation/midpoint.py), dy = d(d)_I + y x (C_a a + C_b b) and
d(theta) = Sigma (b - a), the work of both is n . dy + m . d(theta) exactly when

    m_I = R_I mu,      mu = Sigma m + g theta x (n x y)

(32b) has m in place of mu, which is the same in the plane. In space it differs by parts that fall with the square of the
element's length, and without them a beam that is shaken would gain or lose energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.elements import checks
from dalembert.elements.joint import Place, check_bodies, frame_about
from dalembert.elements.section_law import Section, corrected
from dalembert.errors import ModelError
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import (
    IDENTITY,
    Array,
    Mat3,
    Vec3,
    accumulate,
    accumulate_block,
    add,
    clear,
    cross,
    dot,
    load,
    load_matrix,
    madd,
    matmul,
    mneg,
    mscale,
    mul,
    neg,
    norm,
    scale,
    skew,
    sub,
    tmatmul,
    tmul,
    transpose,
)
from dalembert.rotation import quaternion
from dalembert.rotation.midpoint import coefficients, middle, share, share_derivative, shared, stretch, stretch_derivative
from dalembert.rotation.quaternion import conjugate, load4, multiply

BEAM_ELEMENT = np.dtype(
    [
        ("body_1", np.intp),
        ("body_2", np.intp),
        ("point_1", np.float64, 3),  # node 1 in B1 [m]
        ("point_2", np.float64, 3),
        ("quaternion_1", np.float64, 4),  # its frame in B1
        ("quaternion_2", np.float64, 4),
        ("place", np.float64, 3),  # y_0 [m]
        ("turn", np.float64, 3),  # theta_0 [rad]
        ("k_nn", np.float64, 9),  # stiffness/l, by force n and moment m
        ("k_nm", np.float64, 9),
        ("k_mm", np.float64, 9),
        ("c_nn", np.float64, 9),  # damping/l
        ("c_nm", np.float64, 9),
        ("c_mm", np.float64, 9),
        ("viscous", np.intp),  # 1: damping is not zero
    ],
    align=True,
)

LARGEST_TURN = np.radians(170.0)
"""Of one node relative to the other: at half a turn the rotation vector changes its sign."""

_LEAST_COSINE = float(np.cos(0.5 * LARGEST_TURN))


@dataclass(frozen=True, eq=False, kw_only=True)
class BeamElement:
    """A massless piece of a beam between two bodies, drawn in the design position; `Model.beam` makes whole beams.

    It is relaxed as drawn, however curved and twisted, unless `free` says otherwise. From one end to the other it may turn by
    less than 170 degrees.

    Parameters
    ----------
    name : str
    main, driven : str
        Names of the two bodies, or ``"ground"``.
    at, at_driven : Place
        Its ends on the main and on the driven body [m].
    section : Section
        Stiffness and damping; its mass belongs to the bodies.
    orientation : Rotation or 3x3 array, optional
        Frame of the section at the main end: x along the beam, y and z the axes of the section. Default: x from end to end,
        y horizontal.
    orientation_driven : Rotation or 3x3 array, optional
        The same at the driven end; the same frame if not given.
    length : float, optional
        Along the beam, relaxed [m]; the distance of the ends as drawn if not given.
    free : array_like, optional
        The relaxed shape, where it is not drawn relaxed: place of the driven end in the frame half-way between both [m], and
        rotation vector of the driven end in the frame of the main one [rad]; six numbers.
    locking_correction : bool
        Shear stiffness corrected for the length of the element, so that small deflections of the ends are exact.

    Examples
    --------
    >>> from dalembert.elements.section import Circle
    >>> rod = Circle(diameter=0.01, youngs_modulus=2.1e11, poisson_ratio=0.3, density=7850)
    >>> BeamElement(name="rod", main="ground", driven="bob", at=(0, 0, 0), at_driven=(0, 0, -1), section=rod).element
    "beam element 'rod'"
    """

    name: str
    main: str
    driven: str
    at: Place
    at_driven: Place
    section: Section
    orientation: Rotation | ArrayLike | None = None
    orientation_driven: Rotation | ArrayLike | None = None
    length: float | None = None
    free: ArrayLike | None = None
    locking_correction: bool = True

    def __post_init__(self) -> None:
        element = self.element
        check_bodies(element, self)
        if not isinstance(self.section, Section):
            raise ModelError(element, f"section is {self.section!r}", "give for example da.section.Circle(...)")
        for label in ("orientation", "orientation_driven"):
            if getattr(self, label) is not None:
                object.__setattr__(self, label, checks.rotation(element, label, getattr(self, label)))
        if self.length is not None and not checks.number(element, "length", self.length) > 0.0:
            raise ModelError(element, f"length is {self.length}", "give a positive one in m")
        if self.free is not None:
            object.__setattr__(self, "free", checks.vector(element, "free", self.free, 6))

    @property
    def element(self) -> str:
        """How errors call this element."""
        return checks.element_name("beam element", self.name)

    def frames(self, place: Any) -> tuple[Array, Rotation, Array, Rotation]:
        """Return (position, orientation) of its main and of its driven end in the world."""
        at, at_driven = place(self.at), place(self.at_driven)
        d = at_driven - at
        if not np.linalg.norm(d) > 0.0:
            raise ModelError(self.element, "its length is zero, its direction undefined", "draw its ends apart")
        given = self.orientation is not None
        R1 = checks.rotation(self.element, "orientation", self.orientation) if given else frame_about(d / np.linalg.norm(d))
        R2 = R1
        if self.orientation_driven is not None:
            R2 = checks.rotation(self.element, "orientation_driven", self.orientation_driven)
        return at, R1, at_driven, R2

    def law(self, place: Any) -> tuple[Array, Array, float]:
        """Return y_0 [m], theta_0 [rad] and the length l [m] of the relaxed element."""
        at, R1, at_driven, R2 = self.frames(place)
        drawn = shape_between(at, R1, at_driven, R2)
        if np.linalg.norm(drawn[3:]) > LARGEST_TURN:
            raise ModelError(self.element, turns(float(np.linalg.norm(drawn[3:]))), REMEDY)
        free = drawn if self.free is None else np.asarray(self.free, float)
        return free[:3], free[3:], float(np.linalg.norm(drawn[:3])) if self.length is None else self.length

    def record(self, place: Any) -> dict[str, Any]:
        """Return the fields of the record that say how it resists."""
        y, theta, length = self.law(place)
        k, c = self.section.stiffness_matrix, self.section.damping_matrix
        if self.locking_correction:
            k, c = corrected(k, c, y / np.linalg.norm(y), length)
        fields: dict[str, Any] = {"place": y, "turn": theta, "viscous": int(bool(c.any()))}
        for label, law in (("k", k / length), ("c", c / length)):
            fields |= {f"{label}_nn": law[:3, :3].ravel(), f"{label}_nm": law[:3, 3:].ravel()}
            fields[f"{label}_mm"] = law[3:, 3:].ravel()
        return fields


REMEDY = f"an element may turn by less than {np.degrees(LARGEST_TURN):.0f} degrees: take more elements"


def turns(angle: float) -> str:
    """Return in words that an element turns too far."""
    return f"it turns by {np.degrees(angle):.0f} degrees from end to end"


def shape_between(x_1: Array, R_1: Rotation, x_2: Array, R_2: Rotation) -> Array:
    """Return y [m] and theta [rad] of an element between two frames: six numbers."""
    theta = (R_1.inv() * R_2).as_rotvec()
    R_I = R_1 * Rotation.from_rotvec(0.5 * theta)
    return np.concatenate([R_I.inv().apply(x_2 - x_1), theta])


@inlined
def _look(beam: Any, bodies: Any) -> tuple[Mat3, Vec3, Vec3]:
    """Return R_I, y and theta; NaN where the turn is too large."""
    one, two = bodies[beam.body_1], bodies[beam.body_2]
    rho_1 = multiply(load4(one.quaternion), load4(beam.quaternion_1))
    rho_2 = multiply(load4(two.quaternion), load4(beam.quaternion_2))
    R = quaternion.to_matrix(middle(rho_1, rho_2))
    lever_1, lever_2 = mul(load_matrix(one.rotation), load(beam.point_1)), mul(load_matrix(two.rotation), load(beam.point_2))
    d = sub(add(load(two.position), lever_2), add(load(one.position), lever_1))
    relative = multiply(conjugate(rho_1), rho_2)
    theta = quaternion.logarithm(relative)
    if abs(relative[0]) < _LEAST_COSINE:
        theta = (np.nan, np.nan, np.nan)
    return R, tmul(R, d), theta


@inlined
def _rates(beam: Any, bodies: Any, R: Mat3, y: Vec3, theta: Vec3) -> tuple[Vec3, Vec3]:
    """Return y' and theta'."""
    one, two = bodies[beam.body_1], bodies[beam.body_2]
    R1, R2 = load_matrix(one.rotation), load_matrix(two.rotation)
    w1, w2 = load(one.angular_velocity), load(two.angular_velocity)
    v1 = add(load(one.velocity), mul(R1, cross(w1, load(beam.point_1))))
    v2 = add(load(two.velocity), mul(R2, cross(w2, load(beam.point_2))))
    a, b = tmul(R, mul(R1, w1)), tmul(R, mul(R2, w2))
    sigma, g, _, _ = coefficients(dot(theta, theta))
    omega = shared(theta, g, a, b)
    return sub(tmul(R, sub(v2, v1)), cross(omega, y)), mul(stretch(theta, sigma), sub(b, a))


@inlined
def _internal(beam: Any, bodies: Any, R: Mat3, y: Vec3, theta: Vec3) -> tuple[Vec3, Vec3]:
    """Return the internal force n and the moment m, in the axes of R_I."""
    e, k = sub(y, load(beam.place)), sub(theta, load(beam.turn))
    n = add(mul(load_matrix(beam.k_nn), e), mul(load_matrix(beam.k_nm), k))
    m = add(tmul(load_matrix(beam.k_nm), e), mul(load_matrix(beam.k_mm), k))
    if beam.viscous == 1:
        e, k = _rates(beam, bodies, R, y, theta)
        n = add(n, add(mul(load_matrix(beam.c_nn), e), mul(load_matrix(beam.c_nm), k)))
        m = add(m, add(tmul(load_matrix(beam.c_nm), e), mul(load_matrix(beam.c_mm), k)))
    return n, m


@compiled
def turn(beam: Any, bodies: Any) -> float:
    """Return the angle between the frames of both nodes [rad]."""
    rho_1 = multiply(load4(bodies[beam.body_1].quaternion), load4(beam.quaternion_1))
    rho_2 = multiply(load4(bodies[beam.body_2].quaternion), load4(beam.quaternion_2))
    return norm(quaternion.logarithm(multiply(conjugate(rho_1), rho_2)))


@compiled
def add_force(beam: Any, bodies: Any, f: Array) -> None:
    """Add the force on both bodies (31)."""
    R, y, theta = _look(beam, bodies)
    n, m = _internal(beam, bodies, R, y, theta)
    sigma, g, _, _ = coefficients(dot(theta, theta))
    mu = add(mul(stretch(theta, sigma), m), scale(g, cross(theta, cross(n, y))))
    half = scale(0.5, cross(y, n))
    force, one, two = mul(R, n), 6 * beam.body_1, 6 * beam.body_2
    R1, R2 = load_matrix(bodies[beam.body_1].rotation), load_matrix(bodies[beam.body_2].rotation)
    accumulate(f, one, force)
    accumulate(f, one + 3, add(tmul(R1, mul(R, add(half, mu))), cross(load(beam.point_1), tmul(R1, force))))
    accumulate(f, two, neg(force))
    accumulate(f, two + 3, sub(tmul(R2, mul(R, sub(half, mu))), cross(load(beam.point_2), tmul(R2, force))))


@inlined
def _msub(A: Mat3, B: Mat3) -> Mat3:
    return madd(A, mneg(B))


class Mid(NamedTuple):
    """What the tangents need, in the axes of R_I; see `tangents`."""

    R: Mat3  # R_I
    A1: Mat3  # R_I^T R_B1
    A2: Mat3  # R_I^T R_B2
    rho_1: Vec3  # from the centre of each body to its node
    rho_2: Vec3
    y: Vec3
    theta: Vec3
    S: Mat3  # Sigma
    Ca: Mat3
    Cb: Mat3
    P1: Mat3
    P2: Mat3
    sigma: float
    g: float
    sigma_rate: float
    g_rate: float


@inlined
def _mid(beam: Any, bodies: Any, R: Mat3, y: Vec3, theta: Vec3) -> Mid:
    sigma, g, sigma_rate, g_rate = coefficients(dot(theta, theta))
    A1 = tmatmul(R, load_matrix(bodies[beam.body_1].rotation))
    A2 = tmatmul(R, load_matrix(bodies[beam.body_2].rotation))
    rho_1, rho_2, Ca = mul(A1, load(beam.point_1)), mul(A2, load(beam.point_2)), share(theta, g)
    Cb = transpose(Ca)
    P1, P2 = madd(skew(rho_1), matmul(skew(y), Ca)), _msub(matmul(skew(y), Cb), skew(rho_2))
    return Mid(R, A1, A2, rho_1, rho_2, y, theta, stretch(theta, sigma), Ca, Cb, P1, P2, sigma, g, sigma_rate, g_rate)


@inlined
def _add_rows(mid: Mid, t: Mat3, a: Mat3, b: Mat3, turned: Mat3, column: int, out: Array) -> None:
    """Add the rows t, a, b of three columns, turned to the axes of the bodies; the rows of x_1 are minus those of x_2."""
    force = matmul(mid.R, matmul(t, turned))
    accumulate_block(out, 0, column, mneg(force))
    accumulate_block(out, 3, column, tmatmul(mid.A1, matmul(a, turned)))
    accumulate_block(out, 6, column, force)
    accumulate_block(out, 9, column, tmatmul(mid.A2, matmul(b, turned)))


@inlined
def _add_work(mid: Mid, k_nn: Array, k_nm: Array, k_mm: Array, y: Mat3, theta: Mat3, turned: Mat3, j: int, out: Array) -> None:
    """Add B^T k [y; theta] to three columns."""
    nn, nm, mm = load_matrix(k_nn), load_matrix(k_nm), load_matrix(k_mm)
    n = madd(matmul(nn, y), matmul(nm, theta))
    Sm = matmul(mid.S, madd(tmatmul(nm, y), matmul(mm, theta)))
    _add_rows(mid, n, _msub(tmatmul(mid.P1, n), Sm), madd(tmatmul(mid.P2, n), Sm), turned, j, out)


@inlined
def _add_congruence(mid: Mid, k_nn: Array, k_nm: Array, k_mm: Array, out: Array) -> None:
    """Add B^T k B."""
    _add_work(mid, k_nn, k_nm, k_mm, IDENTITY, mscale(0.0, IDENTITY), transpose(mid.R), 6, out)
    _add_work(mid, k_nn, k_nm, k_mm, mid.P1, mneg(mid.S), mid.A1, 3, out)
    _add_work(mid, k_nn, k_nm, k_mm, mid.P2, mid.S, mid.A2, 9, out)


@inlined
def _add_geometric(mid: Mid, n: Vec3, m: Vec3, K: Array) -> None:
    """Add G."""
    Ca, Cb, w, nt = mid.Ca, mid.Cb, cross(n, mid.y), skew(n)
    mu = add(mul(mid.S, m), scale(mid.g, cross(mid.theta, w)))
    M = stretch_derivative(mid.theta, m, mid.sigma, mid.sigma_rate)
    M = madd(M, share_derivative(mid.theta, w, mid.g, mid.g_rate))
    MS, half = matmul(M, mid.S), scale(0.5, w)
    La = madd(matmul(_msub(skew(sub(half, mu)), matmul(skew(mid.rho_1), nt)), Cb), MS)
    Lb = madd(matmul(madd(skew(add(half, mu)), matmul(skew(mid.rho_2), nt)), Ca), MS)
    Cbn, Can = matmul(Cb, nt), matmul(Ca, nt)
    _add_rows(mid, mscale(0.0, IDENTITY), Cbn, Can, transpose(mid.R), 6, K)
    _add_rows(mid, mneg(matmul(nt, Ca)), madd(matmul(Cbn, mid.P1), La), _msub(matmul(Can, mid.P1), Lb), mid.A1, 3, K)
    _add_rows(mid, mneg(matmul(nt, Cb)), _msub(matmul(Cbn, mid.P2), La), madd(matmul(Can, mid.P2), Lb), mid.A2, 9, K)


@inlined
def _add_change_of_rates(beam: Any, bodies: Any, mid: Mid, K: Array) -> None:
    """Add B^T c N, N = d(B v)/dd at constant v.

    With alpha, beta the angular velocities of both bodies in R_I, omega = C_a alpha + C_b beta that of R_I, v the velocity of
    node 2 relative to node 1, W (b - a) = d(omega), V (b - a) = d(theta'):

        N = [ -tilde(omega)  N_a  N_b ; 0  -V  V ]
        N_a = tilde(v) C_a + tilde(alpha x rho_1) - tilde(y) W - tilde(omega) P_1
        N_b = tilde(v) C_b - tilde(beta x rho_2) + tilde(y) W - tilde(omega) P_2
    """
    one, two = bodies[beam.body_1], bodies[beam.body_2]
    alpha, beta = mul(mid.A1, load(one.angular_velocity)), mul(mid.A2, load(two.angular_velocity))
    whirl_1, whirl_2 = cross(alpha, mid.rho_1), cross(beta, mid.rho_2)
    v = add(tmul(mid.R, sub(load(two.velocity), load(one.velocity))), sub(whirl_2, whirl_1))
    omega, yt = skew(shared(mid.theta, mid.g, alpha, beta)), skew(mid.y)
    turn_a, turn_b = matmul(skew(alpha), mid.Cb), matmul(skew(beta), mid.Ca)  # d(alpha), -d(beta) by b - a
    W = _msub(matmul(mid.Ca, turn_a), matmul(mid.Cb, turn_b))
    W = madd(W, matmul(share_derivative(mid.theta, sub(alpha, beta), mid.g, mid.g_rate), mid.S))
    V = matmul(stretch_derivative(mid.theta, sub(beta, alpha), mid.sigma, mid.sigma_rate), mid.S)
    V = _msub(V, matmul(mid.S, madd(turn_a, turn_b)))
    Na = madd(madd(matmul(skew(v), mid.Ca), skew(whirl_1)), mneg(madd(matmul(yt, W), matmul(omega, mid.P1))))
    Nb = madd(_msub(matmul(skew(v), mid.Cb), skew(whirl_2)), _msub(matmul(yt, W), matmul(omega, mid.P2)))
    _add_work(mid, beam.c_nn, beam.c_nm, beam.c_mm, mneg(omega), mscale(0.0, IDENTITY), transpose(mid.R), 6, K)
    _add_work(mid, beam.c_nn, beam.c_nm, beam.c_mm, Na, mneg(V), mid.A1, 3, K)
    _add_work(mid, beam.c_nn, beam.c_nm, beam.c_mm, Nb, V, mid.A2, 9, K)


@inlined
def _mirror(out: Array) -> None:
    """Write the columns of x_1: minus those of x_2."""
    for i in range(12):
        for j in range(3):
            out[i, j] = -out[i, 6 + j]


@compiled
def tangents(beam: Any, bodies: Any, K: Array, D: Array) -> None:
    """Write K and D, 12x12 each.

    In the axes of R_I, with t the displacement of x_2 (that of x_1 counts negative), P_1 = tilde(rho_1) + tilde(y) C_a and
    P_2 = tilde(y) C_b - tilde(rho_2):

        B = [ I  P_1  P_2 ; 0  -Sigma  Sigma ]      d[y; theta] = B [t; a; b]
        K = B^T (k B + c N) + G,      D = B^T c B

        G: row t:  -n x (C_a a + C_b b)
           row a:  C_a^T (n x dy) - L_a (b - a),      L_a = (tilde(n x y/2 - mu) - tilde(rho_1) tilde(n)) C_b + M Sigma
           row b:  C_b^T (n x dy) + L_b (b - a),      L_b = (tilde(n x y/2 + mu) + tilde(rho_2) tilde(n)) C_a + M Sigma

    with M = d(mu)/d(theta), mu the moment of the module's docstring.
    """
    R, y, theta = _look(beam, bodies)
    n, m = _internal(beam, bodies, R, y, theta)
    mid = _mid(beam, bodies, R, y, theta)
    clear(K)
    clear(D)
    _add_congruence(mid, beam.k_nn, beam.k_nm, beam.k_mm, K)
    _add_geometric(mid, n, m, K)
    if beam.viscous == 1:
        _add_congruence(mid, beam.c_nn, beam.c_nm, beam.c_mm, D)
        _add_change_of_rates(beam, bodies, mid, K)
        _mirror(D)
    _mirror(K)


@compiled
def energy(beam: Any, bodies: Any) -> float:
    """Return the strain energy [J]."""
    _, y, theta = _look(beam, bodies)
    e, k = sub(y, load(beam.place)), sub(theta, load(beam.turn))
    bending = dot(k, mul(load_matrix(beam.k_mm), k)) + 2.0 * dot(e, mul(load_matrix(beam.k_nm), k))
    return 0.5 * (dot(e, mul(load_matrix(beam.k_nn), e)) + bending)
