"""Stiffness matrices of two bodies in relative coordinates (Metzger, Faruk Senan & O'Reilly 2010, section 8).

U1, U2 and U4 of two bodies are those of any number of bodies: 12x12 matrices of a `ForceField`. The others are the same
numbers for displacements that are counted relative to the first body. The paper's Euler angles beta describe the axes of body 2
in those of body 1, so that w_2 = w_1 + w_rel (81) and

    y = x_2 - x_1,     dtheta_rel = dtheta_2 - dtheta_1                                         (82)

    U3(Q1, R, y)       12x9   (F1, M1, F2, M2)         of (y, theta_1, theta_rel)               (90)
    U6(Q1, R, x_A)     9x9    (F1 + F2, M1_A, M2_A)    of (x_A, theta_1, theta_rel)             (103)
    U5(R, y)           6x6    (F2, M2)                 of (y, theta_rel)                        (99)

U3 and U5 need a field that nothing but the two bodies has to do with. U5 needs more: a field that is the same when both bodies
turn together about their own centres. Springs between the bodies are none: there M1 + M2 + y x F2 = 0, not M1 + M2 = 0 as the
remark on Fig. 6(c) has it.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from dalembert.analysis.stiffness.force_field import ForceField
from dalembert.analysis.stiffness.labels import LOADS, names_of, stiffness_matrix
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array

ROUNDING = 1e-7
"""What counts as zero beside the largest entry: differences made of a function leave 1e-9."""

_I, _O = np.eye(3), np.zeros((3, 3))


def relative_stiffness(field: ForceField) -> xr.DataArray:
    """Return the 12x9 matrix of U3: what happens when body 1 turns, and body 2 moves and turns beside it.

    Raises
    ------
    ModelError
        If something else than the two bodies takes part: then no y is enough.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("pair")
    >>> for name, x in (("one", 0.0), ("two", 1.0)):
    ...     body = model.body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
    >>> bushing = model.bushing("disc", "one", "two", at=(0.5, 0, 0), stiffness=(1, 2, 3, 4, 5, 6))
    >>> relative_stiffness(da.force_field(model, ["one", "two"])).shape
    (12, 9)
    """
    _refuse_other_than_two(field)
    moved_together = field.stiffness @ np.vstack([_I, _O, _I, _O])
    if np.abs(moved_together).max() > ROUNDING * np.abs(field.stiffness).max() or _is_something(field.force.sum(axis=0), field):
        raise _not_relative(field, "it also depends on where the pair is: something else than the two bodies takes part")
    columns = np.block([[_O, _O, _O], [_O, _I, _O], [_I, _O, _O], [_O, _I, _I]])
    return stiffness_matrix(field.stiffness @ columns, names_of(field.bodies, LOADS), _relative_names(field, "y"))


def jointed_stiffness(field: ForceField, joint: ArrayLike) -> xr.DataArray:
    """Return the 9x9 matrix of U6 for two bodies that a joint at A holds together [m], in the world.

    Only the sum of the forces is known of the field: the joint carries the rest.
    """
    _refuse_other_than_two(field)
    at_joint = field.at(joint)
    columns = np.block([[_I, _O, _O], [_O, _I, _O], [_I, _O, _O], [_O, _I, _I]])
    rows = np.block([[_I, _O, _I, _O], [_O, _I, _O, _O], [_O, _O, _O, _I]])
    one, two = field.bodies
    loads = [*(f"both.{name}" for name in LOADS[:3]), *(f"{body}.{name}" for body in (one, two) for name in LOADS[3:])]
    return stiffness_matrix(rows @ at_joint.stiffness @ columns, loads, _relative_names(field, "joint"))


def pair_stiffness(field: ForceField) -> xr.DataArray:
    """Return the 6x6 matrix of U5: (F2, M2) of y and of the relative rotation.

    Raises
    ------
    ModelError
        If U is no function of (R, y) alone, as with springs between the bodies; `relative_stiffness` serves there.
    """
    K = relative_stiffness(field).values
    gap = field.moment.sum(axis=0)
    if _is_something(gap, field) or np.abs(K[6:9, 3:6]).max() > ROUNDING * np.abs(K).max():
        raise _not_relative(
            field,
            "U is no function of (R, y) alone: turning both bodies by the same angle changes it, "
            f"M_1 + M_2 = {_text(gap)} N m, which springs balance by y x F_2 = {_text(_lever(field))} N m",
            "use relative_stiffness, U3(Q_1, R, y)",
        )
    two = field.bodies[1]
    names = _relative_names(field, "y")
    return stiffness_matrix(K[6:, [0, 1, 2, 6, 7, 8]], [f"{two}.{name}" for name in LOADS], [*names[:3], *names[6:]])


def planar_entries(field: ForceField) -> Array:
    """Return the rows of x, y and the rotation about z of each body: sections 6 and 9.

    Raises
    ------
    ModelError
        If a body's z axis is not normal to the plane.
    """
    if np.abs(field.rotation[:, 2, 2] - 1.0).max() > 1e-9:
        raise ModelError(
            "planar stiffness", "the z axes of the bodies are not normal to the plane", "draw the bodies so, or give axes=..."
        )
    return np.asarray((6 * np.arange(len(field.bodies))[:, None] + [0, 1, 5]).ravel())


def _relative_names(field: ForceField, first: str) -> list[str]:
    one, two = field.bodies
    parts = (first, "xyz"), (one, ("rx", "ry", "rz")), (f"{two} in {one}", ("rx", "ry", "rz"))
    return [f"{label}.{name}" for label, names in parts for name in names]


def _refuse_other_than_two(field: ForceField) -> None:
    if len(field.bodies) != 2:
        raise ModelError("relative stiffness", f"it is of two bodies, the field has {len(field.bodies)}", "name two bodies")


def _is_something(vector: Array, field: ForceField) -> bool:
    size = max(float(np.abs(field.force).max()), float(np.abs(field.moment).max()))
    return bool(np.abs(vector).max() > ROUNDING * size)


def _lever(field: ForceField) -> Array:
    return np.asarray(np.cross(field.position[1] - field.position[0], field.force[1]))


def _not_relative(field: ForceField, problem: str, remedy: str = "use the 12x12 matrix of both bodies") -> ModelError:
    return ModelError(f"bodies {field.bodies[0]!r} and {field.bodies[1]!r}", problem, remedy)


def _text(vector: Array) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in vector) + ")"
