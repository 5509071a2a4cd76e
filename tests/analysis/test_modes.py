"""Modes against closed forms: pendulums, tops, rotors, linkages; dense against sparse; shares; tangents."""

from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.analysis.pencil import Motion, pencil_at
from dalembert.analysis.spectrum import _dense, _sparse
from dalembert.io import load_model
from dalembert.kernel.compile import JIT_DISABLED

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
GRAVITY = 9.81


def test_a_point_mass_swings_with_the_root_of_g_over_l():
    model = da.Model("pendulum", gravity=(0, 0, -GRAVITY))
    model.body("bob", mass=15.0, position=(2.0, 0, -np.sqrt(12.0)))
    model.revolute("hinge", "ground", "bob", axis=(0, 1, 0))
    found = da.modes(model)
    assert found.eigenvalue.values == pytest.approx([1j * np.sqrt(GRAVITY / 4.0)], rel=1e-12)
    assert found.complete
    without = da.modes(model, without_constraint_stiffness=True)
    assert without.eigenvalue.values == pytest.approx([0.0], abs=0.0)
    assert without.neutral_modes == 1


def test_an_inverted_pendulum_has_a_real_pair():
    model = da.Model("pendulum", gravity=(0, 0, -GRAVITY))
    model.body("bob", mass=15.0, position=(0.1, 0, 4.0))
    model.revolute("hinge", "ground", "bob", axis=(0, 1, 0))
    found = da.modes(model)
    rate = np.sqrt(GRAVITY / np.hypot(0.1, 4.0))
    assert found.eigenvalue.values == pytest.approx([rate, -rate], rel=1e-10)
    assert found.kind.values.tolist() == ["growing", "decaying"]
    assert found.unstable_modes == 1


def top(spin):
    """A top of 1 kg, 0.3 m above its tip, upright, spinning about the vertical."""
    model = da.Model("top", gravity=(0, 0, -GRAVITY))
    model.body("top", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, 0.3), angular_velocity=(0, 0, spin))
    model.spherical("tip", "ground", "top", at=(0, 0, 0))
    return model


@pytest.mark.parametrize("part", [0.9, 0.999, 1.001, 1.5])
def test_a_sleeping_top_is_stable_above_its_critical_spin(part):
    """I1 s^2 - i I3 w s - m g l = 0 for the inclination x + i y (I1 about the tip)."""
    I1, I3, moment = 0.02 + 0.3**2, 0.01, GRAVITY * 0.3
    critical = 2.0 * np.sqrt(I1 * moment) / I3
    spin = part * critical
    found = da.modes(top(spin), None, at="design")
    s = np.roots([I1, -1j * I3 * spin, -moment])
    ours = [one for one in found.eigenvalue.values if one != 0.0]
    expected = list(s) if part > 1.0 else [one if one.imag > 0.0 else one.conjugate() for one in s]
    assert len(ours) == len(expected)
    for one in expected:
        assert min(abs(one - other) for other in ours) < 1e-6 * abs(one)
    assert (found.unstable_modes == 0) is (part > 1.0)


@pytest.mark.parametrize("speed", [0.0, 50.0, 300.0])
def test_forward_and_backward_whirl_of_a_rotor(speed):
    """A disc on a stiff shaft in a soft housing: I s^2 - i Ip w s + k = 0 for the tilt, m s^2 + k = 0 for the rest."""
    Ip, Id, housing, k_tilt, k = 0.3, 0.2, 0.05, 400.0, 9e4
    model = da.Model("rotor")
    model.body("housing", mass=1.0, inertia=(housing, housing, housing))
    model.body("rotor", mass=5.0, inertia=(Ip, Id, Id), angular_velocity=(speed, 0, 0))
    model.bushing("mount", "ground", "housing", at=(0, 0, 0), stiffness=(k, k, k, k_tilt, k_tilt, k_tilt))
    model.revolute("bearing", "housing", "rotor", axis=(1, 0, 0))
    found = da.modes(model, None, at="design")
    tilt = np.abs(np.roots([Id + housing, -1j * Ip * speed, k_tilt]))
    expected = sorted([0.0, np.sqrt(k_tilt / housing), *tilt, *3 * [np.sqrt(k / 6.0)]])
    assert sorted(found.eigenvalue.values.imag) == pytest.approx(expected, rel=1e-8)
    assert np.allclose(found.eigenvalue.values.real, 0.0, atol=1e-7)
    assert found.neutral_modes == 1


def test_an_unround_rotor_in_round_bearings_is_steady_in_its_own_axes():
    """A shaft of unequal stiffness in axes that turn with it: unstable between its two critical speeds (Jeffcott)."""

    def found(speed):
        model = da.Model("unround shaft")
        model.body("shaft", mass=0.0, angular_velocity=(speed, 0, 0))
        model.body("disc", mass=2.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(speed, 0, 0))
        model.revolute("bearing", "ground", "shaft", axis=(1, 0, 0))
        model.lock("plane", "shaft", "disc", rows=("x", "Rx", "Ry", "Rz"))
        model.bushing("bending", "shaft", "disc", at=(0, 0, 0), stiffness=(0, 2e4, 5e4, 0, 0, 0))
        return da.modes(model, None, at="design")

    soft, stiff = np.sqrt(2e4 / 2.0), np.sqrt(5e4 / 2.0)
    for speed, grows in ((0.9 * soft, False), (0.5 * (soft + stiff), True), (1.1 * stiff, False)):
        # m (y'' - 2 w z' - w^2 y) + k1 y = 0,  m (z'' + 2 w y' - w^2 z) + k2 z = 0
        a, b, c = 1.0, soft**2 + stiff**2 + 2 * speed**2, (soft**2 - speed**2) * (stiff**2 - speed**2)
        expected = np.sqrt(np.roots([a, b, c]).astype(complex))
        modes = found(speed)
        ours = [one for one in modes.eigenvalue.values if one != 0.0 and abs(one) > 1e-3]
        for one in expected:
            assert min(abs(abs(one) - abs(other)) for other in ours) < 1e-6 * abs(one)
        assert (modes.unstable_modes > 0) is grows


def test_a_motion_that_is_not_steady_has_no_modes():
    model = da.Model("falling pendulum", gravity=(0, 0, -GRAVITY))
    model.body("bob", mass=1.0, inertia=(1, 2, 3), position=(1, 0, 0), angular_velocity=(0, 1, 0), velocity=(0, 0, -1))
    model.revolute("hinge", "ground", "bob", axis=(0, 1, 0))
    with pytest.raises(da.SolveError, match="the motion is not steady"):
        da.modes(model, at="design")


def test_a_four_bar_linkage_with_a_spring_against_its_one_coordinate():
    """Closed by hand in the crank's angle with 40 digits: V' = 0 at rest, s^2 = -V''/m_eff; to 1e-9."""
    A, D = (0.0, 0.0), (0.4, 0.0)
    crank, coupler, rocker = 0.1, 0.35, 0.3
    masses, k, free = (0.3, 1.2, 0.9), 900.0, 0.05
    g = mpmath.mpf("9.81")
    mpmath.mp.dps = 40

    def places(theta):
        B = (crank * mpmath.cos(theta), crank * mpmath.sin(theta))
        dx, dz = D[0] - B[0], D[1] - B[1]
        distance = mpmath.sqrt(dx**2 + dz**2)
        along = (coupler**2 - rocker**2 + distance**2) / (2 * distance)
        height = mpmath.sqrt(coupler**2 - along**2)
        C = (B[0] + (along * dx - height * dz) / distance, B[1] + (along * dz + height * dx) / distance)
        return B, C

    def motion(theta):
        """Middles of the links and their angles."""
        B, C = places(theta)
        middles = [((A[k] + B[k]) / 2, (B[k] + C[k]) / 2, (D[k] + C[k]) / 2) for k in (0, 1)]
        angles = [theta, mpmath.atan2(C[1] - B[1], C[0] - B[0]), mpmath.atan2(C[1] - D[1], C[0] - D[0])]
        return [(middles[0][i], middles[1][i], angles[i]) for i in range(3)]

    def potential(theta):
        weight = sum(m * g * place[1] for m, place in zip(masses, motion(theta), strict=True))
        C = places(theta)[1]
        stretch = mpmath.sqrt((C[0] - mpmath.mpf("0.2")) ** 2 + C[1] ** 2) - free
        return weight + k * stretch**2 / 2

    def inertia(theta):
        rates = [[mpmath.diff(lambda one, i=i, j=j: motion(one)[i][j], theta) for j in range(3)] for i in range(3)]
        lengths = (crank, coupler, rocker)
        return sum(m * (r[0] ** 2 + r[1] ** 2 + L**2 / 12 * r[2] ** 2) for m, L, r in zip(masses, lengths, rates, strict=True))

    start = mpmath.mpf("-1.3")
    rest = mpmath.findroot(lambda one: mpmath.diff(potential, one), start)
    rate2 = mpmath.diff(potential, rest, 2) / inertia(rest)

    theta = float(rest) + 0.05  # drawn a little off
    B, C = (np.array([float(one) for one in place]) for place in places(mpmath.mpf(theta)))
    model = da.Model("four bar", gravity=(0, 0, -9.81))
    points = {"A": A, "B": B, "C": C, "D": D}
    at = {name: (float(x), 0.0, float(z)) for name, (x, z) in points.items()}
    for name, one, other, mass, length in (
        ("crank", "A", "B", 0.3, crank),
        ("coupler", "B", "C", 1.2, coupler),
        ("rocker", "D", "C", 0.9, rocker),
    ):
        along = np.subtract(at[other], at[one])
        turn = Rotation.from_euler("y", -np.arctan2(along[2], along[0]))
        place = 0.5 * np.add(at[one], at[other])
        model.body(name, mass=mass, inertia=da.inertia.rod(mass, length), position=place, orientation=turn)
    for name, main, driven in (
        ("A", "ground", "crank"),
        ("B", "crank", "coupler"),
        ("C", "coupler", "rocker"),
        ("D", "ground", "rocker"),
    ):
        model.revolute(name, main, driven, at=at[name], axis=(0, 1, 0))
    model.spring("spring", "ground", "coupler", at=(0.2, 0, 0), at_driven=at["C"], stiffness=k, free_length=free)
    found = da.modes(model)
    s = complex(mpmath.sqrt(-rate2))
    assert found.eigenvalue.values[0] == pytest.approx(complex(s.real, abs(s.imag)), rel=1e-9)
    assert found.complete
    assert found.sizes["mode"] == (1 if s.imag else 2)


def test_damping_ratios_and_real_modes():
    for damping, expected in ((4.0, -1.0 + 7j), (20.0, -5.0 + 5j)):
        k = 2.0 * (abs(expected) ** 2)
        model = oscillator(stiffness=k, damping=damping)
        found = da.modes(model)
        assert found.eigenvalue.values == pytest.approx([expected], rel=1e-12)
        assert found.damping_ratio.values == pytest.approx([-expected.real / abs(expected)])
    overdamped = da.modes(oscillator(stiffness=8.0, damping=10.0))
    assert sorted(overdamped.eigenvalue.values.real) == pytest.approx([-4.0, -1.0])
    drifting = da.modes(oscillator(stiffness=0.0, damping=10.0))
    assert drifting.neutral_modes == 1
    assert sorted(drifting.eigenvalue.values.real) == pytest.approx([-5.0, 0.0])


def oscillator(stiffness, damping=0.0):
    model = da.Model("oscillator")
    model.body("mass", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.prismatic("rail", "ground", "mass", at=(1, 0, 0), axis=(1, 0, 0))
    model.spring("spring", "ground", "mass", at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=stiffness, damping=damping)
    return model


def test_rigid_body_modes_are_exactly_zero():
    model = da.Model("two stones")
    for k, place in enumerate([(0, 0, 0), (1, 0, 0)]):
        model.body(f"stone {k}", mass=1.0 + k, inertia=(1, 2, 3), position=place)
    model.bushing("glue", "stone 0", "stone 1", at=(0.5, 0, 0), stiffness=(1e6, 1e6, 1e6, 1e4, 1e4, 1e4))
    found = da.modes(model, None)
    assert found.neutral_modes == 6
    assert np.all(found.eigenvalue.values[:6] == 0.0)
    assert np.all(found.eigenvalue.values[6:].imag > 1.0)
    model.bushing("glue again", "stone 0", "stone 1", at=(0.5, 0, 0), stiffness=6 * (0,), damping=6 * (10.0,))
    damped = da.modes(model, None)
    assert damped.neutral_modes == 6
    assert np.all(damped.eigenvalue.values[6:].real < -1e-3)


def test_a_massless_body_between_springs_has_infinite_eigenvalues():
    """Two springs of 300 and 600 N/m in series carry 2 kg: k = 200 N/m."""
    model = da.Model("series")
    model.body("mass", mass=2.0, inertia=(1, 1, 1), position=(2, 0, 0))
    model.body("between", mass=0.0, position=(1, 0, 0))
    for name, x in (("mass", 2), ("between", 1)):
        model.prismatic(f"rail of {name}", "ground", name, at=(x, 0, 0), axis=(1, 0, 0))
    model.spring("first", "ground", "between", at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=300.0)
    model.spring("second", "between", "mass", at=(1, 0, 0), at_driven=(2, 0, 0), stiffness=600.0)
    found = da.modes(model, None)
    assert found.eigenvalue.values == pytest.approx([10j], rel=1e-12)
    assert found.infinite_eigenvalues == 2
    model.spring("damper", "between", "mass", at=(1, 0, 0), at_driven=(2, 0, 0), damping=5.0)
    damped = da.modes(model, None)  # 2 s^2 x + (600 + 5 s)(x - y) = 0, 300 y = (600 + 5 s)(x - y)
    s = np.roots([2.0 * 5.0, 2.0 * 900.0, 300.0 * 5.0, 300.0 * 600.0])
    assert sorted(damped.eigenvalue.values, key=abs) == pytest.approx(
        sorted((one for one in s if one.imag >= 0.0), key=abs), rel=1e-9
    )


def hanging_chain(n, damping=0.0):
    model = da.Model("chain", gravity=(0, 0, -GRAVITY))
    previous = "ground"
    for k in range(n):
        model.body(f"link {k}", mass=0.3, inertia=(0.02, 0.03, 0.015), position=(0, 0, -k - 0.5))
        axis = (0, 1, 0) if k % 2 else (1, 0, 0)
        model.revolute(f"hinge {k}", previous, f"link {k}", at=(0, 0, -k), axis=axis)
        if damping:
            model.torsion_spring(f"rubber {k}", f"hinge {k}", stiffness=1.0, damping=damping)
        previous = f"link {k}"
    return model


@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_sparse_and_dense_modes_agree(damping):
    system = da.build(hanging_chain(20, damping))
    rest = da.equilibrium(system)
    zero = np.zeros(system.n_velocities)
    pencil = pencil_at(system, Motion(0.0, rest.state.q, zero, zero, rest.multipliers.values))
    dense, sparse = _dense(pencil), _sparse(pencil, 8)
    lowest = sorted(dense.eigenvalues, key=abs)[:6]
    assert sorted(sparse.eigenvalues, key=abs)[:6] == pytest.approx(lowest, rel=1e-8)


def test_sparse_modes_tell_neutral_ones():
    model = hanging_chain(20)
    model.gravity = np.zeros(3)
    found = _sparse(_pencil(model), 4)
    assert np.all(found.eigenvalues == 0.0)
    assert found.zero_modes == 4


def _pencil(model):
    system = da.build(model)
    zero = np.zeros(system.n_velocities)
    return pencil_at(system, Motion(0.0, system.design.q, zero, zero, np.zeros(system.n_constraints)))


def test_shares_of_energy_add_up_and_name_the_right_parts():
    """Two unequal oscillators side by side: each mode is one of them."""
    model = da.Model("two")
    for name, y, mass, k in (("slow", 0, 2.0, 50.0), ("fast", 1, 1.0, 900.0)):
        model.body(name, mass=mass, inertia=(1, 1, 1), position=(1, y, 0))
        model.prismatic(f"{name} rail", "ground", name, at=(1, y, 0), axis=(1, 0, 0))
        model.spring(f"{name} spring", "ground", name, at=(0, y, 0), at_driven=(1, y, 0), stiffness=k)
    found = da.modes(model)
    assert found.frequency_hz.values * 2 * np.pi == pytest.approx([5.0, 30.0])
    assert found.kinetic_share.sel(mode=1, body="slow") == pytest.approx(1.0)
    assert found.kinetic_share.sel(mode=2, body="fast") == pytest.approx(1.0)
    assert found.strain_share.sel(mode=2, element="fast spring") == pytest.approx(1.0)
    assert np.allclose(found.strain_share.sum("element"), 1.0)


def test_the_stiffness_of_a_pendulum_is_in_its_joint():
    model = hanging_chain(3)
    shares = da.modes(model).strain_share
    assert np.allclose(shares.sum("element"), 1.0)
    assert float(shares.sel(mode=1, element="hinge 0")) > 0.2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_pencil_is_the_derivative_of_the_equations(path):
    """M v' + A^T lambda - f along q(s), v(s), v'(s) at a random state: every tangent, gyroscopic and inertial terms too."""
    if JIT_DISABLED and path.stem == "anchor_chain":
        pytest.skip("slow without compiled code")
    system, rng = da.build(load_model(path)), np.random.default_rng(1)
    n = system.n_velocities
    q = system.advance(system.design.q, 0.1 * rng.standard_normal(n))
    v, a, d, d1, d2 = rng.standard_normal((5, n))
    lam = 10.0 * rng.standard_normal(system.n_constraints)
    pencil = pencil_at(system, Motion(0.1, q, v, a, lam))
    exact = pencil.M @ d2 + pencil.D @ d1 + pencil.K @ d

    def equations(s):
        moved = system.advance(q, s * d)
        velocity = v + s * (d1 + system.transport(v) @ d)
        acceleration = a + s * (d2 + system.transport(v) @ d1 + system.transport(a) @ d)
        return system.mass() @ acceleration + system.jacobian(0.1, moved).T @ lam - system.force(0.1, moved, velocity)

    h = 1e-5
    numeric = (8.0 * (equations(h) - equations(-h)) - (equations(2 * h) - equations(-2 * h))) / (12.0 * h)
    size = abs(pencil.M) @ np.abs(d2) + abs(pencil.D) @ np.abs(d1) + abs(pencil.K) @ np.abs(d)
    assert np.abs(exact - numeric).max() < 1e-8 * size.max()


def test_plots_and_animations_are_drawn():
    import matplotlib.pyplot as plt

    found = da.modes(hanging_chain(3))
    figure = found.plot()
    assert len(figure.axes) == 1 + min(6, found.sizes["mode"])
    animation = found.animate(2, frames=4)
    assert "mode 2" in animation._fig.axes[0].get_title()
    animation._draw_frame(1)
    plt.close("all")
