"""Cantilevers of 10, 100 and 1000 elements beside exudyn's geometrically exact beam; accuracy of beams against closed forms.

A steel cantilever of 1 m x 20 mm x 10 mm. Static: a tip force of 3 EI/L^2, which bends it to a slope of 60 degrees; exudyn in the
fewest load steps with which it converges. Dynamic: a body force of 8 EI/(m L^3) is switched on, 0.05 s in 500 steps, generalized-alpha with a spectral
radius of 0.9, one thread. Both elements are of second order; the error of the tip is against Richardson's extrapolation.
"""

import time
import warnings

import numpy as np

import beam_cases as cases
import dalembert as da

SECTION = da.section.Rectangle(width=0.02, height=0.01, youngs_modulus=2.1e11, poisson_ratio=0.3, density=7850.0)
EI, MASS = SECTION.stiffness_matrix[4, 4], SECTION.mass_per_length
FORCE, FIELD = 3.0 * EI, 8.0 * EI / MASS
STEPS, STEP = 500, 1e-4


def best(call, times=3):
    """Return the shortest time [s] and the last result."""
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds), result


# --- ours ----------------------------------------------------------------------------------------------------------------


def our_model(n, *, dynamic):
    model = da.Model("cantilever", gravity=(0, 0, FIELD if dynamic else 0.0))
    beam = model.beam("b", (0, 0, 0), (1, 0, 0), section=SECTION, elements=n, start_joint="fixed")
    if not dynamic:
        model.load("P", beam.nodes[-1], force=(0, 0, FORCE), at=beam.places[-1])
    return da.build(model), beam.places[-1]


def our_static(n):
    system, tip = our_model(n, dynamic=False)
    seconds, rest = best(lambda: da.equilibrium(system))
    return seconds, system.frame(tip, rest.state.q)[0]


def our_dynamic(n):
    system, tip = our_model(n, dynamic=True)
    control = {"method": "generalized_alpha", "step": STEP, "output_step": STEPS * STEP, "spectral_radius": 0.9}
    seconds, run = best(lambda: da.simulate(system, duration=STEPS * STEP, **control), 2)
    q = np.hstack([run.position.values[-1], run.orientation.values[-1]]).ravel()
    return seconds, system.frame(tip, q)[0]


# --- exudyn --------------------------------------------------------------------------------------------------------------


def exudyn_model(exu, eu, n, node, *, dynamic):
    mbs = exu.SystemContainer().AddSystem()
    data = exu.BeamSection()
    data.stiffnessMatrix, data.massPerLength = SECTION.stiffness_matrix, MASS
    data.inertia = SECTION.inertia_per_length
    turn = [1, 0, 0, 0] if node is eu.NodeRigidBodyEP else [0, 0, 0]
    nodes = [mbs.AddNode(node(referenceCoordinates=[k / n, 0, 0, *turn])) for k in range(n + 1)]
    for k in range(n):
        piece = eu.ObjectBeamGeometricallyExact(nodeNumbers=nodes[k : k + 2], length=1.0 / n, sectionData=data)
        number = mbs.AddObject(piece)
        if dynamic:
            marker = mbs.AddMarker(eu.MarkerBodyMass(bodyNumber=number))
            mbs.AddLoad(eu.LoadMassProportional(markerNumber=marker, loadVector=[0, 0, FIELD]))
    ground = mbs.AddMarker(eu.MarkerBodyRigid(bodyNumber=mbs.AddObject(eu.ObjectGround())))
    root, tip = (mbs.AddMarker(eu.MarkerNodeRigid(nodeNumber=k)) for k in (nodes[0], nodes[-1]))
    mbs.AddObject(eu.GenericJoint(markerNumbers=[ground, root], constrainedAxes=[1] * 6))
    if not dynamic:
        mbs.AddLoad(eu.Force(markerNumber=tip, loadVector=[0, 0, FORCE]))
    mbs.Assemble()
    return mbs, nodes[-1]


def exudyn_run(n, *, dynamic):
    """Return the time [s] and the tip of the faster of two kinds of nodes; in statics with the fewest load steps."""
    import exudyn as exu
    import exudyn.utilities as eu

    exu.config.printToConsole = False
    found = []
    for node in (eu.NodeRigidBodyEP, eu.NodeRigidBodyRotVecLG):
        if dynamic and node is eu.NodeRigidBodyRotVecLG:
            continue  # slower: 0.50 s for 10 elements against 0.18 s, 15 s for 100 against 2.2 s
        for load_steps in (1, 2, 5, 10, 20, 50):
            mbs, tip = exudyn_model(exu, eu, n, node, dynamic=dynamic)
            settings = exudyn_settings(exu, load_steps)
            begin = time.perf_counter()
            try:
                done = mbs.SolveDynamic(settings) if dynamic else mbs.SolveStatic(settings)
            except Exception:  # it says so by a ValueError
                done = False
            seconds = time.perf_counter() - begin
            if done is not False:
                found.append((seconds, np.array(mbs.GetNodeOutput(tip, exu.OutputVariableType.Position))))
                break
            if dynamic:
                break
    return min(found, key=lambda one: one[0]) if found else (float("nan"), np.full(3, np.nan))


def exudyn_settings(exu, load_steps):
    settings = exu.SimulationSettings()
    settings.staticSolver.numberOfLoadSteps = load_steps
    settings.timeIntegration.numberOfSteps = STEPS
    settings.timeIntegration.endTime = STEPS * STEP
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.linearSolver.reuseAnalyzedPattern = True
    settings.parallel.numberOfThreads = 1
    return settings


def compare(kind, ours, theirs):
    """Print seconds, seconds per element, errors and the ratio."""
    print(
        f"{kind:8s}{'elements':>9s}{'dalembert':>12s}{'exudyn':>12s}{'ratio':>8s}{'error':>11s}{'exudyn':>11s}   [s], tip [m]"
    )
    runs = {n: (ours(n), theirs(n)) for n in (10, 100, 1000)}
    exact = [(4.0 * ours(200)[1] - ours(100)[1]) / 3.0, (4.0 * theirs(200)[1] - theirs(100)[1]) / 3.0]
    for n, (mine, other) in runs.items():
        errors = [float(np.abs(run[1] - reference).max()) for run, reference in zip((mine, other), exact, strict=True)]
        print(
            f"{'':8s}{n:9d}{mine[0]:12.4f}{other[0]:12.4f}{other[0] / mine[0]:8.1f}{errors[0]:11.1e}{errors[1]:11.1e}",
            flush=True,
        )
    print(f"{'':8s}the two extrapolations differ by {np.abs(exact[0] - exact[1]).max():.1e} m")


def accuracy():
    """Print what tests assert: errors against elements, with the observed order."""

    def line(name, counts, values, exact):
        errors = np.array([value / exact - 1.0 for value in values])
        listed = "  ".join(f"{n:4d}: {error:9.2e}" for n, error in zip(counts, errors, strict=True))
        orders = ", ".join(f"{one:.2f}" for one in cases.order(errors)) if np.all(np.abs(errors) > 1e-9) else "exact"
        print(f"{name:46s}{listed}   order {orders}")

    for n in (4, 8, 20, 100):
        rest, tip, middle = cases.rolled_up(n)
        print(f"roll-up to a circle, {n:4d} elements: the tip misses the root by {np.abs(tip).max():.1e} m, diameter by "
              f"{middle[2] * np.pi - 1.0:9.2e} (polygon: {np.pi / n / np.sin(np.pi / n) - 1.0:9.2e}), {rest.iterations} iterations")  # fmt: skip
    counts = (4, 8, 16, 32)
    for alpha in (1.0, 10.0):
        values = [cases.bent_by_force(n, alpha)[1] for n in counts]
        line(f"elastica, P L^2/EI = {alpha:g}: deflection", counts, values, cases.elastica(alpha)[1])
    line("Euler load of a pinned beam", counts, [cases.euler_load(n) for n in counts], np.pi**2)
    line("lateral load of a cantilever, 4.0126", (4, 8, 16), [cases.lateral_load(n) for n in (4, 8, 16)], 4.0126)
    for kind, roots in cases.ROOTS.items():
        found = np.array([cases.frequencies(kind, n) for n in (8, 16, 32)])
        for k, root in enumerate(roots):
            line(f"{kind}: omega_{k + 1}", (8, 16, 32), found[:, k], root**2)
    for spin, published in cases.WRIGHT.items():
        coarse, fine = cases.rotating(8, spin)[0], cases.rotating(16, spin)[0]
        both = ", ".join(f"{(4 * b - a) / 3:.4f} ({p:.4f})" for a, b, p in zip(coarse, fine, published, strict=False))
        print(f"blade that rotates at {spin:4.1f}: omega, extrapolated (Wright et al. 1982): {both}")
    system, start = cases.flying()
    for step in (1e-3, 2e-4):
        run = da.simulate(system, duration=10.0, start=start, method="generalized_alpha", step=step, output_step=0.1)
        (linear, angular), energy = cases.momenta(system, run), (run.kinetic_energy + run.potential_energy).values
        drift = [np.abs(one - one[0]).max() / np.abs(one[0]).max() for one in (linear, angular, energy)]
        print(
            f"free flight, 10 s at {step:g} s: linear, angular momentum, energy change by {drift[0]:.1e}, {drift[1]:.1e}, {drift[2]:.1e}"
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    accuracy()
    compare("static", our_static, lambda n: exudyn_run(n, dynamic=False))
    compare("dynamic", our_dynamic, lambda n: exudyn_run(n, dynamic=True))
