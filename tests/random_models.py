"""Random models of one joint each, drawn open, and their differences: what the property tests share."""

import numpy as np
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.elements.joint import JOINT_TYPES
from dalembert.elements.lock import ROWS

LAWS = {
    "constant": lambda: da.Constant(0.4),
    "ramp": lambda: da.Ramp(start_value=0.1, slope=0.7, start_time=-1.0, end_time=9.0),
    "smooth_step": lambda: da.SmoothStep(start_value=-0.2, end_value=0.9, start_time=-2.0, end_time=3.0),
    "polynomial": lambda: da.Polynomial((0.2, -0.4, 0.3, 0.1)),
    "harmonic": lambda: da.Harmonic(amplitude=0.6, frequency=0.8, phase=0.3, offset=0.1),
    "spline": lambda: da.Spline(times=(-2.0, -0.5, 0.6, 2.0, 4.0), values=(0.0, 0.7, -0.2, 0.5, 0.1)),
    "expression": lambda: da.Expression("0.5*sin(2*t) + 0.1*t**2"),
    "function": lambda: da.Function(
        lambda t: 0.5 * np.cos(1.7 * t), lambda t: -0.85 * np.sin(1.7 * t), lambda t: -1.445 * np.cos(1.7 * t)
    ),
    "speed": lambda: da.Speed(da.Harmonic(amplitude=0.6, frequency=0.5, phase=0.2, offset=0.3), initial=0.1),
}


def random_rotation(rng):
    return Rotation.from_quat(rng.normal(size=4))


def two_bodies(rng):
    model = da.Model("two bodies", gravity=rng.normal(size=3))
    for name in ("one", "two"):
        inertia = da.inertia.rotated(da.inertia.box(2.0, rng.uniform(0.2, 1.0, 3)), random_rotation(rng))
        model.body(
            name, mass=rng.uniform(0.5, 3.0), inertia=inertia, position=rng.normal(size=3), orientation=random_rotation(rng)
        )
    return model


def frames(rng, spread=0.3):
    """Random frames F2 and F1, near each other, so that the joint starts open by about `spread`."""
    at = rng.normal(size=3)
    orientation = random_rotation(rng)
    return {
        "at": at,
        "orientation": orientation,
        "at_driven": at + spread * rng.normal(size=3),
        "orientation_driven": orientation * Rotation.from_rotvec(spread * rng.normal(size=3)),
    }


def one_joint(rng, kind, *, main="two", law=None, spread=0.3):
    """A model with one joint of the given type; with a law, every row that it allows is driven."""
    model = two_bodies(rng)
    own = {"lock": {"rows": ("x", "z", "Ry")}, "screw": {"lead": 0.3}}.get(kind, {})
    drawn = frames(rng, spread)
    if kind == "universal":
        drawn["orientation_driven"] *= Rotation.from_euler("z", 90, degrees=True)
    model.joint("joint", kind, model.ground if main == "ground" else main, "one", **drawn, **own)
    if law is not None:
        for coordinate in driven_coordinates(kind):
            model.motion(f"drive {coordinate}", "joint", coordinate, LAWS[law]())
    return model


def driven_coordinates(kind):
    if JOINT_TYPES[kind].rod:
        return ("distance",)
    return ROWS[:3] if JOINT_TYPES[kind].perpendicular else ROWS


def coupled(rng):
    """Two bodies with every kind of coupling: gear, rack and pinion, a differential of angle and distance."""
    model = two_bodies(rng)
    model.cylindrical("a", model.ground, "one", **frames(rng))
    model.cylindrical("b", "one", "two", **frames(rng))
    model.gear("gear", "a", "b", ratio=-2.5)
    model.rack_and_pinion("rack", pinion="a", rack="b", radius=0.4)
    model.coupling("differential", {("a", "angle"): 1.0, ("a", "distance"): 0.7, ("b", "distance"): -1.3}, offset=0.2)
    return model


def random_state(rng, system, spread=0.4):
    """A state with open joints: t, q, v."""
    q = system.advance(system.design.q, spread * rng.normal(size=system.n_velocities))
    return rng.uniform(-0.4, 0.5), q, rng.normal(size=system.n_velocities)


def central(function, h=1e-3):
    """Sixth-order central difference of a function of one number at zero."""
    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    return sum(w * (function(k * h) - function(-k * h)) for k, w in weights.items()) / (60.0 * h)


def relative(a, b):
    """Largest difference, relative to the largest entry or one."""
    a, b = np.asarray(a), np.asarray(b)
    return float(np.max(np.abs(a - b), initial=0.0) / max(1.0, np.max(np.abs(b), initial=0.0)))


def errors(system, rng):
    """Errors of Jacobian with b', of b'', and of K_c against differences, at a random state with open joints."""
    t, q, v = random_state(rng, system)
    a, gamma = rng.normal(size=system.n_velocities), rng.normal(size=system.n_constraints)

    def moved(h):
        return system.advance(q, h * v + 0.5 * h * h * a)

    A, b = system.jacobian(t, q), system.velocity_right_side(t, q)
    phi_rate = central(lambda h: system.constraint(t + h, system.advance(q, h * v)))
    rate_rate = central(lambda h: system.jacobian(t + h, moved(h)) @ (v + h * a) - system.velocity_right_side(t + h, moved(h)))
    K = system.stiffness(t, q, v, gamma).toarray() - system.stiffness(t, q, v, gamma, with_constraints=False).toarray()
    columns = np.eye(system.n_velocities)
    differences = [central(lambda h, e=e: system.jacobian(t, system.advance(q, h * e)).T @ gamma) for e in columns]
    return {
        "jacobian": relative(np.column_stack([_phi_column(system, t, q, e) for e in columns]), A.toarray()),
        "velocity right side": relative(A @ v - b, phi_rate),
        "acceleration right side": relative(A @ a - system.acceleration_right_side(t, q, v), rate_rate),
        "tangent": relative(np.column_stack(differences), K),
    }


def _phi_column(system, t, q, direction):
    return central(lambda h: system.constraint(t, system.advance(q, h * direction)))
