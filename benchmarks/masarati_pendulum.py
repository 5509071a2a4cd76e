"""Masarati 2011, section 4.1: the pendulum from the horizontal, four ways to treat its constraint, two tolerances.

P. Masarati, Adding kinematic constraints to purely differential dynamics, Comput. Mech. 47 (2011) 187-203. The paper prints
curves and few figures: about 200 and 850 steps (nearly twice for Braun and Goldfarb, with alpha = beta = 1/dt, which leaves dt
open: with the first step, 0.01 s, it is much stiffer than that; with 0.05 s it is about twice), the constraint met to 1e-12,
less than 1e-4 of the energy lost per period. The column "check" holds what an independent program (plain NumPy, the positions
of the stages projected, too) gave: it needs 102 steps at the loose tolerance, where only the largest step of 0.1 s counts.

    python benchmarks/masarati_pendulum.py
"""

import numpy as np

import dalembert as da
from dalembert.integrators.common import new_samples
from dalembert.integrators.explicit import ExplicitIntegrator

MASS, LENGTH, GRAVITY, DURATION = 1.0, 1.0, 9.81, 10.0
LOOSE, TIGHT = {"rtol": 1e-3, "atol": 1e-6}, {"rtol": 1e-9, "atol": 1e-9}
STEPS = {"max_step": 0.1, "first_step": 0.01}
EXACT_END = (0.275087462576122, -0.9614192050991236)  # x, z at 10 s, by elliptic functions

RUNS = {
    "projection": {"formulation": "projection"},
    "projection, W = I": {"formulation": "projection", "weights": "identity"},
    "projection, also of stages": {"formulation": "projection", "project_stages": True},
    "index1 (baseline)": {"formulation": "index1"},
    "baumgarte (2, 2)": {"formulation": "baumgarte", "alpha": 2.0, "beta": 2.0},
    "braun_goldfarb, dt 0.05 s": {"formulation": "braun_goldfarb", "alpha": 20.0, "beta": 20.0},
    "braun_goldfarb, dt 0.01 s": {"formulation": "braun_goldfarb"},
}

PRINTED_STEPS = {"loose": "200", "tight": "850"}
CHECK = {  # steps, largest error of the length, energy at the end
    ("projection, also of stages", "loose"): ("102", "<1e-12", "+6.7e-03"),
    ("projection, also of stages", "tight"): ("877", "<1e-12", "-2.5e-08"),
    ("index1 (baseline)", "loose"): ("102", "1.1e-02", "-1.4e-01"),
    ("index1 (baseline)", "tight"): ("843", "7.5e-09", "+2.0e-08"),
    ("baumgarte (2, 2)", "tight"): ("849", "", "-9.3e-08"),
}


def pendulum():
    """A point mass on a massless rod; its axes stay parallel to the world's."""
    model = da.Model("pendulum", gravity=(0, 0, -GRAVITY))
    model.body("bob", mass=MASS, position=(LENGTH, 0, 0))
    model.distance("rod", model.ground, "bob", at=(0, 0, 0), at_driven=(LENGTH, 0, 0))
    model.same_orientation("no spin", model.ground, "bob")
    return da.build(model)


def run(tolerances, **options):
    """Return the statistics and the states at the end of every step."""
    system = pendulum()
    integrator = ExplicitIntegrator(system, **tolerances, **STEPS, **options)
    integrator.start(0.0, system.design.q, system.design.v)
    states = [(system.design.q, system.design.v)]
    end = new_samples(system, 1)
    while integrator.run_chunk(np.array([DURATION]), end, 1) == 0:
        state = integrator.checkpoint()
        states.append((state["q"], state["v"]))
    return integrator.statistics, np.array([q for q, _ in states]), np.array([v for _, v in states]), end


def figures(tolerances, **options):
    """Steps, rejected, evaluations; largest errors of length and radial velocity; energy and error of the place at the end."""
    statistics, q, v, end = run(tolerances, **options)
    length = np.linalg.norm(q[:, :3], axis=1)
    radial = np.abs(np.sum(q[:, :3] * v[:, :3], axis=1)) / length
    energy = MASS * (0.5 * end.v[0, :3] @ end.v[0, :3] + GRAVITY * end.q[0, 2])
    place = np.hypot(end.q[0, 0] - EXACT_END[0] * LENGTH, end.q[0, 2] - EXACT_END[1] * LENGTH)
    counts = tuple(int(statistics[name]) for name in ("steps", "rejected_steps", "evaluations"))
    return *counts, np.abs(length - LENGTH).max(), radial.max(), energy, place


def main():
    print("pendulum of Masarati 2011, section 4.1, 10 s; errors at the ends of steps, energy and place at 10 s")
    for label, tolerances in (("loose", LOOSE), ("tight", TIGHT)):
        print(f"\nrtol {tolerances['rtol']:g}, atol {tolerances['atol']:g}: the paper needs about {PRINTED_STEPS[label]} steps")
        columns = "  steps  rejected  rates    length   radial v    energy     place        check:    length    energy"
        print(" " * 28 + columns)
        for name, options in RUNS.items():
            steps, rejected, rates, length, radial, energy, place = figures(tolerances, **options)
            check = "".join(f"{text:>10s}" for text in CHECK.get((name, label), ()))
            ours = f"{steps:7d}{rejected:10d}{rates:7d}{length:10.1e}{radial:11.1e}{energy:+10.1e}{place:10.1e}"
            print(f"{name:28s}{ours}    {check}")


if __name__ == "__main__":
    main()
