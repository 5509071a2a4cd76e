"""Singular positions that a motion passes: where, which joints, and that no mechanism turns off in silence."""

import numpy as np
import pytest

import dalembert as da
from dalembert.integrators.common import IntegrationError
from dalembert.kernel.compile import JIT_DISABLED

RATE = 3.0
EXPLICIT, IMPLICIT = {"method": "dopri5", "rtol": 1e-9, "atol": 1e-9}, {"method": "generalized_alpha", "step": 1e-3}


def parallelogram():
    """Cranks of 1 m, 2 m apart, turning at 3 rad/s without any load: at 90 degrees they lie flat, twice a turn."""
    model = da.Model("parallelogram", planar=(0, 1, 0))
    model.body("bar", mass=1.0, inertia=(0.3,) * 3, position=(1, 0, 1), velocity=(RATE, 0, 0))
    for k, x in ((1, 0.0), (2, 2.0)):
        spin = {"velocity": (0.5 * RATE, 0, 0), "angular_velocity": (0, RATE, 0)}
        model.body(f"crank {k}", mass=1.0, inertia=(0.1,) * 3, position=(x, 0, 0.5), **spin)
        model.revolute(f"foot {k}", model.ground, f"crank {k}", at=(x, 0, 0))
        model.revolute(f"head {k}", f"crank {k}", "bar", at=(x, 0, 1))
    return model


FLAT = (np.pi / 2 + np.pi * np.arange(6)) / RATE


@pytest.mark.parametrize("options", [EXPLICIT, IMPLICIT, {}], ids=["explicit", "implicit", "auto"])
def test_a_parallelogram_stays_one_when_it_passes_its_flat_position(options):
    """The other branch, crossed bars, meets it there; inertia carries it straight on, at a constant rate."""
    if JIT_DISABLED and "step" in options:
        pytest.skip("takes minutes as plain Python")
    run = da.simulate(parallelogram(), duration=6.0, output_step=0.05, **options)
    angle = RATE * run.time.values
    expected = np.column_stack([1 + np.sin(angle), 0 * angle, np.cos(angle)])
    assert np.abs(run.position.sel(body="bar").values - expected).max() < 1e-4
    assert np.abs(run.orientation.sel(body="bar").values[:, 2]).max() < 1e-6  # the bar does not turn
    singular = da.reactions_along(parallelogram(), run).singular
    assert np.allclose([one.time for one in singular], FLAT, atol=1e-4)
    assert all(one.joints == "'foot 1', 'head 1', 'foot 2', 'head 2'" for one in singular)


def slider_crank(start=1.0, rate=2.0, crank=0.3, rod=1.0):
    """The piston follows the motion that a crank of constant rate gives it: at the dead points it leaves the crank free."""
    model = da.Model("slider-crank", planar=(0, 1, 0))
    pin = crank * np.array([np.cos(start), 0, np.sin(start)])
    gudgeon = np.array([pin[0] + np.sqrt(rod**2 - pin[2] ** 2), 0, 0])
    spin = {"velocity": np.cross([0, -rate, 0], pin / 2), "angular_velocity": (0, -rate, 0)}
    model.body("crank", mass=1.0, inertia=(0.05,) * 3, position=pin / 2, **spin)
    model.body("rod", mass=1.0, inertia=(0.1,) * 3, position=(pin + gudgeon) / 2)
    model.body("piston", mass=1.0, inertia=(0.01,) * 3, position=gudgeon)
    model.revolute("main", model.ground, "crank", at=(0, 0, 0))
    model.revolute("pin", "crank", "rod", at=pin)
    model.revolute("gudgeon", "rod", "piston", at=gudgeon)
    model.prismatic("guide", model.ground, "piston", at=(0, 0, 0), at_driven=gudgeon, axis=(1, 0, 0))
    angle = f"({rate}*t + {start})"
    law = da.Expression(f"{crank}*cos{angle} + sqrt({rod}**2 - ({crank}*sin{angle})**2)")
    model.motion("push", "guide", "distance", law)
    return model


DEAD = (np.array([np.pi, 2 * np.pi]) - 1.0) / 2.0
JOINTS = "'main', 'pin', 'gudgeon', 'guide'"


@pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")
def test_inertia_carries_a_slider_crank_through_its_dead_points():
    run = da.simulate(slider_crank(), duration=3.0, output_step=0.05, **IMPLICIT)
    angle = 2.0 * run.time.values + 1.0
    path = 0.15 * np.column_stack([np.cos(angle), 0 * angle, np.sin(angle)])
    assert np.abs(run.position.sel(body="crank").values - path).max() < 1e-9
    along = da.reactions_along(slider_crank(), run)
    assert np.allclose([one.time for one in along.singular], DEAD, atol=1e-6)
    assert [one.joints for one in along.singular] == [JOINTS, JOINTS]
    assert str(along.singular[0]).startswith(f"t = 1.0708 s: singular position, the constraints of {JOINTS}")
    assert (along.constraint_rank == 9).all()  # between the singular positions, where all samples are


def test_who_cannot_pass_a_dead_point_says_so():
    """Steps that ask the constraints alone for the crank's velocity stop there, with the time and the joints."""
    with pytest.raises(IntegrationError, match=rf"t = 1\.07\d* s.*the position is singular.*{JOINTS}") as error:
        da.simulate(slider_crank(), duration=3.0, output_step=0.05, **EXPLICIT)
    assert error.value.time == pytest.approx(DEAD[0], abs=1e-4)
    assert error.value.partial.time[-1] == pytest.approx(1.05)


def test_a_crank_that_is_driven_passes_its_dead_points_unseen():
    model = slider_crank()
    del model.motions["push"]
    model.motion("turn", "main", "angle", da.Ramp(slope=-2.0))
    run = da.simulate(model, duration=3.0, output_step=0.05)
    assert da.reactions_along(model, run).singular == []


def test_at_a_singular_position_the_reactions_are_not_unique():
    model = slider_crank(start=0.0, rate=0.0)
    del model.motions["push"]
    model.motion("push", "guide", "distance", da.Constant(1.3))
    found = da.reactions(model)
    assert (found.degree_of_redundancy, found.degrees_of_freedom) == (1, 1)
    assert found.degrees_of_freedom == 1  # the crank may leave the dead point to either side
    assert not any(found.unique[joint] for joint in ("main", "pin", "gudgeon"))


def test_a_run_of_another_model_is_refused():
    run = da.simulate(parallelogram(), duration=0.1, output_step=0.05)
    with pytest.raises(da.ModelError, match="the run has other bodies than the model"):
        da.reactions_along(slider_crank(), run)
