"""M. Wojtyra, J. Fraczek, Solvability of reactions in rigid multibody systems with redundant nonholonomic constraints,
Multibody Syst. Dyn. 30 (2013) 153-171: the mobile robot of section 4.

The paper shows d(t) of the steering as a picture (Fig. 2) and gives neither its numbers nor the length of the run; here d is
made of four smooth steps, and the run takes 30 s. "independent" marks values of other formulations with the same d(t): the
Moore-Penrose inverse on all 22 rows, rows 6 and 21 or 18 and 21 removed, and five independent coordinates in closed form.

The multipliers of the paper are minus the forces on the driven bodies, in the axes of the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.analysis.reactions import reactions
from dalembert.analysis.results import Run
from dalembert.analysis.simulate import simulate
from dalembert.elements.law import Expression
from dalembert.kernel.vec3 import Array
from dalembert.linalg.solvability import b_matrix
from dalembert.papers.figures import Figure
from dalembert.rotation.quaternion import to_rotation
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.system import System
from dalembert.view.run_plots import finish

PRINTED, INDEPENDENT = "printed", "independent"

# --- the robot (appendix, Tables 1 to 3) ---------------------------------------------------------------------------------

SIDE = 0.05  # a [m]
TILT = np.arctan(0.25)  # phi
BX, BY = SIDE * np.sin(TILT), SIDE * np.cos(TILT)
CX = 4.0 * SIDE - BX
CY = np.sqrt((5.0 * SIDE) ** 2 - CX**2)
DX, DY = CX / 2.0, CY / 2.0 - BY
SPEED, DURATION = 0.1, 30.0  # m/s, s

BODIES = {  # mass [kg], moment of inertia [kg m2] (Table 2), position [m] (34)
    "platform": (10.0, 0.25, (20.0 * SIDE, 0.0)),
    "fork 1": (1.0, 0.005, (24.0 * SIDE, 0.0)),
    "fork 2": (1.0, 0.005, (16.0 * SIDE, 0.0)),
    "link 1": (1.0, 0.005, (20.0 * SIDE + DX, DY)),
    "link 2": (1.0, 0.005, (20.0 * SIDE - DX, DY)),
    "slider": (1.0, 0.005, (20.0 * SIDE, 0.0)),
    "trolley": (5.0, 0.05, (5.0 * SIDE, 0.0)),
}
REVOLUTES = {  # body j, body i (driven), point s_Q in body j (Table 3)
    "A": ("platform", "trolley", (-8.0 * SIDE, 0.0)),
    "B": ("platform", "fork 1", (4.0 * SIDE, 0.0)),
    "C": ("platform", "fork 2", (-4.0 * SIDE, 0.0)),
    "D": ("fork 1", "link 1", (-BX, -BY)),
    "E": ("fork 2", "link 2", (BX, -BY)),
    "F": ("link 1", "slider", (-CX / 2.0, CY / 2.0)),
    "G": ("link 2", "slider", (CX / 2.0, CY / 2.0)),
}
EDGES = {  # body, contact point in it (Table 1)
    "W1": ("fork 1", (0.0, 0.0)),
    "W2": ("fork 2", (0.0, 0.0)),
    "W3": ("platform", (0.0, -4.0 * SIDE)),
    "W4": ("platform", (0.0, 4.0 * SIDE)),
    "W5": ("trolley", (0.0, 0.0)),
}
STEPS = {2.0: 1, 8.0: -1, 16.0: -1, 22.0: 1}
"""When the steering begins to move [s], and which way; each step takes 2 s."""


def mobile_robot() -> Model:
    """Return the robot with its trolley in the position (34), all bodies moving at 0.1 m/s along x."""
    model = Model("mobile robot", planar=True)
    for name, (mass, inertia, (x, y)) in BODIES.items():
        model.body(name, mass=mass, inertia=(inertia,) * 3, position=(x, y, 0), velocity=(SPEED, 0, 0))
    for name, (main, driven, point) in REVOLUTES.items():
        model.revolute(name, main, driven, at=_place(main, point))
    at, at_driven = _place("platform", (0.0, -10.0 * SIDE)), _place("slider", (0.0, 10.0 * SIDE))
    model.prismatic("H", "platform", "slider", at=at, at_driven=at_driven, axis=(0, 1, 0))
    for name, (body, point) in EDGES.items():
        model.knife_edge(name, model.ground, body, at=_place(body, point), axis=(0, 1, 0))
    model.motion("drive", "H", "distance", Expression(steering()))
    return model


def steering() -> str:
    """Return d(t) of (43): 1 m, and 2 cm more or less for a while, in steps ``10 u^3 - 15 u^4 + 6 u^5``."""
    u = {start: f"min(max((t - {start:g})/2, 0), 1)" for start in STEPS}
    parts = (f"{sign:+d}*{u[start]}**3*(10 - 15*{u[start]} + 6*{u[start]}**2)" for start, sign in STEPS.items())
    return f"1 + 0.02*({' '.join(parts)})"


def _place(body: str, point: Sequence[float]) -> tuple[float, float, float]:
    x, y = BODIES[body][2]
    return x + point[0], y + point[1], 0.0


# --- 4.2 solvability -----------------------------------------------------------------------------------------------------

SOLVABLE = ("A", "D", "E", "F", "G", "H", "drive", "W5")
UNSOLVABLE = ("B", "C", "W1", "W2", "W3", "W4")
RANKS = {
    "rank_holonomic": 17,
    "rank_nonholonomic": 4,
    "rank": 20,
    "degree_of_redundancy": 2,
    "degrees_of_freedom": 1,
    "constraints": 22,
}
B_ENTRIES = {  # (38): largest entries of both columns, body and coordinate; lengths of the rows, which no basis changes
    ("B", "platform y"): (0.408, 0.0), ("B", "platform angle"): (0.082, 0.0), ("B", "fork 1 y"): (-0.408, 0.0),
    ("C", "platform y"): (0.408, 0.0), ("C", "platform angle"): (-0.082, 0.0), ("C", "fork 2 y"): (-0.408, 0.0),
    ("W1", "fork 1 y"): (0.408, 0.0), ("W2", "fork 2 y"): (0.408, 0.0),
    ("W3", "platform y"): (-0.408, 0.707), ("W4", "platform y"): (-0.408, -0.707),
}  # fmt: skip
B_NORMS = {
    "A": 0.0, "B": 0.583095189485, "C": 0.583095189485, "D": 0.0, "E": 0.0, "F": 0.0, "G": 0.0, "H": 0.0, "drive": 0.0,
    "W1": 0.408248290464, "W2": 0.408248290464, "W3": 0.816496580928, "W4": 0.816496580928, "W5": 0.0,
}  # fmt: skip


def solvability_figures() -> Iterator[Figure]:
    """Compare ranks (35), (36), the matrices B (38) and the verdicts."""
    found = reactions(mobile_robot())
    for name, value in RANKS.items():
        yield Figure(name.replace("_", " "), value, found.attrs[name], 0.0, PRINTED)
    for method in ("sparse", "ranks", "svd", "qr"):
        unique = reactions(mobile_robot(), method=method).unique
        wrong = [name for name in unique if unique[name] != (name in SOLVABLE)]
        yield Figure(f"wrong verdicts of 14, method {method}", 0.0, float(len(wrong)), 0.0, PRINTED)
    system = build(mobile_robot())
    for joint, norm in B_NORMS.items():
        yield Figure(f"|B| of {joint}", norm, float(np.linalg.norm(b_of(system, joint))), 1e-11, INDEPENDENT)
    for (joint, coordinate), pair in B_ENTRIES.items():
        ours = float(np.linalg.norm(b_of(system, joint)[_column(system, coordinate)]))
        yield Figure(f"row of B: {joint}, {coordinate}", float(np.hypot(*pair)), ours, 1e-3, PRINTED + ", (38)")


def b_of(system: System, joint: str) -> Array:
    """Return B_X of (27) at the position (34): 21 by 2, only coordinates in the plane."""
    layout = system.layout
    A = np.delete(system.jacobian(0.0, system.design.q).toarray(), layout.plane_rows, axis=0)
    A = A[:, np.isin(np.arange(A.shape[1]) % 6, (0, 1, 5))]
    if joint in layout.motion_rows:
        return b_matrix(A, [layout.motion_rows[joint]])
    driven = set(layout.motion_rows.values())
    return b_matrix(A, [int(row) for row in layout.joint_rows[joint] if int(row) not in driven])


def _column(system: System, coordinate: str) -> int:
    """Return the place of a coordinate (``"fork 1 y"``) in q of (28)."""
    body, _, label = coordinate.rpartition(" ")
    return 3 * system.layout.bodies.index(body) + ("x", "y", "angle").index(label)


# --- 4.3, 4.4 motion and reactions ---------------------------------------------------------------------------------------

HANDLINGS: dict[str, tuple[str, ...]] = {
    "smallest multipliers": (),
    "without C.y, W4": ("C.y", "W4.sideways"),
    "without W1, W4": ("W1.sideways", "W4.sideways"),
    "without W2, W4": ("W2.sideways", "W4.sideways"),
}
"""How the redundant rows are handled: all kept, or some left out (the three variants of section 4.4)."""

PLATFORM_AT_END = (3.54410958, -1.06212332, 0.01472571)
MULTIPLIERS = {  # time: lambda of D (x, y), W5 and the drive
    3.0: (-0.007040002, 0.01782512, -0.019047265, 0.015444887),
    6.0: (0.004684818, 0.003236769, 0.004727686, 0.032022476),
    9.0: (-0.006857017, -0.016767421, 0.05295383, 0.016252872),
    17.0: (-0.009209279, -0.024742727, 0.032132041, -0.016448299),
    20.0: (-0.002173146, -0.005657783, 0.000956537, -0.02803032),
    23.0: (-0.012314735, 0.010607562, -0.052840265, -0.016995398),
}
NOT_UNIQUE = {  # handling, time: lambda of B (x, y), W1 to W4; the variant without C.y leaves out y of the world in the paper
    ("smallest multipliers", 3.0): (-0.02841244, -0.10859808, 0.16328661, -0.12752702, 0.02695041, 0.02695041),
    ("without W1, W4", 3.0): (-0.00057964, 0.05229894, 0.0, -0.29081363, 0.37689496, 0.0),
    ("smallest multipliers", 9.0): (0.13569013, 0.08647799, -0.1965216, 0.27654398, 0.07119464, 0.07119464),
    ("without W1, W4", 9.0): (-0.02811802, -0.02209284, 0.0, 0.47306557, -0.24634638, 0.0),
}


class Motion(NamedTuple):
    """A run with the system that made it."""

    system: System
    run: Run

    def multipliers(self, joint: str, time: float | None = None) -> Array:
        """Return the multipliers of a revolute joint as the paper has them: x and y of the world [N]."""
        main = self.system.layout.joint_bodies[joint][1]
        frame = Rotation.from_matrix(self.system.layout.joint_frames[joint][1])
        run = self.run if time is None else self.run.sel(time=[time], method="nearest")
        turns = run.orientation.values[:, main]
        force = run.joint_force.sel(joint=joint).values
        return np.array([-(to_rotation(q) * frame).apply(one)[:2] for q, one in zip(turns, force, strict=True)])

    def edge(self, joint: str, time: float | None = None) -> Array:
        """Return the multiplier of a knife edge [N]."""
        run = self.run if time is None else self.run.sel(time=[time], method="nearest")
        return -np.asarray(run.joint_force.sel(joint=joint, axis="y").values)

    def drive(self, time: float | None = None) -> Array:
        """Return the multiplier of the driving constraint [N]."""
        run = self.run if time is None else self.run.sel(time=[time], method="nearest")
        return -np.asarray(run.joint_force.sel(joint="H", axis="x").values)


def motion(handling: str = "smallest multipliers", *, output_step: float = 1.0) -> Motion:
    """Return 30 s of motion with one of the `HANDLINGS`."""
    system = build(mobile_robot(), without=HANDLINGS[handling])
    run = simulate(system, duration=DURATION, output_step=output_step, method="dopri5", rtol=1e-11, atol=1e-12)
    return Motion(system, run)


def motion_figures() -> Iterator[Figure]:
    """Compare the motion to 30 s and the multipliers, whichever way redundant rows are handled."""
    for handling in HANDLINGS:
        yield from _figures_of(handling, motion(handling))


def _figures_of(handling: str, found: Motion) -> Iterator[Figure]:
    q = found.run.orientation.sel(body="platform").values[-1]
    x, y, _ = found.run.position.sel(body="platform").values[-1]
    ours = (x, y, 2.0 * np.arctan2(q[3], q[0]))
    for label, expected, value in zip(("x [m]", "y [m]", "angle [rad]"), PLATFORM_AT_END, ours, strict=True):
        yield Figure(f"{handling}: platform at 30 s, {label}", expected, float(value), 1e-6, INDEPENDENT)
    for time, expected_lambda in MULTIPLIERS.items():
        values = (*found.multipliers("D", time)[0], found.edge("W5", time)[0], found.drive(time)[0])
        for label, expected, value in zip(("D x", "D y", "W5", "drive"), expected_lambda, values, strict=True):
            yield Figure(f"{handling}: lambda of {label} at {time:g} s [N]", expected, float(value), 1e-6, INDEPENDENT)
    for (name, time), not_unique in NOT_UNIQUE.items():
        if name == handling:
            values = (*found.multipliers("B", time)[0], *(found.edge(f"W{k}", time)[0] for k in (1, 2, 3, 4)))
            for label, expected, value in zip(("B x", "B y", "W1", "W2", "W3", "W4"), not_unique, values, strict=True):
                text = f"{handling}: lambda of {label} at {time:g} s, not unique [N]"
                yield Figure(text, expected, float(value), 1e-6, INDEPENDENT)


def figures() -> Iterator[Figure]:
    """Compare all that the paper's example tells."""
    yield from solvability_figures()
    yield from motion_figures()


# --- pictures ------------------------------------------------------------------------------------------------------------


def draw(folder: Path) -> list[Path]:
    """Draw pictures like Figs. 3 and 4; return their files."""
    import matplotlib.pyplot as plt

    runs = {handling: motion(handling, output_step=0.1) for handling in HANDLINGS if HANDLINGS[handling]}
    paths = []
    for name, draw_one in (("figure_3", _draw_paths), ("figure_4", _draw_reactions)):
        figure = draw_one(runs)
        paths.append(folder / f"wojtyra2013_{name}.png")
        figure.savefig(paths[-1], dpi=150)
        plt.close(figure)
    return paths


def _draw_paths(runs: dict[str, Motion]) -> Any:
    """Draw where the platform's centre and the contact points go (Fig. 3)."""
    import matplotlib.pyplot as plt

    found = next(iter(runs.values()))
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    for name, (body, point) in {"platform": ("platform", (0.0, 0.0)), **EDGES}.items():
        turns = found.run.orientation.sel(body=body).values
        offset = np.array([to_rotation(q).apply([*point, 0.0]) for q in turns])
        path = found.run.position.sel(body=body).values + offset
        ax.plot(path[:, 0], path[:, 1], "k" if name == "platform" else "-", label=name)
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]")
    finish(ax, "y [m]")
    return figure


def _draw_reactions(runs: dict[str, Motion]) -> Any:
    """Draw reactions that are not unique, left and dashed, and unique ones, right, for the three variants (Fig. 4)."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 2, sharex=True, figsize=(10, 8), layout="constrained")
    for handling, found in runs.items():
        times = found.run.time
        for column, (joint, edge, style) in enumerate((("B", "W3", "--"), ("D", "W5", "-"))):
            force = -found.multipliers(joint)
            axes[0, column].plot(times, force[:, 0], style, label=handling)
            axes[1, column].plot(times, force[:, 1], style)
            axes[2, column].plot(times, -found.edge(edge), style)
    for column, (joint, edge) in enumerate((("B", "W3"), ("D", "W5"))):
        for row, label in enumerate((f"{joint}, x [N]", f"{joint}, y [N]", f"{edge} [N]")):
            finish(axes[row, column], label)
        axes[2, column].set_xlabel("time [s]")
    axes[0, 0].set_title("not unique")
    axes[0, 1].set_title("unique")
    return figure
