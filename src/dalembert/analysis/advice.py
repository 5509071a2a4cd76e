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

from collections.abc import Sequence

import numpy as np

from dalembert.elements.joint import JOINT_TYPES
from dalembert.kernel.vec3 import Array
from dalembert.linalg.rank import MEMBER, Dependencies
from dalembert.system.system import System

ROTATIONS = ("Rx", "Ry", "Rz", "perpendicular")


def losses(system: System) -> list[int]:
    """Return how much of a loss the release of each row would be: 0 for rotations of joints, 4 for a drive or a plane."""
    layout = system.layout
    never = {int(row) for row in layout.motion_rows.values()} | {int(row) for row in layout.plane_rows}
    of_joints = {int(row) for joint in layout.joint_frames for row in layout.joint_rows[joint]}

    def loss(row: int, name: str) -> int:
        if row in never:
            return 4
        if row not in of_joints:  # couplings
            return 3
        if not system.holonomic[row]:
            return 2
        return 0 if name.rpartition(".")[2] in ROTATIONS else 1

    return [loss(row, name) for row, name in enumerate(layout.rows)]


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
    out = []
    for group in found.groups:
        own = [k for k, row in enumerate(group.rows) if int(row) in set(released)]
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


def compliant_joints(system: System, found: Dependencies) -> list[str] | None:
    """Return a small set of joints that make all other reactions unique if they are made compliant."""
    if not all(group.complete for group in found.groups):
        return None
    layout, chosen = system.layout, []
    for group in found.groups:
        places = {int(row): k for k, row in enumerate(group.rows)}
        rows = {joint: [places[int(r)] for r in layout.joint_rows[joint] if int(r) in places] for joint in layout.joint_frames}
        members = {joint: own for joint, own in rows.items() if own}
        chosen += _cover(group.null, members)
    return [joint for joint in layout.joint_frames if joint in chosen]


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


def words(system: System, released: Sequence[int]) -> list[str]:
    """Return releases in words, joint by joint: ``"hinge 2: release Ry, Rz (then it is a spherical joint)"``."""
    lines = []
    names, motions = system.layout.rows, {int(row): name for name, row in system.layout.motion_rows.items()}
    for joint, rows in system.layout.joint_rows.items():
        labels = [names[row].removeprefix(f"{joint}.") for row in rows if int(row) in released]
        kept = tuple(names[row].removeprefix(f"{joint}.") for row in rows if int(row) not in released)
        drives = [motions[int(row)] for row in rows if int(row) in released and int(row) in motions]
        if drives:
            lines.append(f"{joint}: leave out the motion {', '.join(drives)}")
        elif labels:
            lines.append(f"{joint}: release {', '.join(labels)}" + _then(kept) if kept or "." in names[rows[0]] else
                         f"{joint}: leave it out")  # fmt: skip
    return lines


def _then(kept: tuple[str, ...]) -> str:
    """Return what a joint with these rows is called."""
    if not kept:
        return " (then nothing is left of it)"
    for name, kind in JOINT_TYPES.items():
        if kind.rows == kept and not (kind.perpendicular or kind.rod or kind.screw):
            return f" (then it is a {name} joint)"
    return ""
