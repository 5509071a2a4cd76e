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
    own = {"lock": {"rows": ("x", "z", "Ry")}, "screw": {"lead": 0.3}, "rolling_sphere": {"radius": 0.7}}.get(kind, {})
    if kind == "rolling_wheel":
        own = {"radius": 0.7, "crown_radius": 0.2}
    if kind == "pfaffian":
        own = {"coefficients": rng.normal(size=6)}
    drawn = frames(rng, spread)
    if kind in ("universal", "rolling_wheel"):
        drawn["orientation_driven"] *= Rotation.from_euler("z", 90, degrees=True)
    model.joint("joint", kind, model.ground if main == "ground" else main, "one", **drawn, **own)
    if law is not None:
        for coordinate in driven_coordinates(kind):
            model.motion(f"drive {coordinate}", "joint", coordinate, LAWS[law]())
    return model


def driven_coordinates(kind):
    if JOINT_TYPES[kind].rod:
        return ("distance",)
    if JOINT_TYPES[kind].contact is not None:
        return ()
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
    B = [central(lambda h, e=e: velocity_residual(system, t, system.advance(q, h * e), v)) for e in np.eye(v.size)]
    K = system.stiffness(t, q, v, gamma).toarray() - system.stiffness(t, q, v, gamma, with_constraints=False).toarray()
    columns, rows = np.eye(system.n_velocities), system.holonomic
    differences = [central(lambda h, e=e: system.jacobian(t, system.advance(q, h * e)).T @ gamma) for e in columns]
    return {
        "jacobian": relative(np.column_stack([_phi_column(system, t, q, e) for e in columns])[rows], A.toarray()[rows]),
        "velocity right side": relative((A @ v - b)[rows], phi_rate[rows]),
        "velocity stiffness": relative(np.column_stack(B), system.velocity_stiffness(t, q, v).toarray()),
        "acceleration right side": relative(A @ a - system.acceleration_right_side(t, q, v), rate_rate),
        "tangent": relative(np.column_stack(differences), K),
    }


def velocity_residual(system, t, q, v):
    """A v - b' of the rows that restrict velocities only, zero for the others."""
    return np.where(system.holonomic, 0.0, system.velocity_residual(t, q, v))


def _phi_column(system, t, q, direction):
    return central(lambda h: system.constraint(t, system.advance(q, h * direction)))


def _ends(rng):
    at = rng.normal(size=3)
    return {"at": at, "at_driven": at + (0.5 + rng.uniform()) * random_rotation(rng).apply([1.0, 0, 0])}


def _symmetric(rng):
    A = rng.normal(size=(6, 6))
    return A @ A.T


def _on_joint(kind, coordinate, **spring):
    def add(rng, model, main):
        model.joint("joint", kind, main, "one", **frames(rng), **({"lead": 0.3} if kind == "screw" else {}))
        model.torsion_spring("force", "joint", coordinate=coordinate, **spring)

    return add


def _pull(t, q, v):
    """A force between two bodies, and a torque that depends on everything."""
    force = np.cos(t) * (q[1, :3] - q[0, :3]) - 0.3 * v[0, :3]
    return np.stack([np.concatenate([force, np.sin(v[0, 3:]) * q[1, 4:]]), np.concatenate([-force, v[1, :3] * q[0, 3]])])


def _beam(**section):
    """A bent, twisted beam element that is not drawn relaxed, with a full section law."""

    def add(rng, model, main):
        stiffness = _symmetric(rng) + 0.3 * np.eye(6)
        damping = {label: make(rng) for label, make in section.items()}
        frame = random_rotation(rng)
        model.beam_element(
            "force",
            main,
            "one",
            **_ends(rng),
            orientation=frame,
            orientation_driven=frame * Rotation.from_rotvec(0.3 * rng.normal(size=3)),
            section=da.section.General(stiffness=stiffness, **damping),
            free=0.5 * rng.normal(size=6),
            length=rng.uniform(0.5, 1.5),
        )

    return add


TABLE = [(-1.0, -3.0), (-0.2, -1.0), (0.3, 1.0), (1.0, 5.0)]
DAMPING_TABLE = [(-2.0, -4.0), (-0.5, -1.5), (0.0, 0.0), (1.0, 0.7), (2.0, 1.0)]
HARMONIC = da.Harmonic(amplitude=2.0, frequency=0.3, phase=0.4)

CONSERVATIVE = {  # force elements by the way they are added to a model of two bodies
    "spring": lambda rng, m, main: m.spring("force", main, "one", **_ends(rng), stiffness=20.0),
    "spring with a free length": lambda rng, m, main: m.spring(
        "force", main, "one", **_ends(rng), stiffness=9.0, free_length=0.4
    ),
    "spring with a preload": lambda rng, m, main: m.spring("force", main, "one", **_ends(rng), stiffness=20.0, preload=-7.0),
    "constant tension": lambda rng, m, main: m.spring("force", main, "one", **_ends(rng), preload=7.0),
    "spring with an expression": lambda rng, m, main: m.spring(
        "force", main, "one", **_ends(rng), expression="3*(length - 1)**3 + 1/(length + 1)"
    ),
    "torsion spring": _on_joint("revolute", "angle", stiffness=3.0),
    "torsion spring with a preload": _on_joint("cylindrical", "angle", stiffness=3.0, preload=0.7),
    "torsion spring on a screw": _on_joint("screw", "angle", stiffness=3.0, free=0.2),
    "torsion spring with an expression": _on_joint("parallel", "angle", expression="2*sin(angle)"),
    "spring on a distance": _on_joint("prismatic", "distance", stiffness=3.0, free=0.2),
    "spring on a distance with an expression": _on_joint("point_on_line", "distance", expression="distance**3"),
    "bushing": lambda rng, m, main: m.bushing("force", main, "one", **frames(rng), stiffness=rng.uniform(1.0, 9.0, 6)),
    "bushing with matrices": lambda rng, m, main: m.bushing(
        "force", main, "one", **frames(rng), stiffness=_symmetric(rng), preload=rng.normal(size=6)
    ),
    "beam element": _beam(),
    "dead load": lambda rng, m, main: m.load("force", "one", force=rng.normal(size=3), at=rng.normal(size=3)),
}

TABULATED = {  # conservative too, but only once differentiable
    "spring with a table": lambda rng, m, main: m.spring(
        "force", main, "one", **_ends(rng), table=TABLE, damping_table=DAMPING_TABLE, free_length=0.9
    ),
    "torsion spring with a table": _on_joint("revolute", "angle", table=TABLE),
}

DISSIPATIVE = {
    "damper": lambda rng, m, main: m.spring("force", main, "one", **_ends(rng), damping=3.0),
    "spring and damper": lambda rng, m, main: m.spring("force", main, "one", **_ends(rng), stiffness=9.0, damping=3.0),
    "expression of the rate": lambda rng, m, main: m.spring(
        "force", main, "one", **_ends(rng), expression="length**2*tanh(rate)"
    ),
    "torsion damper": _on_joint("revolute", "angle", stiffness=3.0, damping=2.0),
    "torsion expression of the rate": _on_joint("cylindrical", "angle", expression="rate*(angle**2 + rate**2)"),
    "damper on a distance": _on_joint("prismatic", "distance", damping=2.0),
    "damped bushing": lambda rng, m, main: m.bushing(
        "force", main, "one", **frames(rng), stiffness=_symmetric(rng), damping=_symmetric(rng), preload=rng.normal(size=6)
    ),
    "damped beam element": _beam(damping=_symmetric),
}

BETWEEN_BODIES = {name: add for name, add in (CONSERVATIVE | DISSIPATIVE).items() if name != "dead load"}

DRIVEN = {
    "torque": lambda rng, m, main: m.load("force", "one", torque=rng.normal(size=3), at=rng.normal(size=3)),
    "load with a law": lambda rng, m, main: m.load("force", "one", force=(1.0, 2.0, 3.0), at=rng.normal(size=3), law=HARMONIC),
    "load with three laws": lambda rng, m, main: m.load(
        "force", "one", force=(HARMONIC, 2.0, HARMONIC), torque=(0, HARMONIC, 0)
    ),
    "follower": lambda rng, m, main: m.load(
        "force", "one", force=(1.0, HARMONIC, 3.0), torque=(0.3, 0.2, 0.1), at=rng.normal(size=3), follower=True
    ),
    "motor": lambda rng, m, main: (
        m.revolute("joint", main, "one", **frames(rng)), m.joint_load("force", "joint", HARMONIC)
    ),
    "constant motor": lambda rng, m, main: (
        m.prismatic("joint", main, "one", **frames(rng)), m.joint_load("force", "joint", 3.0, coordinate="distance")
    ),
    "user force": lambda rng, m, main: m.user_force("force", _pull, bodies=("two", "one")),
}  # fmt: skip

FORCES = CONSERVATIVE | DISSIPATIVE | DRIVEN


def one_force(rng, name, *, main="two"):
    """A model of two bodies with one force element; tables included."""
    model = two_bodies(rng)
    (FORCES | TABULATED)[name](rng, model, model.ground if main == "ground" else main)
    return model


def force_errors(system, rng):
    """Errors of K and D against differences of the force, at a random state, all constraints without multipliers."""
    t, q, v = random_state(rng, system)
    columns = np.eye(system.n_velocities)
    K = [-central(lambda h, e=e: system.force(t, system.advance(q, h * e), v)) for e in columns]
    D = [-central(lambda h, e=e: system.force(t, q, v + h * e)) for e in columns]
    multipliers = np.zeros(system.n_constraints)
    return {
        "stiffness": relative(np.column_stack(K), system.stiffness(t, q, v, multipliers).toarray()),
        "damping": relative(np.column_stack(D), system.damping(t, q, v).toarray()),
    }
