"""Contacts that restrict velocities: knife edges, rolling wheels, rolling spheres, on any body; general Pfaffian rows.

At the contact point c stand three directions: t, in which it rolls, l sideways, and the normal k = t x l. With the velocity w
of the material of B1 at c relative to that of B2,

    normal:     phi = (c - r_B2 - R_B2 p) . k = 0                       p a point of the plane; its rate is k . w
    rolling:    t . w = 0
    sideways:   l . w = 0

so that all three rows of A are ``g . w`` with g = k, t, l:

    [ g^T | (s_1 x R_B1^T g)^T | -g^T | -(s_2 x R_B2^T g)^T ],    s_i = R_Bi^T (c - r_Bi)

A contact is, for a point C and an axis a fixed in the driven body B1 and a plane with the normal k fixed in the main body B2:

    knife edge    c = C,              l = a, t and k fixed in B1 (Wojtyra and Fraczek 2013, eq. 30)
    wheel         c = C - r m - e k,  t = a x k / |a x k|,  l = k x t,  m = t x a:   ring of radius r, round tyre of radius e
    sphere        c = C - e k,        t and l fixed in B2
    Pfaffian      c = C,              l any vector fixed in B1

A Pfaffian row has a couple h, fixed in B1, besides: ``l . w + h . (w_1 - w_2) = 0`` with the angular velocities w_i; h is zero
in all others.

All derivatives come from `changes`, the rates of c, t, l and k for any rates of the two bodies: those of the motion give b'',
the twelve unit displacements the tangents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.elements.pair import store_row
from dalembert.kernel.compile import compiled, inlined
from dalembert.kernel.vec3 import (
    ZERO,
    Array,
    Mat3,
    Vec3,
    add,
    clear,
    cross,
    dot,
    load,
    load_matrix,
    matmul,
    mul,
    neg,
    norm,
    scale,
    sub,
    tmul,
)

KNIFE_EDGE, WHEEL, SPHERE, PFAFFIAN = range(4)

ROWS = ("normal", "rolling", "sideways")
"""The rows of a contact."""

CONTACT = np.dtype(
    [
        ("body_1", np.intp),  # driven body: what rolls
        ("body_2", np.intp),  # main body: what it rolls on
        ("kind", np.intp),
        ("point_1", np.float64, 3),  # C in B1 [m]
        ("rotation_1", np.float64, 9),  # F1 in B1; its x axis is a
        ("direction", np.float64, 3),  # l in B1 of knife edges and Pfaffian rows
        ("couple", np.float64, 3),  # h in B1 [m]
        ("point_2", np.float64, 3),  # p in B2 [m]
        ("rotation_2", np.float64, 9),  # F2 in B2; its x axis is k
        ("ring", np.float64),  # r [m]
        ("tyre", np.float64),  # e [m]
        ("row", np.intp, 3),  # constraint row of normal, rolling, sideways; -1 where it is not active
        ("term", np.intp, 3),
    ],
    align=True,
)


class Contact(NamedTuple):
    """Contact point [m] and directions, in the world."""

    c: Vec3
    t: Vec3
    l: Vec3  # noqa: E741
    k: Vec3


@inlined
def axis_of(F: Mat3, i: int) -> Vec3:
    """Return a column of a 3x3 matrix."""
    return F[i], F[i + 3], F[i + 6]


@inlined
def contact_of(joint: Any, bodies: Any) -> Contact:
    """Return the contact point and its directions."""
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    R1 = load_matrix(one.rotation)
    F1 = matmul(R1, load_matrix(joint.rotation_1))
    F2 = matmul(load_matrix(two.rotation), load_matrix(joint.rotation_2))
    C, a, k = add(load(one.position), mul(R1, load(joint.point_1))), axis_of(F1, 0), axis_of(F2, 0)
    if joint.kind == KNIFE_EDGE or joint.kind == PFAFFIAN:
        return Contact(C, neg(axis_of(F1, 1)), mul(R1, load(joint.direction)), axis_of(F1, 2))
    c, t = sub(C, scale(joint.tyre, k)), axis_of(F2, 1)
    if joint.kind == WHEEL:
        n = cross(a, k)
        t = scale(1.0 / norm(n), n)
        c = sub(c, scale(joint.ring, cross(t, a)))
    return Contact(c, t, cross(k, t), k)


@inlined
def changes(joint: Any, bodies: Any, at: Contact, u1: Vec3, o1: Vec3, o2: Vec3) -> Contact:
    """Return the rates of c, t, l, k for the velocity u1 of B1 and the angular velocities o1, o2 of both bodies (world)."""
    R1 = load_matrix(bodies[joint.body_1].rotation)
    rate = add(u1, cross(o1, mul(R1, load(joint.point_1))))  # of C
    if joint.kind == KNIFE_EDGE or joint.kind == PFAFFIAN:
        return Contact(rate, cross(o1, at.t), cross(o1, at.l), cross(o1, at.k))
    k, t = cross(o2, at.k), cross(o2, at.t)
    rate = sub(rate, scale(joint.tyre, k))
    if joint.kind == WHEEL:
        a = mul(R1, axis_of(load_matrix(joint.rotation_1), 0))
        n, size = add(cross(cross(o1, a), at.k), cross(a, k)), norm(cross(a, at.k))
        t = scale(1.0 / size, sub(n, scale(dot(n, at.t), at.t)))
        rate = sub(rate, scale(joint.ring, add(cross(t, a), cross(at.t, cross(o1, a)))))
    return Contact(rate, t, add(cross(k, at.t), cross(at.k, t)), k)


@inlined
def turning(body: Any) -> Vec3:
    """Return the angular velocity of a body in the world [rad/s]."""
    return mul(load_matrix(body.rotation), load(body.angular_velocity))


@inlined
def slip(joint: Any, bodies: Any, c: Vec3) -> Vec3:
    """Return w, the velocity of the material of B1 at c relative to that of B2 [m/s], in the world."""
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    o1, o2 = turning(one), turning(two)
    v1 = add(load(one.velocity), cross(o1, sub(c, load(one.position))))
    return sub(v1, add(load(two.velocity), cross(o2, sub(c, load(two.position)))))


@inlined
def change_of_slip(joint: Any, bodies: Any, at: Contact, c: Vec3, u1: Vec3, o1: Vec3, u2: Vec3, o2: Vec3) -> Vec3:
    """Return the rate of w at constant v for the rate c of the contact point and rates u, o of the bodies (world)."""
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    w1, w2 = turning(one), turning(two)
    first = add(cross(cross(o1, w1), sub(at.c, load(one.position))), cross(w1, sub(c, u1)))
    return sub(first, add(cross(cross(o2, w2), sub(at.c, load(two.position))), cross(w2, sub(c, u2))))


@inlined
def couple_of(joint: Any, bodies: Any) -> Vec3:
    """Return h in the world."""
    return mul(load_matrix(bodies[joint.body_1].rotation), load(joint.couple))


@inlined
def directions(at: Contact) -> tuple[Vec3, Vec3, Vec3]:
    """Return the directions of the rows: normal, rolling, sideways."""
    return at.k, at.t, at.l


@compiled
def residual(joint: Any, bodies: Any, phi: Array) -> None:
    """Add the height of the contact point over the plane, (c - r_B2 - R_B2 p) . k [m]."""
    if joint.row[0] >= 0:
        at, two = contact_of(joint, bodies), bodies[joint.body_2]
        p = add(load(two.position), mul(load_matrix(two.rotation), load(joint.point_2)))
        phi[joint.row[0]] += dot(sub(at.c, p), at.k)


@compiled
def velocity_residual(joint: Any, bodies: Any, psi: Array) -> None:
    """Add t . w and l . w + h . (w_1 - w_2) [m/s]."""
    at, spin = contact_of(joint, bodies), sub(turning(bodies[joint.body_1]), turning(bodies[joint.body_2]))
    w, g = slip(joint, bodies, at.c), directions(at)
    if joint.row[1] >= 0:
        psi[joint.row[1]] += dot(g[1], w)
    if joint.row[2] >= 0:
        psi[joint.row[2]] += dot(g[2], w) + dot(couple_of(joint, bodies), spin)


@compiled
def jacobian(joint: Any, bodies: Any, J: Array) -> None:
    """Write the active rows ``[ g | s_1 x R_B1^T g | -g | -s_2 x R_B2^T g ]``, h among the moments of the last one."""
    at, one, two = contact_of(joint, bodies), bodies[joint.body_1], bodies[joint.body_2]
    R1, R2 = load_matrix(one.rotation), load_matrix(two.rotation)
    s1, s2 = tmul(R1, sub(at.c, load(one.position))), tmul(R2, sub(at.c, load(two.position)))
    g = (at.k, at.t, at.l)
    for i in range(3):
        w1, w2 = cross(s1, tmul(R1, g[i])), cross(s2, tmul(R2, g[i]))
        if i == 2:
            w1, w2 = add(w1, load(joint.couple)), add(w2, tmul(R2, couple_of(joint, bodies)))
        store_row(J, joint.term[i], g[i], w1, neg(g[i]), neg(w2))


@compiled
def right_sides(joint: Any, bodies: Any, b1: Array, b2: Array) -> None:
    """Add b' = 0 and b'' = -(g' . w + g . w'), the rates being those at constant v, and -h' . (w_1 - w_2)."""
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    o1, o2 = turning(one), turning(two)
    u1, u2 = load(one.velocity), load(two.velocity)
    at = contact_of(joint, bodies)
    rate = changes(joint, bodies, at, u1, o1, o2)
    w, w_rate = slip(joint, bodies, at.c), change_of_slip(joint, bodies, at, rate.c, u1, o1, u2, o2)
    g, g_rate = (at.k, at.t, at.l), (rate.k, rate.t, rate.l)
    for i in range(3):
        if joint.row[i] >= 0:
            b2[joint.row[i]] -= dot(g_rate[i], w) + dot(g[i], w_rate)
    if joint.row[2] >= 0:
        b2[joint.row[2]] -= dot(cross(o1, couple_of(joint, bodies)), sub(o1, o2))


@inlined
def unit_rates(joint: Any, bodies: Any, j: int) -> tuple[Vec3, Vec3, Vec3, Vec3]:
    """Return the rates u1, o1, u2, o2 (world) of the j-th of the twelve displacements."""
    i = j % 3
    e = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
    o1, o2 = mul(load_matrix(bodies[joint.body_1].rotation), e), mul(load_matrix(bodies[joint.body_2].rotation), e)
    which = j // 3
    return (e if which == 0 else ZERO, o1 if which == 1 else ZERO, e if which == 2 else ZERO, o2 if which == 3 else ZERO)


@inlined
def weighted(g: Contact, gamma: Vec3) -> Vec3:
    """Return the sum of directions, or of their rates, times the multipliers of normal, rolling, sideways."""
    return add(scale(gamma[0], g.k), add(scale(gamma[1], g.t), scale(gamma[2], g.l)))


@inlined
def multipliers_of(joint: Any, gamma: Array) -> Vec3:
    """Return the multipliers of the three rows; zero where not active."""
    a = gamma[joint.row[0]] if joint.row[0] >= 0 else 0.0
    b = gamma[joint.row[1]] if joint.row[1] >= 0 else 0.0
    c = gamma[joint.row[2]] if joint.row[2] >= 0 else 0.0
    return a, b, c


@compiled
def tangent(joint: Any, bodies: Any, gamma: Array, K: Array) -> None:
    """Write K_c = d(A^T gamma)/dd to the 12x12 matrix K, column by column.

    With F = sum of gamma g, H = gamma h, their rates F', H' and rho_i = c - r_Bi, the rates of (F, R_B1^T (rho_1 x F + H)) and
    of -(F, R_B2^T (rho_2 x F + H)):

        F',    R_Bi^T (rho_i' x F + rho_i x F' + H' - o_i x (rho_i x F + H))
    """
    one, two = bodies[joint.body_1], bodies[joint.body_2]
    R1, R2 = load_matrix(one.rotation), load_matrix(two.rotation)
    at, lam = contact_of(joint, bodies), multipliers_of(joint, gamma)
    H = scale(lam[2], couple_of(joint, bodies))
    F, rho_1, rho_2 = weighted(at, lam), sub(at.c, load(one.position)), sub(at.c, load(two.position))
    clear(K)
    for j in range(12):
        u1, o1, u2, o2 = unit_rates(joint, bodies, j)
        rate = changes(joint, bodies, at, u1, o1, o2)
        F_rate = weighted(rate, lam)
        m1 = add(cross(sub(rate.c, u1), F), sub(cross(rho_1, F_rate), cross(o1, cross(rho_1, F))))
        m2 = add(cross(sub(rate.c, u2), F), sub(cross(rho_2, F_rate), cross(o2, cross(rho_2, F))))
        m2 = add(m2, cross(sub(o1, o2), H))  # H' = o1 x H; on B1, which H turns with, nothing changes
        column = (F_rate, tmul(R1, m1), neg(F_rate), neg(tmul(R2, m2)))
        for i in range(4):
            K[3 * i, j], K[3 * i + 1, j], K[3 * i + 2, j] = column[i]


@compiled
def velocity_tangent(joint: Any, bodies: Any, B: Array) -> None:
    """Write the derivatives of t . w and of l . w + h . (w_1 - w_2) at constant v to the rows 0 and 1 of B (2x12)."""
    at, h = contact_of(joint, bodies), couple_of(joint, bodies)
    w, w1, w2 = slip(joint, bodies, at.c), turning(bodies[joint.body_1]), turning(bodies[joint.body_2])
    for j in range(12):
        u1, o1, u2, o2 = unit_rates(joint, bodies, j)
        rate = changes(joint, bodies, at, u1, o1, o2)
        w_rate = change_of_slip(joint, bodies, at, rate.c, u1, o1, u2, o2)
        B[0, j] = dot(rate.t, w) + dot(at.t, w_rate)
        B[1, j] = dot(rate.l, w) + dot(at.l, w_rate)
        B[1, j] += dot(cross(o1, h), sub(w1, w2)) + dot(h, sub(cross(o1, w1), cross(o2, w2)))


@inlined
def shown_frame(joint: Any, bodies: Any) -> tuple[Vec3, Mat3]:
    """Return where a reaction is shown, the contact point, and its axes: rolling, sideways, normal; of Pfaffian rows F1."""
    at = contact_of(joint, bodies)
    if joint.kind == PFAFFIAN:
        return at.c, matmul(load_matrix(bodies[joint.body_1].rotation), load_matrix(joint.rotation_1))
    return at.c, (at.t[0], at.l[0], at.k[0], at.t[1], at.l[1], at.k[1], at.t[2], at.l[2], at.k[2])
