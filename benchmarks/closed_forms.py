"""Motion against closed forms: observed orders, long runs, a torque-free body, a heavy top, two runs bit by bit."""

import time

import numpy as np
from scipy.special import ellipj, ellipk

import dalembert as da
from dalembert.integrators.common import new_samples
from dalembert.integrators.explicit import ExplicitIntegrator
from dalembert.integrators.implicit import ImplicitIntegrator, generalized_alpha, hht_alpha

GRAVITY, START, MASS, HALF = 9.81, 1.2, 2.0, 0.5


def rod():
    """A slender rod on a hinge, released at 1.2 rad."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_euler("y", -START)
    model = da.Model("rod", gravity=(0, 0, -GRAVITY))
    inertia = da.inertia.rod(MASS, 2 * HALF, axis="z")
    model.body("rod", mass=MASS, inertia=inertia, position=turn.apply([0, 0, -HALF]), orientation=turn)
    model.revolute("hinge", model.ground, "rod", axis=(0, 1, 0))
    return da.build(model)


def state_of_rod(t):
    """Position, velocity and hinge force in the world: sin(angle/2) = k cd(omega t), k = sin(start/2)."""
    omega, k = np.sqrt(1.5 * GRAVITY / (2 * HALF)), np.sin(START / 2)
    sn, cn, _, _ = ellipj(ellipk(k**2) - omega * t, k**2)
    angle, rate = 2 * np.arcsin(k * sn), -2 * k * omega * cn
    acceleration = -(omega**2) * np.sin(angle)
    radial, tangential = np.array([np.sin(angle), 0, -np.cos(angle)]), np.array([np.cos(angle), 0, np.sin(angle)])
    a = HALF * (acceleration * tangential - rate**2 * radial)
    return HALF * radial, HALF * rate * tangential, MASS * (a + np.array([0, 0, GRAVITY]))


def errors(integrator, system):
    """Of position, velocity and reaction at 1 s."""
    integrator.start(0.0, system.design.q, system.design.v)
    out, filled = new_samples(system, 1), 0
    while filled == 0:
        filled = integrator.run_chunk(np.array([1.0]), out)
    position, velocity, force = state_of_rod(1.0)
    reaction = system.reaction("hinge", 1.0, out.q[0], out.lam[0]).force
    R = system.layout.joint_frames["hinge"][1]
    pairs = ((out.q[0, :3], position), (out.v[0, :3], velocity), (R @ reaction, force))
    return np.array([np.abs(x - y).max() for x, y in pairs])


def print_orders():
    print("observed order on the compound pendulum (elliptic functions): one halving of the step, four for dopri5")
    print(f"{'':38s}theory   position  velocity  reaction")
    system = rod()
    implicit = {
        "generalized-alpha, radius 0.9": generalized_alpha(0.9),
        "generalized-alpha, radius 0.5": generalized_alpha(0.5),
        "HHT, alpha -0.1": hht_alpha(-0.1),
        "HHT, alpha -0.3": hht_alpha(-0.3),
    }
    for label, c in implicit.items():
        for closing in (False, True):
            make = lambda h, c=c, x=closing: ImplicitIntegrator(  # noqa: E731
                system, step=h, coefficients=c, closing_projection=x, newton_tolerance=1e-12
            )
            orders = np.log2(errors(make(2e-3), system) / errors(make(1e-3), system))
            print_order(label + (", closed" if closing else ""), 2, orders)
    for formulation in ("projection", "index1", "baumgarte", "braun_goldfarb"):
        gains = {"alpha": 5.0, "beta": 5.0} if formulation == "braun_goldfarb" else {}
        make = lambda h, f=formulation, g=gains: ExplicitIntegrator(system, fixed_step=h, formulation=f, **g)  # noqa: E731
        print_order(f"dopri5, {formulation}", 5, np.log2(errors(make(0.04), system) / errors(make(0.0025), system)) / 4)
    print()


def print_order(label, theory, orders):
    print(f"  {label:38s}{theory}   " + "".join(f"{x:10.2f}" for x in orders))


def print_long_pendulum(duration=1e4):
    print(f"pendulum of Peng et al. 2024, section 4.1 (15 kg at 4 m, singular mass matrix), {duration:g} s")
    model = da.Model("pendulum", gravity=(0, 0, -GRAVITY))
    model.body("bob", mass=15.0, position=(2.0, 0, -np.sqrt(12.0)))
    model.revolute("hinge", model.ground, "bob", axis=(0, 1, 0))
    methods = {
        "generalized-alpha, h 0.01 s": {"step": 1e-2},
        "HHT, h 0.01 s": {"step": 1e-2, "method": "hht"},
        "dopri5, rtol 1e-6": {"rtol": 1e-6},
        "dopri5, rtol 1e-9": {"rtol": 1e-9},
    }
    for label, options in methods.items():
        run = da.simulate(model, duration=duration, output_step=10.0, **options)
        energy = run.kinetic_energy + run.potential_energy
        worst = [float(run.constraint_violation.sel(level=level).max()) for level in run.level.values]
        change, steps = float(energy[-1] - energy[0]), int(run.attrs["steps"])
        print(f"  {label:32s}{run.attrs['wall_time']:6.2f} s, {steps:8d} steps; energy {change:+.1e} of 78.9 J", end="")
        print("; violations" + "".join(f" {x:.0e}" for x in worst))
    print()


def print_free_body():
    """w = (a cn, b sn, c dn)(Omega t) for I1 < I2 < I3 (Landau, Lifshitz, Mechanics, section 37)."""
    inertia, w0 = np.array([1.0, 2.0, 3.0]), np.array([0.8, 0.0, 1.5])
    (I1, I2, I3), model = inertia, da.Model("free")
    model.body("body", mass=1.0, inertia=inertia, angular_velocity=w0)
    omega = np.sqrt((I3 - I2) * (I3 - I1) / (I1 * I2)) * w0[2]
    k2 = I1 * (I2 - I1) * w0[0] ** 2 / (I3 * (I3 - I2) * w0[2] ** 2)
    print("torque-free asymmetric body, 10 s, against elliptic functions: largest error of w [rad/s]")
    for label, options in (("dopri5, rtol 1e-10", {"rtol": 1e-10}), ("generalized-alpha, h 1e-3 s", {"step": 1e-3})):
        run = da.simulate(model, duration=10.0, output_step=0.1, **options)
        sn, cn, dn, _ = ellipj(omega * run.time.values, k2)
        b = w0[0] * np.sqrt(I1 * (I3 - I1) / (I2 * (I3 - I2)))
        exact = np.column_stack([w0[0] * cn, b * sn, w0[2] * dn])
        print(f"  {label:32s}{np.abs(run.angular_velocity.values[:, 0] - exact).max():.1e}")
    print()


def print_heavy_top():
    """A symmetric top on a ball joint keeps its energy, its spin and its angular momentum about the vertical."""
    mass, arm, inertia, spin = 1.0, 0.3, np.array([0.02, 0.02, 0.01]), 60.0
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_euler("y", 0.5)
    rate = spin * turn.apply([0, 0, 1])
    model = da.Model("top", gravity=(0, 0, -GRAVITY))
    place = {"position": turn.apply([0, 0, arm]), "orientation": turn}
    model.body("top", mass=mass, inertia=inertia, angular_velocity=rate, **place)
    model.spherical("tip", model.ground, "top", at=(0, 0, 0))
    print("heavy top, 60 rad/s, 10 s: largest relative change of energy, spin, vertical angular momentum")
    for label, options in (("dopri5, rtol 1e-9", {"rtol": 1e-9}), ("generalized-alpha, h 1e-4 s", {"step": 1e-4})):
        run = da.simulate(model, duration=10.0, output_step=0.05, **options)
        energy = (run.kinetic_energy + run.potential_energy).values
        w, p, v = (run[name].values[:, 0] for name in ("angular_velocity", "position", "velocity"))
        turns = Rotation.from_quat(run.orientation.values[:, 0], scalar_first=True)
        momentum = turns.apply(w * inertia)[:, 2] + mass * np.cross(p, v)[:, 2]
        changes = [np.abs(x - x[0]).max() / abs(x[0]) for x in (energy, w[:, 2], momentum)]
        print(f"  {label:32s}" + " ".join(f"{x:.1e}" for x in changes))
    print()


def print_repeat():
    """Two runs of one model give the same bits."""
    from chains import chain

    for options in ({"rtol": 1e-6}, {"step": 1e-3}):
        begin = time.perf_counter()
        one, other = (da.simulate(chain(8), duration=1.0, **options) for _ in range(2))
        same = all(one[name].values.tobytes() == other[name].values.tobytes() for name in one.variables)
        print(f"two runs of a chain of 8 links, {one.attrs['method'].split(',')[0]}: identical bits: {same}", end="")
        print(f" ({time.perf_counter() - begin:.1f} s)")
    print()


if __name__ == "__main__":
    print_orders()
    print_long_pendulum()
    print_free_body()
    print_heavy_top()
    print_repeat()
