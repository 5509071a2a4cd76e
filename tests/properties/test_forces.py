"""Every force element at random states: tangents, third law, energy, invariance; and closed forms."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.kernel.vec3 import load
from dalembert.rotation import so3
from dalembert.rotation.quaternion import from_rotation, multiply, to_rotation
from random_models import (
    BETWEEN_BODIES,
    CONSERVATIVE,
    DAMPING_TABLE,
    DISSIPATIVE,
    FORCES,
    TABLE,
    TABULATED,
    central,
    force_errors,
    one_force,
    random_rotation,
    random_state,
    relative,
)

SEEDS = st.integers(0, 2**32 - 1)
LARGEST = 1e-8


def weightless(model):
    model.gravity[:] = 0.0
    return da.build(model)


def moved_as_a_whole(q, shift, turn):
    moved = q.copy()
    for b in (0, 7):
        moved[b : b + 3] = shift + turn.apply(q[b : b + 3])
        moved[b + 3 : b + 7] = multiply(from_rotation(turn), tuple(q[b + 3 : b + 7]))
    return moved


@pytest.mark.parametrize("main", ["two", "ground"])
@pytest.mark.parametrize("name", FORCES)
@given(seed=SEEDS)
def test_tangents_are_the_derivatives_of_the_force(name, main, seed):
    rng = np.random.default_rng(seed)
    for what, error in force_errors(da.build(one_force(rng, name, main=main)), rng).items():
        assert error < LARGEST, (what, error)


@pytest.mark.parametrize("name", TABULATED)
@given(seed=SEEDS)
def test_tangents_of_tables_between_their_points(name, seed):
    """At a point of a table the stiffness has a corner, which a difference must not straddle."""
    rng = np.random.default_rng(seed)
    system = da.build(one_force(rng, name))
    _, q, v = random_state(copy.deepcopy(rng), system)
    deflection, rate = deflection_and_rate(name, system, q, v)
    assume(min(abs(deflection - x) for x, _ in TABLE) > 0.02)
    assume(name == "torsion spring with a table" or min(abs(rate - x) for x, _ in DAMPING_TABLE) > 0.02)
    assert max(force_errors(system, rng).values()) < LARGEST


def deflection_and_rate(name, system, q, v):
    """Return them from the definition: distance of the two points, or the joint's angle."""

    def deflection(h):
        moved = system.advance(q, h * v)
        if name == "torsion spring with a table":
            return system.coordinate("joint", "angle", moved) - system.coordinate("joint", "angle", system.design.q)
        spring = system.tables.springs[0]
        one = moved[:3] + to_rotation(moved[3:7]).apply(spring.point_1)
        return np.linalg.norm(one - moved[7:10] - to_rotation(moved[10:14]).apply(spring.point_2)) - 0.9

    return deflection(0.0), central(deflection)


@pytest.mark.parametrize("name", CONSERVATIVE | TABULATED)
@given(seed=SEEDS)
def test_a_conservative_force_is_the_gradient_of_its_energy(name, seed):
    rng = np.random.default_rng(seed)
    system = da.build(one_force(rng, name))
    t, q, _ = random_state(rng, system)
    v = np.zeros(system.n_velocities)

    def energy(d):
        return system.energy(t, system.advance(q, d), v).potential

    gradient = [central(lambda h, e=e: energy(h * e)) for e in np.eye(system.n_velocities)]
    assert relative(-np.array(gradient), system.force(t, q, v)) < (LARGEST if name in CONSERVATIVE else 1e-5)


@pytest.mark.parametrize("name", CONSERVATIVE)
@given(seed=SEEDS)
def test_the_stiffness_of_a_conservative_force_is_symmetric_up_to_the_moments_that_it_carries(name, seed):
    """K + K_spin = Hessian, with K_spin = tilde(torque)/2 of each body (the second derivative along exp(d) is symmetric)."""
    rng = np.random.default_rng(seed)
    system = weightless(one_force(rng, name))
    t, q, _ = random_state(rng, system)
    v = np.zeros(system.n_velocities)
    K = system.stiffness(t, q, v, np.zeros(system.n_constraints)).toarray()
    f = system.force(t, q, v)
    for b in (3, 9):
        x, y, z = f[b : b + 3]
        K[b : b + 3, b : b + 3] += 0.5 * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    assert relative(K, K.T) < 1e-12


@pytest.mark.parametrize("name", DISSIPATIVE)
@given(seed=SEEDS)
def test_a_damper_takes_energy(name, seed):
    rng = np.random.default_rng(seed)
    system = weightless(one_force(rng, name))
    t, q, v = random_state(rng, system)
    still = np.zeros(system.n_velocities)
    gyroscopic = da.build(_bare(rng, system))
    power = (system.force(t, q, v) - system.force(t, q, still) - gyroscopic.force(t, q[:14], v)) @ v
    assert power <= 1e-12


def _bare(rng, system):
    """The same two bodies without forces and weight."""
    model = da.Model("bare")
    for name, record in zip(system.layout.bodies, system.tables.bodies, strict=True):
        model.body(name, mass=float(record.mass), inertia=np.reshape(record.inertia, (3, 3)))
    return model


@pytest.mark.parametrize("name", BETWEEN_BODIES)
@given(seed=SEEDS)
def test_action_and_reaction_balance(name, seed):
    """Newton's third law: force and moment about the origin of an element between two bodies add up to zero."""
    rng = np.random.default_rng(seed)
    system = weightless(one_force(rng, name))
    t, q, v = random_state(rng, system)
    wrench = (system.force(t, q, v) - da.build(_bare(rng, system)).force(t, q[:14], v)).reshape(2, 6)
    force, moment = np.zeros(3), np.zeros(3)
    for b in range(2):
        R = to_rotation(q[7 * b + 3 : 7 * b + 7])
        force += wrench[b, :3]
        moment += R.apply(wrench[b, 3:]) + np.cross(q[7 * b : 7 * b + 3], wrench[b, :3])
    assert np.abs(np.concatenate([force, moment])).max() < 1e-12 * (1.0 + np.abs(q).max()) * (1.0 + np.abs(wrench).max())


@pytest.mark.parametrize("name", BETWEEN_BODIES)
@given(seed=SEEDS)
def test_nothing_changes_when_the_whole_moves_as_a_rigid_body(name, seed):
    rng = np.random.default_rng(seed)
    system = weightless(one_force(rng, name))
    t, q, v = random_state(rng, system)
    shift, turn = rng.normal(size=3), random_rotation(rng)
    moved = moved_as_a_whole(q, shift, turn)
    f = system.force(t, q, v).reshape(2, 2, 3)
    v_moved = v.reshape(2, 2, 3).copy()
    v_moved[:, 0] = turn.apply(v_moved[:, 0])
    f_moved = system.force(t, moved, v_moved.ravel()).reshape(2, 2, 3)
    assert relative(turn.apply(f[:, 0]), f_moved[:, 0]) < 1e-11
    assert relative(f[:, 1], f_moved[:, 1]) < 1e-11


@pytest.mark.parametrize("length", [0.0, 1e-9, 1e-3, 0.4999, 0.5001, 1.0, 2.0, 3.1])
@given(seed=SEEDS)
def test_the_derivative_of_the_inverse_tangent_of_rotations(length, seed):
    rng = np.random.default_rng(seed)
    axis, u = rng.normal(size=3), rng.normal(size=3)
    theta = length * axis / np.linalg.norm(axis)

    def image(h, e):
        return np.reshape(so3.tangent_inverse(load(theta + h * e)), (3, 3)) @ u

    M = np.reshape(so3.tangent_inverse_derivative(load(theta), load(u)), (3, 3))
    assert relative(np.column_stack([central(lambda h, e=e: image(h, e)) for e in np.eye(3)]), M) < LARGEST


# ---------------------------------------------------------------------------------------------------------------------
# closed forms


def ball(mass=2.0, **arguments):
    model = da.Model("ball")
    model.body("ball", mass=mass, inertia=(1, 2, 3), **arguments)
    return model


def force_of(model, v=None, t=0.0):
    system = da.build(model)
    return system.force(t, system.design.q, np.zeros(6) if v is None else np.asarray(v, float))


def test_a_spring_by_hand():
    """3-4-5: drawn length 5 m, free length 4 m, 10 N/m, and 2 N s/m at 1.2 m/s along x, 0.72 m/s along the spring."""
    model = ball(position=(3, 4, 0))
    model.spring("spring", "ground", "ball", at=(0, 0, 0), at_driven=(3, 4, 0), stiffness=10.0, damping=2.0, free_length=4.0)
    tension = 10.0 * 1.0 + 2.0 * 0.72
    assert np.allclose(force_of(model, (1.2, 0, 0, 0, 0, 0))[:3], [-0.6 * tension, -0.8 * tension, 0.0], atol=1e-13)


def test_the_spring_of_a_double_wishbone():
    """A preload of 4275 N in compression, 20000 N/m and a drawn length of 0.45 m make a free length of 0.66375 m."""
    drawn = {"at": (0, 0, 0.45), "at_driven": (0, 0, 0), "stiffness": 20_000.0}
    preloaded, free = ball(), ball()
    preloaded.spring("spring", "ground", "ball", **drawn, preload=-4275.0)
    free.spring("spring", "ground", "ball", **drawn, free_length=0.66375)
    for model in (preloaded, free):
        system = da.build(model)
        assert np.allclose(force_of(model), [0, 0, -4275.0, 0, 0, 0], atol=1e-9)
        assert math.isclose(system.energy(0.0, system.design.q, np.zeros(6)).potential, 0.5 * 4275.0**2 / 20_000.0)


def test_a_table_passes_through_its_points_and_goes_on_straight():
    model = ball(position=(2, 0, 0))
    table = [(-1.0, -4.0), (0.0, 0.0), (1.0, 1.0), (2.0, 8.0)]
    model.spring("spring", "ground", "ball", at=(0, 0, 0), at_driven=(2, 0, 0), table=table, damping_table=[(-1, -3), (1, 5)])
    system = da.build(model)

    def tension(x, rate=0.0):
        return -system.force(0.0, np.array([2.0 + x, 0, 0, 1.0, 0, 0, 0]), np.array([rate, 0, 0, 0, 0, 0]))[0] - 1.0

    assert np.allclose([tension(x) for x, _ in table], [y for _, y in table], atol=1e-13)
    slope = tension(3.0) - tension(2.0)
    assert math.isclose(tension(4.0), 8.0 + 2.0 * slope, rel_tol=1e-12)
    assert math.isclose(tension(2.0 + 1e-6) - 8.0, 1e-6 * slope, rel_tol=1e-6)
    assert math.isclose(tension(0.0, 3.0) - tension(0.0), 12.0, rel_tol=1e-12)
    values = [tension(x) for x in np.linspace(-1.0, 2.0, 60)]
    assert np.all(np.diff(values) > 0.0)  # monotone data, monotone curve


@pytest.mark.parametrize("law", [None, da.Ramp(start_value=1.0, slope=0.5)])
def test_a_follower_turns_with_its_body(law):
    """Drawn along z on a body that is drawn upside down; then the body turns by 90 degrees about x: z becomes -y."""
    model = ball(orientation=Rotation.from_euler("x", 180, degrees=True))
    model.load("thrust", "ball", force=(0, 0, 7.0), at=(1, 0, 0), law=law, follower=True)
    model.load("dead", "ball", force=(0, 0, 0.5))
    system = da.build(model)
    turned = system.advance(system.design.q, np.array([0, 0, 0, math.pi / 2, 0, 0]))
    factor = 1.0 if law is None else 2.0
    assert np.allclose(system.force(2.0, turned, np.zeros(6))[:3], [0.0, -7.0 * factor, 0.5], atol=1e-13)
    assert np.allclose(system.force(2.0, turned, np.zeros(6))[3:], [0.0, 7.0 * factor, 0.0], atol=1e-13)


def test_a_torsion_spring_counts_turns():
    model = ball()
    model.revolute("hinge", "ground", "ball", axis=(0, 0, 1))
    model.torsion_spring("spring", "hinge", stiffness=2.0, damping=0.5, preload=3.0)
    model.joint_load("motor", "hinge", da.Constant(0.25))
    system = da.build(model)
    q = system.design.q
    for _ in range(40):  # 6.4 turns
        q = system.advance(q, np.array([0, 0, 0, 0, 0, 1.0]))
    torque = 0.25 - 3.0 - 2.0 * 40.0 - 0.5 * 1.5
    assert math.isclose(system.force(0.0, q, np.array([0, 0, 0, 0, 0, 1.5]))[5], torque, rel_tol=1e-13)
    assert math.isclose(system.energy(0.0, q, np.zeros(6)).potential, 0.5 * 83.0**2 / 2.0 - 0.25 * 40.0, rel_tol=1e-13)


def test_a_bushing_resists_a_large_rotation_about_one_axis_as_a_spring():
    model = ball()
    model.bushing("mount", "ground", "ball", at=(0, 0, 0), stiffness=(1, 2, 3, 4, 5, 6), damping=(1, 1, 1, 1, 1, 0.5))
    system = da.build(model)
    q = system.advance(system.design.q, np.array([0.1, 0.2, 0.3, 0, 0, 3.0]))
    force = system.force(0.0, q, np.array([0, 0, 0, 0, 0, 2.0]))
    assert np.allclose(force, [-0.1, -0.4, -0.9, 0, 0, -18.0 - 1.0], atol=1e-12)


def test_the_energies_of_a_falling_ball():
    model = ball(position=(0, 0, 5.0), velocity=(3.0, 0, 0), angular_velocity=(0, 2.0, 0))
    model.gravity[:] = 0, 0, -10.0
    system = da.build(model)
    energy = system.energy(0.0, system.design.q, system.design.v)
    assert energy.kinetic == 0.5 * 2.0 * 9.0 + 0.5 * 2.0 * 4.0
    assert energy.potentials["gravity"] == energy.potential == 100.0
    assert energy.total == 113.0


# ---------------------------------------------------------------------------------------------------------------------
# functions of the user


def test_given_tangents_of_a_user_force_are_taken():
    model = ball()
    k = np.diag([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    model.user_force(
        "field",
        lambda t, q, v: -(k @ np.append(q[0, :3], [0, 0, 0])),
        stiffness=lambda t, q, v: k,
        damping=lambda t, q, v: 7 * k,
    )
    system = da.build(model)
    assert np.array_equal(system.stiffness(0.0, system.design.q, np.zeros(6), np.zeros(0)).toarray(), k)
    assert np.array_equal(system.damping(0.0, system.design.q, np.zeros(6)).toarray(), 7 * k)


BROKEN = {
    "raises": (
        lambda t, q, v: 1 / 0,
        "user force 'wind': its function failed at t = 0.5 s: ZeroDivisionError: division by zero",
    ),
    "wrong shape": (lambda t, q, v: np.zeros(3), "user force 'wind': its function returned the shape (3,)"),
    "not finite": (lambda t, q, v: np.full(6, np.nan), "user force 'wind': its function is not finite at t = 0.5 s"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_errors_of_a_user_force_name_it(how):
    function, message = BROKEN[how]
    model = ball()
    model.user_force("wind", function)
    system = da.build(model)
    for call in (system.force, system.damping, lambda t, q, v: system.stiffness(t, q, v, np.zeros(0))):
        with pytest.raises(da.ModelError) as error:
            call(0.5, system.design.q, np.zeros(6))
        assert message in str(error.value)
    system.constraint(0.0, system.design.q)  # the error is told once


def test_an_expression_that_fails_names_the_spring():
    model = ball()
    model.spring("cord", "ground", "ball", at=(0, 0, 3), at_driven=(0, 0, 0), expression="sqrt(length - 2)")
    system = da.build(model)
    far = system.advance(system.design.q, np.array([0, 0, 2.0, 0, 0, 0]))
    with pytest.raises(da.ModelError, match=r"spring 'cord': 'sqrt.length - 2.' at length = 1, rate = 0 failed: ValueError"):
        system.force(0.0, far, np.zeros(6))


def test_a_copy_calls_functions_of_its_own():
    model = ball()
    model.spring("cord", "ground", "ball", at=(0, 0, 3), at_driven=(0, 0, 0), expression="length**2")
    tables = da.build(model).tables
    for other in (copy.deepcopy(tables.callbacks), pickle.loads(pickle.dumps(tables.callbacks))):
        assert other.table.address[0] != tables.callbacks.table.address[0]


# ---------------------------------------------------------------------------------------------------------------------
# what a user writes

ENDS = {"at": (0, 0, 1), "at_driven": (0, 0, 0)}
MISTAKES = {
    "nothing": (lambda m: m.spring("s", "ground", "ball", **ENDS), "spring 's': it does nothing; give stiffness, damping"),
    "itself": (lambda m: m.spring("s", "ball", "ball", **ENDS, stiffness=1.0), "spring 's': it ties 'ball' to itself"),
    "unknown body": (lambda m: m.spring("s", "ball", "bal", **ENDS, stiffness=1.0), "spring 's': unknown body 'bal'; did you"),
    "negative": (lambda m: m.spring("s", "ground", "ball", **ENDS, stiffness=-1.0), "spring 's': stiffness is negative (-1)"),
    "NaN": (lambda m: m.spring("s", "ground", "ball", **ENDS, damping=np.nan), "spring 's': damping is not finite"),
    "free and preload": (
        lambda m: m.spring("s", "ground", "ball", **ENDS, stiffness=1.0, free_length=1.0, preload=0.0),
        "spring 's': both free_length and preload are given",
    ),
    "negative length": (
        lambda m: m.spring("s", "ground", "ball", **ENDS, stiffness=1.0, free_length=-1.0), "free_length is negative"
    ),
    "stiffness and table": (
        lambda m: m.spring("s", "ground", "ball", **ENDS, stiffness=1.0, table=[(0, 0), (1, 1)]),
        "spring 's': both stiffness and table are given",
    ),
    "stiffness and expression": (
        lambda m: m.spring("s", "ground", "ball", **ENDS, stiffness=1.0, expression="length"),
        "spring 's': both expression and stiffness are given",
    ),
    "unsorted": (
        lambda m: m.spring("s", "ground", "ball", **ENDS, table=[(1, 0), (0, 1)]), "spring 's': table[1] at 0 is not beyond 1"
    ),
    "one point": (lambda m: m.spring("s", "ground", "ball", **ENDS, table=[(1, 0)]), "spring 's': table has shape (1, 2)"),
    "table of words": (lambda m: m.spring("s", "ground", "ball", **ENDS, table="soft"), "table is not a list of pairs"),
    "unknown symbol": (
        lambda m: m.spring("s", "ground", "ball", **ENDS, expression="3*lenght"), "spring 's': unknown name 'lenght'"
    ),
    "zero length": (
        lambda m: da.build(_with_spring(m, at=(0, 0, 0), at_driven=(0, 0, 0))), "spring 's': its length is zero"
    ),
    "unknown point": (
        lambda m: da.build(_with_spring(m, at="top", at_driven=(0, 0, 0))), "spring 's': unknown point 'top'"
    ),
    "no such joint": (lambda m: m.torsion_spring("t", "hing", stiffness=1.0), "torsion spring 't': unknown joint 'hing'; did"),
    "no such coordinate": (
        lambda m: m.torsion_spring("t", "hinge", coordinate="distance", stiffness=1.0), "(revolute) has no 'distance'"
    ),
    "coordinate": (lambda m: m.torsion_spring("t", "hinge", coordinate="angel", stiffness=1.0), "did you mean 'angle'?"),
    "motor without a number": (lambda m: m.joint_load("m", "hinge", "strong"), "joint load 'm': law is not a number"),
    "five stiffnesses": (
        lambda m: m.bushing("b", "ground", "ball", at=(0, 0, 0), stiffness=np.ones(5)), "bushing 'b': stiffness has shape (5,)"
    ),
    "asymmetric bushing": (
        lambda m: m.bushing("b", "ground", "ball", at=(0, 0, 0), stiffness=np.triu(np.ones((6, 6)))), "is not symmetric"
    ),
    "unstable bushing": (
        lambda m: m.bushing("b", "ground", "ball", at=(0, 0, 0), stiffness=-np.eye(6)), "is negative in some direction"
    ),
    "axis and orientation": (
        lambda m: m.bushing("b", "ground", "ball", at=(0, 0, 0), stiffness=np.ones(6), axis=(1, 0, 0), orientation=np.eye(3)),
        "bushing 'b': both axis and orientation are given",
    ),
    "load on the ground": (lambda m: m.load("l", "ground", force=(1, 0, 0)), "load 'l': it acts on the ground"),
    "no load": (lambda m: m.load("l", "ball"), "load 'l': force and torque are zero"),
    "two components": (lambda m: m.load("l", "ball", force=(1, 0)), "load 'l': force is (1, 0); give three numbers"),
    "not a law": (lambda m: m.load("l", "ball", force=(1, 0, 0), law=3.0), "load 'l': 3.0 is not a law of time"),
    "no function": (lambda m: m.user_force("u", 3.0), "user force 'u': function is 3.0, which is not a function"),
    "zero step": (lambda m: m.user_force("u", abs, step=0.0), "user force 'u': the step is 0.0"),
    "user force on the ground": (lambda m: m.user_force("u", abs, bodies=["ground"]), "user force 'u': it acts on the ground"),
    "body twice": (lambda m: m.user_force("u", abs, bodies=["ball", "ball"]), "user force 'u': a body is named twice"),
    "double name": (
        lambda m: (_with_spring(m, **ENDS), m.load("s", "ball", force=(1, 0, 0))), "load 's': the name is used twice"
    ),
}  # fmt: skip


def _with_spring(model, **ends):
    model.spring("s", "ground", "ball", **ends, stiffness=1.0)
    return model


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_the_element_and_the_remedy(mistake):
    make, message = MISTAKES[mistake]
    model = ball()
    model.revolute("hinge", "ground", "ball", axis=(0, 0, 1))
    with pytest.raises(da.ModelError) as error:
        make(model)
    assert message in str(error.value)
    assert error.value.remedy


def test_forces_stand_in_the_table_of_the_model():
    model = ball()
    model.revolute("hinge", "ground", "ball", axis=(0, 0, 1))
    _with_spring(model, **ENDS)
    model.torsion_spring("t", "hinge", stiffness=1.0)
    model.bushing("b", "ground", "ball", at=(0, 0, 0), stiffness=np.ones(6))
    model.load("l", "ball", force=(1, 0, 0))
    model.joint_load("m", "hinge", da.Ramp(slope=1.0))
    model.user_force("u", lambda t, q, v: np.zeros(6))
    assert str(model).splitlines()[0] == "ball: 1 body, 1 joint, 6 forces, gravity (0, 0, 0) m/s2"
    assert [" ".join(line.split()) for line in str(model).splitlines()[3:]] == [
        "spring s ground - ball",
        "torsion spring t angle of hinge",
        "bushing b ground - ball",
        "load l on ball",
        "joint load m angle of hinge: Ramp",
        "user force u on all bodies",
    ]
