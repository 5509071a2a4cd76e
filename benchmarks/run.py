"""Runs the benchmarks one after the other: figures and ratios of one machine and one run."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BENCHMARKS = (
    "saddle", "joint", "masarati_pendulum", "closed_forms", "motion", "rest", "own_equations", "reactions", "rolling", "beams",
)  # fmt: skip


def main() -> int:
    failed = 0
    for name in sys.argv[1:] or BENCHMARKS:
        print(f"=== {name} ===", flush=True)
        paths = os.pathsep.join([str(HERE.parent / "tests"), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": paths}
        failed |= subprocess.run([sys.executable, str(HERE / f"{name}.py")], env=environment, check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
