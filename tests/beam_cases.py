"""Beams with closed forms, or with values of independent formulations: what tests assert and benchmarks print."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.rotation.quaternion import to_rotation

STRIP = {"youngs_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7850.0}


def slender(EI_y=1.0, EI_z=100.0, GJ=50.0, EA=1e6):
    """A section of unit mass and bending stiffness with hardly any stretch, shear and rotary inertia."""
    return da.section.General(stiffness=(EA, EA, EA, GJ, EI_y, EI_z), mass=1.0, inertia=(5e-8, 1e-8, 4e-8))


def cantilever(elements, section, **arguments):
    """A beam of one metre along x, clamped at the origin."""
    model = da.Model("cantilever")
    beam = model.beam("b", (0, 0, 0), (1, 0, 0), section=section, elements=elements, start_joint="fixed", **arguments)
    return model, beam


# --- appendix ----------------------------------------------------------------------------------------------------------


def tip_compliance(elements, corrected, *, force=True, section=None):
    """Displacement [m] and rotation [rad] of the tip by a unit force along z, or by a unit moment about y; linear."""
    model, beam = cantilever(elements, section or slender(), locking_correction=corrected)
    load = {"force": (0, 0, 1), "at": beam.places[-1]} if force else {"torque": (0, 1, 0)}
    model.load("tip", beam.nodes[-1], **load)
    system = da.build(model)
    q, rest = system.design.q, np.zeros(system.n_velocities)
    f, A = system.force(0.0, q, rest), system.jacobian(0.0, q).toarray()
    K = system.stiffness(0.0, q, rest, np.zeros(len(A))).toarray()
    d = np.linalg.solve(np.block([[K, A.T], [A, np.zeros((len(A), len(A)))]]), np.append(f, np.zeros(len(A))))[-len(A) - 6 :][
        :6
    ]
    lever = system.layout.frames[beam.places[-1]][1]
    return d[2] - lever[0] * d[4], d[4]


# --- statics -----------------------------------------------------------------------------------------------------------


def rolled_up(elements):
    """Where the tip of a strip of 1 m x 5 mm x 1 mm ends that a moment bends into a full circle, and where its middle."""
    strip = da.section.Rectangle(width=0.005, height=0.001, **STRIP)
    model, beam = cantilever(elements, strip)
    model.load("moment", beam.nodes[-1], torque=(0, -2.0 * np.pi * strip.stiffness_matrix[4, 4], 0))
    rest = da.equilibrium(model)
    system = da.build(model)
    return rest, *(system.frame(beam.places[k], rest.state.q)[0] for k in (-1, elements // 2))


def elastica(alpha):
    """Shortening and deflection of the tip of an inextensible cantilever of 1 m under P = alpha EI/L^2 across.

    theta'' = -alpha cos theta, theta(0) = 0, theta'(1) = 0, by shooting.
    """

    def shape(slope):
        def rate(s, y):
            return [y[1], -alpha * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

        return solve_ivp(rate, (0, 1), [0, slope, 0, 0], rtol=1e-11, atol=1e-13).y[:, -1]

    end = shape(brentq(lambda slope: shape(slope)[1], 0.1 * alpha / 3.0, alpha + 1.0, xtol=1e-13))
    return 1.0 - end[2], end[3]


def bent_by_force(elements, alpha, **section):
    """The same by beam elements."""
    model, beam = cantilever(elements, slender(**({"EA": 1e8} | section)))
    model.load("P", beam.nodes[-1], force=(0, 0, alpha), at=beam.places[-1])
    rest = da.equilibrium(model)
    tip = da.build(model).frame(beam.places[-1], rest.state.q)[0]
    return 1.0 - tip[0], tip[2]


def _least_square_of_frequency(model):
    return float(-(da.modes(model, None).eigenvalue.values ** 2).real.max())


def euler_load(elements):
    """The axial load [N] at which a pinned beam loses its stability, EI = 1, L = 1: pi^2."""

    def lowest(P):
        model = da.Model("column")
        beam = model.beam(
            "b", (0, 0, 0), (1, 0, 0), section=slender(), elements=elements, start_joint="revolute", start_axis=(0, 1, 0)
        )
        model.point_on_line("slide", "ground", beam.nodes[-1], at=(1, 0, 0), axis=(1, 0, 0))
        model.load("P", beam.nodes[-1], force=(-P, 0, 0), at=beam.places[-1])
        return _least_square_of_frequency(model)

    return brentq(lowest, 8.0, 12.0, rtol=1e-10)


def lateral_load(elements):
    """The load across the tip [N] at which a deep cantilever turns over, EI_z = GJ = 1, L = 1: 4.0126 (Timoshenko)."""

    def lowest(P):
        model, beam = cantilever(elements, slender(EI_y=1e5, EI_z=1.0, GJ=1.0, EA=1e7))
        model.load("P", beam.nodes[-1], force=(0, 0, -P), at=beam.places[-1])
        return _least_square_of_frequency(model)

    return brentq(lowest, 3.5, 4.5, rtol=1e-8)


# --- vibration ---------------------------------------------------------------------------------------------------------

ROOTS = {
    "cantilever": (1.875104068711961, 4.694091132974175, 7.854757438237613),
    "free": (4.730040744862704, 7.853204624095838, 10.995607838001671),
    "pinned": (np.pi, 2 * np.pi, 3 * np.pi),
}
"""Roots of cos x cosh x = -1, cos x cosh x = 1, sin x = 0: omega = x^2 sqrt(EI/(m L^4))."""


def supported(kind, elements, tension=0.0):
    model = da.Model(kind)
    joint = {"cantilever": "fixed", "free": None, "pinned": "revolute"}[kind]
    axis = (0, 1, 0) if kind == "pinned" else None
    beam = model.beam("b", (0, 0, 0), (1, 0, 0), section=slender(), elements=elements, start_joint=joint, start_axis=axis)
    if kind == "pinned":
        model.point_on_line("slide", "ground", beam.nodes[-1], at=(1, 0, 0), axis=(1, 0, 0))
    if tension:
        model.load("tension", beam.nodes[-1], force=(tension, 0, 0), at=beam.places[-1])
    return model


def across(vibration, axis=2):
    """Angular frequencies [rad/s] of the modes along an axis only, without those of rigid motion."""
    size = np.abs(vibration.translation.values).max(axis=1)
    others = np.delete(size, axis, axis=1).max(axis=1)
    omega = 2.0 * np.pi * vibration.frequency_hz.values
    return np.sort(omega[(size[:, axis] > 10.0 * others) & (omega > 0.1)])


def frequencies(kind, elements, tension=0.0):
    return across(da.modes(supported(kind, elements, tension), None))[:3]


def _blade(elements, spin):
    model = da.Model("rotor")
    model.body("hub", mass=1.0, inertia=(1, 1, 1))
    section = da.section.General(stiffness=(1e6, 1e6, 1e6, 50.0, 1.0, 4.0), mass=1.0, inertia=(5e-6, 1e-6, 4e-6))
    model.beam("b", (0, 0, 0), (1, 0, 0), section=section, elements=elements, start_joint="fixed", start_body="hub")
    model.revolute("axle", model.ground, "hub", axis=(0, 0, 1))
    model.motion("drive", "axle", "angle", da.Polynomial((0.0, spin)))
    return model


def _stretched(elements, spin):
    """The blade at rest under its centrifugal forces."""
    model, W = _blade(elements, 0.0), np.array([0.0, 0.0, spin])
    bodies, n = list(model.bodies.values()), 6 * len(model.bodies)

    def centrifugal(t, q, v):
        turns = [to_rotation(one[3:]).inv().apply(W) for one in q]
        forces = [-body.mass * np.cross(W, np.cross(W, one[:3])) for body, one in zip(bodies, q, strict=True)]
        torques = [-np.cross(w, np.asarray(body.inertia) @ w) for body, w in zip(bodies, turns, strict=True)]
        return np.hstack([forces, torques])

    stiffness = np.diag(np.concatenate([body.mass * spin**2 * np.array([-1, -1, 0, 0, 0, 0]) for body in bodies]))
    model.user_force("centrifugal", centrifugal, stiffness=lambda t, q, v: stiffness, damping=lambda t, q, v: np.zeros((n, n)))
    return da.equilibrium(model).state.q[: 7 * len(bodies)].reshape(-1, 7)


def rotating(elements, spin):
    """Angular frequencies of a blade of EI_y = 1, m = 1, L = 1 that turns about z: out of the plane and in it [rad/s]."""
    places, system = _stretched(elements, spin), da.build(_blade(elements, spin))
    W = np.array([0.0, 0.0, spin])
    v = np.hstack([np.cross(W, places[:, :3]), [to_rotation(one[3:]).inv().apply(W) for one in places]])
    q = np.append(places.ravel(), system.design.q[places.size :])
    vibration = da.modes(system, None, state=da.State(0.0, q, v.ravel()))
    return across(vibration, 2)[:3], across(vibration, 1)[:2]


WRIGHT = {0.0: (3.5160, 22.0345), 2.0: (4.1373, 22.6149), 6.0: (7.3604, 26.8091), 12.0: (13.1702, 37.6031)}
"""A. D. Wright et al., Vibration modes of centrifugally stiffened beams, J. Appl. Mech. 49 (1982): clamped at the axis, out of
the plane, by the angular velocity in units of sqrt(EI/(m L^4))."""


def rotating_by_ritz(spin, shapes=14):
    """The same by x^2 times Legendre polynomials: EI w'' w'' + m Omega^2 (1 - x^2)/2 w' w' against m w w."""
    x, weights = np.polynomial.legendre.leggauss(40)
    x, weights = 0.5 * (x + 1.0), 0.5 * weights
    legendre = [np.polynomial.Legendre.basis(k, [0, 1]).convert(kind=np.polynomial.Polynomial) for k in range(shapes)]
    forms = [np.polynomial.Polynomial([0, 0, 1]) * one for one in legendre]
    w, w1, w2 = (np.array([form.deriv(order)(x) for form in forms]) for order in range(3))
    K = (w2 * weights) @ w2.T + spin**2 * (w1 * weights * 0.5 * (1.0 - x**2)) @ w1.T
    return np.sqrt(eigh(K, (w * weights) @ w.T, eigvals_only=True)[:3])


# --- motion ------------------------------------------------------------------------------------------------------------


def flying(elements=8):
    """A free beam that flies, tumbles and vibrates."""
    model = da.Model("flying")
    section = da.section.Rectangle(width=0.02, height=0.005, **STRIP)
    model.beam("b", (0, 0, 0), (1, 0, 0), section=section, elements=elements)
    system = da.build(model)
    x, w = system.design.q.reshape(-1, 7)[:, :3], np.array([3.0, 5.0, 2.0])
    v = np.array([1.0, 2.0, 0.5]) + np.cross(w, x - [0.5, 0, 0])
    v[:, 2] += 2.0 * np.sin(2.0 * np.pi * x[:, 0])
    rates = np.tile(w, (len(x), 1))
    rates[:, 1] -= 4.0 * np.pi * np.cos(2.0 * np.pi * x[:, 0])
    return system, da.State(0.0, system.design.q, np.hstack([v, rates]).ravel())


def momenta(system, run):
    """Linear and angular momentum about the origin at all outputs."""
    mass, inertia = system.tables.bodies.mass, system.tables.bodies.inertia.reshape(-1, 3, 3)
    linear = np.einsum("b,tbi->tbi", mass, run.velocity.values)
    spin = np.einsum("bij,tbj->tbi", inertia, run.angular_velocity.values)
    turned = [Rotation.from_quat(run.orientation.values[:, b], scalar_first=True).apply(spin[:, b]) for b in range(mass.size)]
    return linear.sum(axis=1), np.cross(run.position.values, linear).sum(axis=1) + np.sum(turned, axis=0)


def order(errors):
    """Observed order of convergence from errors at doubled numbers of elements."""
    return np.log2(np.abs(np.asarray(errors)[:-1] / np.asarray(errors)[1:]))
