"""Small motions about a state: the matrices of Peng et al. 2024, eqs. (7) to (10), for any mechanical system.

    M d'' + D d' + K d + A^T dl = 0,      A d = 0,  or A d' + B d = 0 for rows that restrict velocities only

d is a small displacement, and the velocities change by ``dv = d' + N(v) d`` (protocol.py), so that with the tangents of the
system, K_f + K_c = d(A^T lambda - f)/dd and D_f = -df/dv,

    D = D_f + M N(v)                                                  gyroscopic terms
    K = K_f + K_c + K_i,   K_i = D_f N(v) + M N(v') + d(M v')/dd      inertial terms

Coordinates. About a state of rest, d is what the rest of the library calls a displacement: in the axes of the world, rotations
in those of the body. About a steady motion the matrices have to be constant, or their eigenvalues mean nothing, and in axes
that turn with the bodies A is not (a wheel's hub turns under it). Then d = T e with e in axes that turn with a common angular
velocity W: the world's (W = 0) for bodies of revolution, those of the rotor for a rotor that is not round in bearings that are.
`axes` says which; `is_steady` tells whether the choice was right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from dalembert.errors import ModelError, SolveError
from dalembert.formulations.saddle import SaddleFormulation
from dalembert.kernel.vec3 import Array
from dalembert.linalg.saddle import SaddleSolver
from dalembert.rotation.quaternion import to_rotation
from dalembert.rotation.skew import tilde
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.system import System

STEADY = 1e-3
"""Largest change of the matrices in the time in which a body turns by one radian, relative to their size."""


class Pencil(NamedTuple):
    """The matrices of small motions about one state.

    Attributes
    ----------
    M, D, K : sparse array, shape (n, n)
        [kg], [N s/m], [N/m] and so on.
    A : sparse array, shape (m, n)
        Rows of the constraints.
    T, T1 : sparse array, shape (n, n)
        d = T e, d' = T e' + T1 e: from the coordinates of the pencil to displacements.
    B : sparse array, shape (m, n)
        Of the rows that restrict velocities only: A d' + B d = 0.
    holonomic : array of bool, shape (m,)
        The other rows.
    slender : bool
        Whether beams make directions far softer than the largest stiffness: zero is then told from soft by rounding alone.
    """

    M: sp.csc_array
    D: sp.csc_array
    K: sp.csc_array
    A: sp.csc_array
    T: sp.csc_array
    T1: sp.csc_array
    B: sp.csc_array
    holonomic: NDArray[np.bool_]
    slender: bool = False


class Motion(NamedTuple):
    """A state with its accelerations and multipliers."""

    t: float
    q: Array
    v: Array
    a: Array
    lam: Array


def motion_at(system: MechanicalSystem, t: float, q: Array, v: Array) -> Motion:
    """Return a state with the accelerations and multipliers that it has."""
    solution = SaddleFormulation(system).solve(t, q, v)
    return Motion(t, q, v, solution.acceleration, solution.multipliers)


def pencil_at(
    system: MechanicalSystem, at: Motion, *, with_constraints: bool = True, axes: Array | None = None, after: float = 0.0
) -> Pencil:
    """Return the pencil of small motions about a state.

    Parameters
    ----------
    system : MechanicalSystem
    at : Motion
    with_constraints : bool
        With K_c; without it, for comparison only.
    axes : array, optional
        Angular velocity of the axes of e in the world [rad/s]: bodies and joints only. Displacements d themselves if not given.
    after : float
        Time since these axes were those of the world [s].

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pendulum", gravity=(0, 0, -10.0))
    >>> bob = model.body("bob", mass=2.0, position=(0, 0, -4.0))
    >>> hinge = model.revolute("hinge", model.ground, bob, axis=(0, 1, 0))
    >>> system = da.build(model)
    >>> swing = np.array([1.0, 0, 0, 0, -0.25, 0])  # one metre at a length of 4 m
    >>> pencil = pencil_at(system, motion_at(system, 0.0, system.design.q, system.design.v))
    >>> round(float(swing @ pencil.K @ swing), 9)  # m g / L
    5.0
    """
    t, q, v, a, lam = at
    M, N = system.mass(t, q), system.transport(v)
    D_f = system.damping(t, q, v, lam)
    D = D_f + M @ N
    K = system.stiffness(t, q, v, lam, with_constraints=with_constraints)
    if v.any() or a.any():
        K = K + D_f @ N + M @ system.transport(a) + system.inertia_stiffness(t, q, a)
    A, holonomic = system.jacobian(t, q, v), system.holonomic
    slender = isinstance(system, System) and bool(system.tables.beams.size)
    B = _of_velocities(sp.csc_array(A @ N + system.velocity_stiffness(t, q, v)), holonomic)
    if axes is None:
        eye, none = sp.eye_array(v.size, format="csc"), sp.csc_array((v.size, v.size))
        return Pencil(M, sp.csc_array(D), sp.csc_array(K), A, eye, none, B, holonomic, slender)
    if not isinstance(system, System):
        raise ModelError("axes", "turning axes need bodies", "leave them out for systems of your own equations")
    T, T1, T2 = _turning(system, at, np.asarray(axes, float), after)
    Tt = T.T.tocsc()
    B = _of_velocities(sp.csc_array(A @ T1 + B @ T), holonomic)
    D_e, K_e = Tt @ (2.0 * M @ T1 + D @ T), Tt @ (M @ T2 + D @ T1 + K @ T)
    return Pencil(Tt @ M @ T, D_e, K_e, sp.csc_array(A @ T), T, T1, B, holonomic, slender)


def _of_velocities(B: sp.csc_array, holonomic: NDArray[np.bool_]) -> sp.csc_array:
    """Return B with the rows of the velocity constraints only."""
    if holonomic.all():
        return sp.csc_array(B.shape)
    return sp.csc_array(sp.diags_array((~holonomic).astype(float)) @ B)


def _turning(system: System, at: Motion, W: Array, after: float) -> tuple[sp.csc_array, sp.csc_array, sp.csc_array]:
    """Return T, T' and T'' of d = T e: positions S e, rotations R^T S e, with S = exp(tilde(W) after)."""
    turn, S = tilde(W), Rotation.from_rotvec(W * after).as_matrix()
    blocks: list[list[Array]] = [[], [], []]
    rates, accelerations = at.v.reshape(-1, 6)[:, 3:], at.a.reshape(-1, 6)[:, 3:]
    for k in range(system.n_bodies):
        Rt = to_rotation(at.q[7 * k + 3 : 7 * k + 7]).as_matrix().T
        w, alpha = tilde(rates[k]), tilde(accelerations[k])
        first = -w @ Rt  # (R^T)' = -tilde(w) R^T
        second = (w @ w - alpha) @ Rt
        blocks[0] += [S, Rt @ S]
        blocks[1] += [turn @ S, (first + Rt @ turn) @ S]
        blocks[2] += [turn @ turn @ S, (second + 2.0 * first @ turn + Rt @ turn @ turn) @ S]
    T, T1, T2 = (sp.block_diag(group, format="csc") for group in blocks)
    return sp.csc_array(T), sp.csc_array(T1), sp.csc_array(T2)


def is_steady(system: MechanicalSystem, at: Motion, pencil: Pencil, axes: Array | None = None) -> bool:
    """Return whether the pencil stays as it is along the motion, tried on random displacements that the joints allow.

    Rows of A may mix among themselves (those of a hinge do, as it turns): what they allow is all that counts.
    """
    if not at.v.any():
        return True
    speeds = at.v[system.rotational] if system.rotational.any() else at.v  # coordinates of one's own: any may be an angle
    dt = 1e-4 / max(float(np.abs(speeds).max(initial=0.0)), 1e-3)
    q = system.advance(at.q, dt * (at.v + 0.5 * dt * at.a))
    later = pencil_at(system, motion_at(system, at.t + dt, q, at.v + dt * at.a), axes=axes, after=dt)
    tried = _allowed(pencil, 6)
    change = STEADY * 1e-4
    sizes = abs(pencil.A).sum(axis=1) * max(1.0, np.abs(tried).max(initial=0.0))  # bodies that cannot move leave rounding
    if np.any(np.abs(later.A @ tried).max(axis=1, initial=0.0) > change * sizes):
        return False
    pairs = zip(pencil[:3], later[:3], strict=True)
    return all(
        np.abs(tried.T @ ((x - y) @ tried)).max() <= change * (np.abs(tried).T @ (abs(x) @ np.abs(tried))).max()
        for x, y in pairs
    )


def _allowed(pencil: Pencil, count: int) -> Array:
    """Return random displacements with A e = 0."""
    eye = sp.eye_array(pencil.K.shape[0], format="csc")
    solver = SaddleSolver(eye, pencil.A)
    solver.factorize(eye.data, pencil.A.data, check=False)
    none = np.zeros(pencil.A.shape[0])
    return np.column_stack(
        [solver.least_squares(r, none).x for r in np.random.default_rng(0).standard_normal((count, eye.shape[0]))]
    )


def steady_pencil(system: MechanicalSystem, at: Motion, *, axes: Array | None = None, with_constraints: bool = True) -> Pencil:
    """Return the pencil about a state of rest or of steady motion, in axes in which it is constant.

    Without `axes`, those of the world are tried, then those that turn like each body.

    Raises
    ------
    SolveError
        If there are none: the motion is not steady.
    """
    if not at.v.any():
        return pencil_at(system, at, with_constraints=with_constraints)
    if not isinstance(system, System):
        candidates: list[Array | None] = [None]
    elif axes is not None:
        candidates = [np.asarray(axes, float)]
    else:
        candidates = [np.zeros(3), *_turns_of_bodies(system, at)]
    for one in candidates:
        whole = pencil_at(system, at, axes=one)
        if is_steady(system, at, whole, one):
            return whole if with_constraints else pencil_at(system, at, with_constraints=False, axes=one)
    raise SolveError(
        "the motion is not steady: the coefficients of small motions change along it, so that it has no eigenvalues; "
        "linearise about rest or steady motion, and name the angular velocity of the axes if they turn (axes=...)"
    )


def _turns_of_bodies(system: System, at: Motion) -> list[Array]:
    """Return the different angular velocities of the bodies in world axes [rad/s]."""
    found: list[Array] = []
    for k in range(system.n_bodies):
        w = np.asarray(to_rotation(at.q[7 * k + 3 : 7 * k + 7]).apply(at.v[6 * k + 3 : 6 * k + 6]))
        if np.abs(w).max() > 0.0 and not any(np.allclose(w, other, rtol=1e-6) for other in found):
            found.append(w)
    return found
