"""Somebody's ODE, a DC motor and a free slider, becomes a slider-crank: three lines, any solver of SciPy.

y = {angle of the crank, place of the slider; their rates; current}. The current has nothing to do with mechanics and is left
alone. The rod is forgotten in `motor_and_slider`, and comes back as a constraint.
"""

import numpy as np
from scipy.integrate import solve_ivp

import dalembert as da

CRANK, ROD = 0.1, 0.3  # m
INERTIA, SLIDER = 2e-3, 0.4  # kg m2, kg
VOLTAGE, RESISTANCE, INDUCTANCE, CONSTANT = 24.0, 1.2, 5e-3, 0.35  # V, ohm, H, N m/A
FRICTION = 3.0  # N s/m, of the slider

START = np.array([0.5, CRANK * np.cos(0.5) + np.sqrt(ROD**2 - (CRANK * np.sin(0.5)) ** 2), 0.0, 0.0, 0.0])


def motor_and_slider(t, y):
    """Rates of the motor and of a slider that nothing drives."""
    _, _, spin, speed, current = y
    turning = CONSTANT * current / INERTIA
    charging = (VOLTAGE - RESISTANCE * current - CONSTANT * spin) / INDUCTANCE
    return np.array([spin, speed, turning, -FRICTION * speed / SLIDER, charging])


def rod(t, x):
    """Length of the rod less what it should be [m]."""
    angle, place = x
    return np.sqrt((place - CRANK * np.cos(angle)) ** 2 + (CRANK * np.sin(angle)) ** 2) - ROD


def main():
    """Print how far the rod is from its length, with and without projections."""
    ode = da.constrain(motor_and_slider, position=[0, 1], velocity=[2, 3], mass=[INERTIA, SLIDER], constraint=rod)
    bare = da.constrain(
        motor_and_slider, position=[0, 1], velocity=[2, 3], mass=[INERTIA, SLIDER], constraint=rod, projections=False
    )
    print("a motor drives a slider-crank for 2 s; largest error of the rod's length [m] and of its rate [m/s]; evaluations")
    for name in ("RK45", "DOP853", "Radau", "BDF", "LSODA"):
        row = f"{name:8s}"
        for label, one in (("projected", ode), ("index 1", bare)):
            run = solve_ivp(one, (0.0, 2.0), START, method=one.method(name), rtol=1e-6, atol=1e-8)
            states = one.project(run.t, run.y) if name == "LSODA" and one is ode else run.y
            gaps = np.array([one.violation(t, y) for t, y in zip(run.t, states.T, strict=True)]).max(axis=0)
            row += f"   {label}: {gaps[0]:.1e} {gaps[1]:.1e} ({run.nfev})"
        print(row)


if __name__ == "__main__":
    main()
