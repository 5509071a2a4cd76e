"""Edges, wheels and spheres next to closed forms; singular positions next to their times: largest deviations, printed."""

import numpy as np
from scipy.spatial.transform import Rotation

import dalembert as da
from analysis import test_singularities as singular
from elements import test_nonholonomic as rolling


def line(what, deviation, allowed):
    print(f"  {what:72s}{deviation:10.1e}   ({allowed:.0e})")


def sleighs():
    run = rolling.run_of(rolling.sleigh(gravity=rolling.SLOPE), 3.0)
    t = run.time.values
    path = np.abs(run.position.values[:, 0, :2] - rolling.cycloid(t)).max()
    line("knife edge on a slope, cycloid, 3 s [m]", path, 1e-8)
    force = run.joint_force.values[:, 0, 1] - 4.0 * rolling.SLOPE * np.sin(2.0 * t)
    line("its force sideways [N]", np.abs(force).max(), 1e-8)
    offset, rate, speed = 0.4, 2.0, 0.3
    run = rolling.run_of(rolling.sleigh(offset, speed=speed, rate=rate), 3.0)
    k = np.sqrt(offset**2 + 0.15)
    A = np.hypot(speed, k * rate)
    s = A * offset * run.time.values / k**2 + np.arctanh(speed / A)
    line("Chaplygin's sleigh, rate [rad/s]", np.abs(rolling.turned(run, "sleigh")[1] - A / k / np.cosh(s)).max(), 1e-8)


def discs():
    run = rolling.run_of(rolling.disc(gravity=(rolling.SLOPE, 0, -9.81 * np.cos(0.3))), 1.0)
    x = run.position.sel(body="disc", axis="x").values
    line("disc down a slope, 2/3 g sin, 1 s [m]", np.abs(x - rolling.SLOPE * run.time.values**2 / 3).max(), 1e-8)
    speeds = (0.5, 2.0)
    one, two = (rolling.largest_squared(speed) for speed in speeds)
    critical = speeds[0] ** 2 - one * (speeds[1] ** 2 - speeds[0] ** 2) / (two - one)
    exact = 9.81 * rolling.RADIUS / 3
    print(f"  critical speed of a disc: {np.sqrt(critical):.12f} m/s, sqrt(g r/3) = {np.sqrt(exact):.12f} m/s")
    for factor in (0.99, 1.01):
        found = da.modes(rolling.rolling(factor * np.sqrt(exact)), None, at="design")
        print(f"  at {factor:.2f} of it: {found.unstable_modes} unstable mode(s)")


def ball():
    model, place, velocity = rolling.ball_on_turntable()
    run = rolling.run_of(model, 5.0)
    w = 2.0 / 7.0 * rolling.TURNTABLE
    arm = -np.cross([0, 0, 1], velocity) / w
    expected = place - arm + Rotation.from_rotvec(np.outer(w * run.time.values, [0, 0, 1])).apply(arm)
    deviation = np.abs(run.position.sel(body="ball").values - expected).max()
    line("ball on a turntable, circle at 2/7 of its rate, 5 s [m]", deviation, 1e-8)


def passes():
    run = da.simulate(singular.parallelogram(), duration=6.0, output_step=0.05, **singular.EXPLICIT)
    turn = np.abs(run.orientation.sel(body="bar").values[:, 2]).max()
    times = [one.time for one in da.reactions_along(singular.parallelogram(), run).singular]
    line("parallelogram through six flat positions: turn of the bar", turn, 1e-6)
    line("times of the singular positions found [s]", np.abs(np.array(times) - singular.FLAT).max(), 1e-4)
    run = da.simulate(singular.slider_crank(), duration=3.0, output_step=0.05, **singular.IMPLICIT)
    for one, exact in zip(da.reactions_along(singular.slider_crank(), run).singular, singular.DEAD, strict=True):
        print(f"  slider-crank: {one}   exact {exact:.6f} s")
    try:
        da.simulate(singular.slider_crank(), duration=3.0, output_step=0.05, **singular.EXPLICIT)
    except da.SolveError as error:
        print(f"  without inertia's help: {error}")


if __name__ == "__main__":
    print("largest deviation from the closed form (wanted)")
    sleighs()
    discs()
    ball()
    passes()
    print()
