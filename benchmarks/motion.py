"""Speed of motion next to other packages, in one process and run: spatial chains, redundant ladders, start-up.

All on one thread. Equal work is shown by where the fourth link ends, next to a converged run. exudyn solves the same problem,
mujoco and drake an easier one (minimal coordinates, no closed loops).
"""

import os
import subprocess
import sys
import time

import numpy as np
import peers
from chains import LENGTH, chain
from ladder import angle_of_posts, ladder

import dalembert as da
from dalembert.integrators.common import new_samples
from dalembert.integrators.explicit import ExplicitIntegrator
from dalembert.integrators.implicit import ImplicitIntegrator
from dalembert.rotation.quaternion import to_rotation

STEP, DURATION = 1e-3, 1.0


def best(function, repeats=3, budget=20.0):
    """Return the shortest time of some runs, after one that warms up, and the result of the last."""
    times, begin = [], time.perf_counter()
    result = function()[1]
    while len(times) < repeats and (time.perf_counter() - begin < budget or not times):
        seconds, result = function()
        times.append(seconds)
    return min(times), result


def end_of(system, q, link):
    """Where a link of the chain ends."""
    k = system.layout.bodies.index(f"link {link}")
    return q[7 * k : 7 * k + 3] + to_rotation(q[7 * k + 3 : 7 * k + 7]).apply([LENGTH / 2, 0, 0])


def steps_of(integrator, system, state, duration=DURATION):
    """Seconds of a run that has been set up, and the integrator's samples."""
    integrator.start(state.t, state.q, state.v)
    out, filled = new_samples(system, 1), 0
    begin = time.perf_counter()
    while filled == 0:
        filled = integrator.run_chunk(np.array([duration]), out, 10**9)
    return time.perf_counter() - begin, out


def our_chain(n, **options):
    system = da.build(chain(n))
    state = da.assemble(system)
    integrator = ImplicitIntegrator(system, step=STEP, closing_projection=False, **options)
    seconds, out = best(lambda: steps_of(integrator, system, state))
    return seconds, end_of(system, out.q[0], min(4, n)), integrator.statistics


def converged(n):
    system = da.build(chain(n))
    state = da.assemble(system)
    integrator = ExplicitIntegrator(system, rtol=1e-11, atol=1e-11)
    _, out = steps_of(integrator, system, state)
    return end_of(system, out.q[0], min(4, n))


def theirs(function, *arguments, **options):
    """Return seconds and place of a peer, or what stopped it."""
    try:
        return best(lambda: function(*arguments, **options))
    except Exception as error:  # a peer that is not installed or fails is a result, too
        return None, f"{type(error).__name__}: {error}"[:60]


def print_chains():
    print(f"chain of N links, h = {STEP} s, microseconds a step (one thread); error of the place of link 4 at {DURATION} s")
    left = "    N |      ours   error  Newton  factors |    exudyn   error  ratio |"
    print(left + "    mujoco  ours/it |    drake   ours/it | ours per body")
    per_body = []
    for n in (1, 4, 16, 64, 256, 1024):
        steps = int(DURATION / STEP)
        ours, place, statistics = our_chain(n)
        exact = converged(n) if n <= 64 else None
        error = f"{np.abs(place - exact).max():8.1e}" if exact is not None else "       -"
        newton, factors = (statistics[name] / statistics["steps"] for name in ("iterations", "factorisations"))
        line = f"{n:5d} |{1e6 * ours / steps:10.1f}{error}{newton:8.2f}{factors:9.3f} |"
        seconds, their_place = theirs(peers.exudyn_chain, n, steps, STEP)
        their_error = np.abs(their_place - exact).max() if seconds and exact is not None else np.nan
        line += f"{1e6 * seconds / steps:10.1f}{their_error:8.1e}{seconds / ours:7.1f} |" if seconds else f" {their_place} |"
        for name, function, most in (("mujoco", peers.mujoco_chain, 256), ("drake", peers.drake_chain, 256)):
            seconds, _ = theirs(function, n, steps, STEP) if n <= most else (None, "")
            line += f"{1e6 * seconds / steps:10.1f}{ours / seconds:9.2f} |" if seconds else f"{name + ' -':>10s}{'':9s} |"
        per_body.append(ours / steps / n)
        print(line + f"{1e6 * ours / steps / n:8.2f}", flush=True)
    flat = per_body[1:]
    print(f"cost per body from N = 4 to 1024: largest / smallest {max(flat) / min(flat):.2f}\n")


def print_tangent_share():
    """Keep K_c in the iteration matrix or leave it out: does it cost, does it help?"""
    print("K_c in the iteration matrix of the chain: time with it / without it, Newton iterations a step")
    for n in (4, 64):
        without, _, a = our_chain(n, tangents=False)
        with_it, _, b = our_chain(n, tangents=True)
        ratios = (x["iterations"] / x["steps"] for x in (a, b))
        print(f"  N = {n}: {with_it / without:.3f}, " + " without, ".join(f"{r:.2f}" for r in ratios) + " with")
    print()


def print_explicit():
    print("explicit (Dormand-Prince with projection): microseconds an evaluation, next to a stage of mujoco's RK4")
    for n in (4, 16, 64):
        system = da.build(chain(n))
        state = da.assemble(system)
        integrator = ExplicitIntegrator(system, rtol=1e-6, atol=1e-3, max_step=STEP, first_step=STEP)
        seconds, _ = best(lambda i=integrator, s=system, x=state: steps_of(i, s, x))
        ours = seconds / integrator.statistics["evaluations"]
        peer, _ = theirs(peers.mujoco_chain, n, int(DURATION / STEP), STEP)
        ratio = f"{1e6 * peer / 4 * STEP:8.2f}  ratio {ours / (peer / 4 * STEP):5.1f}" if peer else "   mujoco -"
        print(f"  N = {n:3d}: {1e6 * ours:8.2f}{ratio}")
    print()


def print_ladders(duration=2.0):
    print(f"ladder of N four-bar linkages in space, all hinges, h = {STEP} s, {duration} s; microseconds a step")
    left = "    N  rows  redundant |    ours  error of tip  violation  energy |"
    print(left + " exudyn, dense  ratio | reduced by hand  ratio")
    steps = int(duration / STEP)
    for n in (1, 4, 16, 64):
        system = da.build(ladder(n))
        state = da.assemble(system)
        integrator = ImplicitIntegrator(system, step=STEP)
        seconds, out = best(lambda i=integrator, s=system, x=state: steps_of(i, s, x, duration))
        angle = angle_of_posts(n, duration)
        tip = 2 * out.q[0, :3]
        error = np.hypot(tip[0] - np.sin(angle), tip[1] - np.cos(angle))
        violation = np.abs(system.constraint(duration, out.q[0])).max()
        drift = system.energy(duration, out.q[0], out.v[0]).total - system.energy(0.0, state.q, state.v).total
        redundant = system.n_constraints - (system.n_velocities - 1)
        line = f"{n:5d}{system.n_constraints:6d}{redundant:11d} |{1e6 * seconds / steps:8.1f}"
        line += f"{error:14.1e}{violation:11.1e}{drift:+8.1e} |"
        for reduced, most in ((False, 16), (True, 64)):
            peer, text = theirs(peers.exudyn_ladder, n, steps, STEP, reduced=reduced) if n <= most else (None, "-")
            line += f"{1e6 * peer / steps:12.1f}{peer / seconds:9.1f} |" if peer else f" {text:20s} |"
        print(line, flush=True)
    print()


def print_start_up():
    """A fresh process: import, and the first second of a chain of 4 links, warm cache."""
    work = "import chains, dalembert as da; da.simulate(chains.chain(4), duration=1.0, step=1e-3, output_step=1.0)"
    print("fresh process, shortest of 5 [s]")
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}  # as on a user's machine: sources are read once
    for label, code in (("python", "pass"), ("import dalembert", "import dalembert"), ("chain of 4 links, 1 s", work)):
        times = []
        for _ in range(6):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, cwd="benchmarks", env=environment)
            times.append(time.perf_counter() - begin)
        print(f"  {label:24s}{min(times[1:]):6.2f}")
    print()


if __name__ == "__main__":
    print_chains()
    print_explicit()
    print_tangent_share()
    print_ladders()
    print_start_up()
