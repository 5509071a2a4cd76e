"""M. F. Metzger, N. A. Faruk Senan, O. M. O'Reilly, On Cartesian stiffness matrices in rigid body dynamics: an energetic
perspective, Multibody Syst. Dyn. 24 (2010) 441-472: the platform of section 7, and examples of sections 6, 8 and 9.

Misprints, with what is right:

* (18): z = d(t') - Q(t') Q^T(t) d(t). (79): E_2 for the second E_3. (81): betadot^3 in the last term. (84): X_A1^2 is missing.
* (30), (37): the upper right block of the Hessian is d2U/(dx_i dnu^j). (63), (115): derivatives of U_2 with respect to X.
* (68) does not follow from (66); (69) and (71) to (78) do.
* (73): row 5, column 4 of the last matrix is +2404.20.
* (109): the psi columns of the Hessian in the third term are zero, as in (61); as printed it misses by 143 N.
* (99): M_2 = -M_1 is wrong for bodies that springs join; `pair_stiffness` refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from dalembert.analysis.equilibrium import equilibrium
from dalembert.analysis.stiffness.cartesian_stiffness import cartesian_stiffness
from dalembert.analysis.stiffness.condensation import condensed_stiffness
from dalembert.analysis.stiffness.data import CartesianStiffness
from dalembert.analysis.stiffness.force_field import ForceField, force_field
from dalembert.analysis.stiffness.hessians import Chart, charts_of, from_corotational, hessian_1
from dalembert.analysis.stiffness.potential import Potential
from dalembert.kernel.vec3 import Array
from dalembert.papers import peng2024
from dalembert.papers.figures import Figure
from dalembert.papers.metzger2010_models import (
    data,
    planar_field,
    planar_model,
    planar_two_bodies,
    platform_energy,
    platform_expression,
    platform_orientation,
    stewart_gough,
    two_bodies,
)
from dalembert.rotation.euler import EULER_SETS
from dalembert.rotation.quaternion import to_rotation
from dalembert.system.build import build
from dalembert.system.state import State
from dalembert.system.system import System

INDEPENDENT, IDENTITY, EQUILIBRIUM = "independent", "identity", "slope of equilibria"
ROUNDING = 6e-11
"""Of the independent numbers, which have ten decimals."""

RELATIVE = 1e-8
"""Largest relative deviation from them."""

LAST_DIGITS = 3.0
"""Units of the last printed digit: the angles (66) have six digits themselves."""

POSES = 20


def figures() -> Iterator[Figure]:
    """Compare sections 6 to 9, and what the same tangents give for a mechanism."""
    yield from printed_figures()
    yield from platform_figures()
    yield from planar_figures()
    yield from planar_two_bodies_figures()
    yield from two_bodies_figures()
    yield from pose_figures()
    yield from wheel_figures()


# --- 7 Stewart-Gough platform -------------------------------------------------------------------------------------------


class Platform(NamedTuple):
    """The platform in the paper's units, N and cm."""

    Q: Array
    chart: Chart
    F: Array
    M: Array
    M_O: Array
    matrices: dict[str, Array]


def platform() -> Platform:
    """Return the platform, computed in SI units."""
    found, field = cartesian_stiffness(stewart_gough(), "platform"), force_field(stewart_gough(), "platform")
    matrices = {name: in_centimetres(found[name].values) for name in ("K1c", "K2c", "KO", "hessian_1", "hessian_2")}
    matrices |= {name: found[name].values for name in ("C1", "Y1")} | {
        name: 100.0 * found[name].values for name in ("D1", "Z1", "D2")
    }
    M, M_O = 100.0 * found.moment.values, 100.0 * found.moment_origin.values
    return Platform(field.rotation[0].T, charts_of(field)[0], found.force.values, M, M_O, matrices)


def in_centimetres(K: Array) -> Array:
    """Return 6x6 matrices in the paper's units: ``K_si = 100 D K D`` with D = diag(1, 1, 1, 0.01, 0.01, 0.01)."""
    D = np.diag([1.0, 1.0, 1.0, 100.0, 100.0, 100.0])
    return np.asarray(0.01 * D @ K @ D)


def printed_values(of: Platform) -> dict[str, Array]:
    """Return the figures of section 7 by the names of the printed ones."""
    K, chart = of.matrices, of.chart
    found: dict[str, Array] = {
        "corotational_basis (68)": of.Q,
        "dual_euler_basis (69)": chart.G,
        "force (71)": of.F,
        "moment (71)": of.M,
        "moment on dual basis (71)": chart.g @ of.M,
        "force on body axes (72)": of.Q @ of.F,
        "moment_origin (72)": of.M_O,
        "moment_origin on dual basis (72)": chart.g @ of.M_O,
        "1C (73)": K["C1"],
        "1D (73)": K["D1"],
        "1Y (73)": K["Y1"],
        "1Z (73)": K["Z1"],
        "hessian_1 (74)": K["hessian_1"],
        "eigenvalues of hessian_1 (75)": np.asarray(np.linalg.eigvalsh(K["hessian_1"]), float),
        "2D (76)": K["D2"],
        "hessian_2 (77)": K["hessian_2"],
        "eigenvalues of hessian_2 (78)": np.asarray(np.linalg.eigvalsh(K["hessian_2"]), float),
    }
    return found | _with_first_matrices(K)


def _with_first_matrices(K: dict[str, Array]) -> dict[str, Array]:
    """Return the first matrices of (73) and (76): K_O without 1C and 1D, 2Kc without 2D."""
    none = np.zeros((3, 3))
    return {
        "KO, first matrix (73)": K["KO"] - np.block([[none, K["C1"]], [none, K["D1"]]]),
        "2Kc, first matrix (76)": K["K2c"] - np.block([[none, none], [none, K["D2"]]]),
    }


INDEPENDENT_NAMES = {
    "corotational_basis (68)": "corotational_basis_rows", "dual_euler_basis (69)": "dual_euler_basis_rows",
    "force (71)": "force_N", "moment (71)": "moment_about_centre_Ncm",
    "moment on dual basis (71)": "moment_centre_components_on_dual_basis",
    "force on body axes (72)": "force_in_corotational_basis", "moment_origin (72)": "moment_about_O_Ncm",
    "moment_origin on dual basis (72)": "moment_O_components_on_dual_basis",
    "1C (73)": "block_1C", "1D (73)": "block_1D", "1Y (73)": "block_1Y", "1Z (73)": "block_1Z",
    "hessian_1 (74)": "hessian_U1_eq_74", "eigenvalues of hessian_1 (75)": "spectrum_hessian_U1_eq_75",
    "2D (76)": "block_2D",
    "hessian_2 (77)": "hessian_U2_eq_77", "eigenvalues of hessian_2 (78)": "spectrum_hessian_U2_eq_78",
}  # fmt: skip


def independent_values() -> dict[str, Array]:
    """Return the independent numbers by the names of the printed ones."""
    given = {name: np.array(value, float) for name, value in data()["independent"].items() if not isinstance(value, dict)}
    blocks = {name: given[f"block_{name[::-1]}"] for name in ("C1", "D1", "D2")}
    first = _with_first_matrices({"KO": given["stiffness_KO_eq_73"], "K2c": given["stiffness_2Kc_eq_76"], **blocks})
    return first | {name: given[other] for name, other in INDEPENDENT_NAMES.items()}


MISPRINTS = {("1Z (73)", (1, 0)), *(("corotational_basis (68)", place) for place in np.ndindex(3, 3) if place != (0, 0))}
"""What is printed wrong: the independent number is expected instead."""

CANCELLED = {("1D (73)", (1, 0))}
"""What is left of larger terms, so that the rounding of the positions and angles (66) shows in the printed digits."""


def printed_figures() -> Iterator[Figure]:
    """Compare (68) to (78), entry by entry, with the independent numbers beside them; of symmetric matrices the upper half."""
    ours, independent, allowed = printed_values(platform()), independent_values(), rounding_of_data()
    for name, printed in data()["printed"].items():
        table = np.asarray(printed, float)
        for place in np.ndindex(table.shape):
            if table.shape != (6, 6) or place[0] <= place[1]:
                entries = (float(one[place]) for one in (table, independent[name], ours[name], allowed[name]))
                yield _printed_figure(name, place, *entries)


def _printed_figure(
    name: str, place: tuple[int, ...], printed: float, independent: float, ours: float, allowed: float
) -> Figure:
    label = f"{name} [{','.join(str(k + 1) for k in place)}]"
    source = f"printed; {INDEPENDENT} {independent:.10f}"
    if (name, place) in MISPRINTS:
        source = f"{INDEPENDENT}; printed {printed:g}: misprint"
        return Figure(label, independent, ours, ROUNDING + RELATIVE * abs(independent), source)
    if (name, place) in CANCELLED:
        return Figure(label, printed, ours, allowed, source + "; as near as the digits of (66) allow")
    return Figure(label, printed, ours, LAST_DIGITS * _sixth_digit(printed), source)


def _sixth_digit(printed: float) -> float:
    """Return the unit of the sixth digit of a printed number."""
    return float(10.0 ** (np.floor(np.log10(abs(printed))) - 5)) if printed else 1e-9


def rounding_of_data() -> dict[str, Array]:
    """Return by how much the figures may differ because positions and angles (66) are printed with six digits."""
    given, start = data()["parameters"], printed_values(platform())
    half_digits = {"centre_position_cm": (5e-5, 5e-5, 5e-5), "euler_angles_321_deg": (5e-5, 5e-5, 5e-4)}
    allowed = {name: np.zeros_like(value) for name, value in start.items()}
    for label, steps in half_digits.items():
        for k, step in enumerate(steps):
            given[label][k] += step
            moved = printed_values(platform())
            given[label][k] -= step
            allowed = {name: total + np.abs(moved[name] - start[name]) for name, total in allowed.items()}
    return allowed


def platform_figures() -> Iterator[Figure]:
    """Compare the platform with the independent numbers in ten digits, and what has to be the same."""
    expected, of = data()["independent"], platform()
    ours, found = printed_values(of), cartesian_stiffness(stewart_gough(), "platform")
    pairs = {other: ours[name] for name, other in INDEPENDENT_NAMES.items()} | _platform_places()
    pairs |= {f"stiffness_{name}": of.matrices[key] for name, key in (("KO_eq_73", "KO"), ("1Kc_eq_73", "K1c"))}
    pairs |= {"stiffness_2Kc_eq_76": of.matrices["K2c"], "stiffness_1Kc_si": found.K1c.values}
    pairs |= {"stiffness_2Kc_si": found.K2c.values, "stiffness_KO_si": found.KO.values}
    for name in expected:
        yield _largest(f"platform: {name}", pairs[name], expected[name])
    yield from _platform_identities(found)
    centre = data()["parameters"]["centre_position_cm"]
    from_energy = Potential(platform_energy, length=10.0).field(centre, platform_orientation())
    yield _largest("platform: 2Kc of U(R, x) by differences", from_energy.stiffness, of.matrices["K2c"], 1e-7)


def _platform_places() -> dict[str, Array]:
    """Return lengths of the legs and places of the points on the platform [cm]."""
    model = stewart_gough()
    system = build(model)
    tops = {name: 100.0 * system.frame(name, system.design.q)[0] for name in "RST"}
    legs = [ends.split("-") for ends in data()["parameters"]["legs"]]
    lengths = np.array([np.linalg.norm(tops[top] - 100.0 * model.points[base]) for base, top in legs])
    return {"stretched_lengths_cm": lengths, "platform_points_world_cm": np.array([tops[name] for name in "RST"])}


def _platform_identities(found: CartesianStiffness) -> Iterator[Figure]:
    """Compare what has to be the same: (39), (48), (56), (58)."""
    pairs = {
        "(39), 18 entries of 1Kc and 2Kc": (found.K1c.values[:3], found.K2c.values[:3]),
        "(48), axial vector of 1C and F": (found.axial_force.values, found.force.values),
        "(56), axial vector of 1D - 1D^T and M_O": (found.axial_moment_origin.values, found.moment_origin.values),
        "(58), axial vector of 2D - 2D^T and M": (found.axial_moment.values, found.moment.values),
    }
    for name, (one, other) in pairs.items():
        yield _largest(f"platform: {name}", one, other, 1e-12, IDENTITY)


def _largest(name: str, ours: Any, expected: Any, tolerance: float = RELATIVE, source: str = INDEPENDENT) -> Figure:
    """Compare all entries: the largest relative deviation, after the rounding of the expected numbers."""
    table = np.asarray(list(expected.values()) if isinstance(expected, dict) else expected, float)
    rounding = ROUNDING if source == INDEPENDENT else 0.0
    gap = np.maximum(np.abs(np.asarray(ours, float) - table) - rounding, 0.0)
    deviation = float((gap / np.maximum(np.abs(table), 1e-3)).max())
    beyond = " beyond its ten decimals" if source == INDEPENDENT else ""
    return Figure(f"{name}: largest deviation{beyond}", 0.0, deviation, tolerance, source)


# --- 6, 8, 9 ------------------------------------------------------------------------------------------------------------


def planar_figures() -> Iterator[Figure]:
    """Compare section 6, (61) and (63)."""
    expected, system = data()["planar_example"], build(planar_model())
    found = cartesian_stiffness(planar_model(), "body", planar=True)
    from_energy = cartesian_stiffness(planar_field(), planar=True)
    yield _largest("planar: force", found.force.values[:2], expected["force"])
    yield _largest("planar: moment about the centre", found.moment.values[2], expected["moment_about_centre"])
    yield _largest("planar: moment about O", found.moment_origin.values[2], expected["moment_about_O"])
    energy = system.energy(0.0, system.design.q, system.design.v).potential
    yield _largest("planar: energy", energy, expected["energy"])
    yield _largest("planar: Hessian of U1", found.hessian_1.values, expected["hessian_U1"])
    yield _largest("planar: Hessian of U2", found.hessian_2.values, expected["hessian_U2_equals_2Kc"])
    yield _largest("planar: 2Kc (63)", found.K2c.values, expected["hessian_U2_equals_2Kc"])
    yield _largest("planar: 1Kc (61)", found.K1c.values, expected["stiffness_1Kc"])
    yield _largest("planar: 1Kc of U(psi, X) by differences", from_energy.K1c.values, expected["stiffness_1Kc"], 1e-7)


def planar_two_bodies_figures() -> Iterator[Figure]:
    """Compare section 9, (109) and (115)."""
    expected = data()["planar_two_bodies"]
    found = cartesian_stiffness(planar_two_bodies(), ["body 1", "body 2"], planar=True)
    forces = np.column_stack([found.force.values[:, :2], found.moment.values[:, 2]]).ravel()
    psi = expected["parameters"]["state_values"][2::3]
    yield _largest("planar pair: forces and moments", forces, expected["forces_and_moments_about_centres"])
    yield _largest("planar pair: 2Kc (115)", found.K2c.values, expected["stiffness_2Kc_symmetric"])
    yield _largest("planar pair: eigenvalues of 2Kc", np.linalg.eigvalsh(found.K2c.values), expected["eigenvalues_2Kc"])
    yield _largest("planar pair: 1Kc", found.K1c.values, expected["stiffness_1Kc"])
    yield _largest("planar pair: 1Kc by (109) corrected", planar_1Kc(found, psi), expected["stiffness_1Kc"])
    off = float(np.abs(planar_1Kc(found, psi, as_printed=True) - np.array(expected["stiffness_1Kc"])).max())
    yield Figure("planar pair: (109) as printed misses by [N]", 143.0, off, 0.5, f"{INDEPENDENT}; misprint")


def planar_1Kc(found: CartesianStiffness, psi: Sequence[float], *, as_printed: bool = False) -> Array:
    """Return 1Kc of planar bodies by (109), from the Hessian of U1: its psi columns are zero in the third term."""
    H = found.hessian_1.values
    Q = [np.array([[np.cos(a), np.sin(a), 0.0], [-np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]]) for a in psi]
    W = [np.array([[0.0, 0.0, F[1]], [0.0, 0.0, -F[0]], [0.0, 0.0, 0.0]]) for F in found.force.values]
    body = [(q @ place)[:2] for q, place in zip(Q, found.position.values, strict=True)]  # x_1, x_2, along the body's axes
    S = [np.array([[0.0, 0.0, b], [0.0, 0.0, -a], [-b, a, 0.0]]) for a, b in body]
    third = H if as_printed else H * np.tile([1.0, 1.0, 0.0], len(Q))
    Qs, Ss = block_diag(*Q), block_diag(*S)
    return np.asarray(Qs.T @ H @ Qs + block_diag(*W) + Qs.T @ third @ Ss @ Qs)


def two_bodies_figures() -> Iterator[Figure]:
    """Compare section 8.2."""
    expected, field = data()["two_bodies"], force_field(two_bodies(), ["body 1", "body 2"])
    for k in (0, 1):
        yield _largest(f"pair in space: force {k + 1}", field.force[k], expected[f"force_{k + 1}"])
        yield _largest(f"pair in space: moment {k + 1}", field.moment[k], expected[f"moment_{k + 1}"])
    yield _largest("pair in space: 2Kc, 12x12", field.stiffness, expected["stiffness_2Kc_12x12"])
    yield Figure("pair in space: 2Kc - 2Kc^T beside M_1, M_2, relative", 0.0, field.potential_error, 1e-12, IDENTITY)


# --- one truth ----------------------------------------------------------------------------------------------------------


def pose_figures() -> Iterator[Figure]:
    """Compare 2Kc and 1Kc of random loaded poses: of U in all Euler sets, of the tangents, of differences of F and M."""
    energy, system, rng = platform_expression(), build(stewart_gough()), np.random.default_rng(2010)
    rows = []
    for _ in range(POSES):
        q = system.advance(system.design.q, np.concatenate([0.03 * rng.standard_normal(3), rng.standard_normal(3)]))
        field = force_field(system, "platform", state=State(0.0, q, np.zeros(6)))
        K, R = in_centimetres(field.stiffness), field.rotation[0]
        of_sets = np.array([energy.field(100.0 * q[:3], R, euler=name).stiffness for name in EULER_SETS])
        K1 = in_centimetres(np.array([_from_hessian_1(field, charts_of(field, name)) for name in EULER_SETS]))
        by_differences = in_centimetres(stiffness_by_differences(system, q))
        apart = (np.ptp(of_sets, axis=0), of_sets - K, K1 - in_centimetres(field.about().stiffness), by_differences - K)
        rows.append([float(np.abs(one).max() / np.abs(K).max()) for one in apart])
    names = (
        "2Kc of U in twelve Euler sets, largest difference",
        "2Kc of U beside the springs' tangents",
        "1Kc of the Hessian of U1 (28) in twelve sets",
        "2Kc beside differences of F and M",
    )
    for name, value, tolerance in zip(names, np.max(rows, axis=0), (1e-12, 1e-12, 1e-12, 1e-9), strict=True):
        yield Figure(f"{POSES} random loaded poses: {name}", 0.0, float(value), tolerance, IDENTITY)


def _from_hessian_1(field: ForceField, charts: Sequence[Chart]) -> Array:
    """Return 1Kc of the Hessian of U1, by (28)."""
    about = field.about()
    gradient = np.concatenate([-field.rotation[0].T @ about.force[0], -charts[0].g @ about.moment[0]])
    return from_corotational(about.position, charts, gradient, hessian_1(about, charts)).field.stiffness


def stiffness_by_differences(system: System, q: Array, step: float = 1e-3) -> Array:
    """Return 2Kc of one body by sixth-order differences of F and M, in the world, along displacements and rotations there."""
    R = to_rotation(q[3:7]).as_matrix()

    def wrench(d: Array) -> Array:
        there = system.advance(q, np.concatenate([d[:3], R.T @ d[3:]]))
        f = system.force(0.0, there, np.zeros(6))
        return np.concatenate([f[:3], to_rotation(there[3:7]).apply(f[3:])])

    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    columns = [
        sum(w * (wrench(k * step * e) - wrench(-k * step * e)) for k, w in weights.items()) / (60.0 * step) for e in np.eye(6)
    ]
    return -np.column_stack(columns)


def wheel_figures() -> Iterator[Figure]:
    """Compare the condensed stiffness of the double wishbone's wheel with the slopes of its force-displacement curve."""
    force = peng2024.wishbone_force()
    found, slopes = condensed_stiffness(peng2024.double_wishbone(force=force), "wheel"), wheel_slopes(force)
    stiffness = found.along((0, 0, 1))
    yield Figure("wishbone's wheel: vertical stiffness [N/m]", 1.0 / slopes[2], stiffness, 1e-8, EQUILIBRIUM, True)
    for k, label in enumerate("xyz"):
        ours = float(found.compliance.values[k, 2])
        yield Figure(f"wishbone's wheel: d{label}/dFz [m/N]", slopes[k], ours, 1e-8, EQUILIBRIUM, True)


def wheel_slopes(force: float, step: float = 2.0) -> Array:
    """Return d(place of the wheel)/d(vertical force) by fourth-order differences of equilibria at other loads [m/N]."""
    rests = {k: equilibrium(peng2024.double_wishbone(force=force + k * step)) for k in (-2, -1, 1, 2)}
    place = {k: rest.position.sel(body="wheel").values for k, rest in rests.items()}
    return np.asarray((8.0 * (place[1] - place[-1]) - (place[2] - place[-2])) / (12.0 * step))


def draw(folder: Path) -> list[Path]:
    """Draw the ellipsoids of compliance of the platform about its centre and of the wishbone's wheel."""
    import matplotlib.pyplot as plt

    loaded = peng2024.double_wishbone(force=peng2024.wishbone_force())
    pictures = {
        "metzger2010_platform.png": cartesian_stiffness(stewart_gough(), "platform").plot(),
        "metzger2010_wheel.png": condensed_stiffness(loaded, "wheel").plot(),
    }
    for name, picture in pictures.items():
        picture.savefig(folder / name, dpi=120)
        plt.close(picture)
    return [folder / name for name in pictures]
