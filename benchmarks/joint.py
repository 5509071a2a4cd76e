"""Accuracy of every joint's and force element's derivatives, and the time of K_c next to that of the Jacobian."""

import time

import numpy as np

import dalembert as da
from dalembert.elements import lock
from dalembert.elements.joint import JOINT_TYPES
from dalembert.kernel.compile import compiled
from random_models import FORCES, LAWS, coupled, errors, force_errors, one_force, one_joint


@compiled
def many_jacobians(joints, poses, motions, J, repeat):
    for _ in range(repeat):
        for k in range(joints.shape[0]):
            lock.jacobian(joints[k], poses, motions, J)


@compiled
def many_residuals(joints, poses, motions, phi, repeat):
    for _ in range(repeat):
        for k in range(joints.shape[0]):
            lock.residual(joints[k], poses, motions, phi)


@compiled
def many_tangents(joints, poses, motions, gamma, K, repeat):
    for _ in range(repeat):
        for k in range(joints.shape[0]):
            lock.tangent(joints[k], poses, motions, gamma, K)


def best(function, *arguments, repeats=5):
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times)


def print_errors(draws=20):
    print("largest relative error against differences, open joints, random states")
    print(f"{'':26s}" + "".join(f"{label:>14s}" for label in ("Jacobian", "b'", "b''", "K_c")))
    cases = {kind: lambda rng, kind=kind: one_joint(rng, kind) for kind in JOINT_TYPES}
    cases |= {f"fixed, {law}": lambda rng, law=law: one_joint(rng, "fixed", law=law) for law in LAWS}
    cases["couplings"] = coupled
    overall = np.zeros(4)
    named = ("jacobian", "velocity right side", "acceleration right side", "tangent")
    for label, make in cases.items():
        largest = np.zeros(4)
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            found = errors(da.build(make(rng)), rng)
            largest = np.maximum(largest, [found[name] for name in named])
        overall = np.maximum(overall, largest)
        print(f"{label:26s}" + "".join(f"{x:14.1e}" for x in largest))
    print(f"{'all':26s}" + "".join(f"{x:14.1e}" for x in overall) + "\n")


def print_force_errors(draws=20):
    print("largest relative error of the tangents of force elements against differences, random states")
    print(f"{'':42s}{'K':>14s}{'D':>14s}")
    overall = np.zeros(2)
    for name in FORCES:
        largest = np.zeros(2)
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            largest = np.maximum(largest, list(force_errors(da.build(one_force(rng, name)), rng).values()))
        overall = np.maximum(overall, largest)
        print(f"{name:42s}" + "".join(f"{x:14.1e}" for x in largest))
    print(f"{'all':42s}" + "".join(f"{x:14.1e}" for x in overall) + "\n")


def print_times(repeat=200_000):
    system = da.build(one_joint(np.random.default_rng(0), "revolute"))
    now = system._at(0.0, system.design.q)
    poses, motions = now.poses, now.motions
    joints = system.tables.locks
    residual = best(many_residuals, joints, poses, motions, np.zeros(5), repeat) / repeat
    jacobian = best(many_jacobians, joints, poses, motions, np.zeros((5, 12)), repeat) / repeat
    tangent = best(many_tangents, joints, poses, motions, np.ones(5), np.zeros((12, 12)), repeat) / repeat
    print(f"a revolute joint: residual {residual * 1e9:.0f} ns, Jacobian {jacobian * 1e9:.0f} ns, K_c {tangent * 1e9:.0f} ns,")
    print(f"K_c / Jacobian {tangent / jacobian:.2f}\n")


if __name__ == "__main__":
    print_times()
    print_errors()
    print_force_errors()
