"""Beam elements and whole beams: what eqs. 31 to 37 of Masarati 2011 say, geometry, masses, and mistakes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.elements.beam_element import shape_between
from dalembert.rotation.quaternion import from_rotation, multiply, to_rotation
from random_models import random_rotation, relative

SEEDS = st.integers(0, 2**32 - 1)
STEEL = {"youngs_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7850.0}
BAR = da.section.Rectangle(width=0.02, height=0.01, **STEEL)


def as_printed(system, q, section, length, free):
    """Forces and torques (about the centres, in the bodies' axes) of eqs. 31 to 37 as they are printed."""
    x = q.reshape(2, 7)[:, :3]
    R = [to_rotation(one[3:]) for one in q.reshape(2, 7)]
    theta = (R[0].inv() * R[1]).as_rotvec()
    R_I, x_I = R[0] * Rotation.from_rotvec(0.5 * theta), 0.5 * (x[0] + x[1])
    strain = np.append(R_I.inv().apply(x[1] - x[0]), theta) / length - free / length
    force, moment = np.split(section.stiffness_matrix @ strain, 2)
    f_I, m_I = R_I.apply(force), R_I.apply(moment)
    left = [(-1) ** n * np.append(f_I, np.cross(x_I - x[n - 1], f_I) + m_I) for n in (1, 2)]
    return -np.concatenate([np.append(one[:3], r.inv().apply(one[3:])) for one, r in zip(left, R, strict=True)])


def element(section, length=1.3, **arguments):
    model = da.Model("element")
    for name, place in (("one", 0.0), ("two", length)):
        model.body(name, mass=1.0, inertia=(1, 1, 1), position=(place, 0, 0))
    model.beam_element("beam", "one", "two", at=(0, 0, 0), at_driven=(length, 0, 0), section=section, **arguments)
    return da.build(model)


def general(rng, scale=1.0):
    A = rng.normal(size=(6, 6))
    return da.section.General(stiffness=scale * (A @ A.T + np.eye(6)), mass=1.0)


@given(seed=SEEDS)
def test_in_the_plane_the_forces_are_those_that_are_printed(seed):
    rng = np.random.default_rng(seed)
    section = da.section.General(stiffness=rng.uniform(1.0, 9.0, 6))
    system = element(section, locking_correction=False)
    d = np.zeros(12)
    d[[0, 2, 4, 6, 8, 10]] = rng.normal(size=6)
    q, rest = system.advance(system.design.q, d), np.zeros(12)
    printed = as_printed(system, q, section, 1.3, np.array([1.3, 0, 0, 0, 0, 0]))
    assert relative(system.force(0.0, q, rest), printed) < 1e-13


@given(seed=SEEDS)
def test_in_space_they_differ_by_the_square_of_the_length(seed):
    """At the same strain and curvature, half the length makes a quarter of the difference."""
    rng = np.random.default_rng(seed)
    section, strain, curvature = general(rng), 0.1 * rng.normal(size=3), rng.normal(size=3)
    differences = []
    for length in (0.004, 0.002):
        system = element(section, length, locking_correction=False)
        q = system.advance(system.design.q, length * np.concatenate([np.zeros(6), strain, curvature]))
        printed = as_printed(system, q, section, length, np.array([length, 0, 0, 0, 0, 0]))
        differences.append(np.abs(system.force(0.0, q, np.zeros(12)) - printed).max())
    assert differences[0] < 1e-2
    assert 3.8 < differences[0] / differences[1] < 4.2


@given(seed=SEEDS)
def test_a_rigid_motion_makes_no_strain_and_no_force(seed):
    rng = np.random.default_rng(seed)
    model = da.Model("arc")
    model.beam("arc", (0, 0, 0), (1, 0.2, 0.1), via=(0.4, 0.3, 0.2), twist=0.7, section=general(rng, 1e5), elements=3)
    system = da.build(model)
    q, v = system.design.q.copy(), np.zeros(system.n_velocities)
    shift, turn, w = 3.0 * rng.normal(size=3), random_rotation(rng), rng.normal(size=3)
    for k in range(system.n_bodies):
        q[7 * k : 7 * k + 3] = shift + turn.apply(q[7 * k : 7 * k + 3])
        q[7 * k + 3 : 7 * k + 7] = multiply(from_rotation(turn), tuple(q[7 * k + 3 : 7 * k + 7]))
        v[6 * k : 6 * k + 3] = np.cross(w, q[7 * k : 7 * k + 3])
        v[6 * k + 3 : 6 * k + 6] = to_rotation(q[7 * k + 3 : 7 * k + 7]).inv().apply(w)
    assert np.abs(system.force(0.0, q, np.zeros(v.size))).max() < 1e-8  # 1e5 N/m at rounding
    assert system.energy(0.0, q, v).potentials["beams"] < 1e-20
    damped = element(da.section.General(stiffness=np.ones(6), damping=np.ones(6)))
    q2, v2 = damped.design.q, np.concatenate([np.cross(w, (0, 0, 0)), w, np.cross(w, (1.3, 0, 0)), w])
    bare = np.concatenate([np.zeros(3), -np.cross(w, w), np.zeros(3), -np.cross(w, w)])
    assert np.abs(damped.force(0.0, q2, v2) - bare).max() < 1e-14


def test_the_moment_from_end_to_end_of_a_full_law():
    """A law with couplings: the strain that a force and a moment make is the compliance times them."""
    rng = np.random.default_rng(3)
    section = general(rng, 1e6)
    model = da.Model("composite")
    model.beam("spar", (0, 0, 0), (1, 0, 0), section=section, elements=1, start_joint="fixed")
    load = np.array([1.0, 0, 0, 0.3, -0.2, 0.1])  # a force along the axis makes no moment
    model.load("tip", "spar 1", force=load[:3], torque=load[3:], at=(1, 0, 0))
    system = da.build(model)
    state = da.equilibrium(system).state
    place, orientation = system.frame("spar node 1", state.q)
    shape = shape_between(np.zeros(3), Rotation.identity(), place, Rotation.from_matrix(orientation))
    assert np.allclose(shape - [1, 0, 0, 0, 0, 0], np.linalg.solve(section.stiffness_matrix, load), rtol=1e-5, atol=1e-12)


def test_a_turn_near_pi_is_refused():
    system = element(da.section.General(stiffness=np.ones(6)))
    q = system.advance(system.design.q, np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, math.radians(169.9), 0]))
    assert np.isfinite(system.force(0.0, q, np.zeros(12))).all()
    q = system.advance(system.design.q, np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, math.radians(170.1), 0]))
    message = "beam element 'beam': it turns by 170 degrees from end to end; an element may turn by less than 170 degrees"
    for call in (system.force, system.damping, lambda t, q, v: system.stiffness(t, q, v, np.zeros(0))):
        with pytest.raises(da.SolveError, match=message):
            call(0.0, q, np.zeros(12))


@pytest.mark.parametrize("control", [{"step": 2e-4}, {"method": "dopri5"}, {"method": "generalized_alpha"}])
def test_a_motion_that_turns_too_far_says_so(control):
    model = da.Model("overload")
    model.beam("strip", (0, 0, 0), (1, 0, 0), section=BAR, elements=1, start_joint="fixed")
    model.load("wrench", "strip 1", torque=(0, -900.0, 0))
    with pytest.raises(da.SolveError, match=r"beam element 'strip 0-1': it turns by 1\d\d degrees.*take more elements"):
        da.simulate(model, duration=1.0, **control)


# ---------------------------------------------------------------------------------------------------------------------
# whole beams


def test_masses_of_a_straight_beam_are_those_of_a_rod():
    model = da.Model("rod")
    beam = model.beam("rod", (0, 0, 0), (0, 3.0, 0), section=BAR, elements=5)
    whole = da.inertia.welded((b.mass, b.position, da.inertia.rotated(b.inertia, b.rotation)) for b in beam.bodies)
    mass = 7850 * 2e-4 * 3.0
    assert math.isclose(whole.mass, mass, rel_tol=1e-14)
    assert np.allclose(whole.centre, [0, 1.5, 0], atol=1e-14)
    I_y, I_z = 0.02 * 0.01**3 / 12, 0.01 * 0.02**3 / 12
    section = 7850 * 3.0 * np.array([I_y, I_y + I_z, I_z])  # the beam's z axis is up, its y axis along -x
    assert np.allclose(whole.inertia, np.diag(mass * 9.0 / 12.0 * np.array([1, 0, 1]) + section), rtol=1e-12, atol=1e-12)


def test_an_offset_centre_of_mass():
    section = da.section.General(stiffness=np.ones(6), mass=2.0, inertia=(0.2, 0.1, 0.1), centre=(0.1, -0.05))
    beam = da.Beam(name="b", start=(0, 0, 0), end=(2, 0, 0), section=section, elements=4)
    whole = da.inertia.welded((b.mass, b.position, da.inertia.rotated(b.inertia, b.rotation)) for b in beam.bodies)
    assert np.allclose(whole.centre, [1.0, 0.1, -0.05], atol=1e-14)


def test_an_arc():
    """A quarter of a circle: nodes on it, frames along it, the length along it, no force as drawn."""
    model = da.Model("arc")
    via = (math.sqrt(0.5), 1 - math.sqrt(0.5), 0)
    arc = model.beam("arc", (0, 0, 0), (1, 1, 0), via=via, section=BAR, elements=6)
    angles = np.linspace(0.0, math.pi / 2, 7)
    assert np.allclose(arc.line.places, np.column_stack([np.sin(angles), 1 - np.cos(angles), 0 * angles]), atol=1e-14)
    assert np.allclose(
        [f.as_matrix()[:, 0] for f in arc.line.frames], np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    )
    assert math.isclose(arc.line.length, math.pi / 12, rel_tol=1e-14)
    system = da.build(model)
    assert np.abs(system.force(0.0, system.design.q, np.zeros(system.n_velocities))).max() < 1e-6
    assert np.allclose(system.tables.beams.turn, [[0, 0, math.pi / 12]] * 6, atol=1e-14)


def test_a_twisted_beam():
    beam = da.Beam(name="b", start=(0, 0, 0), end=(0, 0, 1), section=BAR, elements=4, up=(1, 1, 0), twist=math.pi / 2)
    assert np.allclose(beam.line.frames[0].as_matrix()[:, 2], [math.sqrt(0.5), math.sqrt(0.5), 0])
    turned = (beam.line.frames[0].inv() * beam.line.frames[-1]).as_rotvec()
    assert np.allclose(turned, [math.pi / 2, 0, 0])


def test_names_places_and_joints():
    model = da.Model("frame")
    model.point("A", (0, 0, 0))
    hub = model.body("hub", mass=1.0)
    beam = model.beam(
        "b", "A", (1, 0, 0), section=BAR, elements=2, start_joint="revolute", start_body=hub, start_axis=(0, 1, 0),
        end_joint="fixed",
    )  # fmt: skip
    assert beam.nodes == ("b 0", "b 1", "b 2")
    assert list(model.joints) == ["b start", "b end"]
    assert (model.joints["b start"].main, model.joints["b start"].driven) == ("hub", "b 0")
    assert list(model.forces) == ["b 0-1", "b 1-2"]
    system = da.build(model)
    assert [system.frame(place, system.design.q)[0].tolist() for place in beam.places] == [[0, 0, 0], [0.5, 0, 0], [1, 0, 0]]
    assert np.abs(system.constraint(0.0, system.design.q)).max() < 1e-15
    assert "beam element b 0-1 b 0 - b 1" in " ".join(str(model).split())


def test_a_beam_drawn_anew_at_rest_is_at_rest():
    model = da.Model("shelf", gravity=(0, 0, -9.81))
    thin = da.section.Rectangle(width=0.02, height=0.001, **STEEL)
    model.beam("b", (0, 0, 0), (1, 0, 0.1), via=(0.5, 0.1, 0.1), section=thin, elements=6, start_joint="fixed")
    rest = da.equilibrium(model)
    again = da.equilibrium(da.redrawn(model, rest.state))
    assert again.iterations <= 3
    assert np.allclose(again.position.values, rest.position.values, atol=1e-9)


def _beam(**arguments):
    return lambda m: m.beam("b", **({"start": (0, 0, 0), "end": (1, 0, 0), "section": BAR, "elements": 2} | arguments))


MISTAKES = {
    "no elements": (_beam(elements=0), "beam 'b': elements is 0; give a whole number, 1 or more"),
    "half an element": (_beam(elements=2.5), "beam 'b': elements is 2.5"),
    "no length": (_beam(end=(0, 0, 0)), "beam 'b': its ends are at the same place"),
    "straight arc": (_beam(via=(0.5, 0, 0)), "beam 'b': start, via and end are on one line; leave via out"),
    "up along": (_beam(up=(1, 0, 0)), "beam 'b': up is along the beam; give a direction across it"),
    "no section": (_beam(section=3.0), "beam 'b': section is 3.0"),
    "no mass": (_beam(section=da.section.General(stiffness=np.ones(6))), "beam 'b': its section has no mass"),
    "unknown body": (_beam(start_joint="fixed", start_body="hup"), "beam 'b': unknown body 'hup'; did you mean 'hub'?"),
    "unknown joint": (_beam(start_joint="fixt"), "joint 'b start': unknown joint type 'fixt'; did you mean"),
    "unknown place": (_beam(start="A"), "beam 'b': unknown point 'A'"),
    "double": (lambda m: (_beam()(m), _beam()(m)), "beam 'b': the name is used twice"),
    "node taken": (lambda m: (m.body("b 1", mass=1.0), _beam()(m)), "beam 'b': the name of its part 'b 1' is used already"),
    "element to itself": (
        lambda m: m.beam_element("e", "hub", "hub", at=(0, 0, 0), at_driven=(1, 0, 0), section=BAR), "it ties 'hub' to itself"
    ),
    "element without section": (
        lambda m: m.beam_element("e", "ground", "hub", at=(0, 0, 0), at_driven=(1, 0, 0), section="I"), "section is 'I'"
    ),
    "element of no length": (
        lambda m: m.beam_element("e", "ground", "hub", at=(0, 0, 0), at_driven=(1, 0, 0), section=BAR, length=0.0),
        "beam element 'e': length is 0.0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_the_beam_and_the_remedy(mistake):
    make, message = MISTAKES[mistake]
    model = da.Model("beams")
    model.body("hub", mass=1.0)
    with pytest.raises(da.ModelError) as error:
        make(model)
    assert message in str(error.value)
    assert error.value.remedy


def test_mistakes_that_are_found_when_the_system_is_built():
    for turn, problem in ((0.0, "its length is zero"), (3.1, "it turns by 178 degrees from end to end")):
        model = da.Model("beams")
        model.body("hub", mass=1.0)
        ends = {"at": (0, 0, 0), "at_driven": (float(turn > 0.0), 0, 0)}
        model.beam_element("e", "ground", "hub", section=BAR, orientation_driven=Rotation.from_rotvec((0, 0, turn)), **ends)
        with pytest.raises(da.ModelError, match=f"beam element 'e': {problem}"):
            da.build(model)
