"""Rigid bodies: what the user writes, the records that compiled code reads, and Newton's and Euler's equations.

The frame B of a body sits at its centre of mass. With ``v = [velocity in W, w_B in B]``:

    m r'' = m g + force,        I w_B' = -w_B x I w_B + torque (in B)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from dalembert.elements import checks, inertia
from dalembert.kernel.compile import inlined
from dalembert.kernel.vec3 import Array, Mat3, Vec3, cross, dot, load, load_matrix, madd, matmul, mneg, mul, neg, skew
from dalembert.rotation.quaternion import from_rotation

BODY = np.dtype([("mass", np.float64), ("inertia", np.float64, 9)], align=True)

POSE = np.dtype(
    [
        ("position", np.float64, 3),  # in W
        ("quaternion", np.float64, 4),  # R_WB
        ("rotation", np.float64, 9),  # R_WB
        ("velocity", np.float64, 3),  # in W
        ("angular_velocity", np.float64, 3),  # in B
    ],
    align=True,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Body:
    """A rigid body in its design position.

    Parameters
    ----------
    name : str
    mass : float
        [kg]; zero is allowed where the joints make the motion unique.
    inertia : array_like
        About the centre of mass, in the body's axes [kg m2]: three moments, six entries or 3x3. Default: point mass.
    position : array_like
        Centre of mass in the world [m].
    orientation : Rotation or 3x3 array, optional
        R_WB, from the body's axes to the world's.
    orientation_wxyz : array_like, optional
        The same as a quaternion, scalar first.
    velocity, angular_velocity : array_like
        At the start, in the world's axes [m/s], [rad/s].

    Examples
    --------
    >>> bob = Body(name="bob", mass=15.0, position=(0, 0, -4))
    >>> bob.quaternion
    (1.0, 0.0, 0.0, 0.0)
    """

    name: str
    mass: float
    inertia: ArrayLike = (0.0, 0.0, 0.0)
    position: ArrayLike = (0.0, 0.0, 0.0)
    orientation: Rotation | ArrayLike | None = None
    orientation_wxyz: ArrayLike | None = field(default=None, repr=False)
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        element = checks.element_name("body", self.name)
        keep = object.__setattr__
        keep(self, "mass", checks.number(element, "mass", self.mass, minimum=0.0))
        keep(self, "inertia", inertia.tensor(element, self.inertia))
        for label in ("position", "velocity", "angular_velocity"):
            keep(self, label, checks.vector(element, label.replace("_", " "), getattr(self, label)))
        if self.orientation_wxyz is not None:
            keep(self, "orientation", checks.rotation_wxyz(element, "orientation_wxyz", self.orientation_wxyz))
        keep(self, "orientation", checks.rotation(element, "orientation", self.orientation))

    @property
    def rotation(self) -> Rotation:
        """R_WB in the design position."""
        return checks.rotation(self.name, "orientation", self.orientation)

    @property
    def quaternion(self) -> tuple[float, float, float, float]:
        """The quaternion [w, x, y, z] of R_WB in the design position."""
        return from_rotation(self.rotation)


@inlined
def gyroscopic_torque(body: Any, w: Vec3) -> Vec3:
    """Return -w x I w [N m], in B."""
    return neg(cross(w, mul(load_matrix(body.inertia), w)))


@inlined
def gyroscopic_damping(body: Any, w: Vec3) -> Mat3:
    """Return the tangent of w x I w with respect to w: tilde(w) I - tilde(I w)."""
    inertia_B = load_matrix(body.inertia)
    return madd(matmul(skew(w), inertia_B), mneg(skew(mul(inertia_B, w))))


@inlined
def add_force(body: Any, pose: Any, gravity: Array, f: Array) -> None:
    """Add weight and gyroscopic torque of a body to its six entries of the force."""
    torque = gyroscopic_torque(body, load(pose.angular_velocity))
    for k in range(3):
        f[k] += body.mass * gravity[k]
        f[k + 3] += torque[k]


@inlined
def kinetic_energy(body: Any, pose: Any) -> float:
    """Return m |v|^2/2 + w . I w/2 [J]."""
    v, w = load(pose.velocity), load(pose.angular_velocity)
    return float(0.5 * body.mass * dot(v, v) + 0.5 * dot(w, mul(load_matrix(body.inertia), w)))


@inlined
def weight_energy(body: Any, pose: Any, gravity: Array) -> float:
    """Return the potential energy of the weight, -m g . r [J]: zero at the world's origin."""
    return float(-body.mass * dot(load(gravity), load(pose.position)))
