"""Holding coordinates, points and bodies in place for an analysis: a model with the joints and motions that do it.

What is held gets the constraints that the library has anyway, with their exact tangents, and its reaction is the force that
holds it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.elements.joint import COORDINATE_ROWS
from dalembert.elements.law import Constant
from dalembert.elements.lock import ROWS
from dalembert.errors import ModelError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.system import System

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class Held(NamedTuple):
    """A model in which something is held.

    Attributes
    ----------
    model : Model
        A copy with the joints and motions that hold.
    reactions : dict
        For each held thing: the joint that holds it, and the components of its reaction with their names.
    """

    model: Model
    reactions: dict[str, tuple[str, dict[str, int]]]


def with_holds(model: Model, hold: Mapping[str, float | None]) -> Held:
    """Return a copy of a model in which coordinates, points and bodies are held; see `equilibrium`."""
    held = Held(_copy(model), {})
    for name, value in hold.items():
        element = f"hold {name!r}"
        owner, _, part = name.rpartition(".")
        if value is not None and not np.isfinite(value):
            raise ModelError(element, f"the value is {value}", "give a number, or None for the place as drawn")
        if owner in model.joints:
            _hold_coordinate(held, name, owner, part, value)
        elif part in AXES and (owner in model.frames or owner in model.bodies):
            _hold_point(held, name, owner, part, value)
        elif name in model.bodies:
            _hold_body(held, name, value)
        else:
            known = [
                *model.bodies,
                *(f"{joint}.{one}" for joint in model.joints for one in model.joints[joint].kind.coordinates),
            ]
            known += [f"{one}.{axis}" for one in (*model.frames, *model.bodies) for axis in AXES]
            raise ModelError(element, "there is no such joint coordinate, point or body", nearest(name, known))
    return held


def _copy(model: Model) -> Model:
    other = copy.copy(model)
    for name in ("bodies", "points", "frames", "joints", "couplings", "velocity_rows", "motions", "forces"):
        setattr(other, name, dict(getattr(model, name)))
    return other


def _hold_coordinate(held: Held, name: str, joint: str, coordinate: str, value: float | None) -> None:
    model = held.model
    row = COORDINATE_ROWS.get(coordinate, coordinate)
    if row not in ROWS:
        raise ModelError(
            f"hold {name!r}", f"joint {joint!r} has no {coordinate!r}", nearest(coordinate, [*COORDINATE_ROWS, *ROWS])
        )
    if value is None:
        system = build(model)
        value = system.coordinate(joint, coordinate, system.design.q)
    model.motion(f"hold {joint} {coordinate}", joint, coordinate, Constant(value))
    held.reactions[name] = (joint, {name: ROWS.index(row)})


def _hold_point(held: Held, name: str, owner: str, axis: str, value: float | None) -> None:
    model = held.model
    body = model.frames[owner].body if owner in model.frames else owner
    place = model.place(owner, name) if owner in model.frames else np.asarray(model.bodies[owner].position, float)
    target: Array = np.array(place, dtype=float)
    if value is not None:
        target["xyz".index(axis)] = value
    joint = f"hold {owner} {axis}"
    model.point_on_plane(joint, "ground", body, at=target, at_driven=place, axis=AXES[axis])
    held.reactions[name] = (joint, {name: 0})


def _hold_body(held: Held, name: str, value: float | None) -> None:
    if value is not None:
        raise ModelError(
            f"hold {name!r}", f"a whole body cannot be held at {value}", f"say {name!r}: None, or hold '{name}.x' and so on"
        )
    joint = f"hold {name}"
    held.model.fixed(joint, "ground", name, at=held.model.bodies[name].position)
    labels = ("Fx", "Fy", "Fz", "Tx", "Ty", "Tz")
    held.reactions[name] = (joint, {f"{name}.{label}": k for k, label in enumerate(labels)})


def held_forces(held: Held, system: Any, point: Any) -> dict[str, float]:
    """Return the forces [N] and torques [N m] on what is held, each along its own direction."""
    assert isinstance(system, System)
    forces: dict[str, float] = {}
    for joint, components in held.reactions.values():
        reaction = system.reaction(joint, point.t, point.q, point.lam)
        wrench = np.concatenate([reaction.force, reaction.torque])
        forces |= {name: float(wrench[k]) for name, k in components.items()}
    return forces
