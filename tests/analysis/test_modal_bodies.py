"""Modal bodies: shapes in a floating frame against the beams that they come from, and against closed forms."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import beam_cases as cases
import dalembert as da
from dalembert.io import model_to_text
from dalembert.kernel.compile import JIT_DISABLED
from random_models import errors

SEEDS = st.integers(0, 2**32 - 1)
BAR = da.section.Rectangle(width=0.02, height=0.01, **cases.STRIP)


def part(elements=6, **ends):
    model = da.Model("part")
    beam = model.beam("b", (0, 0, 0), (1, 0, 0), section=BAR, elements=elements, **ends)
    return model, beam


def random_shapes(rng, n=3, r=4):
    A = rng.normal(size=(r, r))
    return da.Shapes(
        positions=rng.normal(size=(n, 3)),
        masses=rng.uniform(0.5, 2.0, n),
        inertias=np.array([np.diag([1.0, 1.1, 1.2])] * n),
        translations=rng.normal(size=(r, n, 3)),
        rotations=rng.normal(size=(r, n, 3)),
        stiffness=A @ A.T,
    )


@pytest.mark.parametrize("r", [1, 3, 4, 7])
@given(seed=SEEDS)
def test_jacobian_and_right_sides_at_random_states(r, seed):
    rng = np.random.default_rng(seed)
    model = da.Model("modal")
    model.modal_body("part", random_shapes(rng, r=r))
    for what, error in errors(da.build(model), rng).items():
        assert error < 1e-8, what


def test_a_free_part_has_the_modes_that_it_was_given():
    model, _ = part()
    reduced = da.Model("modal")
    reduced.modal_body("part", da.shapes_of(model, 6))
    found, exact = da.modes(reduced, None), da.modes(model, None)
    assert (found.attrs["neutral_modes"], found.eigenvalue.size) == (6, 12)
    assert np.allclose(found.frequency_hz.values[6:], exact.frequency_hz.values[6:12], rtol=1e-9)


def test_modal_damping():
    model, _ = part()
    reduced = da.Model("modal")
    reduced.modal_body("part", da.shapes_of(model, 3), damping_ratio=(0.01, 0.02, 0.03))
    assert np.allclose(np.sort(da.modes(reduced, None).damping_ratio.values)[-3:], (0.01, 0.02, 0.03), rtol=1e-6)


def test_equilibrium_and_reactions_with_a_static_shape():
    """A cantilever whose one shape is that of its tip force bends as the beam does, and its clamp carries P and P L."""
    model, beam = part(start_joint="fixed")
    tip = np.asarray(beam.bodies[-1].position)[0]
    reduced, force = da.Model("modal"), 1e-2
    body = reduced.modal_body("part", da.shapes_of(model, 0, static=[("b 6", (0, 0, 1))]))
    reduced.fixed("clamp", "ground", body.nodes[0], at=(0, 0, 0))
    reduced.load("P", body.nodes[-1], force=(0, 0, force))
    rest, whole = da.equilibrium(reduced), model
    whole.load("P", "b 6", force=(0, 0, force))
    exact = da.equilibrium(whole)
    assert rest.stable
    deflection = float(rest.position.sel(body=body.nodes[-1], axis="z"))
    assert math.isclose(deflection, float(exact.position.sel(body="b 6", axis="z")), rel_tol=1e-6)
    clamp = rest.sel(joint="clamp")
    assert np.allclose(clamp.joint_force, [0, 0, -force], atol=1e-9)
    assert np.allclose(clamp.joint_torque, [0, force * tip, 0], rtol=1e-6, atol=1e-9)


def test_static_shapes_and_modes_together_meet_a_clamped_beam():
    """Shapes of a free part and of loads between its supports: frequencies of the pinned beam, from above."""
    model, _ = part(12, start_joint="revolute", start_axis=(0, 1, 0), end_joint="revolute", end_axis=(0, 1, 0))
    exact = cases.across(da.modes(model, None))
    free, _ = part(12)
    reduced = da.Model("modal")
    body = reduced.modal_body("part", da.shapes_of(free, 16))
    reduced.revolute("start", "ground", body.nodes[0], at=(0, 0, 0), axis=(0, 1, 0))
    reduced.revolute("end", "ground", body.nodes[-1], at=(1, 0, 0), axis=(0, 1, 0))
    found = cases.across(da.modes(reduced, None).sel(body=list(body.nodes)))
    assert np.all(found[:2] >= exact[:2] * (1.0 - 1e-9))
    assert np.allclose(found[:2], exact[:2], rtol=5e-2)


def test_joints_that_the_shapes_cannot_meet_are_redundant_and_not_unique():
    """Rank loss: one shape, pinned in the middle too, where the shape does not move."""
    model, _ = part(4, start_joint="revolute", start_axis=(0, 1, 0), end_joint="revolute", end_axis=(0, 1, 0))
    second = da.shapes_of(model, 12)
    middle = np.abs(second.array("translations")[:, 2]).max(axis=1)
    upright = np.abs(second.array("translations")[..., 2]).max(axis=1)
    k = next(j for j in range(12) if middle[j] < 1e-6 and upright[j] > 0.05)
    reduced = da.Model("modal", gravity=(0, 0, -9.81))
    body = reduced.modal_body("part", second.kept([k]))
    for node, x in ((0, 0.0), (2, 0.5), (4, 1.0)):
        reduced.revolute(f"pin {node}", "ground", body.nodes[node], at=(x, 0, 0), axis=(0, 1, 0))
    rest = da.equilibrium(reduced)
    weight = BAR.mass_per_length * 9.81
    carried = rest.joint_force.sel(joint=[f"pin {k}" for k in (0, 2, 4)], axis="z").values
    assert math.isclose(abs(carried.sum()), weight, rel_tol=1e-9)
    assert not rest.joint_unique.sel(joint=[f"pin {k}" for k in (0, 2, 4)]).values.any()
    run = da.simulate(reduced, duration=0.01, step=1e-4, output_step=0.01)
    assert np.abs(run.constraint_violation.values[:, 0]).max() < 1e-12


@pytest.mark.skipif(JIT_DISABLED, reason="too long without compiled code")
@pytest.mark.parametrize("control", [{"method": "dopri5"}, {"method": "generalized_alpha", "step": 2e-4}])
def test_a_hinged_part_swings_as_the_beam_does(control):
    """A pendulum through 180 degrees: rotations of the whole are large, deflections small."""
    section = da.section.Rectangle(width=0.02, height=0.004, **cases.STRIP)
    whole, reduced, free = (da.Model(name, gravity=(0, 0, -9.81)) for name in ("beam", "modal", "part"))
    beam = free.beam("b", (0, 0, 0), (1, 0, 0), section=section, elements=4)
    free.gravity[:] = 0.0
    whole.beam("b", (0, 0, 0), (1, 0, 0), section=section, elements=4, start_joint="revolute", start_axis=(0, 1, 0))
    body = reduced.modal_body("b", da.shapes_of(free, 6))
    reduced.revolute("hinge", "ground", body.nodes[0], at=(0, 0, 0), axis=(0, 1, 0))
    runs = [da.simulate(model, duration=1.0, output_step=0.1, **control) for model in (whole, reduced)]
    places = [run.position.sel(body=beam.nodes[-1]).values for run in runs]
    assert np.abs(places[0] - places[1]).max() < 2e-4
    assert places[1][:, 0].min() < -0.5
    energy = (runs[1].kinetic_energy + runs[1].potential_energy).values
    assert np.abs(energy - energy[0]).max() < 1e-2


def test_shapes_survive_a_file(tmp_path):
    shapes = random_shapes(np.random.default_rng(1))
    shapes.save(tmp_path / "part.npz")
    again = da.Shapes.load(tmp_path / "part.npz")
    for field in dataclasses.fields(shapes):
        assert np.array_equal(getattr(again, field.name), getattr(shapes, field.name))


def test_files_that_are_no_shapes_are_refused(tmp_path):
    path = tmp_path / "part.npz"
    path.write_bytes(b"no arrays")
    with pytest.raises(da.ModelError, match="the file cannot be read"):
        da.Shapes.load(path)
    np.savez(path, masses=np.ones(2))
    with pytest.raises(da.ModelError, match=r"it lacks the arrays \['positions', 'stiffness', 'translations'\]"):
        da.Shapes.load(path)
    np.savez(path, positions=np.array([object()], dtype=object))
    with pytest.raises(da.ModelError, match="the file cannot be read: Object arrays cannot be loaded"):
        da.Shapes.load(path)


PAIR = {"positions": [[0, 0, 0], [1, 0, 0]], "masses": [1, 1], "translations": [[[-1, 0, 0], [1, 0, 0]]], "stiffness": [9.0]}
MISTAKES = {
    "a node too many": ({"masses": [1, 1, 1]}, "masses has shape (3,); the other arrays ask for (2,)"),
    "rigid": ({"translations": [[[0, 0, 1], [0, 0, 1]]]}, "shape 1 is a rigid motion or a sum of the shapes before it"),
    "twice": (
        {"translations": [[[-1, 0, 0], [1, 0, 0]], [[-2, 0, 0], [2, 0, 0]]], "stiffness": [1, 1]}, "shape 2 is a rigid motion"
    ),
    "nothing": ({"translations": np.zeros((0, 2, 3)), "stiffness": np.zeros((0, 0))}, "there are no shapes"),
    "negative stiffness": ({"stiffness": [-9.0]}, "the stiffness is not symmetric or not positive"),
    "massless": ({"masses": [0, 0]}, "the masses are negative or all zero"),
    "text": ({"masses": "heavy"}, "masses is not an array of numbers"),
    "nan": ({"positions": [[0, 0, 0], [math.nan, 0, 0]]}, "positions is not finite"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_impossible_shapes_are_refused(mistake):
    change, message = MISTAKES[mistake]
    with pytest.raises(da.ModelError) as error:
        da.Shapes(**(PAIR | change))
    assert message in str(error.value)
    assert error.value.remedy


def test_other_mistakes():
    model, _ = part()
    for call, message in (
        (lambda: da.shapes_of(model, 3, bodies=["b 9"]), "unknown body 'b 9'"),
        (lambda: da.shapes_of(model, 100), "mode 99 is asked for"),
        (lambda: da.shapes_of(model, 0), "no modes and no static shapes are asked for"),
        (lambda: da.shapes_of(model, 0, static=[("b 0", (1, 0, 0))]), "nothing holds 'b 0' against the force"),
        (lambda: model.modal_body("m", 3.0), "modal body 'm': shapes is 3.0"),
        (lambda: model.modal_body("m", da.Shapes(**PAIR), damping_ratio=-0.1), "damping_ratio"),
        (lambda: model.modal_body("b", da.Shapes(**PAIR)), "modal body 'b': the name of its part 'b 0' is used already"),
    ):
        with pytest.raises(da.ModelError) as error:
            call()
        assert message in str(error.value)


def test_no_model_file_holds_shapes():
    model = da.Model("modal")
    model.modal_body("part", da.Shapes(**PAIR))
    with pytest.raises(da.ModelError, match="modal body 'part': its shapes are arrays, which no model file can hold"):
        model_to_text(model)
