"""Redundancy and solvability: time and memory of the analysis for 200 to 100,000 rows, and who is found to be unique."""

import sys
import time
import tracemalloc

import numpy as np
from chains import chain
from ladder import ladder

import dalembert as da
from dalembert.analysis.uniqueness import uniqueness
from dalembert.linalg.rank import dependencies
from dalembert.linalg.solvability import METHODS

ROWS = (200, 2_000, 20_000, 100_000)


def doors(n):
    """A row of n leaves, each hung on the one before by two balls (one redundant row) or by a single hinge, in turn."""
    model = da.Model(f"{n} doors")
    for k in range(n):
        model.body(f"leaf {k}", mass=1.0, inertia=(1, 1, 1), position=(k % 100, k // 100, 0))
        main = f"leaf {k - 1}" if k % 10 else model.ground
        for j in range(2 if k % 2 else 1):
            kind = "spherical" if k % 2 else "revolute"
            model.joint(f"hinge {k} {j}", kind, main, f"leaf {k}", at=(k % 100 - 0.5, k // 100, j), axis=(0, 0, 1))
    return model


def unique_of_doors(joint):
    """By statics: the balls share their axial force; a single hinge carries what it must."""
    return int(joint.split()[1]) % 2 == 0


MODELS = {  # rows of one member, who is unique
    "doors": (doors, 5.5, unique_of_doors),
    "ladder (one loop after the other)": (ladder, 15.0, lambda joint: False),
    "chain (not redundant)": (chain, 5.0, lambda joint: True),
}


def best(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def analysis(system, A, q):
    found = dependencies(A, units=system.rotational)
    return found, uniqueness(system, 0.0, q, found)


def print_times(largest):
    print("                                      rows   redundant  rank+groups  with components   peak memory    wrong")
    for name, (make, per_member, expected) in MODELS.items():
        for rows in ROWS:
            if rows > largest:
                continue
            system = da.build(make(max(2, round(rows / per_member))))
            q = system.design.q
            A = system.jacobian(0.0, q)
            found, flags = analysis(system, A, q)
            repeats = 5 if rows < 50_000 else 2
            rank_time = best(lambda s=system, a=A: dependencies(a, units=s.rotational), repeats)
            whole = best(lambda s=system, a=A, x=q: analysis(s, a, x), repeats)
            tracemalloc.start()
            analysis(system, A, q)
            peak = tracemalloc.get_traced_memory()[1] / 1e6
            tracemalloc.stop()
            wrong = sum(
                bool(flag) != expected(joint) for joint, flag in zip(system.layout.joint_frames, flags.joint, strict=True)
            )
            figures = f"{1e3 * rank_time:10.1f} ms {1e3 * whole:13.1f} ms {peak:11.1f} MB {wrong:8d}"
            print(f"{name:34s}{A.shape[0]:8d}{found.degree:12d} {figures}", flush=True)
    print()


def print_methods():
    """The methods of the paper, one joint after the other, next to the sparse way, which answers for all joints at once."""
    print("doors, all joints:            rows      ranks        svd         qr     sparse (of the whole)")
    for rows in (100, 200, 400):
        system = da.build(doors(round(rows / 5.5)))
        q = system.design.q
        A = system.jacobian(0.0, q)
        dense, joints = A.toarray(), [system.layout.joint_rows[joint] for joint in system.layout.joint_frames]
        answers, times = [], []
        for method in METHODS.values():
            start = time.perf_counter()
            answers.append([method(dense, list(own), system.rotational) for own in joints])
            times.append(time.perf_counter() - start)
        times.append(best(lambda s=system, a=A, x=q: analysis(s, a, x), 5))
        agree = all(answer == analysis(system, A, q)[1].joint.tolist() for answer in answers)
        cells = "".join(f"{1e3 * one:9.1f} ms" for one in times)
        ratio = min(times[:3]) / times[3]
        print(f"{'':26s}{A.shape[0]:8d}{cells}   {ratio:6.0f} times faster; they {'agree' if agree else 'DIFFER'}")
    print()


def print_growth():
    """Exponent of the time between 20,000 and 100,000 rows."""
    times = []
    for rows in (20_000, 100_000):
        system = da.build(doors(round(rows / 5.5)))
        A = system.jacobian(0.0, system.design.q)
        times.append(best(lambda s=system, a=A: analysis(s, a, s.design.q), 3))
    print(f"time grows like rows^{np.log(times[1] / times[0]) / np.log(5.0):.2f}")
    print()


if __name__ == "__main__":
    print_times(int(sys.argv[1]) if len(sys.argv) > 1 else max(ROWS))
    print_growth()
    print_methods()
