"""Integrators for a user's own equations: order, constraints, break points, chunks, failures."""

import warnings

import numpy as np
import pytest
import sympy as sp
from scipy.special import ellipj, ellipk

import dalembert as da
from dalembert.analysis.simulate import Simulation
from dalembert.integrators.common import IntegrationError
from dalembert.kernel.compile import JIT_DISABLED

long = pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")

x, z, vx, vz, t = sp.symbols("x z vx vz t")
RATE = np.sqrt(9.81)


def pendulum(**more):
    given = {"holonomic": [sp.sqrt(x**2 + z**2) - 1], "position": [1, 0]} | more
    return da.Mechanics("pendulum", [x, z], [vx, vz], kinetic_energy=x * 0 + vx**2 + vz**2, force=[0, -2 * 9.81], **given)


def angle(time):
    """Of a pendulum released at rest from the horizontal: sin(theta/2) = k sn(K - omega t, k)."""
    sn, _, _, _ = ellipj(ellipk(0.5) - RATE * np.asarray(time), 0.5)
    return 2.0 * np.arcsin(np.sqrt(0.5) * sn)


def errors(step, **control):
    """Largest errors of positions, velocities and multiplier over half a second."""
    run = da.simulate(pendulum(), duration=0.5, output_step=0.1, step=step, **control)
    a = angle(run.time.values)
    rate = -RATE * np.sqrt(2.0 * np.maximum(np.cos(a), 0.0))
    pull = 2.0 * (rate**2 + 9.81 * np.cos(a))
    place = np.column_stack([np.sin(a), -np.cos(a)]) - run.position.values
    speed = np.column_stack([np.cos(a) * rate, np.sin(a) * rate]) - run.velocity.values
    return np.array([np.abs(one).max() for one in (place, speed, pull - run.multiplier.values[:, 0])])


@long
@pytest.mark.parametrize(
    ("control", "theory", "steps"),
    [
        ({"method": "dopri5"}, 5, (0.04, 0.0025)),
        ({"method": "dopri5", "weights": "identity", "project_stages": True}, 5, (0.04, 0.0025)),
        ({"method": "index1"}, 5, (0.04, 0.0025)),
        ({"method": "baumgarte"}, 5, (0.04, 0.0025)),
        ({"method": "braun_goldfarb", "alpha": 5.0, "beta": 5.0}, 5, (0.04, 0.0025)),
        ({"method": "generalized_alpha"}, 2, (0.008, 0.0005)),
        ({"method": "hht", "alpha": -0.3}, 2, (0.008, 0.0005)),
    ],
)
def test_the_order_is_that_of_the_theory(control, theory, steps):
    observed = np.log2(errors(steps[0], **control) / errors(steps[1], **control)) / 4.0  # over four halvings
    assert np.all(observed > theory - 0.3), observed
    assert np.all(observed < theory + 1.2), observed


@long
def test_the_compiled_integrators_give_the_same():
    """The same pendulum as a body on a rod: steps and places agree, because formulas and control do."""
    model = da.Model("pendulum", gravity=(0, 0, -9.81))
    model.body("bob", mass=2.0, position=(1, 0, 0))
    model.distance("rod", model.ground, "bob", at=(0, 0, 0), at_driven=(1, 0, 0))
    model.same_orientation("no spin", model.ground, "bob")
    for control in (
        {"method": "dopri5", "step": 0.01},
        {"method": "generalized_alpha", "step": 0.001, "newton_tolerance": 1e-12},
    ):
        ours = da.simulate(pendulum(), duration=1.0, output_step=0.1, **control)
        theirs = da.simulate(model, duration=1.0, output_step=0.1, **control)
        places = theirs.position.sel(body="bob").values[:, [0, 2]]
        np.testing.assert_allclose(ours.position.values, places, atol=2e-9)


@long
@pytest.mark.parametrize("control", [{"method": "dopri5"}, {"method": "generalized_alpha"}, {"method": "hht", "step": 0.003}])
def test_pieces_and_checkpoints_change_no_bit(control):
    whole = da.simulate(pendulum(), duration=0.6, output_step=0.05, **control)
    first = Simulation(pendulum(), duration=0.6, output_step=0.05, **control)
    first.start()
    first._budget = 7
    first.advance()
    assert 0 < first.filled < first.times.size
    second = Simulation(pendulum(), duration=0.6, output_step=0.05, **control)
    second.restore(first.checkpoint(), first.run())
    while not second.done:
        second._budget = 5
        second.advance()
    for name in ("position", "velocity", "acceleration", "multiplier"):
        np.testing.assert_array_equal(second.run()[name], whole[name])
    assert second.run().attrs["steps"] == whole.attrs["steps"]


@long
@pytest.mark.parametrize("control", [{"method": "dopri5", "rtol": 1e-10, "atol": 1e-10}, {"method": "hht", "step": 1e-3}])
def test_break_points_are_hit(control):
    """A force that jumps at 0.33 s: x = (t - 0.33)^2/2 behind it, exactly so for a pair of order five."""
    push = sp.Piecewise((0.0, t < 0.33), (1.0, True))
    system = da.Mechanics("mass", [x], [vx], mass=[[1]], force=[push], breaks=[0.33])
    run = da.simulate(system, duration=1.0, output_step=0.1, **control)
    exact = np.maximum(run.time.values - 0.33, 0.0) ** 2 / 2
    np.testing.assert_allclose(run.position.values[:, 0], exact, atol=1e-9 if control["method"] == "dopri5" else 1e-6)


@long
@pytest.mark.parametrize("control", [{"method": "dopri5"}, {"method": "generalized_alpha", "step": 1e-3}])
def test_redundant_rows_and_massless_coordinates(control):
    """The pendulum with its constraint twice and the angle as a coordinate without inertia."""
    a, va = sp.symbols("a va")
    system = da.Mechanics(
        "pendulum", [x, z, a], [vx, vz, va], mass=sp.diag(2, 2, 0), force=[0, -2 * 9.81, 0],
        holonomic=[x - sp.sin(a), z + sp.cos(a), 3 * (x - sp.sin(a))], position=[1, 0, np.pi / 2],
    )  # fmt: skip
    run = da.simulate(system, duration=1.0, output_step=0.1, **control)
    np.testing.assert_allclose(run.position.values[:, 2], angle(run.time.values), atol=1e-4)
    assert run.constraint_violation.max() < 1e-9
    assert run.multiplier_unique.values.tolist() == [False, True, False]
    ratio = run.multiplier.values[1:, 2] / run.multiplier.values[1:, 0]
    np.testing.assert_allclose(ratio, 3.0, rtol=1e-6)  # the smallest multipliers of equal rows


def test_a_function_that_fails_is_reported_with_what_was_computed():
    def force(s, q, v):
        if s > 0.5:
            raise RuntimeError("no such force")
        return np.zeros(1)

    system = da.Mechanics.from_functions("mass", ["x"], mass=np.eye(1), force=force, velocity=[1.0])
    with pytest.raises(IntegrationError, match=r"t = 0\.[45].*no such force") as caught:
        da.simulate(system, duration=1.0, output_step=0.1, method="dopri5")
    np.testing.assert_allclose(caught.value.partial.position.values[:, 0], caught.value.partial.time, atol=1e-9)
    assert caught.value.partial.sizes["time"] >= 4


def test_a_motion_that_the_constraints_forbid_is_reported():
    """The rod is shorter than the support is far away after 0.6 s."""
    system = da.Mechanics(
        "pulled", [x, z], [vx, vz], mass=sp.eye(2), holonomic=[(x - t) ** 2 + z**2 - 1, x + 0 * t, z], position=[0, 0]
    )
    with pytest.raises(da.SolveError, match=r"phi\[0\]"):
        da.simulate(system, duration=1.0)


def test_auto_takes_the_implicit_method_where_forces_are_stiff():
    stiff = da.Mechanics("stiff", [x], [vx], mass=[[1]], force=[-1e10 * x - 1e3 * vx], position=[1e-3])
    soft = da.Mechanics("soft", [x], [vx], mass=[[1]], force=[-10 * x], position=[1e-3])
    runs = [da.simulate(one, duration=0.1, output_step=0.05) for one in (stiff, soft)]
    assert [run.attrs["method"].split(",")[0] for run in runs] == ["generalized-alpha", "dopri5"]


def test_a_run_can_be_saved_and_drawn(tmp_path):
    run = da.simulate(pendulum(), duration=0.2, output_step=0.1)
    da.save_run(run, tmp_path / "run.nc")
    assert da.load_run(tmp_path / "run.nc").identical(run)
    with warnings.catch_warnings():
        figure = run.plot()
    assert [ax.get_ylabel() for ax in figure.axes] == ["coordinates", "energy [J]", "multipliers", "violation"]
    assert "pendulum" in figure._suptitle.get_text()


def test_unknown_options_are_refused():
    with pytest.raises(da.ModelError, match="no option 'spectral_radius'"):
        da.simulate(pendulum(), duration=1.0, method="dopri5", spectral_radius=0.5)
