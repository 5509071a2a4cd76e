"""P. Masarati, Adding kinematic constraints to purely differential dynamics, Comput. Mech. 47 (2011) 187-203: the examples.

The paper prints curves and few figures. "independent" marks values of a plain NumPy program with the same pair of formulas and
its own step control; how many steps the loose tolerance needs depends on that control, and only its largest step counts there.
Corrected here: the sign in (8); 1.0625 of Table 3 is the square of nu_beta. The blade starts at rest from zero, which satisfies
the constraint.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from dalembert.analysis.results import Run
from dalembert.analysis.simulate import simulate
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.mechanics import Mechanics
from dalembert.papers import masarati2011_swing
from dalembert.papers.figures import Figure

PAPER, INDEPENDENT, CLOSED_FORM = "printed", "independent", "closed form"

# --- 4.1 pendulum -------------------------------------------------------------------------------------------------------

GRAVITY = 9.81
LOOSE, TIGHT = {"rtol": 1e-3, "atol": 1e-6}, {"rtol": 1e-9, "atol": 1e-9}
END = np.array([0.275087462576122, -0.9614192050991236])  # place at 10 s, by elliptic functions

PENDULUM_RUNS: dict[str, dict[str, Any]] = {
    "present": {"method": "dopri5", "weights": "identity"},
    "present, also of stages": {"method": "dopri5", "weights": "identity", "project_stages": True},
    "baseline": {"method": "index1"},
    "Baumgarte (2, 2)": {"method": "baumgarte", "alpha": 2.0, "beta": 2.0},
    "Braun and Goldfarb, dt 0.05 s": {"method": "braun_goldfarb", "alpha": 20.0, "beta": 20.0},
}


def pendulum() -> Mechanics:
    """Return the point mass of 1 kg at 1 m (27), released from the horizontal."""
    x, z, vx, vz = sp.symbols("x z vx vz")
    return Mechanics(
        "pendulum", [x, z], [vx, vz],
        kinetic_energy=(vx**2 + vz**2) / 2, potential_energy=GRAVITY * z, holonomic=[sp.sqrt(x**2 + z**2) - 1], position=[1, 0],
    )  # fmt: skip


def pendulum_run(name: str, tolerances: dict[str, float]) -> Run:
    """Return 10 s of the pendulum, in one of the ways of `PENDULUM_RUNS`."""
    control: dict[str, Any] = {"max_step": 0.1, "first_step": 0.01, **tolerances, **PENDULUM_RUNS[name]}
    return simulate(pendulum(), duration=10.0, output_step=0.05, **control)


def pendulum_figures() -> Iterator[Figure]:
    """Compare the pendulum of section 4.1: steps, violations at the ends of steps, place and energy after 10 s."""
    for label, tolerances in (("loose", LOOSE), ("tight", TIGHT)):
        for name in PENDULUM_RUNS:
            run, about = pendulum_run(name, tolerances), f"pendulum, {label}, {name}: "
            length, radial = run.attrs["position_violation"], run.attrs["velocity_violation"]
            if name.startswith("present"):
                yield Figure(about + "error of the length [m]", 0.0, length, 1e-12, PAPER)
                yield Figure(about + "radial velocity [m/s]", 0.0, radial, 1e-12, PAPER)
            yield from _pendulum_steps(about, label, name, run)
            if label == "tight":
                place = float(np.hypot(*(run.position.values[-1] - END)))
                yield Figure(about + "error of the place at 10 s [m]", 0.0, place, 1e-6, CLOSED_FORM)


def _pendulum_steps(about: str, label: str, name: str, run: Run) -> Iterator[Figure]:
    """Compare steps, and the drift of the baseline, at one tolerance."""
    steps, drift = run.attrs["steps"], run.attrs["position_violation"]
    if label == "loose" and name in ("present", "baseline"):
        yield Figure(about + "steps (60 to 250; the paper: about 200)", 155.0, steps, 95.0, PAPER)
    if label == "tight" and name in ("present", "baseline", "Baumgarte (2, 2)"):
        yield Figure(about + "steps", 850.0, steps, 0.2, PAPER, True)
    if label == "tight" and name.startswith("Braun"):
        yield Figure(about + "steps (nearly twice as many)", 2.0, steps / 850.0, 0.5, PAPER)
    if label == "loose" and name == "baseline":
        yield Figure(about + "drift of the length [m]", 0.0105, drift, 0.1, INDEPENDENT, True)
    if name == "present":
        energy = float((run.kinetic_energy + run.potential_energy)[-1])
        per_period = abs(energy) / GRAVITY / (10.0 / 2.3678419475762373)
        yield Figure(about + "energy per period (below 1e-4)", 0.0, per_period, 1e-4, PAPER)


# --- 4.3 helicopter blade pitch control ---------------------------------------------------------------------------------

OMEGA, RADIUS, FLAP_INERTIA, PITCH_INERTIA, COUPLING_INERTIA = 40.0, 5.0, 416.67, 9.375e-2, 1.875e-2
LOCK_NUMBER, HINGE, POINT_A, POINT_B, LINK = 8.0, 0.2, (0.05, 0.2, 0.0), (0.25, 0.2, -0.15), 0.15
FLAP_RATIO_SQUARED, PITCH_FLAP, CONTROL_STIFFNESS = 1.0625, 0.25, 1.6538e4
SOFTER_STIFFNESS = (5.5 * OMEGA) ** 2 * PITCH_INERTIA

BLADE_TIMES = (0.5, 1.0, 1.5, 2.0)
BLADE_FLAP = (0.008579227, -0.022450562, -0.027007135, 0.00040907)
BLADE_PITCH = (-0.002144861, 0.00561361, 0.006753471, -0.000102268)
BLADE_LINK_FORCE = (-0.028571, -0.002019, 0.000901, 0.00014)

BLADE_RUNS = {"baseline": ("index1", 0.0), "present": ("dopri5", 0.0), "penalty": ("dopri5", CONTROL_STIFFNESS)}


def blade(stiffness: float = 0.0) -> Mechanics:
    """Return flap and pitch of a rotor blade (30), with the pitch link as a constraint (28), (29) or as a spring [N m/rad]."""
    beta, theta, vb, vt, t = sp.symbols("beta theta vbeta vtheta t")
    moment = -LOCK_NUMBER / 16 * OMEGA * FLAP_INERTIA * vb + 10e3 * sp.cos(OMEGA * t + sp.pi / 2)
    square = OMEGA**2
    flap = moment - FLAP_INERTIA * square * FLAP_RATIO_SQUARED * beta + COUPLING_INERTIA * square * theta
    pitch = COUPLING_INERTIA * square * beta - PITCH_INERTIA * square * theta - stiffness * (theta + PITCH_FLAP * beta)
    turn = sp.Matrix([[sp.cos(beta), 0, -sp.sin(beta)], [0, 1, 0], [sp.sin(beta), 0, sp.cos(beta)]])
    twist = sp.Matrix([[1, 0, 0], [0, sp.cos(theta), -sp.sin(theta)], [0, sp.sin(theta), sp.cos(theta)]])
    gap = sp.Matrix([HINGE, 0, 0]) + turn * twist * sp.Matrix(POINT_A) - sp.Matrix(POINT_B)
    return Mechanics(
        "blade", [beta, theta], [vb, vt],
        mass=[[FLAP_INERTIA, -COUPLING_INERTIA], [-COUPLING_INERTIA, PITCH_INERTIA]], force=[flap, pitch],
        holonomic=[] if stiffness else [sp.sqrt(gap.dot(gap)) - LINK],
    )  # fmt: skip


def blade_run(name: str, *, stiffness: float | None = None) -> Run:
    """Return 2 s of the blade, as in `BLADE_RUNS`, at the paper's tolerances."""
    method, usual = BLADE_RUNS[name]
    control: dict[str, Any] = {"rtol": 1e-2, "atol": 1e-4, "max_step": 0.01, "first_step": 0.01}
    model = blade(usual if stiffness is None else stiffness)
    return simulate(model, duration=2.0, output_step=0.0025, method=method, **control)


def link_gap(run: Run) -> Array:
    """Return how far the pitch link is from its length, at each output [m]."""
    constrained = blade()
    return np.array([constrained.constraint(0.0, q)[0] for q in run.position.values])


def blade_figures() -> Iterator[Figure]:
    """Compare the blade of section 4.3."""
    runs = {name: blade_run(name) for name in BLADE_RUNS}
    for name in ("baseline", "present"):
        yield Figure(f"blade, {name}: steps", 200.0, runs[name].attrs["steps"], 0.0, PAPER)
    tried = runs["penalty"].attrs["steps"] + runs["penalty"].attrs["rejected_steps"]
    yield Figure(
        "blade, penalty: steps tried, of those of the constraint", 709.0 / 200.0, tried / 200.0, 0.25, INDEPENDENT, True
    )
    yield Figure("blade, present: violation [m]", 0.0, runs["present"].attrs["position_violation"], 1e-12, PAPER)
    gap = float(np.abs(link_gap(runs["penalty"])).max())
    yield Figure("blade, penalty: violation, log10 [m] (1e-4 to 1e-3)", -3.5, float(np.log10(gap)), 0.5, INDEPENDENT)
    at = runs["present"].sel(time=list(BLADE_TIMES), method="nearest")
    for k, time in enumerate(BLADE_TIMES):
        for label, column, expected in (("flap", 0, BLADE_FLAP), ("pitch", 1, BLADE_PITCH)):
            ours = float(at.position.values[k, column])
            yield Figure(f"blade, {label} angle at {time:g} s [rad]", expected[k], ours, 1e-6, INDEPENDENT)
        ours = float(at.multiplier.values[k, 0])
        yield Figure(f"blade, pitch link at {time:g} s [N]", BLADE_LINK_FORCE[k], ours, 5e-4, INDEPENDENT)
    yield Figure(
        "blade, control stiffness of 10.5 Omega [N m]", CONTROL_STIFFNESS, (10.5 * OMEGA) ** 2 * PITCH_INERTIA, 1.0, PAPER
    )


def figures() -> Iterator[Figure]:
    """Compare all of section 4, and the beam element of the appendix."""
    yield from pendulum_figures()
    yield from blade_figures()
    yield from masarati2011_swing.figures()


# --- pictures -----------------------------------------------------------------------------------------------------------


def draw(folder: Path) -> list[Path]:
    """Draw pictures like figures 1, 2, 4 to 8 and 10 to 12."""
    import matplotlib.pyplot as plt

    pictures = {
        "masarati2011_pendulum_loose.png": _draw_pendulum(LOOSE),
        "masarati2011_pendulum_tight.png": _draw_pendulum(TIGHT),
        "masarati2011_blade_motion.png": _draw_blade_motion(),
        "masarati2011_blade_errors.png": _draw_blade_errors(),
    }
    for name, picture in pictures.items():
        picture.savefig(folder / name, dpi=120)
        plt.close(picture)
    return [*(folder / name for name in pictures), *masarati2011_swing.draw(folder)]


def _draw_pendulum(tolerances: dict[str, float]) -> Any:
    """Draw trajectory, length, radial velocity and energy: figures 1 and 2."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for name in PENDULUM_RUNS:
        run = pendulum_run(name, tolerances)
        q, v, t = run.position.values, run.velocity.values, run.time.values
        axes[0, 0].plot(*q.T, linewidth=0.8, label=name)
        axes[0, 1].semilogy(t, np.maximum(np.abs(np.hypot(*q.T) - 1.0), 1e-17), linewidth=0.8)
        axes[1, 0].semilogy(t, np.maximum(np.abs(np.sum(q * v, axis=1)), 1e-17), linewidth=0.8)
        axes[1, 1].plot(t, run.kinetic_energy + run.potential_energy, linewidth=0.8)
    titles = ("trajectory [m]", "error of the length [m]", "radial velocity [m/s]", "energy [J]")
    for ax, title in zip(axes.ravel(), titles, strict=True):
        ax.set_title(title, fontsize="small")
        ax.grid(alpha=0.3)
    for ax in axes.ravel()[1:]:
        ax.set_xlabel("time [s]")
    axes[0, 0].legend(fontsize="x-small")
    return figure


def _draw_blade_motion() -> Any:
    """Draw flap and pitch, angles and rates: figure 10."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, sharex=True, figsize=(10, 7), layout="constrained")
    for name in BLADE_RUNS:
        run = blade_run(name)
        for row, label in enumerate(("flap", "pitch")):
            axes[row, 0].plot(run.time, run.position[:, row], linewidth=0.8, label=name)
            axes[row, 1].plot(run.time, run.velocity[:, row], linewidth=0.8)
            axes[row, 0].set_ylabel(f"{label} [rad]")
            axes[row, 1].set_ylabel(f"{label} rate [rad/s]")
    for ax in axes[1]:
        ax.set_xlabel("time [s]")
    axes[0, 0].legend(fontsize="small")
    return figure


def _draw_blade_errors() -> Any:
    """Draw the violation of the constraint and the force in the pitch link: figures 11 and 12."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(8, 9), layout="constrained")
    for name in BLADE_RUNS:
        run = blade_run(name)
        axes[0].plot(run.time, link_gap(run), linewidth=0.8, label=name)
        if name != "penalty":
            axes[1].plot(run.time, link_gap(run), linewidth=0.8, label=name)
            axes[2].plot(run.time, run.multiplier[:, 0], linewidth=0.8, label=name)
    for ax, label in zip(axes, ("link [m]", "link, without penalty [m]", "pitch link force [N]"), strict=True):
        ax.set_ylabel(label)
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small")
    axes[2].set_xlabel("time [s]")
    return figure
