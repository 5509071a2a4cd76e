"""M. F. Metzger, N. A. Faruk Senan, O. M. O'Reilly, On Cartesian stiffness matrices in rigid body dynamics: an energetic
perspective, Multibody Syst. Dyn. 24 (2010) 441-472: the platform of section 7, and examples of sections 6, 8 and 9.

The numbers are in metzger2010.json: what the paper prints, and the same in ten digits by independent derivatives of the energy
("independent"). The pairing of the springs is not in the text; the one here is the only one that gives the printed force and
moment. Sections 6, 8 and 9 have no numbers: those of the examples are independent ones.

Misprints, with what is right:

* (68) does not follow from (66); (69) and (71) to (78) do.
* (73): row 5, column 4 of the last matrix is +2404.20.
* (30), (37): the upper right block of the Hessian is d2U/(dx_i dnu^j). (63), (115): derivatives of U_2 with respect to X_1, X_2.
* (109): the psi columns of the Hessian in the third term are zero, as in (61); `printed_109` shows what the print gives.
* (99): M_2 = -M_1 is wrong for bodies that springs join; `pair_stiffness` refuses it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from dalembert.analysis.cartesian_stiffness import cartesian_stiffness
from dalembert.analysis.condensation import condensed_stiffness
from dalembert.analysis.equilibrium import equilibrium
from dalembert.analysis.force_field import ForceField, force_field
from dalembert.analysis.hessians import charts_of, hessian_1
from dalembert.analysis.potential import Potential
from dalembert.analysis.stiffness_data import CartesianStiffness
from dalembert.kernel.vec3 import Array
from dalembert.papers import peng2024
from dalembert.papers.figures import Figure
from dalembert.rotation.euler import EULER_SETS, euler_set
from dalembert.rotation.quaternion import to_rotation
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.system import System

PRINTED, INDEPENDENT, IDENTITY = "printed", "independent", "identity"
ROUNDING = 6e-11
"""Of the independent numbers, which have ten decimals."""

LAST_DIGITS = 3.0
"""Units of the last printed digit: the angles (66) have six digits themselves."""

POSES = 20


@cache
def data() -> dict[str, Any]:
    """Return the numbers of the paper and those of the examples."""
    text = resources.files("dalembert.papers").joinpath("metzger2010.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


# --- 7 Stewart-Gough platform -------------------------------------------------------------------------------------------


def stewart_gough() -> Model:
    """Return the platform of section 7 in SI units; its mass is not in the paper and does not count."""
    given = data()["parameters"]
    turn = euler_set("321").rotation(np.radians(given["euler_angles_321_deg"]))
    centre = 0.01 * np.array(given["centre_position_cm"])
    model = Model("Stewart-Gough platform")
    for name, place in given["base_points_cm"].items():
        model.point(name, 0.01 * np.array(place))
    model.body("platform", mass=1.0, inertia=(1e-3, 1e-3, 2e-3), position=centre, orientation=turn)
    for name, place in given["platform_points_in_body_cm"].items():
        model.frame(name, "platform", at=centre + turn.apply(0.01 * np.array(place)))
    legs = zip(given["legs"], given["spring_stiffness_N_per_cm"], given["free_length_cm"], strict=True)
    for k, (ends, stiffness, length) in enumerate(legs):
        base, top = ends.split("-")
        ends_at = {"at": base, "at_driven": top}
        model.spring(f"leg {k + 1}", "ground", "platform", **ends_at, stiffness=100.0 * stiffness, free_length=0.01 * length)
    return model


def platform_energy(R: Array, x: Array) -> float:
    """Return the energy of the six springs (70) [N cm], with x in cm."""
    given = data()["parameters"]
    energy = 0.0
    for ends, k, free in zip(given["legs"], given["spring_stiffness_N_per_cm"], given["free_length_cm"], strict=True):
        base, top = ends.split("-")
        leg = x + R @ np.array(given["platform_points_in_body_cm"][top]) - np.array(given["base_points_cm"][base])
        energy += 0.5 * k * (np.linalg.norm(leg) - free) ** 2
    return float(energy)


def in_centimetres(K: Array) -> Array:
    """Return a 6x6 matrix in the paper's units, N and cm: ``K_si = 100 D K D``, D = diag(1, 1, 1, 0.01, 0.01, 0.01)."""
    D = np.diag([1.0, 1.0, 1.0, 100.0, 100.0, 100.0])
    return np.asarray(0.01 * D @ K @ D)


def platform_values(found: CartesianStiffness) -> dict[str, Array]:
    """Return the figures of section 7 in the paper's units by the names of the printed ones, from a result in SI units."""
    R = build(stewart_gough())
    turn = to_rotation(R.design.q[3:7]).as_matrix()
    K_O, K2, H1, H2 = (in_centimetres(found[name].values) for name in ("KO", "K2c", "hessian_1", "hessian_2"))
    C, Y, D1, Z, D2 = found.C1.values, found.Y1.values, *(100.0 * found[name].values for name in ("D1", "Z1", "D2"))
    (chart,) = charts_of(force_field(stewart_gough(), "platform"))
    F, M, M_O = found.force.values, 100.0 * found.moment.values, 100.0 * found.moment_origin.values
    none = np.zeros((3, 3))
    return {
        "corotational_basis (68)": turn.T,
        "dual_euler_basis (69)": chart.G,
        "force (71)": F,
        "moment (71)": M,
        "moment on dual basis (71)": chart.g @ M,
        "force on body axes (72)": turn.T @ F,
        "moment_origin (72)": M_O,
        "moment_origin on dual basis (72)": chart.g @ M_O,
        "KO, first matrix (73)": K_O - np.block([[none, C], [none, D1]]),
        "1C (73)": C,
        "1D (73)": D1,
        "1Y (73)": Y,
        "1Z (73)": Z,
        "hessian_1 (74)": H1,
        "eigenvalues of hessian_1 (75)": np.linalg.eigvalsh(H1),
        "2Kc, first matrix (76)": K2 - np.block([[none, none], [none, D2]]),
        "2D (76)": D2,
        "hessian_2 (77)": H2,
        "eigenvalues of hessian_2 (78)": np.linalg.eigvalsh(H2),
    }


MISPRINTS: dict[tuple[str, tuple[int, ...]], float] = {
    ("corotational_basis (68)", (0, 1)): -0.4183650638,
    ("corotational_basis (68)", (0, 2)): 0.6423034875,
    ("corotational_basis (68)", (1, 0)): -0.2958673684,
    ("corotational_basis (68)", (1, 1)): -0.9082789587,
    ("corotational_basis (68)", (1, 2)): -0.2957901849,
    ("corotational_basis (68)", (2, 0)): 0.7071390224,
    ("corotational_basis (68)", (2, 1)): -8.10924e-05,
    ("corotational_basis (68)", (2, 2)): -0.7070745339,
    ("1Z (73)", (1, 0)): 2404.1998519413,
}
"""What is right, independently, where the print is wrong."""


def printed_figures() -> Iterator[Figure]:
    """Compare (68) to (78), entry by entry; of symmetric matrices the upper half."""
    ours = platform_values(cartesian_stiffness(stewart_gough(), "platform"))
    for name, printed in data()["printed"].items():
        table = np.asarray(printed)
        symmetric = table.ndim == 2 and table.shape == (6, 6)
        for place in np.ndindex(table.shape):
            if not symmetric or place[0] <= place[1]:
                yield _printed_figure(name, place, float(table[place]), float(ours[name][place]))


def _printed_figure(name: str, place: tuple[int, ...], printed: float, ours: float) -> Figure:
    label = f"{name} [{','.join(str(k + 1) for k in place)}]"
    if (name, place) in MISPRINTS:
        return Figure(f"{label}, misprint {printed:g}", MISPRINTS[name, place], ours, 1e-8, INDEPENDENT, True)
    return Figure(label, printed, ours, LAST_DIGITS * _last_digit(printed), PRINTED)


def _last_digit(printed: float) -> float:
    """Return the unit of the sixth digit of a printed number."""
    return float(10.0 ** (np.floor(np.log10(abs(printed))) - 5)) if printed else 1e-9


def platform_figures() -> Iterator[Figure]:
    """Compare the platform with the independent numbers in ten digits."""
    expected, given = data()["independent"], data()["parameters"]
    found = cartesian_stiffness(stewart_gough(), "platform")
    ours = platform_values(found)
    in_cm = {name: in_centimetres(found[name].values) for name in ("K1c", "K2c", "KO")}
    of_field = _platform_places()
    pairs: dict[str, Array] = of_field | {
        "corotational_basis_rows": ours["corotational_basis (68)"],
        "dual_euler_basis_rows": ours["dual_euler_basis (69)"],
        "force_N": ours["force (71)"],
        "moment_about_centre_Ncm": ours["moment (71)"],
        "moment_about_O_Ncm": ours["moment_origin (72)"],
        "force_in_corotational_basis": ours["force on body axes (72)"],
        "moment_centre_components_on_dual_basis": ours["moment on dual basis (71)"],
        "moment_O_components_on_dual_basis": ours["moment_origin on dual basis (72)"],
        "stiffness_KO_eq_73": in_cm["KO"],
        "stiffness_1Kc_eq_73": in_cm["K1c"],
        "stiffness_2Kc_eq_76": in_cm["K2c"],
        "block_1C": ours["1C (73)"],
        "block_1D": ours["1D (73)"],
        "block_1Y": ours["1Y (73)"],
        "block_1Z": ours["1Z (73)"],
        "block_2D": ours["2D (76)"],
        "hessian_U1_eq_74": ours["hessian_1 (74)"],
        "hessian_U2_eq_77": ours["hessian_2 (77)"],
        "spectrum_hessian_U1_eq_75": ours["eigenvalues of hessian_1 (75)"],
        "spectrum_hessian_U2_eq_78": ours["eigenvalues of hessian_2 (78)"],
        "stiffness_1Kc_si": found.K1c.values,
        "stiffness_2Kc_si": found.K2c.values,
        "stiffness_KO_si": found.KO.values,
    }
    for name, values in pairs.items():
        yield _largest(f"platform: {name}", values, expected[name])
    assert set(pairs) == set(expected)
    yield from _platform_identities(found)
    turn = euler_set("321").rotation(np.radians(given["euler_angles_321_deg"]))
    from_energy = Potential(platform_energy, length=10.0).field(given["centre_position_cm"], turn.as_matrix())
    yield _largest("platform: 2Kc from U(R, x) by differences", from_energy.stiffness, in_cm["K2c"], 1e-7)


def _platform_places() -> dict[str, Array]:
    """Return lengths of the legs and places of the points on the platform [cm]."""
    model = stewart_gough()
    system = build(model)
    tops = {name: 100.0 * system.frame(name, system.design.q)[0] for name in "RST"}
    bases = {name: 100.0 * place for name, place in model.points.items()}
    legs = [ends.split("-") for ends in data()["parameters"]["legs"]]
    lengths = np.array([np.linalg.norm(tops[top] - bases[base]) for base, top in legs])
    return {"stretched_lengths_cm": lengths, "platform_points_world_cm": np.array([tops[name] for name in "RST"])}


def _platform_identities(found: CartesianStiffness) -> Iterator[Figure]:
    """Compare what has to be the same: (39), (48), (56), (58)."""
    yield _largest("platform: (39), 18 entries of 1Kc and 2Kc", found.K1c.values[:3], found.K2c.values[:3])
    yield _largest("platform: (48), axial vector of 1C against F", found.axial_force.values, found.force.values)
    yield _largest(
        "platform: (56), axial vector of 1D - 1D^T against M_O", found.axial_moment_origin.values, found.moment_origin.values
    )
    yield _largest("platform: (58), axial vector of 2D - 2D^T against M", found.axial_moment.values, found.moment.values)


def _largest(name: str, ours: Any, expected: Any, tolerance: float = 1e-8) -> Figure:
    """Compare all entries: the largest relative deviation, after the rounding of the expected numbers."""
    table = np.asarray(list(expected.values()) if isinstance(expected, dict) else expected, float)
    gap = np.maximum(np.abs(np.asarray(ours, float) - table) - ROUNDING, 0.0)
    deviation = float((gap / np.maximum(np.abs(table), 1e-3)).max())
    return Figure(f"{name}: largest deviation", 0.0, deviation, tolerance, INDEPENDENT)


# --- 6, 8, 9 ------------------------------------------------------------------------------------------------------------


def planar_field() -> ForceField:
    """Return the field of section 6: two springs in a plane, from the energy U(psi, X)."""
    given = data()["planar_example"]["parameters"]
    springs = [np.array(given[name]) for name in ("fixed_points", "attachment_in_body", "stiffness", "free_length")]

    def energy(psi: float, x: Array) -> float:
        c, s = np.cos(psi), np.sin(psi)
        lengths = np.linalg.norm(x + springs[1] @ np.array([[c, s], [-s, c]]) - springs[0], axis=1)
        return float(0.5 * springs[2] @ (lengths - springs[3]) ** 2)

    return Potential.planar(energy, length=0.3).field(given["centre"], given["angle"])


def planar_model() -> Model:
    """Return the body of section 6 with its two springs."""
    given = data()["planar_example"]["parameters"]
    turn = euler_set("321").rotation([given["angle"], 0.0, 0.0])
    centre = np.array([*given["centre"], 0.0])
    model = Model("planar example")
    model.body("body", mass=1.0, inertia=(1, 1, 1), position=centre, orientation=turn)
    rows = zip(given["fixed_points"], given["attachment_in_body"], given["stiffness"], given["free_length"], strict=True)
    for k, (base, point, stiffness, free) in enumerate(rows):
        end = centre + turn.apply([*point, 0.0])
        model.spring(f"spring {k + 1}", "ground", "body", at=(*base, 0.0), at_driven=end, stiffness=stiffness, free_length=free)
    return model


def planar_figures() -> Iterator[Figure]:
    """Compare section 6, (61) and (63)."""
    expected = data()["planar_example"]
    found = cartesian_stiffness(planar_model(), "body", planar=True)
    yield _largest("planar: force", found.force.values[:2], expected["force"])
    yield _largest("planar: moment about the centre", found.moment.values[2], expected["moment_about_centre"])
    yield _largest("planar: moment about O", found.moment_origin.values[2], expected["moment_about_O"])
    system = build(planar_model())
    yield _largest("planar: energy", system.energy(0.0, system.design.q, system.design.v).potential, expected["energy"])
    yield _largest("planar: Hessian of U1", found.hessian_1.values, expected["hessian_U1"])
    yield _largest("planar: Hessian of U2", found.hessian_2.values, expected["hessian_U2_equals_2Kc"])
    yield _largest("planar: 2Kc (63)", found.K2c.values, expected["hessian_U2_equals_2Kc"])
    yield _largest("planar: 1Kc (61)", found.K1c.values, expected["stiffness_1Kc"])
    from_energy = cartesian_stiffness(planar_field(), planar=True)
    yield _largest("planar: 1Kc from U(psi, X) by differences", from_energy.K1c.values, expected["stiffness_1Kc"], 1e-7)


def planar_two_bodies() -> Model:
    """Return the two bodies of section 9 with their springs."""
    given = data()["planar_two_bodies"]["parameters"]
    poses = np.array(given["state_values"]).reshape(2, 3)
    model = Model("planar two bodies")
    turns = [euler_set("321").rotation([psi, 0.0, 0.0]) for psi in poses[:, 2]]
    centres = [np.array([x, y, 0.0]) for x, y in poses[:, :2]]
    for name, centre, turn in zip(("body 1", "body 2"), centres, turns, strict=True):
        model.body(name, mass=1.0, inertia=(1, 1, 1), position=centre, orientation=turn)
    for k, spring in enumerate(given["springs"]):
        law = {"stiffness": spring["stiffness"], "free_length": spring["free_length"]}
        if "between" in spring:
            ends = [c + turn.apply([*p, 0.0]) for c, turn, p in zip(centres, turns, spring["points"], strict=True)]
            model.spring(f"spring {k + 1}", "body 1", "body 2", at=ends[0], at_driven=ends[1], **law)
        else:
            b = spring["body"] - 1
            end = centres[b] + turns[b].apply([*spring["point"], 0.0])
            model.spring(f"spring {k + 1}", "ground", f"body {b + 1}", at=(*spring["ground"], 0.0), at_driven=end, **law)
    return model


def planar_two_bodies_figures() -> Iterator[Figure]:
    """Compare section 9, (109) and (115)."""
    expected = data()["planar_two_bodies"]
    found = cartesian_stiffness(planar_two_bodies(), ["body 1", "body 2"], planar=True)
    forces = np.column_stack([found.force.values[:, :2], found.moment.values[:, 2]]).ravel()
    yield _largest("planar pair: forces and moments", forces, expected["forces_and_moments_about_centres"])
    yield _largest("planar pair: 2Kc (115)", found.K2c.values, expected["stiffness_2Kc_symmetric"])
    yield _largest("planar pair: eigenvalues of 2Kc", np.linalg.eigvalsh(found.K2c.values), expected["eigenvalues_2Kc"])
    yield _largest("planar pair: 1Kc", found.K1c.values, expected["stiffness_1Kc"])
    yield _largest("planar pair: 1Kc by (109) corrected", planar_1Kc(found), expected["stiffness_1Kc"])
    off = float(np.abs(planar_1Kc(found, as_printed=True) - np.array(expected["stiffness_1Kc"])).max())
    yield Figure("planar pair: (109) as printed misses 1Kc by [N, N m]", 143.0, off, 0.5, "independent: the misprint")


def planar_1Kc(found: CartesianStiffness, *, as_printed: bool = False) -> Array:
    """Return 1Kc of planar bodies by (109), from the Hessian of U1: its psi columns are zero in the third term."""
    x, H = found.position.values[:, :2], found.hessian_1.values
    psi = data()["planar_two_bodies"]["parameters"]["state_values"][2::3]
    Q = [np.array([[np.cos(a), np.sin(a), 0.0], [-np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]]) for a in psi]
    W = [np.array([[0.0, 0.0, F[1]], [0.0, 0.0, -F[0]], [0.0, 0.0, 0.0]]) for F in found.force.values]
    body = [(q @ [*place, 0.0])[:2] for q, place in zip(Q, x, strict=True)]  # x_1, x_2: components along the body's axes
    S = [np.array([[0.0, 0.0, b], [0.0, 0.0, -a], [-b, a, 0.0]]) for a, b in body]
    third = H if as_printed else H * np.tile([1.0, 1.0, 0.0], len(psi))
    Qs, Ss = block_diag(*Q), block_diag(*S)
    return np.asarray(Qs.T @ H @ Qs + block_diag(*W) + Qs.T @ third @ Ss @ Qs)


def two_bodies() -> Model:
    """Return the two bodies of section 8.2 in space."""
    given = data()["two_bodies"]["parameters"]
    model = Model("two bodies")
    turns = [euler_set("321").rotation(given[f"euler_321_body_{k}_rad"]) for k in (1, 2)]
    centres = [np.array(given[f"centre_{k}"]) for k in (1, 2)]
    for k, (centre, turn) in enumerate(zip(centres, turns, strict=True), start=1):
        model.body(f"body {k}", mass=1.0, inertia=(1, 1, 1), position=centre, orientation=turn)
    ground, between = given["ground_springs_body_1"], given["springs_between"]
    for k in range(3):
        end = centres[0] + turns[0].apply(ground["points_in_body"][k])
        law = {"stiffness": ground["stiffness"][k], "free_length": ground["free_length"][k]}
        model.spring(f"ground {k + 1}", "ground", "body 1", at=ground["ground_points"][k], at_driven=end, **law)
        ends = [c + turn.apply(between[f"points_in_body_{b}"][k]) for b, c, turn in zip((1, 2), centres, turns, strict=True)]
        law = {"stiffness": between["stiffness"][k], "free_length": between["free_length"][k]}
        model.spring(f"between {k + 1}", "body 1", "body 2", at=ends[0], at_driven=ends[1], **law)
    return model


def two_bodies_figures() -> Iterator[Figure]:
    """Compare section 8.2."""
    expected = data()["two_bodies"]
    field = force_field(two_bodies(), ["body 1", "body 2"])
    for k in (0, 1):
        yield _largest(f"pair in space: force {k + 1}", field.force[k], expected[f"force_{k + 1}"])
        yield _largest(f"pair in space: moment {k + 1}", field.moment[k], expected[f"moment_{k + 1}"])
    yield _largest("pair in space: 2Kc, 12x12", field.stiffness, expected["stiffness_2Kc_12x12"])
    yield Figure("pair in space: 2Kc - 2Kc^T beside M_1 and M_2, relative", 0.0, field.potential_error, 1e-12, IDENTITY)


# --- one truth ----------------------------------------------------------------------------------------------------------


def random_poses(count: int = POSES) -> Iterator[tuple[System, Array]]:
    """Yield the platform's system and positions q of random loaded poses."""
    system, rng = build(stewart_gough()), np.random.default_rng(2010)
    for _ in range(count):
        move = np.concatenate([0.03 * rng.standard_normal(3), rng.standard_normal(3)])
        yield system, system.advance(system.design.q, move)


def pose_figures() -> Iterator[Figure]:
    """Compare 2Kc and 1Kc of random loaded poses: by potential energy in all Euler sets, by tangents, by differences of F and M."""
    energy = platform_expression()
    sets = tangents = differences = spread = 0.0
    for system, q in random_poses():
        field = _field_of(system, q)
        K = in_centimetres(field.stiffness)
        size, R = np.abs(K).max(), field.rotation[0]
        found = np.array([energy.field(100.0 * q[:3], R, euler=name).stiffness for name in EULER_SETS])
        spread = max(spread, float(np.ptp(found, axis=0).max() / size))
        tangents = max(tangents, float(np.abs(found - K).max() / size))
        differences = max(differences, float(np.abs(stiffness_by_differences(system, q) - field.stiffness).max() / size))
        for name in EULER_SETS:
            charts = charts_of(field, name)
            back = _back_from_hessians(field, charts)
            sets = max(sets, float(np.abs(back - field.about().stiffness).max() / np.abs(field.about().stiffness).max()))
    label = f"{POSES} random loaded poses, "
    yield Figure(label + "2Kc of U in twelve Euler sets: largest difference", 0.0, spread, 1e-10, IDENTITY)
    yield Figure(label + "2Kc of U against that of the springs' tangents", 0.0, tangents, 1e-10, IDENTITY)
    yield Figure(label + "1Kc from the Hessian of U1 (28) in twelve sets", 0.0, sets, 1e-10, IDENTITY)
    yield Figure(label + "2Kc against differences of F and M", 0.0, differences, 1e-9, IDENTITY)


def _field_of(system: System, q: Array) -> ForceField:
    from dalembert.system.state import State

    return force_field(system, "platform", state=State(0.0, q, np.zeros(6)))


def _back_from_hessians(field: ForceField, charts: Any) -> Array:
    """Return 1Kc of the Hessian of U1, by the paper's (28)."""
    from dalembert.analysis.hessians import from_corotational

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


def platform_expression() -> Potential:
    """Return the energy of the six springs as a SymPy expression of X and the entries of R, in N cm and cm."""
    import sympy as sp

    given = data()["parameters"]
    X, R = sp.Matrix(sp.symbols("X_1:4")), sp.Matrix(3, 3, sp.symbols("R_1:4(1:4)"))
    energy = sp.Integer(0)
    for ends, k, free in zip(given["legs"], given["spring_stiffness_N_per_cm"], given["free_length_cm"], strict=True):
        base, top = ends.split("-")
        leg = X + R * sp.Matrix(given["platform_points_in_body_cm"][top]) - sp.Matrix(given["base_points_cm"][base])
        energy += sp.Float(k) / 2 * (sp.sqrt(leg.dot(leg)) - free) ** 2
    return Potential.sympy(energy, list(X), list(R))


def wheel_figures() -> Iterator[Figure]:
    """Compare the condensed stiffness of the double wishbone's wheel with the slopes of its force-displacement curve."""
    force = peng2024.wishbone_force()
    found = condensed_stiffness(peng2024.double_wishbone(force=force), "wheel")
    yield Figure(
        "wishbone's wheel: vertical stiffness [N/m]", wheel_slope(force), found.along((0, 0, 1)), 1e-6, "equilibrium", True
    )
    for k, label in enumerate("xyz"):
        ours = float(found.compliance.values[k, 2])
        yield Figure(f"wishbone's wheel: d{label}/dFz [m/N]", _wheel_answer(force)[k], ours, 1e-6, "equilibrium", True)


def _wheel_answer(force: float, step: float = 2.0) -> Array:
    """Return d(place of the wheel)/d(vertical force) by fourth-order differences of equilibria [m/N]."""
    places = {
        k: equilibrium(peng2024.double_wishbone(force=force + k * step)).position.sel(body="wheel").values
        for k in (-2, -1, 1, 2)
    }
    return np.asarray((8.0 * (places[1] - places[-1]) - (places[2] - places[-2])) / (12.0 * step))


def wheel_slope(force: float) -> float:
    """Return the slope of the vertical force over the height of the wheel, by equilibria at other loads [N/m]."""
    return float(1.0 / _wheel_answer(force)[2])


def figures() -> Iterator[Figure]:
    """Compare sections 6 to 9, and what the same tangents give for a mechanism."""
    yield from printed_figures()
    yield from platform_figures()
    yield from planar_figures()
    yield from planar_two_bodies_figures()
    yield from two_bodies_figures()
    yield from pose_figures()
    yield from wheel_figures()


def draw(folder: Path) -> list[Path]:
    """Draw the ellipsoids of compliance of the platform about its centre and of the wishbone's wheel."""
    import matplotlib.pyplot as plt

    force = peng2024.wishbone_force()
    pictures = {
        "metzger2010_platform.png": cartesian_stiffness(stewart_gough(), "platform").plot(),
        "metzger2010_wheel.png": condensed_stiffness(peng2024.double_wishbone(force=force), "wheel").plot(),
    }
    for name, picture in pictures.items():
        picture.savefig(folder / name, dpi=120)
        plt.close(picture)
    return [folder / name for name in pictures]
