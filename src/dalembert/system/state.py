"""The state of a system: time, positions, velocities."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.kernel.vec3 import Array


@dataclass(frozen=True, eq=False)
class State:
    """Time [s], q and v as in `docs/conventions.md`.

    For rigid bodies q holds ``[p_WB, quaternion_wxyz]`` body after body, then the last angle of each hinged joint; v holds
    ``[velocity in W, w_B]`` body after body.
    """

    t: float
    q: Array
    v: Array
