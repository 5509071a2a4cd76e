"""Beams against closed forms and independent formulations: statics, buckling, vibration, motion."""

import math

import numpy as np
import pytest

import beam_cases as cases
import dalembert as da
from dalembert.kernel.compile import JIT_DISABLED

# --- appendix of Masarati 2011 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_a_tip_force_without_and_with_the_locking_correction(n):
    """1 - 1/(4 n^2) of the exact deflection without, all of it with: P L^3/(3 EI) + P L/(kGA)."""
    assert math.isclose(cases.tip_compliance(n, corrected=False)[0], 1 / 3 * (1.0 - 1.0 / (4 * n * n)), rel_tol=1e-5)
    stubby = da.section.General(stiffness=(1e3, 1e3, 20.0, 1.0, 1.0, 1.0), mass=1.0)
    exact = 1.0 / 3.0 + 1.0 / 20.0
    assert math.isclose(cases.tip_compliance(n, corrected=True, section=stubby)[0], exact, rel_tol=1e-9)
    assert math.isclose(-cases.tip_compliance(n, corrected=True, section=stubby)[1], 0.5, rel_tol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_a_tip_moment_is_exact_without_a_correction(n):
    deflection, rotation = cases.tip_compliance(n, corrected=False, force=False)
    assert math.isclose(rotation, 1.0, rel_tol=1e-9)
    assert math.isclose(deflection, -0.5, rel_tol=1e-9)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_a_moment_bends_it_to_a_regular_polygon(n):
    """Exact rotations M L/(EI) of the nodes, chords of equal length, the same angle between them."""
    section = cases.slender()
    model, beam = cases.cantilever(n, section)
    model.load("moment", beam.nodes[-1], torque=(0, -3.0, 0))
    state = da.equilibrium(model).state
    system = da.build(model)
    places, frames = zip(*(system.frame(place, state.q) for place in beam.places), strict=True)
    turns = [math.atan2(R[2, 0], R[0, 0]) for R in frames]
    assert np.allclose(turns, np.linspace(0.0, 3.0, n + 1), atol=1e-9)
    chords = np.diff(places, axis=0)
    assert np.allclose(np.linalg.norm(chords, axis=1), 1.0 / n, rtol=1e-9)
    angles = np.unwrap(np.arctan2(chords[:, 2], chords[:, 0]))
    assert np.allclose(angles, (np.arange(n) + 0.5) * 3.0 / n, atol=1e-8)


# --- statics -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 8, 20])
def test_a_strip_rolls_up_to_a_circle(n):
    """The tip closes to rounding with any number of elements; the middle is a corner of a polygon, L/n / sin(pi/n) above."""
    rest, tip, middle = cases.rolled_up(n)
    assert rest.iterations < 25
    assert np.abs(tip).max() < 1e-8
    assert np.allclose(middle, [0.0, 0.0, 1.0 / n / math.sin(math.pi / n)], atol=1e-8)


def test_a_strip_of_300_elements_rolls_up():
    rest, tip, middle = cases.rolled_up(300)
    assert rest.iterations < 25
    assert np.abs(tip).max() < 1e-7
    assert math.isclose(middle[2], 1.0 / math.pi, rel_tol=1e-4)


@pytest.mark.parametrize(("alpha", "published"), [(1.0, (0.05643, 0.30172)), (10.0, (0.55500, 0.81061))])
def test_a_large_tip_force_against_the_elastica(alpha, published):
    """Shortening and deflection of Mattiasson's tables (1981), and of the differential equation."""
    exact = cases.elastica(alpha)
    assert np.allclose(exact, published, atol=6e-6)
    deflections = [cases.bent_by_force(n, alpha)[1] - exact[1] for n in (8, 16, 32)]
    assert np.all(np.abs(cases.order(deflections) - 2.0) < 0.1)
    finest = cases.bent_by_force(32, alpha)
    assert np.allclose(finest, exact, atol=3e-4)


def test_a_hinged_strip_finds_the_way_down():
    """A beam of the stiffness of paper that hangs on a hinge: straight down, a clamped one nearly so."""
    strip = da.section.Rectangle(width=0.005, height=0.001, **cases.STRIP)
    model = da.Model("strip", gravity=(0, 0, -9.81))
    beam = model.beam("b", (0, 0, 0), (3, 0, 0), section=strip, elements=12, start_joint="revolute", start_axis=(0, 1, 0))
    rest = da.equilibrium(model, stable=True)
    assert rest.stable
    tip = da.build(model).frame(beam.places[-1], rest.state.q)[0]
    assert np.allclose(tip, [0, 0, -3], atol=1e-5)
    weight = 7850 * 5e-6 * 3 * 9.81
    assert np.allclose(np.linalg.norm(rest.joint_force.values), weight, rtol=1e-9)


# --- buckling --------------------------------------------------------------------------------------------------------------


def test_euler_buckling():
    errors = [cases.euler_load(n) / np.pi**2 - 1.0 for n in (4, 8, 16)]
    assert np.all(np.abs(cases.order(errors) - 2.0) < 0.1)
    assert abs(errors[-1]) < 4e-3


def test_lateral_buckling():
    errors = [cases.lateral_load(n) / 4.0126 - 1.0 for n in (4, 8)]
    assert abs(cases.order(errors)[0] - 2.0) < 0.1
    assert abs(errors[-1]) < 1e-2


# --- vibration -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", cases.ROOTS)
def test_frequencies_converge_with_the_square_of_the_elements(kind):
    errors = [cases.frequencies(kind, n) / np.square(cases.ROOTS[kind]) - 1.0 for n in (8, 16, 32)]
    assert np.all(np.abs(cases.order(errors)[-1] - 2.0) < 0.1)
    assert np.abs(errors[-1]).max() < 5e-3


def test_a_beam_in_tension_is_a_stiff_string():
    """omega_k^2 = (k pi)^4 EI/m + (k pi)^2 T/m; prestressed modes are equilibrium, then modes."""
    k = np.arange(1, 4) * np.pi
    errors = [cases.frequencies("pinned", n, tension=40.0) / np.sqrt(k**4 + 40.0 * k**2) - 1.0 for n in (16, 32)]
    assert np.all(np.abs(cases.order(errors) - 2.0) < 0.1)
    assert np.abs(errors[-1]).max() < 1e-2


@pytest.mark.parametrize("spin", cases.WRIGHT)
def test_a_rotating_blade(spin):
    """Extrapolated from 8 and 16 elements to four digits; in the plane omega^2 is that of a blade out of it less Omega^2."""
    ritz = cases.rotating_by_ritz(spin)
    assert np.allclose(ritz[:2], cases.WRIGHT[spin], atol=6e-5)
    coarse, fine = cases.rotating(8, spin), cases.rotating(16, spin)
    flap, lag = ((4.0 * b - a)[:2] / 3.0 for a, b in zip(coarse, fine, strict=True))
    assert np.allclose(flap, ritz[:2], rtol=6e-4)
    stiffer = 2.0 * cases.rotating_by_ritz(0.5 * spin)  # EI_z = 4 EI_y
    assert np.allclose(np.sqrt(lag**2 + spin**2), stiffer[:2], rtol=6e-4)


# --- motion ----------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(JIT_DISABLED, reason="too long without compiled code")
def test_a_free_flying_beam_keeps_momentum_and_energy():
    """50,000 steps, some ten turns: linear momentum to rounding, angular momentum and energy to the error of the steps."""
    system, start = cases.flying()
    run = da.simulate(system, duration=10.0, start=start, method="generalized_alpha", step=2e-4, output_step=0.1)
    linear, angular = cases.momenta(system, run)
    energy = (run.kinetic_energy + run.potential_energy).values
    assert np.abs(linear - linear[0]).max() < 1e-12 * np.abs(linear[0]).max()
    assert np.abs(angular - angular[0]).max() < 1e-5 * np.abs(angular[0]).max()
    assert np.abs(energy / energy[0] - 1.0).max() < 2e-4
    assert float(run.potential_energy.max()) > 0.05 * energy[0]  # it does vibrate


@pytest.mark.skipif(JIT_DISABLED, reason="too long without compiled code")
def test_explicit_and_implicit_motion_agree():
    system, start = cases.flying(4)
    runs = [
        da.simulate(system, duration=0.05, start=start, output_step=0.01, **control)
        for control in ({"method": "dopri5", "rtol": 1e-9, "atol": 1e-9}, {"method": "generalized_alpha", "step": 5e-6})
    ]
    assert np.abs(runs[0].position.values - runs[1].position.values).max() < 1e-5


def test_a_damped_beam_comes_to_rest():
    """The first mode decays with damping_time omega^2/2."""
    section = da.section.Rectangle(width=0.02, height=0.01, damping_time=1e-4, **cases.STRIP)
    model, _ = cases.cantilever(6, section)
    vibration = da.modes(model, 2)
    omega = vibration.natural_frequency_hz.values * 2 * np.pi
    assert np.allclose(vibration.damping_ratio.values, 0.5 * 1e-4 * omega, rtol=1e-6)


def test_reactions_of_a_clamped_beam():
    model, beam = cases.cantilever(5, cases.slender())
    model.load("P", beam.nodes[-1], force=(0, 0, 1e-3), at=beam.places[-1])
    rest = da.equilibrium(model)
    assert np.allclose(rest.joint_force.values[0], [0, 0, -1e-3], atol=1e-9)
    assert np.allclose(rest.joint_torque.values[0], [0, 1e-3, 0], atol=1e-9)
    assert bool(rest.joint_unique.values[0])


@pytest.mark.parametrize("n", [100, 600])
def test_stability_and_modes_of_many_slender_elements(n):
    """1 mm thick, 1 m long: across, an element is 1e-10 as stiff as along; soft is not taken for neutral nor for stable."""
    strip = da.section.Rectangle(width=0.005, height=0.001, **cases.STRIP)
    EI, m = strip.stiffness_matrix[4, 4], strip.mass_per_length
    for part, stable in ((0.9, True), (1.1, False)):
        model, beam = cases.cantilever(n, strip)
        model.load("P", beam.nodes[-1], force=(-part * np.pi**2 / 4.0 * EI, 0, 0), at=beam.places[-1])
        rest = da.equilibrium(model)
        assert (rest.stable, rest.neutral_directions, rest.unstable_directions) == (stable, 0, 0 if stable else 1)
    model, _ = cases.cantilever(n, strip)
    first = da.modes(model, 4).frequency_hz.values[0]
    assert math.isclose(first, cases.ROOTS["cantilever"][0] ** 2 * math.sqrt(EI / m) / (2 * np.pi), rel_tol=2e-3)
    free = da.Model("free")
    free.beam("b", (0, 0, 0), (1, 0, 0), section=strip, elements=n)
    assert da.modes(free, 8).attrs["neutral_modes"] == 6
