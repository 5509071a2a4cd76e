"""Which reactions may be believed: redundancy of the constraints and solvability of their reactions.

    rank r of A = [Phi_q; Psi],    degree of redundancy p = m + h - r                (Wojtyra and Fraczek 2013, eqs. 6, 7)
    the reaction f_X = A_X^T lam_X is unique  <=>  A_X^T n_X = 0 for all n with A^T n = 0            (eqs. 19 to 27)

`method` chooses how that is decided: ``"sparse"`` by random vectors of the null space (`uniqueness`), for systems of any size;
``"ranks"``, ``"svd"`` and ``"qr"`` as the paper has it, dense. All agree.

The planes of planar models hold each body by three rows that depend on nothing; they are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import xarray as xr

from dalembert.analysis import advice
from dalembert.analysis.assemble import assemble
from dalembert.analysis.results import AXES, LEVELS
from dalembert.analysis.uniqueness import Uniqueness, uniqueness
from dalembert.errors import ModelError, SolveError, nearest
from dalembert.formulations.saddle import SaddleFormulation
from dalembert.kernel.vec3 import Array
from dalembert.linalg.rank import CLOSE_ABOVE, MEMBER, TOLERANCE, Dependencies, dependencies
from dalembert.linalg.solvability import METHODS
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.state import State
from dalembert.system.system import System

MOST_LISTED = 50
"""Dependencies that are written out as equations."""


class Reactions(xr.Dataset):  # type: ignore[no-untyped-call]
    """Reactions of one state as labelled data, each with its flag.

    Attributes
    ----------
    constraints, rank, degree_of_redundancy, degrees_of_freedom : int
        m + h, r, p = m + h - r, and what the velocities have left. Planes of planar models are not counted.
    rank_holonomic, rank_nonholonomic : int
        Of Phi_q and of Psi alone.
    smallest_singular_value, largest_zero_singular_value : float
        On the two sides of the gap, relative to the largest, rows and columns scaled.
    close_decision : bool
        Whether a small change of the geometry would change the rank: do not believe the flags without a second thought.
    gaps : list of str
        Rows that stay open because redundant constraints contradict each other, within the tolerance of the model.
    """

    __slots__ = ()

    @property
    def rank(self) -> int:  # type: ignore[override]
        """The rank r of A."""
        return int(self.attrs["rank"])

    @property
    def unique(self) -> dict[str, bool]:
        """Whether the reaction of each joint, coupling and motion is unique; groups, too, if there were any."""
        return {str(name): bool(flag) for name, flag in zip(self.element.values, self.element_unique.values, strict=True)}

    @property
    def dependencies(self) -> list[str]:
        """The redundant equations in terms of the others: a basis of the null space of A^T."""
        return [str(text) for text in self.attrs["dependencies"]]

    def why(self, element: str) -> list[str]:
        """Return why the reaction of a joint is not unique: the dependencies that its rows take part in."""
        rows = zip(self.dependencies, self.attrs["dependent_elements"], strict=True)
        return [text for text, elements in rows if element in elements]

    @property
    def releases(self) -> list[str]:
        """Rows whose release makes all reactions unique: as few as there can be."""
        return [str(name) for name in self.attrs["releases"]]

    @property
    def compliant(self) -> list[str]:
        """Joints which, made compliant, leave all other reactions unique."""
        return [str(name) for name in self.attrs["compliant"]]

    @property
    def advice(self) -> list[str]:
        """What to release, in words."""
        return [str(text) for text in self.attrs["advice"]]


def reactions(
    model: Model | MechanicalSystem,
    *,
    state: State | None = None,
    t: float = 0.0,
    method: str = "sparse",
    groups: Mapping[str, Sequence[str]] | None = None,
    tolerance: float = TOLERANCE,
) -> Reactions:
    """Return the redundancy of a model's constraints and its reactions, each with the flag whether it is unique.

    Parameters
    ----------
    model : Model or MechanicalSystem
        In a system of your own equations every row is an element, and there are no wrenches.
    state : State, optional
        Where; the assembled design position, moving as drawn, if not given.
    t : float
        Time, if no state is given [s].
    method : str
        ``"sparse"``, or as the paper has it ``"ranks"``, ``"svd"``, ``"qr"``: dense.
    groups : mapping, optional
        Joints whose reactions are to be looked at together: ``{"rear axle": ["W3", "W4"]}``.
    tolerance : float
        Singular value, relative to the largest, that counts as zero.

    Returns
    -------
    Reactions
        joint_force [N] and joint_torque [N m] on the driven bodies at this state, force_unique and torque_unique for each of
        their components, joint_unique; element_unique for joints, couplings, motions and groups; multipliers and row_unique;
        mismatch of the redundant rows at the three levels.

    Raises
    ------
    AssemblyError, SolveError
        If redundant rows contradict each other, with their joints and the size of the contradiction.

    Examples
    --------
    A door of 20 kg on two hinges: the weight may hang on either of them, but what pulls at the hinges sideways is known.

    >>> import dalembert as da
    >>> model = da.Model("door", gravity=(0, 0, -10.0))
    >>> leaf = model.body("leaf", mass=20.0, inertia=(1, 1, 1), position=(0.5, 0, 1))
    >>> for k, z in ((1, 0.5), (2, 1.5)):
    ...     _ = model.spherical(f"hinge {k}", model.ground, leaf, at=(0, 0, z))
    >>> found = reactions(model)
    >>> found.degree_of_redundancy, found.unique
    (1, {'hinge 1': False, 'hinge 2': False})
    >>> found.force_unique.sel(joint="hinge 1").values.tolist(), found.dependencies
    ([True, True, False], ['hinge 2.z = hinge 1.z'])
    >>> found.advice
    ['hinge 2: release z']
    """
    system: MechanicalSystem = build(model) if isinstance(model, Model) else model
    state = assemble(system, t=t) if state is None else state
    A = system.jacobian(state.t, state.q, state.v)
    found = dependencies(A, units=system.rotational, tolerance=tolerance)
    flags = uniqueness(system, state.t, state.q, found)
    members = _members(system, groups or {})
    unique = _of_elements(system, A, found, flags, members, method)
    values = _values(system, state, found)
    return Reactions(
        _variables(system, flags, unique, values),
        coords=_coordinates(system, members),
        attrs=_attributes(system, A, found, tolerance) | {"title": system.name, "time": state.t, "method": method}
        | {"values_note": values["note"]},
    )  # fmt: skip


def _members(system: MechanicalSystem, groups: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Return the rows of each joint, coupling, motion and group."""
    elements = advice.elements_of(system)
    planes = set(elements.plane_rows.tolist())
    own = {name: list(rows) for name, rows in elements.joint_rows.items() if not set(rows) & planes}
    own |= {name: [row] for name, row in elements.motion_rows.items()}
    for name, joints in groups.items():
        for joint in joints:
            if joint not in own:
                raise ModelError(f"group {name!r}", f"there is no joint {joint!r}", nearest(joint, own))
        own[name] = [row for joint in joints for row in own[joint]]
    return own


def _of_elements(
    system: MechanicalSystem, A: Any, found: Dependencies, flags: Uniqueness, members: dict[str, list[int]], method: str
) -> dict[str, bool]:
    """Return for each element whether its reaction is unique."""
    if method in METHODS:
        dense = A.toarray()
        return {name: METHODS[method](dense, rows, system.rotational) for name, rows in members.items()}
    if method != "sparse":
        raise ModelError("reactions", f"unknown method {method!r}", nearest(method, ["sparse", *METHODS]))
    joints = dict(zip(advice.elements_of(system).joints, flags.joint, strict=True))
    null = found.sample() / found.row_scale[:, None]
    scaled = sp.diags_array(found.row_scale) @ sp.csr_array(A)
    return {
        name: bool(joints[name]) if name in joints else bool(flags.row[rows].all()) or _is_balanced(scaled, null, rows)
        for name, rows in members.items()
    }


def _is_balanced(A: Any, null: Array, rows: list[int]) -> bool:
    """Return whether ``A_X^T n_X`` vanishes for all null vectors."""
    part = A[rows]
    size = (np.abs(part).T @ np.abs(null[rows])).max(initial=0.0)
    return bool(np.abs(part.T @ null[rows]).max(initial=0.0) <= MEMBER * size)


def _values(system: MechanicalSystem, state: State, found: Dependencies) -> dict[str, Any]:
    """Return multipliers and wrenches at a state; NaN, and why, where the accelerations are not unique."""
    note = "reactions of the motion at this state"
    A, b = system.jacobian(state.t, state.q, state.v), system.acceleration_right_side(state.t, state.q, state.v)
    try:
        lam = SaddleFormulation(system).solve(state.t, state.q, state.v).multipliers
    except SolveError as error:
        if _contradicts(found, b, state, A):
            raise
        lam, note = np.full(system.n_constraints, np.nan), str(error)
    force = torque = np.zeros((0, 3))
    if isinstance(system, System):
        force, torque = system.reactions(state.t, state.q, lam)
    slip = system.velocity_residual(state.t, state.q, state.v)
    mismatch = [_largest(system.constraint(state.t, state.q)), _largest(slip), _mismatch(found, b)]
    return {"lam": lam, "force": force, "torque": torque, "note": note, "mismatch": np.array(mismatch)}


def _mismatch(found: Dependencies, b: Array) -> float:
    """Return the largest part of a right side that redundant rows cannot meet, ``n^T b / |n|``."""
    null = found.sample()
    return _largest((null.T @ b) / np.linalg.norm(null, axis=0)) if null.size else 0.0


def _contradicts(found: Dependencies, b: Array, state: State, A: Any) -> bool:
    return _mismatch(found, b) > 1e-9 * max(_largest(b), _largest(state.v) ** 2, 1e-300)


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


def _variables(system: MechanicalSystem, flags: Uniqueness, unique: dict[str, bool], values: dict[str, Any]) -> dict[str, Any]:
    joint_axis = ("joint", "axis")
    shown = {"frame": "main frame F2 of the joint", "on": "driven body"}
    return {
        "joint_force": (joint_axis, values["force"], {"units": "N"} | shown),
        "joint_torque": (joint_axis, values["torque"], {"units": "N m"} | shown),
        "force_unique": (joint_axis, flags.force),
        "torque_unique": (joint_axis, flags.torque),
        "joint_unique": ("joint", np.array([unique[name] for name in advice.elements_of(system).joints], dtype=bool)),
        "element_unique": ("element", np.array(list(unique.values()), dtype=bool)),
        "multipliers": ("row", values["lam"], {"units": "N or N m"}),
        "row_unique": ("row", flags.row),
        "mismatch": (
            "level",
            values["mismatch"],
            {"meaning": "what redundant rows leave open: m or sine of half an angle ..."},
        ),
    }


def _coordinates(system: MechanicalSystem, members: dict[str, list[int]]) -> dict[str, Any]:
    return {
        "joint": list(advice.elements_of(system).joints),
        "element": list(members),
        "row": list(system.row_names),
        "axis": AXES,
        "level": LEVELS,
    }


def _attributes(system: MechanicalSystem, A: Any, found: Dependencies, tolerance: float) -> dict[str, Any]:
    planes = advice.elements_of(system).plane_rows.size
    rows = sp.csr_array(A)
    holonomic = dependencies(rows[np.flatnonzero(system.holonomic)], units=system.rotational, tolerance=tolerance)
    nonholonomic = dependencies(rows[np.flatnonzero(~system.holonomic)], units=system.rotational, tolerance=tolerance)
    counts = {
        "constraints": system.n_constraints - planes,
        "rank": found.rank - planes,
        "rank_holonomic": holonomic.rank - planes,
        "rank_nonholonomic": nonholonomic.rank,
        "degree_of_redundancy": found.degree,
        "degrees_of_freedom": system.n_velocities - found.rank,
        "smallest_singular_value": found.smallest,
        "largest_zero_singular_value": found.largest_zero,
        "close_decision": found.close,
        "gaps": [f"{row}: {gap:.6g}" for row, gap in (system.gaps.items() if isinstance(system, System) else ())],
    }
    return counts | _what_to_do(system, found)


def _what_to_do(system: MechanicalSystem, found: Dependencies) -> dict[str, Any]:
    """Return the dependencies, what to release, and which joints to make compliant."""
    elements, names = advice.elements_of(system), system.row_names
    released = advice.releases(found, advice.losses(elements, system.holonomic))
    compliant = advice.compliant_joints(elements, found)
    if released is None or compliant is None:  # a large coherent null space, known by samples only
        return {"dependencies": [], "dependent_elements": [], "releases": [], "advice": [], "compliant": []}
    equations = advice.dependence(found, released)[:MOST_LISTED]
    owner = {row: name for name, rows in elements.joint_rows.items() for row in rows}
    return {
        "dependencies": [_equation(names, parts) for parts in equations],
        "dependent_elements": [sorted({owner[row] for row in parts}) for parts in equations],
        "releases": [names[row] for row in released],
        "advice": advice.words(elements, released),
        "compliant": compliant,
    }


def _equation(names: tuple[str, ...], parts: dict[int, float]) -> str:
    """Return ``"W4.sideways = W3.sideways"``."""
    (row, _), *others = parts.items()
    terms = [(f"{factor:+.4g} ", names[other]) for other, factor in others]
    text = " ".join(f"{sign[0]} {sign[1:]}{name}".replace(" 1 ", " ", 1) for sign, name in terms)
    return f"{names[row]} = {text.removeprefix('+ ') or '0'}"


def closeness(found: Reactions) -> str:
    """Return what is to be said where the decision about the rank is a close one, or nothing."""
    if not found.attrs["close_decision"]:
        return ""
    kept, zero = found.attrs["smallest_singular_value"], found.attrs["largest_zero_singular_value"]
    reason = f"{kept:.1e} counts as independent" if kept < CLOSE_ABOVE else f"{zero:.1e} counts as dependent"
    return f"the rank is a close decision: a singular value of {reason}; small changes of the geometry change the flags"
