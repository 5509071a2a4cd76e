"""Equilibrium from the V and the ten lowest modes of hanging chains: iterations, time, memory, against known figures.

Thin links: 1 kg/m between (0, 0) and (10, 0), universal joints, torsion passed on, as the peers were measured with; lowest
point and frequencies of 20, 100 and 500 links from an independent program in the links' angles (exact Hessians). Thick links:
the paper's, 10 kg and 10 kg m2 each whatever their number, torsion locked. exudyn's static solver and its eigenvalues beside
them: the first does not converge with these joints, the second are zero.
"""

import time
import tracemalloc

import numpy as np
from scipy.spatial.transform import Rotation

import dalembert as da

END, MIDDLE, WIDTH, GRAVITY = np.array([10.0, 0, 0]), np.array([5.0, 0, -6.0]), 0.02, 9.81
LOWEST = {20: -5.422338, 100: -5.413496, 500: -5.413145, 2000: -5.413131}
FREQUENCIES = (0.2434, 0.3220, 0.4410, 0.5748, 0.6578, 0.8131, 0.8735, 1.0403)  # of 500 links [Hz]


def chain(n: int, *, thick: bool) -> da.Model:
    """n links in a V, hanging between two points."""
    half, leg = n // 2, float(np.linalg.norm(MIDDLE))
    length = leg / half
    above = Rotation.identity()
    model, previous = da.Model(f"{'thick' if thick else 'thin'} chain of {n}", gravity=(0, 0, -GRAVITY)), "ground"
    mass = 10.0 if thick else length
    inertia = 3 * (10.0,) if thick else mass / 12 * np.array([2 * WIDTH**2, length**2 + WIDTH**2, length**2 + WIDTH**2])
    for k in range(n):
        along = MIDDLE / leg if k < half else (END - MIDDLE) / leg
        frame = Rotation.from_matrix(np.column_stack([along, [0, 1, 0], np.cross(along, [0, 1, 0])]))
        start = along * length * k if k < half else MIDDLE + along * length * (k - half)
        name = f"link {k}"
        model.body(name, mass=mass, inertia=inertia, position=start + along * length / 2, orientation=frame)
        if thick and k:
            ends = {"orientation": above, "orientation_driven": frame}
            model.universal_torsion_locked(f"joint {k}", previous, name, at=start, **ends)
        elif thick:
            model.revolute("joint 0", previous, name, at=start, axis=(0, 1, 0))
        else:
            model.universal(f"joint {k}", previous, name, at=start, axis=(0, 1, 0), axis_driven=frame.apply([0, 0, 1]))
        previous, above = name, frame
    model.spherical("end", "ground", previous, at=END)
    return model


def best(function, repeats=5):
    """Return the shortest time of some runs, and the result."""
    times, result = [], function()
    for _ in range(repeats):
        begin = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - begin)
    return min(times), result


def memory_of(function):
    """Return the largest memory that Python's allocator gave out meanwhile [MB]."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def lowest_point(rest, n):
    turns = Rotation.from_quat(rest.orientation.values, scalar_first=True)
    length = 2 * np.linalg.norm(MIDDLE) / n
    return float((rest.position.values + turns.apply([length / 2, 0, 0]))[:, 2].min())


def print_chains(*, thick):
    print(f"{'thick' if thick else 'thin'} links: equilibrium from the V, then ten modes; seconds, shortest of 5")
    head = "     N  iterations  residual   equilibrium    modes    sum  building   memory   lowest point     expected   growth"
    print(head)
    before = None
    for n in (20, 100, 500, 2000):
        model = chain(n, thick=thick)
        begin = time.perf_counter()
        system = da.build(model)
        building = time.perf_counter() - begin
        at_rest, rest = best(lambda s=system: da.equilibrium(s))
        vibrating, found = best(lambda s=system, r=rest: da.modes(s, 10, state=r.state))
        memory = memory_of(lambda s=system, r=rest: (da.equilibrium(s), da.modes(s, 10, state=r.state)))
        whole = at_rest + vibrating
        line = f"{n:6d}{rest.iterations:12d}{rest.residual:10.1e}{at_rest:14.4f}{vibrating:9.4f}{whole:7.3f}{building:10.3f}"
        line += f"{memory:6.0f} MB{lowest_point(rest, n):15.6f}" + (f"{'-':>13s}" if thick else f"{LOWEST[n]:13.6f}")
        print(line + (f"{np.log(whole / before[1]) / np.log(n / before[0]):9.2f}" if before else ""), flush=True)
        print("       Hz: " + " ".join(f"{one:.6f}" for one in found.frequency_hz.values[:8]))
        before = n, whole
    if not thick:
        print("  expected of 500: " + " ".join(f"{one:.4f}" for one in FREQUENCIES))
    print()


def exudyn_static(n):
    """Return what exudyn's static solver makes of the same chain: lowest point, or what stopped it."""
    import warnings

    import exudyn as exu
    import exudyn.utilities as eu

    warnings.simplefilter("ignore", DeprecationWarning)
    exu.config.printToConsole = False
    half, leg = n // 2, float(np.linalg.norm(MIDDLE))
    length = leg / half
    mbs = exu.SystemContainer().AddSystem()
    previous, bodies = mbs.CreateGround(), []
    tensor = length / 12 * np.diag([2 * WIDTH**2, length**2 + WIDTH**2, length**2 + WIDTH**2])
    for k in range(n):
        along = MIDDLE / leg if k < half else (END - MIDDLE) / leg
        frame = np.column_stack([along, [0, 1, 0], np.cross(along, [0, 1, 0])])
        start = along * length * k if k < half else MIDDLE + along * length * (k - half)
        body = mbs.CreateRigidBody(
            inertia=eu.RigidBodyInertia(mass=length, inertiaTensor=tensor),
            referencePosition=list(start + along * length / 2),
            referenceRotationMatrix=frame,
            gravity=[0, 0, -GRAVITY],
            nodeType=exu.NodeType.RotationEulerParameters,
        )
        mbs.CreateSphericalJoint(bodyNumbers=[previous, body], position=list(start))
        previous = body
        bodies.append(body)
    mbs.CreateSphericalJoint(bodyNumbers=[mbs.CreateGround(), previous], position=list(END))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    settings.linearSolverSettings.ignoreSingularJacobian = True
    settings.solutionSettings.writeSolutionToFile = False
    begin = time.perf_counter()
    mbs.SolveStatic(settings, showHints=False)
    place = exu.OutputVariableType.Position
    ends = [mbs.GetObjectOutputBody(body, place, localPosition=[length / 2, 0, 0])[2] for body in bodies]
    return time.perf_counter() - begin, min(ends)


def print_exudyn():
    print("exudyn's static solver on the thin chain from the V, ball joints")
    for n in (20, 100):
        try:
            seconds, lowest = exudyn_static(n)
            print(f"{n:6d}: {seconds:.3f} s, lowest point {lowest:.6f} m (expected {LOWEST[n]:.6f})")
        except Exception as error:  # not installed, or it fails: a result, too
            print(f"{n:6d}: {type(error).__name__}: {str(error).strip().splitlines()[0][:90]}")
    print()


if __name__ == "__main__":
    print_chains(thick=False)
    print_chains(thick=True)
    print_exudyn()
