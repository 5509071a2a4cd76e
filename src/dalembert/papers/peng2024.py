"""C. Peng, A. Tasora, D. Fusai, D. Mangoni, A unified analytical expression of the tangent stiffness matrix of holonomic
constraints, CMAME 419 (2024) 116667: the three examples of section 4.

Sources of what the paper leaves open: the chain is that of the authors' own demonstration in Project Chrono (43 bodies of 10 kg
and 10 kg m2, torsion-locked joints); the wishbone is the A-arm with pushrod of B. Minaker's EoM, the author of the paper's ref.
[11]. "independent" marks values of other programs: of the chain and of the wishbone by a formulation in angles and one by
finite differences of the potential energy.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.analysis.equilibrium import equilibrium
from dalembert.analysis.modes import Modes, modes
from dalembert.analysis.rest import Equilibrium
from dalembert.analysis.results import Run
from dalembert.analysis.simulate import simulate
from dalembert.elements import inertia
from dalembert.kernel.vec3 import Array
from dalembert.papers.figures import Figure
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.state import State
from dalembert.view.run_plots import finish

GRAVITY = 9.81
PAPER, INDEPENDENT, CLOSED_FORM = "printed", "independent", "closed form"

# --- 4.1 pendulum -------------------------------------------------------------------------------------------------------

PENDULUM_LENGTH = 4.0


def pendulum(angle: float = 30.0) -> Model:
    """Return the point mass of 15 kg at 4 m from its hinge, drawn at an angle [degrees] from the vertical."""
    a = np.radians(angle)
    model = Model("pendulum", gravity=(0, 0, -GRAVITY))
    place = PENDULUM_LENGTH * np.array([np.sin(a), 0.0, -np.cos(a)])
    model.point("pivot", (0, 0, 0))
    model.body("bob", mass=15.0, position=place)
    model.revolute("hinge", "ground", "bob", at="pivot", axis=(0, 1, 0))
    return model


def pendulum_figures() -> Iterator[Figure]:
    """Compare the pendulum of section 4.1."""
    rate = np.sqrt(GRAVITY / PENDULUM_LENGTH)
    for start, height, stable in ((30.0, -4.0, True), (150.0, 4.0, False)):
        rest, vibration = equilibrium(pendulum(start)), modes(pendulum(start), None)
        from_here = f"pendulum from {start:g} degrees: "
        yield Figure(from_here + "height at rest [m]", height, float(rest.position.sel(body="bob", axis="z")), 1e-12, PAPER)
        yield Figure(from_here + "stable (1) or not (0)", float(stable), float(rest.stable), 0.0, PAPER)
        s = vibration.eigenvalue.values
        ours = float(s[0].imag if stable else s.real.max())
        kind = "Im" if stable else "Re"
        yield Figure(from_here + f"{kind} of eigenvalue [1/s]", 1.566, ours, 5e-4, PAPER)
        yield Figure(from_here + f"{kind} of eigenvalue [1/s]", rate, ours, 1e-8, CLOSED_FORM)
    without = modes(pendulum(30.0), None, without_constraint_stiffness=True)
    yield Figure(
        "pendulum without K_c: largest eigenvalue [1/s]", 0.0, float(np.abs(without.eigenvalue.values).max()), 0.0, PAPER
    )


# --- 4.2 anchor chain ---------------------------------------------------------------------------------------------------

CHAIN_BODIES = 43
CHAIN_END = np.array([10.0, 0.0, 0.0])
CHAIN_MIDDLE = np.array([5.0, 0.0, -6.0])
CHAIN_PUSH = 490.5  # N, at the middle body, for the first 5 s


def anchor_chain() -> Model:
    """Return the chain between A and B, drawn as a V down to C: 43 bodies, torsion-locked joints half-way between them."""
    half = CHAIN_BODIES // 2
    leg = CHAIN_MIDDLE / half
    centres = [k * leg for k in range(half + 1)] + [CHAIN_MIDDLE + k * (leg * [1, 1, -1]) for k in range(1, half + 1)]
    spacing = float(np.linalg.norm(leg))
    slope = float(np.degrees(np.arctan2(-leg[2], leg[0])))
    turns = [45.0] + [slope] * (half - 1) + [0.0] + [-slope] * (half - 1) + [-45.0]
    model = Model("anchor chain", gravity=(0, 0, -GRAVITY))
    model.point("A", (0, 0, 0))
    model.point("B", CHAIN_END)
    names = [f"link {k}" for k in range(CHAIN_BODIES)]
    frames = [Rotation.from_euler("y", turn, degrees=True) for turn in turns]
    for name, centre, frame in zip(names, centres, frames, strict=True):
        model.body(name, mass=10.0, inertia=(10, 10, 10), position=centre, orientation=frame)
    model.revolute("at A", "ground", names[0], at="A", axis=(0, 1, 0))
    for k in range(CHAIN_BODIES - 1):
        ahead = centres[k] + 0.5 * spacing * frames[k].as_matrix()[:, 0]
        behind = centres[k + 1] - 0.5 * spacing * frames[k + 1].as_matrix()[:, 0]
        ends = {"orientation": frames[k], "orientation_driven": frames[k + 1], "at": ahead, "at_driven": behind}
        model.universal_torsion_locked(f"joint {k + 1}", names[k], names[k + 1], **ends)
    model.revolute("at B", "ground", names[-1], at="B", axis=(0, 1, 0))
    return model


TABLE_3 = {"out of plane, 1st": 0.24, "in plane, 1st": 0.309, "in plane, 2nd": 0.504, "out of plane, 2nd": 0.551}
CHAIN_FREQUENCIES = {
    "in plane": (0.30947121, 0.50390794, 0.63745337, 0.72534126, 0.78235749, 0.81747688),
    "out of plane": (0.24042119, 0.55122484, 0.65506226, 0.73872159, 0.78945627, 0.82133444),
}
CHAIN_PEAKS = {"+x": (0.311,), "+y": (0.244, 0.544), "-z": (0.5,)}
DIRECTIONS = {"+x": (1.0, 0.0, 0.0), "+y": (0.0, 1.0, 0.0), "-z": (0.0, 0.0, -1.0)}


def chain_figures() -> Iterator[Figure]:
    """Compare the anchor chain of section 4.2 at rest: equilibrium and Table 3."""
    rest = equilibrium(anchor_chain())
    yield Figure("chain: largest force left unbalanced [N]", 0.0, float(rest.residual), 1e-8, CLOSED_FORM)
    horizontal = horizontal_forces(rest)
    spread = float(np.ptp(horizontal) / horizontal.mean())
    yield Figure("chain: spread of horizontal joint forces, relative", 0.0, spread, 1e-10, CLOSED_FORM)
    yield Figure("chain: horizontal joint force [N]", 771.9643026340118, float(horizontal.mean()), 1e-9, INDEPENDENT, True)
    middle = float(rest.position.sel(body=f"link {CHAIN_BODIES // 2}", axis="z"))
    yield Figure("chain: height of C [m]", -5.409618447991447, middle, 1e-9, INDEPENDENT)
    frequencies = chain_frequencies(modes(anchor_chain(), 14))
    for name, printed in TABLE_3.items():
        plane, rank = name.split(", ")
        yield Figure(
            f"chain, {name} [Hz]", printed, round(float(frequencies[plane][int(rank[0]) - 1]), 3), 1e-12, PAPER + ", Table 3"
        )
    for plane, values in CHAIN_FREQUENCIES.items():
        for k, value in enumerate(values):
            yield Figure(f"chain, {plane}, {k + 1} [Hz]", value, float(frequencies[plane][k]), 1e-6, INDEPENDENT, True)


def horizontal_forces(rest: Equilibrium) -> Array:
    """Return the horizontal force of each joint in the world [N]."""
    system = build(anchor_chain())
    force = rest.joint_force.values
    in_world = []
    for k, joint in enumerate(system.layout.joint_frames):
        main = system.layout.joint_bodies[joint][1]
        orientation = rest.orientation.values[main] if main < system.n_bodies else np.array([1.0, 0, 0, 0])
        R = Rotation.from_quat(orientation, scalar_first=True).as_matrix() @ system.layout.joint_frames[joint][1]
        in_world.append((R @ force[k])[0])
    return np.asarray(np.abs(np.array(in_world)), float)


def chain_frequencies(vibration: Modes) -> dict[str, Array]:
    """Return the frequencies of modes in and out of the plane of the chain [Hz]."""
    sideways = np.abs(vibration.translation.sel(axis="y").values).max(axis=1)
    whole = np.abs(vibration.translation.values).max(axis=(1, 2))
    out, hertz = sideways > 0.5 * whole, vibration.frequency_hz.values
    return {"in plane": hertz[~out], "out of plane": hertz[out]}


class Ringing(NamedTuple):
    """A free vibration and its spectrum."""

    time: Array
    place: Array
    frequency: Array
    amplitude: Array

    def peaks(self, least: float) -> Array:
        """Return the frequencies of the local maxima, the largest first, down to a part of the largest [Hz]."""
        inside = self.amplitude[1:-1]
        top = (
            np.flatnonzero((inside > self.amplitude[:-2]) & (inside > self.amplitude[2:]) & (inside > least * inside.max())) + 1
        )
        return np.asarray(self.frequency[top[np.argsort(-self.amplitude[top])]])


def spectrum_of(time: Array, place: Array) -> Ringing:
    """Return the discrete spectrum of a free vibration."""
    amplitude = np.abs(np.fft.rfft(place - place.mean())) / place.size
    return Ringing(time, place, np.fft.rfftfreq(place.size, time[1] - time[0]), amplitude)


def _end_of(run: Run, model: Model) -> State:
    """Return the last state of a run, for another model of the same bodies and joints."""
    system = build(model)
    places = np.hstack([run.position.values[-1], run.orientation.values[-1]]).ravel()
    v = np.hstack([run.velocity.values[-1], run.angular_velocity.values[-1]]).ravel()
    q = np.concatenate([places, system.design.q[places.size :]])
    return State(0.0, system.advance(q, np.zeros(v.size)), v)  # the joints' angles follow the bodies


def pushed_chain(direction: str) -> Ringing:
    """Return the experiment of Fig. 6: C is pushed for 5 s, then free; HHT, 0.01 s, 100 s; the first 10 s are left out."""
    control: dict[str, Any] = {"method": "hht", "alpha": -0.2, "step": 0.01, "output_step": 0.01}
    middle, calm = f"link {CHAIN_BODIES // 2}", anchor_chain()
    pushed = anchor_chain()
    pushed.load("push", middle, force=tuple(CHAIN_PUSH * np.array(DIRECTIONS[direction])))
    held = simulate(pushed, duration=5.0, start=equilibrium(calm).state, **control)
    free = simulate(calm, duration=95.0, start=_end_of(held, calm), **control)
    kept = slice(500, -1)
    place = free.position.sel(body=middle, axis=direction[1]).values[kept]
    return spectrum_of(free.time.values[kept] + 5.0, place)


def chain_peak_figures() -> Iterator[Figure]:
    """Compare the peaks of Fig. 6: nearest bin of 1/90 Hz, one bin allowed."""
    for direction, printed in CHAIN_PEAKS.items():
        peaks = pushed_chain(direction).peaks(0.25)
        for value in printed:
            ours = float(peaks[np.argmin(np.abs(peaks - value))])
            yield Figure(f"chain pushed along {direction}: peak [Hz]", value, ours, 1.0 / 90.0, PAPER + ", Fig. 6")


# --- 4.3 double wishbone ------------------------------------------------------------------------------------------------

WHEEL_CENTRE = (0.5, 0.9, 0.3)


def double_wishbone(*, gravity: float = 0.0, force: float = 0.0) -> Model:
    """Return the double wishbone suspension with bell crank, its wheel carrying a vertical force [N]."""
    model = Model("double wishbone", gravity=(0, 0, -gravity))
    points = {
        "lower rear": (0.3, 0.1, 0.15), "lower front": (0.7, 0.1, 0.1), "lower ball": (0.5, 0.8, 0.15),
        "upper front": (0.7, 0.3, 0.35), "upper rear": (0.3, 0.3, 0.35), "upper ball": (0.5, 0.75, 0.45),
        "crank pivot": (0.4, 0.4, 0.4), "rod top": (0.5, 0.4, 0.4), "rod bottom": (0.5, 0.7, 0.2),
        "tie inner": (0.25, 0.3, 0.26), "tie outer": (0.43, 0.8, 0.3),
        "spring fixed": (0.0, 0.3, 0.5), "spring crank": (0.45, 0.3, 0.5),
    }  # fmt: skip
    for name, place in points.items():
        model.point(name, place)
    model.body("upright", mass=5.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0.8, 0.3))
    model.body("wheel", mass=10.0, inertia=(2, 4, 2), position=WHEEL_CENTRE)
    model.body("lower arm", mass=5.0, inertia=(1, 1, 2), position=(0.5, 0.6, 0.15))
    model.body("upper arm", mass=5.0, inertia=(1, 1, 2), position=(0.5, 0.6, 0.4))
    model.body("bell crank", mass=1.0, inertia=(0.05, 0.05, 0.05), position=(0.45, 0.35, 0.45))
    _slender_rod(model, "push rod", points["rod top"], points["rod bottom"])
    _slender_rod(model, "tie rod", points["tie inner"], points["tie outer"])
    model.fixed("hub", "upright", "wheel", at=WHEEL_CENTRE)
    model.spherical("lower rear pivot", "ground", "lower arm", at="lower rear")
    model.point_on_line("lower front pivot", "ground", "lower arm", at="lower front", axis=(1, 0, 0))
    model.spherical("upper rear pivot", "ground", "upper arm", at="upper rear")
    model.point_on_line("upper front pivot", "ground", "upper arm", at="upper front", axis=(1, 0, 0))
    model.spherical("lower ball", "lower arm", "upright", at="lower ball")
    model.spherical("upper ball", "upper arm", "upright", at="upper ball")
    model.revolute("crank pivot", "ground", "bell crank", at="crank pivot", axis=(0, 1, 1))
    _rod_ends(model, "push rod", ("bell crank", "rod top"), ("lower arm", "rod bottom"))
    _rod_ends(model, "tie rod", ("ground", "tie inner"), ("upright", "tie outer"))
    model.spring(
        "spring", "ground", "bell crank", at="spring fixed", at_driven="spring crank", stiffness=2e4, free_length=0.66375
    )
    if force:
        model.load("tyre", "wheel", force=(0, 0, force))
    return model


def _slender_rod(model: Model, name: str, one: tuple[float, ...], other: tuple[float, ...]) -> None:
    along = np.subtract(other, one)
    turn = Rotation.align_vectors([along], [[1.0, 0, 0]])[0]
    length = float(np.linalg.norm(along))
    place = 0.5 * np.add(one, other)
    model.body(name, mass=1.0, inertia=inertia.rod(1.0, length), position=place, orientation=turn)


def _rod_ends(model: Model, name: str, one: tuple[str, str], other: tuple[str, str]) -> None:
    """Add a universal joint, which keeps the rod from spinning about itself, and a ball."""
    along = model.points[other[1]] - model.points[one[1]]
    across = np.cross(along, (0.0, 0.0, 1.0))
    model.universal(f"{name} 1", one[0], name, at=one[1], axis=across, axis_driven=np.cross(along, across))
    model.spherical(f"{name} 2", name, other[0], at=other[1])


def wishbone_force(*, gravity: float = 0.0) -> float:
    """Return the vertical force that holds the wheel where it is drawn [N]."""
    return equilibrium(double_wishbone(gravity=gravity), hold={"wheel.z": None}).held["wheel.z"]


def wishbone_figures() -> Iterator[Figure]:
    """Compare the double wishbone of section 4.3."""
    own = {0.0: (3284.18773, 3.93787, 3.12617), GRAVITY: (3503.78799, 3.93309, 3.12617)}
    for gravity, (force, with_kc, without_kc) in own.items():
        label = "wishbone, with gravity: " if gravity else "wishbone, no gravity: "
        ours = wishbone_force(gravity=gravity)
        yield Figure(label + "force at the wheel [N]", force, ours, 1e-4, INDEPENDENT, True)
        model = double_wishbone(gravity=gravity, force=ours)
        for kc, value in ((True, with_kc), (False, without_kc)):
            name = "frequency with K_c [Hz]" if kc else "frequency without K_c [Hz]"
            yield Figure(label + name, value, _wishbone_frequency(model, kc), 1e-4, INDEPENDENT, True)
        if not gravity:
            yield Figure(label + "force at the wheel [N]", 3253.0, ours, 0.01, PAPER, True)
            yield Figure(label + "frequency with K_c [Hz]", 3.899, _wishbone_frequency(model, True), 0.01, PAPER, True)
            yield Figure(label + "frequency without K_c [Hz]", 3.125, _wishbone_frequency(model, False), 0.001, PAPER, True)
    loaded = double_wishbone(force=3253.0)
    sink = float(equilibrium(loaded).position.sel(body="wheel", axis="z")) - WHEEL_CENTRE[2]
    label = "wishbone at 3253 N: "
    yield Figure(label + "wheel rises by [m]", -0.001779, sink, 1e-6, INDEPENDENT)
    yield Figure(label + "frequency with K_c [Hz]", 3.91901, _wishbone_frequency(loaded, True), 1e-4, INDEPENDENT, True)
    yield Figure(label + "frequency without K_c [Hz]", 3.12315, _wishbone_frequency(loaded, False), 1e-4, INDEPENDENT, True)
    ringing = released_wishbone()
    peak = float(ringing.frequency[np.argmax(ringing.amplitude)])
    eigen = _wishbone_frequency(double_wishbone(force=wishbone_force()), True)
    yield Figure("wishbone released: peak of the spectrum [Hz]", eigen, peak, 1.0 / 49.0, "eigenvalue, one bin")


def _wishbone_frequency(model: Model, with_kc: bool) -> float:
    return float(modes(model, None, without_constraint_stiffness=not with_kc).frequency_hz.values[0])


def released_wishbone() -> Ringing:
    """Return the free vibration of Fig. 11: 1 % more force for the first second, then free; HHT, 1 ms, 50 s."""
    control: dict[str, Any] = {"method": "hht", "alpha": -0.1, "step": 1e-3, "output_step": 1e-2}
    force = wishbone_force()
    calm, pushed = double_wishbone(force=force), double_wishbone(force=1.01 * force)
    held = simulate(pushed, duration=1.0, start=equilibrium(calm).state, **control)
    free = simulate(calm, duration=49.0, start=_end_of(held, calm), **control)
    return spectrum_of(free.time.values[:-1], free.position.sel(body="wheel", axis="z").values[:-1])


def figures() -> Iterator[Figure]:
    """Compare all of section 4."""
    yield from pendulum_figures()
    yield from chain_figures()
    yield from chain_peak_figures()
    yield from wishbone_figures()


def draw(folder: Path) -> list[Path]:
    """Draw chain and catenary, mode shapes, and the spectra of the free vibrations with the eigenfrequencies."""
    import matplotlib.pyplot as plt

    chain = modes(anchor_chain(), 12)
    frequencies = chain_frequencies(chain)
    pictures = {"peng2024_chain.png": _draw_chain(), "peng2024_modes.png": chain.plot()}
    figure, axes = plt.subplots(4, 1, figsize=(8, 10), layout="constrained")
    for ax, direction in zip(axes, CHAIN_PEAKS, strict=False):
        plane = "out of plane" if direction == "+y" else "in plane"
        _draw_spectrum(ax, pushed_chain(direction), frequencies[plane], 1.2, f"anchor chain, C pushed along {direction}")
    wishbone = modes(double_wishbone(force=wishbone_force()), None).frequency_hz.values
    _draw_spectrum(axes[3], released_wishbone(), wishbone, 8.0, "double wishbone, released")
    pictures["peng2024_spectra.png"] = figure
    paths = []
    for name, picture in pictures.items():
        picture.savefig(folder / name, dpi=120)
        plt.close(picture)
        paths.append(folder / name)
    return paths


def _draw_chain() -> Any:
    """Draw the chain as drawn and at rest, beside the catenary of the same length."""
    import matplotlib.pyplot as plt
    from scipy.optimize import brentq

    rest, system = equilibrium(anchor_chain()), build(anchor_chain())
    figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    drawn = system.design.q[: 7 * system.n_bodies].reshape(-1, 7)
    ax.plot(drawn[:, 0], drawn[:, 2], "o:", color="0.6", markersize=2, label="as drawn")
    ax.plot(rest.position.sel(axis="x"), rest.position.sel(axis="z"), "o-", markersize=3, label="at rest")
    half, span = float(np.sqrt(61.0)), 5.0  # 2 a sinh(5/a) = 2 sqrt(61)
    a = brentq(lambda one: one * np.sinh(span / one) - half, 0.5, 50.0)
    x = np.linspace(-span, span, 201)
    ax.plot(x + span, a * (np.cosh(x / a) - np.cosh(span / a)), "k--", linewidth=0.8, label="catenary")
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]")
    finish(ax, "z [m]")
    return figure


def _draw_spectrum(ax: Any, ringing: Ringing, eigenfrequencies: Array, most: float, title: str) -> None:
    ax.plot(ringing.frequency, ringing.amplitude)
    for value in eigenfrequencies[eigenfrequencies < most]:
        ax.axvline(value, color="C3", linestyle="--", linewidth=0.8)
    ax.set_xlim(0.0, most)
    ax.set_title(title + " (dashed: eigenfrequencies)", fontsize="small")
    ax.set_xlabel("f [Hz]")
    finish(ax, "amplitude [m]")
