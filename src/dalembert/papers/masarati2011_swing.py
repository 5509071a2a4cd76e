"""P. Masarati, Adding kinematic constraints to purely differential dynamics, Comput. Mech. 47 (2011): the swing of section 4.2,
Table 1, and the beam element of the appendix.

A beam hangs by two massless rods and carries a mass at mid-span, which a triangular pulse pushes; at about 0.65 s the beam
and the left rod are in line. What the paper leaves open: Young's modulus is 73 GPa, not the printed 73 MPa; the 1 mm of the
section lie in the plane; the pulse acts on the mass in +x, and there is no gravity (only then the alignment comes when the
paper says). "independent" marks values of another program: four two-node elements with half-chunk masses and their static
moments.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.analysis.modes import modes
from dalembert.analysis.results import Run
from dalembert.analysis.shapes import shapes_of
from dalembert.analysis.simulate import simulate
from dalembert.elements.beam import Beam
from dalembert.elements.law import Ramp
from dalembert.elements.section import General, Rectangle
from dalembert.kernel.vec3 import Array
from dalembert.papers.figures import Figure
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.view.run_plots import finish

PAPER, INDEPENDENT, CLOSED_FORM = "printed", "independent", "closed form"

LENGTH, MASS, DEPTH = 0.72, 0.5, 0.36
PEAK, RISE = 2.0, 0.128  # N, s: the pulse grows for 0.128 s and falls as long
STRIP = Rectangle(width=0.005, height=0.001, youngs_modulus=73e9, poisson_ratio=0.3, density=2700.0)


def swing(elements: int = 4) -> Model:
    """Return the swing: beam A to E with the mass at C, held by rods from A up and from E up at 45 degrees."""
    model = Model("swing")
    beam = model.beam("beam", (0, 0, 0), (LENGTH, 0, 0), section=STRIP, elements=elements)
    add_mass_and_rods(model, beam.nodes[0], beam.nodes[elements // 2], beam.nodes[-1])
    return model


def add_mass_and_rods(model: Model, A: str, C: str, E: str) -> None:
    """Add the mass, the rods, the pulse, and a guide that keeps C in the plane."""
    model.body("mass", mass=MASS, position=(LENGTH / 2, 0, 0))
    model.fixed("weld", C, "mass", at=(LENGTH / 2, 0, 0))
    model.distance("left rod", "ground", A, at=(0, 0, DEPTH), at_driven=(0, 0, 0))
    model.distance("right rod", "ground", E, at=(LENGTH + DEPTH, 0, DEPTH), at_driven=(LENGTH, 0, 0))
    model.joint("plane", "lock", "ground", C, at=(LENGTH / 2, 0, 0), rows=("y", "Rx", "Rz"))
    model.load("rise", "mass", force=(1, 0, 0), law=Ramp(slope=PEAK / RISE, end_time=RISE))
    model.load("fall", "mass", force=(-1, 0, 0), law=Ramp(slope=PEAK / RISE, start_time=RISE, end_time=2 * RISE))


def places_of(run: Run, beam: Beam) -> Array:
    """Return the places of all nodes of a beam, (time, node, axis) [m]."""
    from scipy.spatial.transform import Rotation

    places = []
    for name, at, body in zip(beam.nodes, beam.line.places, beam.bodies, strict=True):
        offset = body.rotation.inv().apply(at - np.asarray(body.position))
        turns = Rotation.from_quat(run.orientation.sel(body=name).values, scalar_first=True)
        places.append(run.position.sel(body=name).values + turns.apply(offset))
    return np.stack(places, axis=1)


# --- appendix -----------------------------------------------------------------------------------------------------------


def _tip_deflection(elements: int, corrected: bool) -> float:
    """Return the deflection of the tip of a slender cantilever by a small force across, in parts of P L^3/(3 EI)."""
    from dalembert.analysis.equilibrium import equilibrium

    slender = General(stiffness=(1e7, 1e7, 1e7, 1.0, 1.0, 1.0), mass=1.0)
    model, small = Model("cantilever"), 1e-5
    tip = model.beam(
        "b", (0, 0, 0), (1, 0, 0), section=slender, elements=elements, start_joint="fixed", locking_correction=corrected
    )
    model.load("force", tip.nodes[-1], force=(0, 0, small), at=tip.places[-1])
    place, _ = build(model).frame(tip.places[-1], equilibrium(model).state.q)
    return float(place[2]) / (small * (1.0 / 3.0 + 1e-7 * corrected))


def _end_rotation(elements: int) -> float:
    """Return the rotation of the tip by a moment of 3 EI/L [rad]."""
    from dalembert.analysis.equilibrium import equilibrium

    model = Model("cantilever")
    section = General(stiffness=(1e6, 1e6, 1e6, 1.0, 1.0, 1.0), mass=1.0)
    tip = model.beam("b", (0, 0, 0), (1, 0, 0), section=section, elements=elements, start_joint="fixed")
    model.load("moment", tip.nodes[-1], torque=(0, -3.0, 0))
    _, R = build(model).frame(tip.places[-1], equilibrium(model).state.q)
    return float(np.arctan2(R[2, 0], R[0, 0]))


def appendix_figures() -> Iterator[Figure]:
    """Compare the beam element of the appendix with closed forms."""
    for n in (1, 2, 4, 8):
        without = 1.0 - 1.0 / (4.0 * n * n)
        named = f"cantilever of {n}, tip force: deflection to exact, "
        yield Figure(named + "without correction", without, _tip_deflection(n, corrected=False), 1e-6, CLOSED_FORM)
        yield Figure(named + "with correction", 1.0, _tip_deflection(n, corrected=True), 1e-9, CLOSED_FORM)
    for n in (2, 8):
        yield Figure(f"cantilever of {n}, moment 3 EI/L: rotation of the tip [rad]", 3.0, _end_rotation(n), 1e-9, CLOSED_FORM)


# --- Table 1 ------------------------------------------------------------------------------------------------------------

TABLE_1 = {
    "first symmetric bending": (0.443, 3, 0.443067),
    "first antisymmetric bending": (18.17, 2, 18.174058),
    "second symmetric bending": (28.46, 2, 28.457153),
    "first antisymmetric axial": (319.5, 1, 319.4767),
}
"""Printed [Hz] and its decimals, and the independent value."""
WITHOUT_CORRECTION = (0.443205, 18.192733, 28.537884)


def pinned_beam(elements: int = 40, *, locking_correction: bool = True) -> Model:
    """Return the beam with the mass, pinned at both ends."""
    model = Model("pinned beam")
    axis = {"start_joint": "revolute", "start_axis": (0, 1, 0), "end_joint": "revolute", "end_axis": (0, 1, 0)}
    beam = model.beam(
        "beam", (0, 0, 0), (LENGTH, 0, 0), section=STRIP, elements=elements, locking_correction=locking_correction, **axis
    )
    model.body("mass", mass=MASS, position=(LENGTH / 2, 0, 0))
    model.fixed("weld", beam.nodes[elements // 2], "mass", at=(LENGTH / 2, 0, 0))
    return model


def table_1(*, locking_correction: bool = True) -> tuple[Array, Array]:
    """Return the frequencies of bending in the plane, and of axial vibration [Hz]."""
    vibration = modes(pinned_beam(locking_correction=locking_correction), None, at="design")
    x, y, z = np.abs(vibration.translation.values).max(axis=1).T
    hertz = vibration.frequency_hz.values
    return hertz[z > 10.0 * np.maximum(x, y)], hertz[x > 10.0 * np.maximum(y, z)]


def table_1_figures() -> Iterator[Figure]:
    """Compare Table 1, to all printed digits."""
    bending, axial = table_1()
    for ours, (name, (printed, digits, independent)) in zip((*bending[:3], axial[0]), TABLE_1.items(), strict=True):
        yield Figure(f"pinned beam, {name} [Hz]", printed, round(float(ours), digits), 1e-12, PAPER + ", Table 1")
        yield Figure(f"pinned beam, {name} [Hz]", independent, float(ours), 2e-6, INDEPENDENT, True)
    bending, _ = table_1(locking_correction=False)
    for ours, name, independent in zip(bending, TABLE_1, WITHOUT_CORRECTION, strict=False):
        yield Figure(f"without locking correction, {name} [Hz]", independent, float(ours), 2e-6, INDEPENDENT, True)


# --- the swing ----------------------------------------------------------------------------------------------------------

BEFORE_THE_ALIGNMENT = {  # x, z of A, B, C, D, E [m]
    0.2: (0.036905, 0.001897, 0.216897, 0.003584, 0.396857, -0.000242, 0.576377, -0.013396, 0.755391, -0.032211),
    0.4: (0.136546, 0.026901, 0.316232, 0.016244, 0.495, -0.004803, 0.670908, -0.04297, 0.844308, -0.091275),
    0.5: (0.190163, 0.054324, 0.367867, 0.025658, 0.544284, -0.010084, 0.717901, -0.057599, 0.889448, -0.112112),
    0.6: (0.255377, 0.106263, 0.423987, 0.043249, 0.593668, -0.01682, 0.764519, -0.073479, 0.935962, -0.128317),
}
EXPLICIT: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-6, "max_step": 1e-3, "output_step": 0.01}
"""Control of the explicit runs: the paper's relative tolerance, and its largest step."""


def beam_runs() -> dict[str, Run]:
    """Return the runs of the beam model, implicit to 1 s and explicit with and without projection to 0.69 s."""
    calm: dict[str, Any] = {"method": "generalized_alpha", "step": 1e-4, "spectral_radius": 0.6, "output_step": 1e-3}
    return {
        "implicit": simulate(swing(), duration=1.0, **calm),
        "baseline": simulate(swing(), duration=0.69, method="index1", **EXPLICIT),
        "present": simulate(swing(), duration=0.69, method="dopri5", **EXPLICIT),
    }


def beam_figures() -> Iterator[Figure]:
    """Compare the motion before the alignment, the alignment, and the steps of the explicit runs."""
    runs, beam = beam_runs(), swing().beams["beam"]
    for method in ("implicit", "present"):
        run, places = runs[method], places_of(runs[method], beam)
        for time, row in BEFORE_THE_ALIGNMENT.items():
            k = int(np.argmin(np.abs(run.time.values - time)))
            worst = float(np.abs(places[k][:, [0, 2]].ravel() - row).max())
            yield Figure(f"swing, {method}: places of A to E at {time} s, worst [m]", 0.0, worst, 1e-4, INDEPENDENT)
    run = runs["implicit"]
    places = places_of(run, beam)
    turned = np.arctan2(places[:, 0, 0], DEPTH - places[:, 0, 2])
    aligned = float(run.time.values[np.argmax(turned)])
    yield Figure("swing: time of the alignment [s]", 0.65, aligned, 0.02, PAPER)
    steps = {name: float(runs[name].attrs["steps"]) for name in ("baseline", "present")}
    yield Figure(
        "swing, beam: steps of present to baseline", 1.0, steps["present"] / steps["baseline"], 0.02, PAPER + ", Table 2"
    )
    left = float(np.abs(runs["present"].constraint_violation.sel(level="position").values).max())
    yield Figure("swing, beam, present: largest constraint violation [m]", 0.0, left, 1e-12, PAPER)


# --- the swing with a modal body ----------------------------------------------------------------------------------------


def modal_swing(elements: int = 8, *, axial: bool = True) -> Model:
    """Return the swing with the modes of Table 1 in place of the beam: three of bending, and the axial one if wanted."""
    part = pinned_beam(elements)
    vibration = modes(part, None, at="design")
    x, y, z = np.abs(vibration.translation.values).max(axis=1).T
    bending, along = (np.flatnonzero(one) for one in (z > 10.0 * np.maximum(x, y), x > 10.0 * np.maximum(y, z)))
    chosen = [*bending[:3].tolist(), *along[: int(axial)].tolist()]
    beam = part.beams["beam"]
    model = Model("modal swing")
    nodes = model.modal_body("beam", shapes_of(part, chosen, bodies=beam.nodes)).nodes
    add_mass_and_rods(model, nodes[0], nodes[elements // 2], nodes[-1])
    return model


def modal_runs() -> dict[str, Run]:
    """Return the explicit runs to 1 s with and without projection, with and without the axial mode."""
    return {
        f"{name}{'' if axial else ', no axial mode'}": simulate(
            modal_swing(axial=axial), duration=1.0, method=method, **EXPLICIT
        )
        for axial in (True, False)
        for name, method in (("baseline", "index1"), ("present", "dopri5"))
    }


def modal_figures(runs: dict[str, Run] | None = None) -> Iterator[Figure]:
    """Compare the modal model: step counts of Table 2 as ratios, and the motion of C before the alignment."""
    runs = modal_runs() if runs is None else runs
    steps = {name: float(run.attrs["steps"]) for name, run in runs.items()}
    ratio = steps["present"] / steps["present, no axial mode"]
    yield Figure("swing, modal: steps with to without axial mode (15 to 40; 25)", 27.5, ratio, 12.5, PAPER + ", Table 2")
    without = steps["present, no axial mode"]
    yield Figure("swing, modal, no axial mode: steps of present to baseline", 1.0, without / steps["baseline, no axial mode"],
                 0.02, PAPER + ", Table 2")  # fmt: skip
    yield Figure("swing, modal, no axial mode: steps to 1 s at the limit of 1 ms", 1103, without, 110.3, PAPER + ", Table 2")
    for name in ("present", "present, no axial mode"):
        k = int(np.argmin(np.abs(runs[name].time.values - 0.6)))
        place = runs[name].position.sel(body="mass").values[k, [0, 2]]
        worst = float(np.abs(place - BEFORE_THE_ALIGNMENT[0.6][4:6]).max())
        yield Figure(f"swing, modal, {name}: place of C at 0.6 s [m]", 0.0, worst, 2e-3, INDEPENDENT)
        left = float(np.abs(runs[name].constraint_violation.sel(level="position").values).max())
        yield Figure(f"swing, modal, {name}: largest constraint violation [m]", 0.0, left, 1e-12, PAPER)


def figures() -> Iterator[Figure]:
    """Compare all that the paper prints of the swing and of its beam."""
    yield from appendix_figures()
    yield from table_1_figures()
    yield from beam_figures()
    yield from modal_figures()


# --- pictures -----------------------------------------------------------------------------------------------------------


def draw(folder: Path) -> list[Path]:
    """Draw the trajectories of A to E, the modes of Table 1, constraint violations, and the motion of C (Figs. 4 to 8)."""
    import matplotlib.pyplot as plt

    runs, modal, paths = beam_runs(), modal_runs(), []
    pictures = {
        "trajectories": _draw_trajectories(runs["implicit"]),
        "modes": _draw_modes(),
        "violation": _draw_violations({name: runs[name] for name in ("baseline", "present")}, "Fig. 6, beam model"),
        "violation_modal": _draw_violations(modal, "Fig. 7, modal model"),
        "mass": _draw_mass({"beam, present": runs["present"], **modal}),
    }
    for name, picture in pictures.items():
        paths.append(folder / f"masarati2011_swing_{name}.png")
        picture.savefig(paths[-1], dpi=120)
        plt.close(picture)
    return paths


def _draw_trajectories(run: Run) -> Any:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    for k, name in enumerate("ABCDE"):
        path = places_of(run, swing().beams["beam"])[:, k]
        ax.plot(path[:, 0], path[:, 2], label=name)
    ax.set(xlabel="x [m]", title="Fig. 4: trajectories of A to E", aspect="equal")
    finish(ax, "z [m]")
    return figure


def _draw_modes() -> Any:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    vibration = modes(pinned_beam(), None, at="design")
    for name, (_, _, hertz) in TABLE_1.items():
        k = int(np.argmin(np.abs(vibration.frequency_hz.values - hertz)))
        shape = vibration.translation.values[k, :-1, 0 if "axial" in name else 2].real
        ax.plot(np.linspace(0.0, LENGTH, shape.size), shape / shape[np.abs(shape).argmax()], label=f"{name}, {hertz:.4g} Hz")
    ax.set(xlabel="x [m]", title="Fig. 5: modes of the pinned beam")
    finish(ax, "displacement, scaled")
    return figure


def _draw_violations(runs: dict[str, Run], title: str) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained", sharex=True)
    for ax, level in zip(axes, ("position", "velocity"), strict=True):
        for name, run in runs.items():
            ax.semilogy(run.time.values, np.abs(run.constraint_violation.sel(level=level).values) + 1e-18, label=name)
        finish(ax, f"constraint violation, {level}")
    axes[0].set_title(title)
    axes[1].set_xlabel("time [s]")
    return figure


def _draw_mass(runs: dict[str, Run]) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained", sharex=True)
    for ax, axis in zip(axes, ("x", "z"), strict=True):
        for name, run in runs.items():
            ax.plot(run.time.values, run.position.sel(body="mass", axis=axis).values, label=name)
        finish(ax, f"{axis} of C [m]")
    axes[0].set_title("Fig. 8: the motion of C")
    axes[1].set_xlabel("time [s]")
    return figure
