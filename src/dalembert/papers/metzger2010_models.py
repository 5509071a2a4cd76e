"""The examples of Metzger, Faruk Senan & O'Reilly 2010: the platform of section 7, and bodies for sections 6, 8 and 9.

The numbers are in metzger2010.json: what the paper prints, and the same in ten digits by independent derivatives of the energy
("independent"). The pairing of the springs is not in the text; the one here is the only one that gives the printed force and
moment. Sections 6, 8 and 9 have no numbers: those of the examples are independent ones.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.analysis.stiffness.force_field import ForceField
from dalembert.analysis.stiffness.potential import Potential
from dalembert.kernel.vec3 import Array
from dalembert.rotation.euler import euler_set
from dalembert.system.model import Model


@cache
def data() -> dict[str, Any]:
    """Return the numbers of the paper and those of the examples."""
    text = resources.files("dalembert.papers").joinpath("metzger2010.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def stewart_gough() -> Model:
    """Return the platform of section 7 in SI units; its mass is not in the paper and does not count."""
    given = data()["parameters"]
    turn = platform_orientation()
    centre = np.array(given["centre_position_cm"]) / 100.0
    model = Model("Stewart-Gough platform")
    for name, place in given["base_points_cm"].items():
        model.point(name, np.array(place) / 100.0)
    model.body("platform", mass=1.0, inertia=(1e-3, 1e-3, 2e-3), position=centre, orientation=turn)
    for name, place in given["platform_points_in_body_cm"].items():
        model.frame(name, "platform", at=centre + turn.apply(np.array(place) / 100.0))
    legs = zip(given["legs"], given["spring_stiffness_N_per_cm"], given["free_length_cm"], strict=True)
    for k, (ends, stiffness, length) in enumerate(legs):
        base, top = ends.split("-")
        ends_at = {"at": base, "at_driven": top}
        model.spring(f"leg {k + 1}", "ground", "platform", **ends_at, stiffness=100.0 * stiffness, free_length=length / 100.0)
    return model


def platform_orientation() -> Rotation:
    """Return the orientation of the platform (66)."""
    return euler_set("321").rotation(np.radians(data()["parameters"]["euler_angles_321_deg"]))


def platform_energy(R: Array, x: Array) -> float:
    """Return the energy of the six springs (70) [N cm], with x in cm."""
    given = data()["parameters"]
    energy = 0.0
    for ends, k, free in zip(given["legs"], given["spring_stiffness_N_per_cm"], given["free_length_cm"], strict=True):
        base, top = ends.split("-")
        leg = x + R @ np.array(given["platform_points_in_body_cm"][top]) - np.array(given["base_points_cm"][base])
        energy += 0.5 * k * (np.linalg.norm(leg) - free) ** 2
    return float(energy)


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
