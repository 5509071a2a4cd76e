"""What to change so that all reactions are unique: freedoms to release, or joints to make compliant.

Every row that is released lowers the degree of redundancy p by one at the most, so that p rows are needed; any p rows X do for
which the rows N_X of a basis N of the null space of A^T are regular. They are chosen one after the other (`releases`): of the
rows that would be the least loss, rotations before translations, that in which what is left of N is largest; then the part of
N along it is taken away. The rows form a matroid, on which such a greedy choice is the best there is: no other choice of p
rows loses less.

Joints to make compliant (`compliant_joints`): the joint whose rows take the most dimensions of N, again and again until
nothing is left; then those that turned out to be unnecessary are taken back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.elements.joint import JOINT_TYPES
from dalembert.kernel.vec3 import Array
from dalembert.linalg.pattern import Indices
from dalembert.linalg.rank import MEMBER, Dependencies
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.system import System

ROTATIONS = ("Rx", "Ry", "Rz", "perpendicular")


class Elements(NamedTuple):
    """What the rows of a system belong to.

    Attributes
    ----------
    rows : tuple of str
    joint_rows : dict
        Rows of each joint and coupling; of a system without joints, every row is one of its own.
    joints : tuple of str
        Those that have a wrench.
    motion_rows : dict
        Row of each motion.
    plane_rows : array of int
        Rows that keep bodies in the plane of a planar model.
    """

    rows: tuple[str, ...]
    joint_rows: Mapping[str, Sequence[int]]
    joints: tuple[str, ...]
    motion_rows: Mapping[str, int]
    plane_rows: Indices


def elements_of(system: MechanicalSystem) -> Elements:
    """Return what the rows of a system belong to."""
    if isinstance(system, System):
        layout = system.layout
        rows = {name: own.tolist() for name, own in layout.joint_rows.items()}
        return Elements(layout.rows, rows, tuple(layout.joint_frames), layout.motion_rows, layout.plane_rows)
    own = {name: [k] for k, name in enumerate(system.row_names)}
    return Elements(tuple(system.row_names), own, (), {}, np.zeros(0, np.intp))


def losses(elements: Elements, holonomic: NDArray[np.bool_]) -> list[int]:
    """Return how much of a loss the release of each row would be: 0 for rotations of joints, 4 for a drive or a plane."""
    never = set(elements.motion_rows.values()) | set(elements.plane_rows.tolist())
    of_joints = {row for joint in elements.joints for row in elements.joint_rows[joint]}

    def loss(row: int, name: str) -> int:
        if row in never:
            return 4
        if row not in of_joints:  # couplings
            return 3
        if not holonomic[row]:
            return 2
        return 0 if name.rpartition(".")[2] in ROTATIONS else 1

    return [loss(row, name) for row, name in enumerate(elements.rows)]


def releases(found: Dependencies, loss: Sequence[int]) -> list[int] | None:
    """Return the fewest rows whose release makes all others independent; None where the null space is not known in full.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from dalembert.linalg.rank import dependencies
    >>> releases(dependencies(sp.csc_array(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]))), [1, 0, 0])
    [1]
    """
    if not all(group.complete for group in found.groups):
        return None
    chosen: list[int] = []
    for group in found.groups:
        weights = np.array([loss[row] for row in group.rows])
        left, many = group.null.copy(), len(chosen) + group.degree
        for one in np.unique(weights):
            own = np.flatnonzero(weights == one)
            while len(chosen) < many:
                sizes = np.linalg.norm(left[own], axis=1).round(9)  # equal ones: the last, so that first joints stay whole
                best = own.size - 1 - int(np.argmax(sizes[::-1]))
                if sizes[best] <= MEMBER:
                    break
                chosen.append(int(group.rows[own[best]]))
                along = left[own[best]] / np.linalg.norm(left[own[best]])
                left -= np.outer(left @ along, along)
    return sorted(chosen)


def dependence(found: Dependencies, released: Sequence[int]) -> list[dict[int, float]]:
    """Return for each released row the others that it depends on: ``row = sum of factor * other``, multipliers of A's rows."""
    out, chosen = [], set(released)
    for group in found.groups:
        own = [k for k, row in enumerate(group.rows.tolist()) if row in chosen]
        basis = group.null @ np.linalg.inv(group.null[own])  # one in its own row, zero in the other released ones
        for column, k in enumerate(own):
            size = np.abs(basis[:, column]).max()
            parts = {
                int(row): -float(basis[j, column] * found.row_scale[row] / found.row_scale[group.rows[k]])
                for j, row in enumerate(group.rows)
                if j != k and abs(basis[j, column]) > MEMBER * size
            }
            out.append({int(group.rows[k]): 1.0} | parts)
    return sorted(out, key=lambda one: next(iter(one)))


def compliant_joints(elements: Elements, found: Dependencies) -> list[str] | None:
    """Return a small set of joints that make all other reactions unique if they are made compliant."""
    if not all(group.complete for group in found.groups):
        return None
    chosen: list[str] = []
    joint_of = {row: joint for joint in elements.joints for row in elements.joint_rows[joint]}
    for group in found.groups:
        places = {int(row): k for k, row in enumerate(group.rows)}
        members: dict[str, list[int]] = {}
        for row in places:
            if row in joint_of:
                members.setdefault(joint_of[row], []).append(places[row])
        chosen += _cover(group.null, members)
    kept = set(chosen)
    return [joint for joint in elements.joints if joint in kept]


def _cover(null: Array, members: dict[str, list[int]]) -> list[str]:
    """Return members whose rows take all dimensions of a null space, or as many as members have."""
    chosen: list[str] = []
    left = null
    while np.abs(left).max(initial=0.0) > MEMBER:
        taken = {joint: _rank(left[rows]) for joint, rows in members.items()}
        best = max(members, key=lambda joint: taken[joint], default=None)
        if best is None or taken[best] == 0:
            break
        chosen.append(best)
        right = np.linalg.svd(left[members[best]])[2][: taken[best]]
        left = left - left @ right.T @ right
    full = _rank(null[[row for joint in chosen for row in members[joint]]]) if chosen else 0
    for joint in list(chosen):
        rest = [row for other in chosen if other != joint for row in members[other]]
        if _rank(null[rest]) == full:
            chosen.remove(joint)
    return chosen


def _rank(A: Array) -> int:
    return int(np.sum(np.linalg.svd(A, compute_uv=False) > MEMBER)) if A.size else 0


def words(elements: Elements, released: Sequence[int]) -> list[str]:
    """Return releases in words, joint by joint: ``"hinge 2: release Ry, Rz (then it is a spherical joint)"``."""
    lines, names, chosen = [], elements.rows, set(released)
    motions = {row: name for name, row in elements.motion_rows.items()}
    for joint, rows in elements.joint_rows.items():
        labels = {row: names[row].removeprefix(f"{joint}.") for row in rows}
        gone = [label for row, label in labels.items() if row in chosen and row not in motions]
        lines += [f"{joint}: leave out the motion {motions[row]}" for row in rows if row in chosen and row in motions]
        kept = tuple(label for row, label in labels.items() if row not in chosen)
        if gone and kept:
            lines.append(f"{joint}: release {', '.join(gone)}{_then(kept)}")
        elif gone:
            lines.append(f"{joint}: leave it out")
    return lines


def _then(kept: tuple[str, ...]) -> str:
    """Return what a joint with these rows is called."""
    for name, kind in JOINT_TYPES.items():
        if kind.rows == kept and not (kind.perpendicular or kind.rod or kind.screw):
            return f" (then it is a {name} joint)"
    return ""
