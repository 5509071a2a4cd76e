"""State spaces and frequency responses against closed forms and against each other."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as da

MASS, STIFFNESS, DAMPING = 2.0, 200.0, 3.0


def oscillator(**more):
    model = da.Model("oscillator")
    model.body("mass", mass=MASS, inertia=(1, 1, 1), position=(1, 0, 0))
    model.prismatic("rail", "ground", "mass", at=(1, 0, 0), axis=(1, 0, 0))
    model.spring("spring", "ground", "mass", at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=STIFFNESS, damping=DAMPING, **more)
    return model


def shaken():
    """The same on a carriage whose place is prescribed."""
    model = da.Model("shaken oscillator")
    model.body("carriage", mass=5.0, inertia=(1, 1, 1))
    model.body("mass", mass=MASS, inertia=(1, 1, 1), position=(1, 0, 0))
    model.prismatic("track", "ground", "carriage", axis=(1, 0, 0))
    model.prismatic("rail", "carriage", "mass", at=(1, 0, 0), axis=(1, 0, 0))
    model.spring("spring", "carriage", "mass", at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=STIFFNESS, damping=DAMPING)
    model.motion("shaker", "track", "distance", da.Constant(0.0))
    return model


HERTZ = np.array([0.0, 0.4, 1.5, 1.6, 4.0])
S = 2j * np.pi * HERTZ


def test_the_response_of_an_oscillator():
    answer = da.frequency_response(oscillator(), HERTZ, inputs=["mass.Fx"], outputs=["mass.x", "rail.distance_rate", "mass.vx"])
    expected = 1.0 / (MASS * S**2 + DAMPING * S + STIFFNESS)
    assert answer.response.sel(output="mass.x", input="mass.Fx").values == pytest.approx(expected, rel=1e-11)
    for rate in ("rail.distance_rate", "mass.vx"):
        assert answer.response.sel(output=rate, input="mass.Fx").values == pytest.approx(S * expected, rel=1e-11)
    assert len(answer.plot().axes) == 2


def test_shaking_the_ground_and_the_force_that_it_takes():
    transmitted = (DAMPING * S + STIFFNESS) / (MASS * S**2 + DAMPING * S + STIFFNESS)
    answer = da.frequency_response(shaken(), HERTZ, inputs=["shaker"], outputs=["mass.x", "mass.vx", "track.Fx"])
    assert answer.response.sel(output="mass.x", input="shaker").values == pytest.approx(transmitted, rel=1e-11)
    assert answer.response.sel(output="mass.vx", input="shaker").values == pytest.approx(S * transmitted, rel=1e-11)
    force = 5.0 * S**2 + MASS * S**2 * transmitted  # on the carriage
    assert answer.response.sel(output="track.Fx", input="shaker").values == pytest.approx(force, rel=1e-10, abs=1e-9)


def transfer(space, s):
    n = space.A.shape[0]
    return np.array([space.C @ np.linalg.solve(one * np.eye(n) - space.A, space.B) + space.D for one in s])


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        (["shaker"], ["mass.x", "rail.distance"]),
        (["shaker.acceleration"], ["mass.x", "mass.vx", "track.Fx", "rail.distance_rate"]),
        (["shaker.acceleration", "mass.Fx"], ["mass.vx", "rail.Fy", "track.Fx"]),
    ],
)
def test_the_state_space_has_the_response_of_the_pencil(inputs, outputs):
    lin = da.linearize(shaken(), inputs=inputs, outputs=outputs)
    answer = da.frequency_response(lin, HERTZ[1:])
    assert transfer(lin.state_space(), S[1:]) == pytest.approx(answer.response.values, rel=1e-9, abs=1e-12)


def test_a_velocity_while_a_coordinate_is_prescribed_has_no_state_space():
    with pytest.raises(da.ModelError, match=r"take 'shaker\.acceleration' as the input"):
        da.linearize(shaken(), inputs=["shaker"], outputs=["carriage.vx"]).state_space()


def test_reactions_of_a_swinging_rod():
    """A rod on a hinge under a small torque T: horizontal force of the hinge -m l a + ..., from Newton's law."""
    mass, half, g = 3.0, 0.5, 9.81
    model = da.Model("rod", gravity=(0, 0, -g))
    model.body("rod", mass=mass, inertia=da.inertia.rod(mass, 2 * half, axis="z"), position=(0, 0, -half))
    model.revolute("hinge", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0))
    inertia = mass * (2 * half) ** 2 / 3
    answer = da.frequency_response(model, HERTZ, inputs=["hinge.angle"], outputs=["hinge.angle", "rod.ry", "rod.x", "hinge.Fy"])
    angle = 1.0 / (inertia * S**2 + mass * g * half)
    assert answer.response.sel(output="hinge.angle").values[:, 0] == pytest.approx(angle, rel=1e-10)
    assert answer.response.sel(output="rod.ry").values[:, 0] == pytest.approx(angle, rel=1e-10)
    x = -half * angle
    assert answer.response.sel(output="rod.x").values[:, 0] == pytest.approx(x, rel=1e-10)
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # F2: its y axis is the world's -x axis
    expected = R[0, 1] * mass * S**2 * x
    assert answer.response.sel(output="hinge.Fy").values[:, 0] == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_loads_joint_loads_and_frames_as_inputs():
    model = oscillator()
    model.frame("nose", "mass", at=(1.5, 0, 0), orientation=Rotation.from_euler("z", 30, degrees=True))
    model.load("wind", "mass", force=(3.0, 4.0, 0.0), law=da.Harmonic(amplitude=1.0, frequency=2.0))
    model.joint_load("motor", "rail", da.Harmonic(amplitude=1.0, frequency=2.0), coordinate="distance")
    names = ["wind", "motor", "nose.Fx", "rail.distance", "nose.Tz"]
    answer = da.frequency_response(model, [0.0], inputs=names, outputs=["nose.x"])
    assert answer.response.values[0, 0].real == pytest.approx(np.array([3.0, 1.0, 1.0, 1.0, 0.0]) / STIFFNESS)


def test_a_redundant_linkage_has_a_response_and_unique_outputs():
    """A mass on two parallel rails."""
    model = oscillator()
    model.prismatic("second rail", "ground", "mass", at=(1, 1, 0), axis=(1, 0, 0))
    answer = da.frequency_response(model, HERTZ, inputs=["mass.Fx"], outputs=["mass.x"])
    assert answer.response.values[:, 0, 0] == pytest.approx(1.0 / (MASS * S**2 + DAMPING * S + STIFFNESS), rel=1e-9)
    lin = da.linearize(model, inputs=["mass.Fx"], outputs=["mass.x"])
    assert lin.A.shape == (2, 2)


def test_rates_about_a_steady_motion():
    """A torque on the housing of a spinning disc: tilt rates by gyroscopic coupling, I w' + Ip W (x turn) w + k tilt = T."""
    Ip, Id, k, speed = 0.3, 0.2, 400.0, 50.0
    model = da.Model("rotor")
    model.body("housing", mass=1.0, inertia=(0.05, 0.05, 0.05))
    model.body("rotor", mass=5.0, inertia=(Ip, Id, Id), angular_velocity=(speed, 0, 0))
    model.bushing("mount", "ground", "housing", at=(0, 0, 0), stiffness=(9e4, 9e4, 9e4, k, k, k))
    model.revolute("bearing", "housing", "rotor", axis=(1, 0, 0))
    names = {"inputs": ["housing.Ty"], "outputs": ["housing.wy", "housing.wz", "rotor.wz"]}
    answer = da.frequency_response(model, HERTZ[1:], at="design", **names)
    inertia, gyro = Id + 0.05, Ip * speed
    for n, s in enumerate(S[1:]):
        matrix = np.array([[inertia * s**2 + k, gyro * s], [-gyro * s, inertia * s**2 + k]])
        tilt = np.linalg.solve(matrix, [1.0, 0.0])
        assert answer.response.values[n, :2, 0] == pytest.approx(s * tilt, rel=1e-8, abs=1e-12)
        turned_spin = s * tilt[1] - speed * tilt[0]  # the spin tilts along
        assert answer.response.values[n, 2, 0] == pytest.approx(turned_spin, rel=1e-8, abs=1e-12)


def test_scipy_takes_a_linearisation_and_control_is_asked_for():
    lin = da.linearize(oscillator(), inputs=["mass.Fx"], outputs=["mass.x"])
    poles = np.sort_complex(np.linalg.eigvals(lin.to_scipy().A))
    assert poles == pytest.approx(np.sort_complex(np.roots([MASS, DAMPING, STIFFNESS])))
    try:
        import control  # noqa: F401
    except ImportError:
        with pytest.raises(da.ModelError, match="pip install control"):
            lin.to_control()
    with pytest.raises(da.ModelError, match="it has no inputs"):
        da.linearize(oscillator(), outputs=["mass.x"]).to_scipy()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"inputs": ["mas.Fx"]}, r"input 'mas\.Fx'.*did you mean 'mass\.Fx'"),
        ({"outputs": ["rail.distanc"]}, r"did you mean 'rail\.distance'"),
        ({"inputs": ["spring"]}, "it is not a load"),
        ({"at": "somewhere"}, "unknown place"),
    ],
)
def test_unknown_signals_are_refused(arguments, text):
    with pytest.raises(da.ModelError, match=text):
        da.linearize(oscillator(), **arguments)


def test_an_undamped_resonance_is_refused_or_huge():
    model = da.Model("free mass")
    model.body("mass", mass=1.0, inertia=(1, 1, 1))
    model.prismatic("rail", "ground", "mass", axis=(1, 0, 0))
    with pytest.raises(da.SolveError, match="the response at 0 Hz is infinite"):
        da.frequency_response(model, [0.0], inputs=["mass.Fx"], outputs=["mass.x"])
