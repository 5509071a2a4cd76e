"""Knife edges, wheels and spheres: closed forms of their motions, of their reactions and of the linearisation; rest."""

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.kernel.compile import JIT_DISABLED
from random_models import errors, one_joint, random_rotation, random_state, relative, two_bodies

GRAVITY = 9.81
METHODS = {"dopri5": {"method": "dopri5", "rtol": 1e-11, "atol": 1e-12}}
TOLERANCE = 1e-8


def run_of(model, duration, **options):
    control = METHODS["dopri5"] | options
    return da.simulate(model, duration=duration, output_step=duration / 20, **control)


def turned(run, body):
    """Angle about z, and its rate, of a body of a planar model."""
    q = run.orientation.sel(body=body).values
    return 2 * np.unwrap(np.arctan2(q[:, 3], q[:, 0]), period=np.pi), run.angular_velocity.sel(body=body).values[:, 2]


# --- knife edges ---------------------------------------------------------------------------------------------------------

SLOPE = GRAVITY * np.sin(0.3)


def sleigh(offset=0.0, *, gravity=0.0, speed=0.0, rate=2.0):
    """A sleigh seen from above; the blade stands `offset` behind the centre of mass."""
    model = da.Model("sleigh", gravity=(gravity, 0, 0), planar=True)
    velocity = (speed, offset * rate, 0)
    model.body("sleigh", mass=2.0, inertia=(0.2, 0.2, 0.3), velocity=velocity, angular_velocity=(0, 0, rate))
    model.knife_edge("blade", model.ground, "sleigh", at=(-offset, 0, 0), axis=(0, 1, 0))
    return model


def cycloid(t, rate=2.0):
    """A blade under the centre on a slope: x = g sin^2(w t)/(2 w^2), y = g (w t - sin(2 w t)/2)/(2 w^2)."""
    k = SLOPE / (2 * rate**2)
    return np.column_stack([k * np.sin(rate * t) ** 2, k * (rate * t - 0.5 * np.sin(2 * rate * t))])


def test_a_sleigh_on_a_slope_goes_sideways_on_a_cycloid():
    """Turning at a constant rate it does not slide down for ever (Neimark and Fufaev 1972, chapter II)."""
    run = run_of(sleigh(gravity=SLOPE), 3.0)
    t = run.time.values
    assert np.abs(run.position.sel(body="sleigh").values[:, :2] - cycloid(t)).max() < TOLERANCE
    # sideways: m (speed * rate + g sin(angle)), speed = g sin(w t)/w along the edge
    force = run.joint_force.sel(joint="blade").values
    assert np.abs(force[:, 1] - 2.0 * 2.0 * SLOPE * np.sin(2.0 * t)).max() < TOLERANCE
    assert np.abs(force[:, [0, 2]]).max() < TOLERANCE
    assert run.constraint_violation.values.max() < 1e-12


def test_implicit_steps_keep_the_edge_and_are_of_second_order():
    errors = []
    for step in (4e-3, 2e-3):
        run = run_of(sleigh(gravity=SLOPE), 3.0, method="generalized_alpha", step=step, rtol=None, atol=None)
        errors.append(np.abs(run.position.sel(body="sleigh").values[:, :2] - cycloid(run.time.values)).max())
        assert run.constraint_violation.values.max() < 1e-12
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


def test_a_sleigh_whose_blade_is_behind_its_centre_straightens_out():
    """Chaplygin's sleigh: u = A tanh(s), w = A/k sech(s), s = A a t/k^2 + s_0, k^2 = a^2 + J/m, u the speed of the blade."""
    offset, speed, rate = 0.4, 0.3, 2.0
    run = run_of(sleigh(offset, speed=speed, rate=rate), 3.0)
    k = np.sqrt(offset**2 + 0.3 / 2.0)
    A = np.hypot(speed, k * rate)
    s = A * offset * run.time.values / k**2 + np.arctanh(speed / A)
    angle, w = turned(run, "sleigh")
    gudermann = 2 * np.arctan(np.tanh(s / 2))
    assert np.abs(w - A / k / np.cosh(s)).max() < TOLERANCE
    assert np.abs(angle - k / offset * (gudermann - gudermann[0])).max() < TOLERANCE
    heading = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(s.size)])
    along = np.einsum("ij,ij->i", run.velocity.sel(body="sleigh").values, heading)
    assert np.abs(along - A * np.tanh(s)).max() < TOLERANCE
    assert np.ptp(run.kinetic_energy.values) < TOLERANCE


def test_a_blade_across_the_slope_rests_and_one_along_it_does_not():
    """Rest means that all velocities are zero and stay so: the blade may push."""
    rest = da.equilibrium(sleigh(gravity=0.0, rate=0.0))
    assert rest.converged
    across = da.Model("across", gravity=(0, -SLOPE, 0), planar=True)
    across.body("sleigh", mass=2.0, inertia=(0.2, 0.2, 0.3))
    across.knife_edge("blade", across.ground, "sleigh", axis=(0, 1, 0))
    rest = da.equilibrium(across)
    assert rest.joint_force.sel(joint="blade", axis="y").item() == pytest.approx(2.0 * SLOPE, rel=1e-12)
    assert np.array_equal(rest.position.values[0], [0, 0, 0])
    with pytest.raises(da.EquilibriumError):
        da.equilibrium(sleigh(gravity=SLOPE, rate=0.0))


# --- wheels --------------------------------------------------------------------------------------------------------------

RADIUS, MASS = 0.3, 2.0
ACROSS, AXIAL = MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 2  # moments of a uniform disc


def disc(*, centre=(0, 0, RADIUS), orientation=None, velocity=(0, 0, 0), rate=(0, 0, 0), gravity=(0, 0, -GRAVITY), **options):
    """A uniform disc on the x y plane, its axle along its own y axis."""
    model = da.Model("disc", gravity=gravity)
    turn = Rotation.identity() if orientation is None else orientation
    inertia = (ACROSS, AXIAL, ACROSS)
    model.body("disc", mass=MASS, inertia=inertia, position=centre, orientation=turn, velocity=velocity, angular_velocity=rate)
    drawn = {"at": (0, 0, 0), "axis": (0, 0, 1), "at_driven": centre, "axis_driven": turn.apply([0, 1, 0])}
    model.rolling_wheel("contact", model.ground, "disc", radius=RADIUS, **drawn, **options)
    return model


def rolling(speed):
    return disc(velocity=(speed, 0, 0), rate=(0, speed / RADIUS, 0))


def test_a_disc_rolls_down_a_slope_at_two_thirds_of_the_acceleration():
    run = run_of(disc(gravity=(SLOPE, 0, -GRAVITY * np.cos(0.3))), 1.0)
    t = run.time.values
    assert np.abs(run.position.sel(body="disc", axis="x").values - SLOPE * t**2 / 3).max() < TOLERANCE
    grip = np.array([-MASS * SLOPE / 3, 0.0, MASS * GRAVITY * np.cos(0.3)])  # rolling, sideways, normal
    assert np.abs(run.joint_force.sel(joint="contact").values - grip).max() < TOLERANCE
    assert np.abs(run.joint_torque.values).max() < 1e-12  # shown at the contact point


def test_the_same_in_a_planar_model():
    model = da.Model("disc", gravity=(SLOPE, 0, -GRAVITY * np.cos(0.3)), planar=(0, 1, 0))
    model.body("disc", mass=MASS, inertia=(ACROSS, AXIAL, ACROSS), position=(0, 0, RADIUS))
    model.rolling_wheel(
        "contact", "ground", "disc", axis=(0, 0, 1), at_driven=(0, 0, RADIUS), axis_driven=(0, 1, 0), radius=RADIUS
    )
    assert da.build(model).layout.rows[:2] == ("contact.normal", "contact.rolling")
    run = run_of(model, 1.0)
    assert np.abs(run.position.sel(body="disc", axis="x").values - SLOPE * run.time.values**2 / 3).max() < TOLERANCE


@pytest.mark.parametrize(("lean", "turn"), [(0.4, 3.0), (-0.3, 2.0), (1.0, 6.0)])
def test_a_leaning_disc_rolls_on_a_circle(lean, turn):
    """Steady rolling, the disc's plane leaning by `lean` from the vertical, its centre turning at the rate Omega:

    Omega cos(lean) (C + m r^2) n = sin(lean) (m g r - A Omega^2 cos(lean)),   n the rate about the axle,
    from the moment of the ground about the centre, Omega k x H with H = A Omega cos(lean) e_2 + C n e_3.
    """
    sine, cosine = np.sin(lean), np.cos(lean)
    n = sine * (MASS * GRAVITY * RADIUS - ACROSS * turn**2 * cosine) / (turn * cosine * (AXIAL + MASS * RADIUS**2))
    tilt = Rotation.from_rotvec([lean, 0, 0])  # e_1 = x, e_2 up in the disc, e_3 against the axle: k . e_3 = -sin(lean)
    up, axle = tilt.apply([0, 0, 1]), tilt.apply([0, 1, 0])
    rate = -n * axle + turn * cosine * up
    velocity = np.cross(rate, RADIUS * up)
    model = disc(centre=RADIUS * up, orientation=tilt, velocity=velocity, rate=rate)
    run = run_of(model, 2 * np.pi / turn)
    arm = -np.cross([0, 0, 1], velocity) / turn  # from the middle of the circle to the centre of the disc
    expected = RADIUS * up - arm + Rotation.from_rotvec(np.outer(turn * run.time.values, [0, 0, 1])).apply(arm)
    assert np.abs(run.position.sel(body="disc").values - expected).max() < TOLERANCE
    assert run.constraint_violation.values.max() < 1e-11


def lean_eigenvalue_squared(speed):
    """Of the lean of a disc that rolls straight: s^2 = (A m g r - C (C + m r^2) v^2/r^2) / (A (A + m r^2))."""
    spin = AXIAL * (AXIAL + MASS * RADIUS**2) * (speed / RADIUS) ** 2
    return (ACROSS * MASS * GRAVITY * RADIUS - spin) / (ACROSS * (ACROSS + MASS * RADIUS**2))


def largest_squared(speed):
    s = da.modes(rolling(speed), None, at="design").eigenvalue.values
    found = s[np.argmax(np.abs(s))] ** 2
    assert abs(found.imag) < 1e-9
    return float(found.real)


@pytest.mark.parametrize("speed", [0.3, 0.9, 1.1, 3.0])
def test_the_lean_of_a_disc_that_rolls_straight(speed):
    assert largest_squared(speed) == pytest.approx(lean_eigenvalue_squared(speed), rel=1e-9)
    found = da.modes(rolling(speed), None, at="design")
    assert found.unstable_modes == (1 if speed < np.sqrt(GRAVITY * RADIUS / 3) else 0)


def test_the_critical_speed_of_a_disc():
    """s^2 is linear in v^2: its zero from two speeds is g r/3."""
    one, two = (largest_squared(speed) for speed in (0.5, 2.0))
    critical = 0.25 - one * (4.0 - 0.25) / (two - one)
    assert critical == pytest.approx(GRAVITY * RADIUS / 3, rel=1e-9)


def on_a_spring(stiffness=50.0):
    model = disc()
    model.spring("spring", model.ground, "disc", at=(-1, 0, RADIUS), at_driven=(0, 0, RADIUS), stiffness=stiffness)
    return model


def test_a_disc_on_a_spring_rolls_to_and_fro_and_falls_over():
    """s^2 = -k/(m + C/r^2) of the rolling, + m g r/(A + m r^2) of the fall; three ways to put it elsewhere."""
    found = da.modes(on_a_spring(), None)
    s = found.eigenvalue.values
    assert s[s.imag > 1.0][0] == pytest.approx(1j * np.sqrt(50.0 / (MASS + AXIAL / RADIUS**2)), abs=1e-9)
    assert s.real.max() == pytest.approx(np.sqrt(MASS * GRAVITY * RADIUS / (ACROSS + MASS * RADIUS**2)), rel=1e-9)
    assert (found.neutral_modes, found.unstable_modes) == (3, 1)


@pytest.mark.parametrize("model", [on_a_spring(), rolling(1.3)], ids=["at rest", "rolling"])
def test_the_state_space_answers_as_the_sparse_pencil_does(model):
    at = "design" if "spring" not in model.forces else "equilibrium"
    outputs = ["disc.x", "disc.y", "disc.vx", "disc.wx", "contact.Fx", "contact.Fz"]
    lin = da.linearize(model, inputs=["disc.Fx", "disc.Fy", "disc.Tx"], outputs=outputs, at=at)
    hertz = np.array([0.3, 1.0, 4.0])
    response = da.frequency_response(lin, hertz)
    for k, f in enumerate(hertz):
        s = 2j * np.pi * f
        A, B, C, D = lin.state_space()
        expected = C @ np.linalg.solve(s * np.eye(len(A)) - A, B) + D
        ours = response.response.isel(frequency=k).transpose("output", "input").values
        assert np.allclose(ours, expected, rtol=1e-8, atol=1e-10)
    s = da.modes(model, None, at=at).eigenvalue.values
    largest = np.abs(np.linalg.eigvals(lin.A)).max()
    assert largest == pytest.approx(np.abs(s).max(), rel=1e-9)


def test_a_wheel_that_may_slip_sideways_slides():
    """Without the row sideways an upright disc that is pushed sideways keeps its speed, and rolls as before."""
    model = disc(velocity=(1.0, 0.7, 0), rate=(0, 1.0 / RADIUS, 0), rows=("normal", "rolling"))
    run = run_of(model, 0.2)
    assert np.abs(run.velocity.sel(body="disc").values[:, 1] - 0.7).max() < 1e-9
    gripping = disc(velocity=(1.0, 0.7, 0), rate=(0, 1.0 / RADIUS, 0))
    assert np.abs(da.assemble(da.build(gripping)).v[1]) < 0.7  # the nearest velocity that does not slip sideways


def test_a_wheel_with_a_tyre_rolls_as_far_as_its_radius_says():
    model = da.Model("tyre")
    model.body("wheel", mass=1.0, inertia=(0.1, 0.2, 0.1), position=(0, 0, 0.5), velocity=(1, 0, 0), angular_velocity=(0, 2, 0))
    model.rolling_wheel("contact", "ground", "wheel", axis=(0, 0, 1), at_driven=(0, 0, 0.5), axis_driven=(0, 1, 0),
                        radius=0.5, crown_radius=0.1)  # fmt: skip
    run = run_of(model, 1.0)
    assert np.abs(run.position.sel(body="wheel", axis="x").values - run.time.values).max() < 1e-12


# --- spheres -------------------------------------------------------------------------------------------------------------

TURNTABLE = 3.0  # rad/s


def ball_on_turntable():
    model = da.Model("turntable", gravity=(0, 0, -GRAVITY))
    model.body("table", mass=5.0, inertia=(1, 1, 2), angular_velocity=(0, 0, TURNTABLE))
    model.revolute("axle", model.ground, "table", axis=(0, 0, 1))
    model.motion("turn", "axle", "angle", da.Ramp(slope=TURNTABLE))
    radius, velocity, place = 0.1, np.array([0.2, 0.1, 0.0]), np.array([0.5, 0.2, 0.1])
    slip = velocity - np.cross([0, 0, TURNTABLE], place)  # of the centre against the table: w x (-r k) makes up for it
    rate = np.cross([0, 0, 1], slip) / radius + np.array([0, 0, 0.7])
    model.body("ball", mass=1.0, inertia=(0.4 * radius**2,) * 3, position=place, velocity=velocity, angular_velocity=rate)
    model.rolling_sphere("contact", "table", "ball", axis=(0, 0, 1), at_driven=place, radius=radius)
    return model, place, velocity


@pytest.mark.parametrize("method", ["dopri5", "generalized_alpha"])
def test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate(method):
    """v' = 2/7 Omega k x v, whatever spins: circles, about a centre that the start chooses."""
    if JIT_DISABLED and method != "dopri5":
        pytest.skip("takes long as plain Python")
    model, place, velocity = ball_on_turntable()
    step = {} if method == "dopri5" else {"method": method, "step": 1e-3, "rtol": None, "atol": None}
    run = run_of(model, 5.0 if method == "dopri5" else 1.0, **step)
    w = 2.0 / 7.0 * TURNTABLE
    turn = Rotation.from_rotvec(np.outer(w * run.time.values, [0, 0, 1]))
    arm = -np.cross([0, 0, 1], velocity) / w  # from the centre of the circle to the ball
    expected = place - arm + turn.apply(arm)
    tolerance = TOLERANCE if method == "dopri5" else 1e-5
    assert np.abs(run.position.sel(body="ball").values - expected).max() < tolerance
    spin = run.angular_velocity.sel(body="ball").values
    inside = Rotation.from_quat(np.roll(run.orientation.sel(body="ball").values, -1, axis=1))
    assert np.abs(inside.apply(spin)[:, 2] - 0.7).max() < tolerance  # nothing turns it about the normal


# --- Pfaffian rows -------------------------------------------------------------------------------------------------------


def test_a_pfaffian_row_of_one_coefficient_is_a_knife_edge():
    model = sleigh(0.4, speed=0.3)
    del model.joints["blade"]
    model.pfaffian("blade", model.ground, "sleigh", at=(-0.4, 0, 0), coefficients=(0, 1, 0, 0, 0, 0))
    one, two = (run_of(each, 2.0) for each in (sleigh(0.4, speed=0.3), model))
    assert np.abs(one.position.values - two.position.values).max() < 1e-12
    assert da.build(model).layout.rows[0] == "blade.velocity"


def test_a_drill_advances_as_it_turns():
    """u_x = p w_x on a body that only turns about x: the torque shares its work between spin and advance, J + m p^2."""
    pitch, torque = 0.02, 0.5
    model = da.Model("drill")
    model.body("drill", mass=3.0, inertia=(0.01, 0.02, 0.02))
    model.cylindrical("sleeve", model.ground, "drill", axis=(1, 0, 0))
    model.pfaffian("thread", model.ground, "drill", coefficients=(1, 0, 0, -pitch, 0, 0))
    model.load("motor", "drill", torque=(torque, 0, 0))
    run = run_of(model, 1.0)
    angle = 0.5 * torque / (0.01 + 3.0 * pitch**2) * run.time.values**2
    assert np.abs(run.position.sel(body="drill", axis="x").values - pitch * angle).max() < TOLERANCE
    force, moment = run.joint_force.sel(joint="thread").values[-1], run.joint_torque.sel(joint="thread").values[-1]
    assert force[0] == pytest.approx(3.0 * pitch * torque / (0.01 + 3.0 * pitch**2), rel=1e-10)
    assert moment[0] == pytest.approx(-pitch * force[0], rel=1e-10)  # it does no work


def test_a_ball_that_may_not_spin_rolls_straight():
    """Rubber rolling: with the row ``n . w = 0`` besides, a ball loses what spin it is drawn with and rolls on."""
    radius = 0.1
    model = da.Model("rubber ball", gravity=(0, 0, -GRAVITY))
    spin = {"velocity": (1.0, 0, 0), "angular_velocity": (0, 1.0 / radius, 3.0)}
    model.body("ball", mass=1.0, inertia=(0.4 * radius**2,) * 3, position=(0, 0, radius), **spin)
    model.rolling_sphere("contact", model.ground, "ball", axis=(0, 0, 1), at_driven=(0, 0, radius), radius=radius)
    model.pfaffian("no spin", "ball", model.ground, coefficients=(0, 0, 0, 0, 0, 1))  # axes of the driven one: the ground
    run = run_of(model, 1.0)
    assert np.abs(run.position.sel(body="ball", axis="x").values - run.time.values).max() < TOLERANCE
    assert da.reactions(model).degree_of_redundancy == 0


# --- formulas ------------------------------------------------------------------------------------------------------------

FORMULAS = {
    "blade": "R12*vx + R22*vy + R32*vz",
    "driven in time": "vx*cos(t) + wy*x*sin(2*t) - 0.3*t",
    "between two": "R11_*(vx - vx_) + R21_*(vy - vy_) + wz*(x - x_)**2 - R33*wx_",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_derivatives_of_formulas(name):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        model = two_bodies(rng)
        model.velocity_row("row", FORMULAS[name], "two" if name == "between two" else model.ground, "one")
        for what, error in errors(da.build(model), rng).items():
            assert error < 1e-8, (what, error)


@pytest.mark.parametrize("method", ["dopri5", "generalized_alpha"])
def test_a_blade_as_a_formula_is_the_blade(method):
    import sympy as sp

    R12, R22, R32, vx, vy, vz = sp.symbols("R12 R22 R32 vx vy vz", real=True)
    model = sleigh(gravity=SLOPE)
    del model.joints["blade"]
    model.velocity_row("blade", R12 * vx + R22 * vy + R32 * vz, model.ground, "sleigh")
    step = {} if method == "dopri5" else {"method": method, "step": 0.01, "rtol": None, "atol": None}
    one, two = (run_of(each, 1.0, **step) for each in (sleigh(gravity=SLOPE), model))
    assert np.abs(one.position.values - two.position.values).max() < 1e-10
    assert da.reactions(model).unique == {"blade": True}


@pytest.mark.parametrize(("formula", "message"), [
    ("vx**2", "it is not linear in the velocities"),
    ("x + t", "it restricts no velocity"),
    ("vx + speed", "unknown"),
])  # fmt: skip
def test_formulas_that_make_no_row_are_refused(formula, message):
    model = sleigh()
    with pytest.raises(da.ModelError, match=message):
        model.velocity_row("row", formula, model.ground, "sleigh")


def test_formulas_of_velocities_stay_out_of_files(tmp_path):
    model = sleigh()
    model.velocity_row("row", "vx", model.ground, "sleigh")
    with pytest.raises(da.ModelError, match="velocity row 'row': a file has no place"):
        da.save_model(model, tmp_path / "m.yaml")
    assert not list(tmp_path.iterdir())


# --- any contact ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["knife_edge", "rolling_wheel", "rolling_sphere", "pfaffian"])
def test_slip_does_not_change_when_the_whole_moves_as_a_rigid_body(kind):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        system = da.build(one_joint(rng, kind))
        t, q, v = random_state(rng, system)
        shift, turn = rng.normal(size=3), random_rotation(rng)
        drift, spin = rng.normal(size=(2, 3))  # a rigid motion of the whole has velocities, too
        moved_q, moved_v = q.copy(), v.copy()
        for k in range(2):
            R = Rotation.from_quat(np.roll(q[7 * k + 3 : 7 * k + 7], -1))
            place = shift + turn.apply(q[7 * k : 7 * k + 3])
            moved_q[7 * k : 7 * k + 3] = place
            moved_q[7 * k + 3 : 7 * k + 7] = np.roll((turn * R).as_quat(), 1)
            moved_v[6 * k : 6 * k + 3] = turn.apply(v[6 * k : 6 * k + 3]) + drift + np.cross(spin, place)
            moved_v[6 * k + 3 : 6 * k + 6] += (turn * R).inv().apply(spin)
        one, two = (system.velocity_residual(t, *state) for state in ((q, v), (moved_q, moved_v)))
        assert relative(one, two) < 1e-12


def test_the_trace_of_the_contact_point_has_the_length_that_was_rolled():
    """A wheel on a curved way: the way of the contact point on the ground is as long as that on the rim."""
    model = disc(centre=RADIUS * np.array([0, -np.sin(0.2), np.cos(0.2)]), orientation=Rotation.from_rotvec([0.2, 0, 0]),
                 velocity=(2, 0, 0), rate=(0, 2 / RADIUS, 0.5))  # fmt: skip
    run = da.simulate(model, duration=0.5, output_step=1e-3, method="dopri5", rtol=1e-10, atol=1e-11)
    places, q = run.position.sel(body="disc").values, run.orientation.sel(body="disc").values
    axles = Rotation.from_quat(np.roll(q, -1, axis=1)).apply([0, 1, 0])
    heading = np.cross(axles, [0, 0, 1])
    heading /= np.linalg.norm(heading, axis=1, keepdims=True)
    down = np.cross(axles, heading)  # in the plane of the disc
    contact = places + RADIUS * down
    assert np.abs(contact[:, 2]).max() < 1e-12
    way = np.linalg.norm(np.diff(contact, axis=0), axis=1).sum()
    # on the rim: rate about the axle, less the turn of the heading about it
    rates = Rotation.from_quat(np.roll(q, -1, axis=1)).apply(run.angular_velocity.sel(body="disc").values)
    turn_rate = np.gradient(np.unwrap(np.arctan2(heading[:, 1], heading[:, 0])), run.time.values)
    rim = np.einsum("ij,ij->i", rates, axles) - turn_rate * axles[:, 2]
    rolled = RADIUS * cumulative_simpson(np.abs(rim), x=run.time.values)[-1]
    assert way == pytest.approx(rolled, rel=1e-4)
