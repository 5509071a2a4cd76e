"""F. E. Udwadia, A. D. Schutte, Equations of motion for general constrained systems in Lagrangian mechanics, Acta Mech. 213
(2010) 111-129: singular mass matrices, constraint forces that do work, and the rotation of a rigid body by quaternions.

The paper prints equations and no numbers. The systems below are small ones of their kind with closed forms; expected values
come from these. (84) has to read E' u' = 0; everything else that is used here holds as printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from dalembert.analysis.results import Run
from dalembert.analysis.simulate import simulate
from dalembert.formulations.choose import EXACT, accelerations
from dalembert.formulations.result import NotUniqueError, check_unique
from dalembert.formulations.saddle import Accelerations
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.mechanics import Mechanics
from dalembert.papers.figures import Figure
from dalembert.system.build import build
from dalembert.system.model import Model

GRAVITY = 9.81
CLOSED_FORM = "closed form"
ALPHAS = (0.3, 1.0, 4.0)

# --- worked systems: rank-deficient M, non-ideal C ------------------------------------------------------------------------


def two_masses() -> Mechanics:
    """Return two masses and two springs in series: place of mass 1, place where spring 2 starts, length of spring 2."""
    x, q1, q2, vx, v1, v2 = sp.symbols("x q1 q2 vx v1 v2")
    return Mechanics(
        "two masses", [x, q1, q2], [vx, v1, v2],
        kinetic_energy=2 * vx**2 / 2 + 3 * (v1 + v2) ** 2 / 2,
        potential_energy=50 * (x - 0.4) ** 2 / 2 + 80 * (q2 - 0.5) ** 2 / 2,
        holonomic=[x - q1], position=[0.6, 0.6, 0.65],
    )  # fmt: skip


def massless_wheel() -> Mechanics:
    """Return a wheel that rolls down an incline of 0.35 rad, driven by 2.5 N m, its rotary inertia neglected."""
    x, a, vx, va = sp.symbols("x a vx va")
    mass = [[4, 0], [0, 0]]
    return Mechanics("wheel", [x, a], [vx, va], mass=mass, force=[4 * GRAVITY * sp.sin(0.35), 2.5], holonomic=[x - 0.3 * a])


def point_on_circle(radius: float, angle: float, rate: float, *, gravity: float = GRAVITY, friction: str = "") -> Mechanics:
    """Return a point of 1.7 kg with x, z and an angle without inertia as coordinates; ``"coulomb"`` or ``"drag"`` brakes it."""
    m, (x, z, a, vx, vz, va) = 1.7, sp.symbols("x z a vx vz va")
    speed, normal = sp.sqrt(vx**2 + vz**2), m * (radius * va**2 + gravity * sp.cos(a))
    along = {"": [0, 0, 0], "coulomb": [vx / speed, vz / speed, 0], "drag": [speed * vx, speed * vz, 0]}[friction]
    size = {"": 0, "coulomb": -0.2 * normal, "drag": -0.3}[friction]
    return Mechanics(
        "point on a circle", [x, z, a], [vx, vz, va],
        kinetic_energy=m * (vx**2 + vz**2) / 2, potential_energy=m * gravity * z,
        holonomic=[x - radius * sp.sin(a), z + radius * sp.cos(a)], non_ideal=[size * one for one in along],
        position=[radius * np.sin(angle), -radius * np.cos(angle), angle],
        velocity=[radius * rate * np.cos(angle), radius * rate * np.sin(angle), rate],
    )  # fmt: skip


def block_on_incline() -> Mechanics:
    """Return a block of 1.7 kg that slides down 0.4 rad with 0.25 of Coulomb friction.

    Its C carries 5 N along the normal, too, which must change nothing: only the part of C along possible motions counts.
    """
    m, slope, (x, z, vx, vz) = 1.7, 0.4, sp.symbols("x z vx vz")
    normal, speed = m * GRAVITY * np.cos(slope), sp.sqrt(vx**2 + vz**2)
    C = [-0.25 * normal * vx / speed + 5 * np.sin(slope), -0.25 * normal * vz / speed + 5 * np.cos(slope)]
    return Mechanics(
        "block on incline", [x, z], [vx, vz], mass=sp.diag(m, m), force=[0, -m * GRAVITY], non_ideal=C,
        holonomic=[sp.sin(slope) * x + sp.cos(slope) * z], velocity=[np.cos(slope), -np.sin(slope)],
    )  # fmt: skip


def _on_circle(radius: float, angle: float, rate: float, along: float) -> tuple[Array, Array]:
    """Return acceleration and constraint force of a point on a circle, from the closed form of its angular acceleration."""
    s, c = np.sin(angle), np.cos(angle)
    a = np.array([radius * (along * c - rate**2 * s), radius * (along * s + rate**2 * c), along])
    return a, 1.7 * np.array([a[0], a[1] + GRAVITY, 0.0])


def worked_systems() -> dict[str, tuple[Mechanics, Array, Array]]:
    """Return for each system: itself, its acceleration and its constraint force in closed form."""
    f1, f2 = -50 * 0.2, -80 * 0.15
    a1 = (f1 - f2) / 2
    down = GRAVITY * np.sin(0.35) + 2.5 / (4 * 0.3)
    slide, normal = GRAVITY * (np.sin(0.4) - 0.25 * np.cos(0.4)), 1.7 * GRAVITY * np.cos(0.4)
    direction, upright = np.array([np.cos(0.4), -np.sin(0.4)]), np.array([np.sin(0.4), np.cos(0.4)])
    push = 1.7 * (0.8 * 4 + GRAVITY * np.cos(0.5))
    coulomb = -GRAVITY / 0.8 * np.sin(0.5) + 0.2 * push / (1.7 * 0.8)
    drag = -GRAVITY / 0.8 * np.sin(0.5) + 0.3 * 1.6**2 / (1.7 * 0.8)
    return {
        "two masses": (two_masses(), np.array([a1, a1, f2 / 3 - a1]), np.array([-f2, f2, 0.0])),
        "massless wheel": (massless_wheel(), np.array([down, down / 0.3]), np.array([2.5 / 0.3, -2.5])),
        "pendulum with a massless angle": (
            point_on_circle(1.3, 0.7, 2.1), *_on_circle(1.3, 0.7, 2.1, -GRAVITY / 1.3 * np.sin(0.7))
        ),
        "bead on a ring, Coulomb": (point_on_circle(0.8, 0.5, -2.0, friction="coulomb"), *_on_circle(0.8, 0.5, -2.0, coulomb)),
        "bead on a ring, drag": (point_on_circle(0.8, 0.5, -2.0, friction="drag"), *_on_circle(0.8, 0.5, -2.0, drag)),
        "block on an incline, Coulomb": (block_on_incline(), slide * direction, normal * (upright - 0.25 * direction)),
    }  # fmt: skip


def by_all_formulations(system: Mechanics) -> Iterator[tuple[str, Accelerations]]:
    """Yield the accelerations by every formulation that takes the system, the auxiliary one with several alpha and z."""
    t, q, v = 0.0, system.design.q, system.design.v
    regular = np.linalg.matrix_rank(system.mass(t, q).toarray()) == q.size
    for name in ("saddle", *EXACT):
        if regular or name not in ("fundamental", "gauss"):
            yield name, accelerations(system, t, q, v, formulation=name)
    random = np.random.default_rng(1)
    for alpha in ALPHAS:
        for z in (None, random.standard_normal(system.n_constraints)):
            label = f"auxiliary, alpha {alpha:g}, " + ("z = alpha^2 b" if z is None else "random z")
            yield label, accelerations(system, t, q, v, formulation="auxiliary", alpha=alpha, z=z)


def system_figures() -> Iterator[Figure]:
    """Compare the worked systems: (7), (8), (45) to (75)."""
    for name, (system, acceleration, force) in worked_systems().items():
        found = dict(by_all_formulations(system))
        for k, coordinate in enumerate(system.coordinates):
            ours = found["auxiliary"]
            yield Figure(
                f"{name}: acceleration of {coordinate}", acceleration[k], float(ours.acceleration[k]), 1e-12, CLOSED_FORM
            )
            yield Figure(
                f"{name}: constraint force on {coordinate}", force[k], float(ours.constraint_force[k]), 1e-11, CLOSED_FORM
            )
        spread = max(_largest(one.acceleration - acceleration) for one in found.values())
        yield Figure(f"{name}: accelerations, largest error of {len(found)} ways", 0.0, spread, 1e-9, CLOSED_FORM)
        spread = max(_largest(one.constraint_force - force) for one in found.values())
        yield Figure(f"{name}: constraint forces, largest error", 0.0, spread, 1e-9, CLOSED_FORM)


def rank_figures() -> Iterator[Figure]:
    """A system whose acceleration is not unique, because [M | A^T] has rank 1 of 2, is refused."""
    rank = -1
    try:
        check_unique(np.diag([1.0, 0.0]), np.array([[1.0, 0.0]]))
    except NotUniqueError as error:
        rank = error.rank
    yield Figure("refused system: rank of [M | A^T], of 2", 1.0, float(rank), 0.0, "section 2")


def history_figures() -> Iterator[Figure]:
    """Compare motions with constraint forces that do work: a bead on a horizontal ring of 0.8 m, starting at 3 m/s."""
    for friction in ("coulomb", "drag"):
        run = bead_run(friction)
        speed = float(np.hypot(*run.velocity.values[-1, :2]))
        if friction == "coulomb":
            angle = np.log1p(0.2 * 3.0 * 2.0 / 0.8) / 0.2
            yield Figure("bead, Coulomb: angle after 2 s [rad]", angle, float(run.position.values[-1, 2]), 1e-8, CLOSED_FORM)
            yield Figure("bead, Coulomb: speed after 2 s [m/s]", 3.0 * np.exp(-0.2 * angle), speed, 1e-8, CLOSED_FORM)
        else:
            exact = 3.0 / (1.0 + 0.3 / 1.7 * 3.0 * 2.0)
            yield Figure("bead, drag: speed after 2 s [m/s]", exact, speed, 1e-8, CLOSED_FORM)


def bead_run(friction: str) -> Run:
    """Return the motion of the bead on a horizontal ring."""
    ring = point_on_circle(0.8, 0.0, 3.0 / 0.8, gravity=0.0, friction=friction)
    return simulate(ring, duration=2.0, method="dopri5", rtol=1e-11, atol=1e-11)


# --- section 4: rotation by quaternions ----------------------------------------------------------------------------------

INERTIA = np.array([2.0, 3.5, 1.2])
POSSIBLE_INERTIA = np.array([2.0, 2.9, 1.2])  # no body has the one above: 3.5 > 2.0 + 1.2
QUATERNION = np.array([-0.49397787494037915, -0.8157855169621357, -0.1529870789894313, 0.258988036492981])
SPIN = np.array([1.1360465324896427, 0.10970639932180819, -0.5526473205362324])
TORQUE = np.array([-0.7847803553442784, 0.7487457707345911, 1.6347830429585775])
ALONG = 0.7  # of the generalised torque along u, which only the constraint force feels


def e_matrix(u: Any) -> Any:
    """Return E (80), with w = 2 E u'; from numbers or symbols."""
    u0, u1, u2, u3 = u
    return [[-u1, u0, u3, -u2], [-u2, -u3, u0, u1], [-u3, u2, -u1, u0]]


def quaternion_rate(u: Array, w: Array) -> Array:
    """Return u' = E^T w / 2 (79)."""
    return 0.5 * np.array(e_matrix(u)).T @ w


def rotating_body(inertia: Array = INERTIA, torque: Array = TORQUE) -> Mechanics:
    """Return a rigid body whose coordinates are the quaternion: T = 2 u'^T E^T J E u' (81), M = 4 E^T J E of rank 3 (91)."""
    u, v = sp.symbols("u0:4"), sp.symbols("v0:4")
    E = sp.Matrix(e_matrix(u))
    rates = E * sp.Matrix(v)
    generalized = 2 * E.T * sp.Matrix(torque.tolist()) + ALONG * sp.Matrix(u)  # (113)
    return Mechanics(
        "rotating body", u, v,
        kinetic_energy=2 * (rates.T * sp.diag(*inertia.tolist()) * rates)[0], force=list(generalized),
        holonomic=[(sum(one**2 for one in u) - 1) / 2],  # (92), halved: A = u^T (93)
        position=QUATERNION, velocity=quaternion_rate(QUATERNION, SPIN),
    )  # fmt: skip


def quaternion_accelerations(u: Array, w: Array, J: Array, torque: Array, alpha: float = 1.0) -> dict[str, Array]:
    """Return u'' by the equations of the paper: (112), (116), (119), (123)."""
    E, ud, u_gamma = np.array(e_matrix(u)), quaternion_rate(u, w), 2.0 * np.array(e_matrix(u)).T @ torque + ALONG * u
    Ed = np.array(e_matrix(ud))
    gyroscopic = np.cross(w, J * w)
    M_A = 4.0 * E.T @ np.diag(J) @ E + alpha**2 * np.outer(u, u)
    by_112 = -0.5 * E.T @ (gyroscopic / J) - (ud @ ud) * u + 0.25 * E.T @ ((E @ u_gamma) / J)
    by_116 = -0.5 * E.T @ (gyroscopic / J) - 0.25 * (w @ w) * u + 0.5 * E.T @ (torque / J)
    right_119 = -2.0 * E.T @ gyroscopic - 0.25 * alpha**2 * (w @ w) * u + 2.0 * E.T @ torque
    right_123 = -8.0 * Ed.T @ (J * (E @ ud)) - alpha**2 * (ud @ ud) * u + u_gamma + constraint_torque(u, w, J, u_gamma)
    return {
        "(112)": by_112,
        "(116)": by_116,
        "(119)": np.linalg.solve(M_A, right_119),
        "(123)": np.linalg.solve(M_A, right_123),
    }


def constraint_torque(u: Array, w: Array, J: Array, u_gamma: Array) -> Array:
    """Return Q^c = -2 (w^T J w) u - u u^T Gamma_u (121)."""
    return np.asarray(-2.0 * (w @ (J * w)) * u - u * (u @ u_gamma))


def euler_acceleration(J: Array = INERTIA) -> Array:
    """Return u'' from Euler's equations J w' + w x J w = Gamma_B: u'' = E^T w'/2 - |w|^2 u/4."""
    turning = (TORQUE - np.cross(SPIN, J * SPIN)) / J
    return np.asarray(quaternion_rate(QUATERNION, turning) - 0.25 * (SPIN @ SPIN) * QUATERNION)


def library_acceleration(J: Array) -> Array:
    """Return the same from the library's own rigid body."""
    model = Model("rotating body")
    model.body("body", mass=1.0, inertia=J)
    model.load("torque", "body", torque=tuple(TORQUE), follower=True)
    system = build(model)
    v = np.concatenate([np.zeros(3), SPIN])
    turning = accelerations(system, 0.0, system.design.q, v).acceleration[3:]
    return np.asarray(quaternion_rate(QUATERNION, turning) - 0.25 * (SPIN @ SPIN) * QUATERNION)


def quaternion_figures() -> Iterator[Figure]:
    """Compare section 4: the singular mass matrix of a rotating body."""
    expected, body = euler_acceleration(), rotating_body()
    rank = np.linalg.matrix_rank(body.mass(0.0, QUATERNION).toarray())
    yield Figure("quaternions: rank of M", 3.0, float(rank), 0.0, "(91)")
    ways = quaternion_accelerations(QUATERNION, SPIN, INERTIA, TORQUE)
    found = dict(by_all_formulations(body))
    ways |= {name: one.acceleration for name, one in found.items()}
    for name, ours in ways.items():
        yield Figure(f"quaternions, {name}: error of u''", 0.0, _largest(ours - expected), 1e-12, "Euler's equations")
    error = _largest(library_acceleration(POSSIBLE_INERTIA) - euler_acceleration(POSSIBLE_INERTIA))
    yield Figure("quaternions, the rigid body of the library: error of u''", 0.0, error, 1e-12, "Euler's equations")
    u_gamma = 2.0 * np.array(e_matrix(QUATERNION)).T @ TORQUE + ALONG * QUATERNION
    force = constraint_torque(QUATERNION, SPIN, INERTIA, u_gamma)
    for name in ("saddle", "auxiliary"):
        error = _largest(found[name].constraint_force - force)
        yield Figure(f"quaternions, {name}: error of Q^c", 0.0, error, 1e-11, "(121)")


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


def figures() -> Iterator[Figure]:
    """Compare everything."""
    yield from system_figures()
    yield from rank_figures()
    yield from history_figures()
    yield from quaternion_figures()


def draw(folder: Path) -> list[Path]:
    """Draw the bead that friction holds back, beside the closed form."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 6), layout="constrained")
    for number, friction in enumerate(("coulomb", "drag")):
        run = bead_run(friction)
        t = run.time.values
        exact = 3.0 / (1.0 + 0.2 * 3.0 * t / 0.8) if friction == "coulomb" else 3.0 / (1.0 + 0.3 / 1.7 * 3.0 * t)
        speed = np.hypot(run.velocity.values[:, 0], run.velocity.values[:, 1])
        power = np.einsum("ij,ij->i", run.constraint_force.values, run.velocity.values)
        axes[0].plot(t, speed, color=f"C{number}", label=friction)
        axes[0].plot(t, exact, "k:", label="closed form" if number else None)
        axes[1].plot(t, power, color=f"C{number}", label=friction)
    axes[0].set_ylabel("speed [m/s]")
    axes[1].set_ylabel("power of the constraint force [W]")
    axes[1].set_xlabel("time [s]")
    axes[0].legend()
    path = folder / "udwadia2010_bead.png"
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return [path]
