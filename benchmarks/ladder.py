"""The ladder of N four-bar linkages: posts and beams of 1 m and 1 kg in the x-y plane, all hinges in space, redundant."""

import numpy as np

import dalembert as da

GRAVITY, SPEED = 9.81, 1.0
RODS_INERTIA = (1e-4, 1 / 12, 1 / 12)  # along the rod, across


def rods_and_hinges(n):
    """Rods: middle, angle about z, velocity, rate; hinges: both bodies, point. The top moves at 1 m/s along x."""
    rods = {f"post {k}": ((k, 0.5, 0), np.pi / 2, (0.5 * SPEED, 0, 0), -SPEED) for k in range(n + 1)}
    rods |= {f"beam {k}": ((k + 0.5, 1, 0), 0.0, (SPEED, 0, 0), 0.0) for k in range(n)}
    hinges = {f"foot {k}": ("ground", f"post {k}", (k, 0, 0)) for k in range(n + 1)}
    for k in range(n):
        hinges[f"left {k}"] = (f"post {k}", f"beam {k}", (k, 1, 0))
        hinges[f"right {k}"] = (f"beam {k}", f"post {k + 1}", (k + 1, 1, 0))
    return rods, hinges


def ladder(n: int) -> da.Model:
    """The model: 6N + 3 redundant rows, one degree of freedom."""
    from scipy.spatial.transform import Rotation

    model = da.Model(f"ladder of {n}", gravity=(0, -GRAVITY, 0))
    rods, hinges = rods_and_hinges(n)
    for name, (middle, angle, velocity, rate) in rods.items():
        turn = Rotation.from_euler("z", angle)
        spin = {"velocity": velocity, "angular_velocity": (0, 0, rate)}
        model.body(name, mass=1.0, inertia=RODS_INERTIA, position=middle, orientation=turn, **spin)
    for name, (one, other, point) in hinges.items():
        model.revolute(name, one, other, at=point, axis=(0, 0, 1))
    return model


def angle_of_posts(n, duration):
    """Angle from the vertical, by the equation of motion of the one freedom, to 1e-12."""
    from scipy.integrate import solve_ivp

    mass = (n + 1) / 3 + n  # all posts turn about their feet, the beams move like their ends
    weight = GRAVITY * ((n + 1) / 2 + n)
    rates = lambda t, y: [y[1], weight / mass * np.sin(y[0])]  # noqa: E731
    return solve_ivp(rates, (0, duration), [0.0, SPEED], rtol=1e-12, atol=1e-12).y[0, -1]
