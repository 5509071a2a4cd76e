"""Modal bodies: flexible parts by a few shapes in a floating frame (Ritz forms, Masarati 2011, section 3.4.2).

Place and orientation of every node follow the frame F and the modal coordinates eta (23), x = X q:

    R_F^T (p_k - p_F) = x_k + sum of eta_j u_kj,        orientation of k in F: the small rotation sum of eta_j psi_kj

written as a joint between F and the node (the lock of Peng et al. 2024) from whose rows the sum is taken. The rotation of a row
is the sine of half its angle, so psi is halved. What carries mass are the nodes, rigid bodies as all others; F and the carriers
of eta have none. M stays block-diagonal and constant, centrifugal and Coriolis forces of the flexible part are those of its
nodes, whatever the shapes, and reduction to the shapes is left to the constraints: eliminating them is the projection X^T M X,
A X of (23), and joints at points that the shapes cannot move are redundant rows, which the saddle solve copes with as with all
others.

A carrier is a body that may only move, without mass: its three coordinates in the world are three of the eta [m].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from dalembert.elements import checks
from dalembert.elements.body import Body
from dalembert.elements.bushing import Bushing
from dalembert.elements.joint import Joint
from dalembert.elements.lock import ROWS
from dalembert.errors import ModelError
from dalembert.kernel.compile import compiled
from dalembert.kernel.vec3 import ZERO, Array, store

SHAPE_TERM = np.dtype(
    [
        ("body_1", np.intp),  # carriers of six of the modal coordinates
        ("body_2", np.intp),
        ("row", np.intp, 6),  # of the lock between node and frame; -1: left out
        ("term", np.intp, 6),
        ("form", np.float64, (6, 6)),  # by row and modal coordinate
    ],
    align=True,
)


@compiled
def residual(tie: Any, bodies: Any, phi: Array) -> None:
    """Subtract the sum of form times eta from the rows of the lock."""
    p1, p2 = bodies[tie.body_1].position, bodies[tie.body_2].position
    for k in range(6):
        for j in range(3 * (tie.row[k] >= 0)):
            phi[tie.row[k]] -= tie.form[k, j] * p1[j] + tie.form[k, 3 + j] * p2[j]


@compiled
def jacobian(tie: Any, J: Array) -> None:
    """Write the rows [-form | 0 | -form | 0], which are constant: so there are no right sides and no tangent."""
    for k in range(6):
        if tie.row[k] >= 0:
            row = J[tie.term[k]]
            for j in range(3):
                row[j], row[6 + j] = -tie.form[k, j], -tie.form[k, 3 + j]
            store(row, 3, ZERO)
            store(row, 9, ZERO)


_ARRAYS = ("positions", "masses", "inertias", "translations", "rotations", "stiffness")
ELEMENT = "shapes"


@dataclass(frozen=True, eq=False, kw_only=True)
class Shapes:
    """Nodes of a flexible part with their masses, and its shapes with their stiffness, as drawn, in the axes of the world.

    Parameters
    ----------
    positions : array_like, shape (n, 3)
        Of the nodes [m].
    masses : array_like, shape (n,)
        [kg].
    translations : array_like, shape (r, n, 3)
        Displacement of each node in each shape [m], per metre of its modal coordinate.
    stiffness : array_like, shape (r, r) or (r,)
        Of the modal coordinates [N/m]: symmetric, or the diagonal.
    rotations : array_like, shape (r, n, 3)
        Small rotation of each node in each shape [rad/m]; none if not given.
    inertias : array_like, shape (n, 3, 3)
        Of the nodes about their centres [kg m2]; point masses if not given.

    Examples
    --------
    Two masses on a rod, and the shape that stretches it:

    >>> places, stretch = [[0, 0, 0], [1, 0, 0]], [[[-0.5, 0, 0], [0.5, 0, 0]]]
    >>> pair = Shapes(positions=places, masses=[1, 1], translations=stretch, stiffness=[9.0])
    >>> pair.frequencies_hz.round(4).tolist()
    [0.6752]
    """

    positions: ArrayLike
    masses: ArrayLike
    translations: ArrayLike
    stiffness: ArrayLike
    rotations: ArrayLike | None = None
    inertias: ArrayLike | None = None

    def __post_init__(self) -> None:
        x = _array("positions", self.positions, (-1, 3))
        n, r = len(x), len(np.asarray(self.translations))
        k = np.asarray(self.stiffness, float)
        given = {
            "positions": x,
            "masses": _array("masses", self.masses, (n,)),
            "translations": _array("translations", self.translations, (r, n, 3)),
            "rotations": _array("rotations", np.zeros((r, n, 3)) if self.rotations is None else self.rotations, (r, n, 3)),
            "inertias": _array("inertias", np.zeros((n, 3, 3)) if self.inertias is None else self.inertias, (n, 3, 3)),
            "stiffness": _array("stiffness", np.diag(k) if k.ndim == 1 else k, (r, r)),
        }
        for label, value in given.items():
            object.__setattr__(self, label, value)
        self._check()

    def _check(self) -> None:
        k, masses = self.array("stiffness"), self.array("masses")
        if not k.size:
            raise ModelError(ELEMENT, "there are no shapes", "give at least one; a body without is a rigid body")
        if np.abs(k - k.T).max() > 1e-9 * np.abs(k).max() or np.linalg.eigvalsh(k)[0] < -1e-9 * np.abs(k).max():
            raise ModelError(ELEMENT, "the stiffness is not symmetric or not positive", "it is X^T K X of a part at rest")
        if masses.min() < 0.0 or not masses.sum() > 0.0:
            raise ModelError(ELEMENT, "the masses are negative or all zero", "give those of the nodes in kg")
        mass = self._mass_matrix(self._with_rigid_motions())
        for j in range(6, len(mass)):
            before = np.linalg.pinv(mass[:j, :j], rcond=1e-12, hermitian=True)
            left = mass[j, j] - mass[j, :j] @ before @ mass[:j, j]  # what the motions before it cannot make
            if not left > 1e-9 * mass[j, j]:
                problem = f"shape {j - 5} is a rigid motion or a sum of the shapes before it, or moves no mass"
                raise ModelError(ELEMENT, problem, "leave it out: the frame does it")

    def array(self, label: str) -> Array:
        """Return one of the arrays."""
        return np.asarray(getattr(self, label))

    @property
    def count(self) -> int:
        """How many shapes there are."""
        return len(self.array("stiffness"))

    def _with_rigid_motions(self) -> tuple[Array, Array]:
        """Return translations and rotations of six rigid motions about the middle, then of the shapes."""
        x = self.array("positions") - self.array("positions").mean(axis=0)
        moves = [np.tile(axis, (len(x), 1)) for axis in np.eye(3)] + [np.cross(axis, x) for axis in np.eye(3)]
        turns = [np.zeros((len(x), 3))] * 3 + [np.tile(axis, (len(x), 1)) for axis in np.eye(3)]
        return np.concatenate([moves, self.array("translations")]), np.concatenate([turns, self.array("rotations")])

    def _mass_matrix(self, motions: tuple[Array, Array]) -> Array:
        """Return X^T M X."""
        u, psi = motions
        m = np.einsum("n,inx,jnx->ij", self.array("masses"), u, u)
        return np.asarray(m + np.einsum("inx,nxy,jny->ij", psi, self.array("inertias"), psi))

    @cached_property
    def diagonal(self) -> tuple[Array, Array, Array]:
        """What makes mass and stiffness diagonal: shapes as columns of the given ones, masses [kg], stiffnesses [N/m]."""
        mass = self._mass_matrix((self.array("translations"), self.array("rotations")))
        _, columns = eigh(self.array("stiffness"), mass)
        moved = np.abs(np.einsum("jnx,ji->inx", self.array("translations"), columns)).max(axis=(1, 2))
        columns = columns / np.where(moved > 0.0, moved, 1.0)
        k = np.einsum("ji,jk,ki->i", columns, self.array("stiffness"), columns)
        return columns, np.einsum("ji,jk,ki->i", columns, mass, columns), np.maximum(k, 0.0)

    @property
    def frequencies_hz(self) -> Array:
        """Frequencies of the shapes in a frame at rest [Hz]."""
        _, mass, stiffness = self.diagonal
        return np.asarray(np.sqrt(stiffness / mass) / (2.0 * np.pi))

    def kept(self, shapes: Sequence[int]) -> Shapes:
        """Return some of the shapes, counted from zero."""
        parts = {label: self.array(label) for label in _ARRAYS}
        for label in ("translations", "rotations"):
            parts[label] = parts[label][list(shapes)]
        parts["stiffness"] = parts["stiffness"][np.ix_(list(shapes), list(shapes))]
        return Shapes(**parts)

    def save(self, path: str | Path) -> None:
        """Write the arrays to an NPZ file."""
        np.savez(path, allow_pickle=False, **{label: self.array(label) for label in _ARRAYS})

    @staticmethod
    def load(path: str | Path) -> Shapes:
        """Read an NPZ file with the arrays of the parameters; `rotations` and `inertias` may be missing."""
        element = f"shapes in {path}"
        try:
            with np.load(path, allow_pickle=False) as file:
                parts = {label: file[label] for label in file.files}
        except (OSError, ValueError) as error:
            raise ModelError(element, f"the file cannot be read: {error}", "give an NPZ file of plain arrays") from error
        unknown, missing = set(parts) - set(_ARRAYS), {*_ARRAYS[:2], "translations", "stiffness"} - set(parts)
        if unknown or missing:
            problem = f"it has unknown arrays {sorted(unknown)}" if unknown else f"it lacks the arrays {sorted(missing)}"
            raise ModelError(element, problem, f"known are {', '.join(_ARRAYS)}")
        return Shapes(**parts)


def _array(label: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return a finite array of a shape; -1 is any length."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(ELEMENT, f"{label} is not an array of numbers", "give numbers in SI units") from None
    if len(array.shape) != len(shape) or any(b not in (a, -1) for a, b in zip(array.shape, shape, strict=True)):
        raise ModelError(ELEMENT, f"{label} has shape {array.shape}", f"the other arrays ask for {shape}")
    if not np.all(np.isfinite(array)):
        raise ModelError(ELEMENT, f"{label} is not finite", "give finite numbers in SI units")
    return array


@dataclass(frozen=True, eq=False, kw_only=True)
class ModalBody:
    """A flexible part by its shapes, drawn undeformed where its nodes are.

    Its nodes are the bodies ``"name 0"``, ``"name 1"`` and so on, to which joints and forces attach; its floating frame is the
    body ``"name"``.

    Parameters
    ----------
    name : str
    shapes : Shapes
    damping_ratio : float or array_like
        Of each shape in a frame at rest, in the order of `Shapes.diagonal`.

    Examples
    --------
    >>> places, stretch = [[0, 0, 0], [1, 0, 0]], [[[-0.5, 0, 0], [0.5, 0, 0]]]
    >>> pair = Shapes(positions=places, masses=[1, 1], translations=stretch, stiffness=[9.0])
    >>> [body.name for body in ModalBody(name="rod", shapes=pair).bodies]
    ['rod', 'rod shapes 1-3', 'rod 0', 'rod 1']
    """

    name: str
    shapes: Shapes
    damping_ratio: ArrayLike = 0.0

    def __post_init__(self) -> None:
        element = self.element
        if not isinstance(self.shapes, Shapes):
            raise ModelError(
                element, f"shapes is {self.shapes!r}", "give da.Shapes(...), da.shapes_of(...) or Shapes.load(...)"
            )
        given = np.asarray(self.damping_ratio, float)
        ratio = np.full(self.shapes.count, float(given)) if given.ndim == 0 else given
        if ratio.shape != (self.shapes.count,) or not np.all(ratio >= 0.0) or not np.all(np.isfinite(ratio)):
            raise ModelError(element, "damping_ratio fits the shapes in number or sign not", "give one, or one for each shape")
        object.__setattr__(self, "damping_ratio", ratio)

    @property
    def element(self) -> str:
        """How errors call this body."""
        return checks.element_name("modal body", self.name)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The bodies of its nodes."""
        return tuple(f"{self.name} {k}" for k in range(len(self.shapes.array("masses"))))

    @property
    def carriers(self) -> tuple[str, ...]:
        """The bodies whose coordinates are the modal ones, three each."""
        return tuple(f"{self.name} shapes {3 * k + 1}-{3 * k + 3}" for k in range(-(-self.shapes.count // 3)))

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """Frame, carriers, nodes."""
        x, m, J = (self.shapes.array(label) for label in ("positions", "masses", "inertias"))
        frame = Body(name=self.name, mass=0.0, position=m @ x / m.sum())
        carriers = [Body(name=name, mass=0.0) for name in self.carriers]
        nodes = [Body(name=name, mass=m[k], inertia=J[k], position=x[k]) for k, name in enumerate(self.nodes)]
        return frame, *carriers, *nodes

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """What ties the nodes to the frame, and the guides of the carriers."""
        x = self.shapes.array("positions")
        ties = [
            Joint(name=f"{node} tie", type="fixed", main=self.name, driven=node, at=x[k]) for k, node in enumerate(self.nodes)
        ]
        return *(self._guide(k, carrier) for k, carrier in enumerate(self.carriers)), *ties

    def _guide(self, k: int, carrier: str) -> Joint:
        unused = ROWS[:3][self.shapes.count - 3 * k :]
        return Joint(name=f"{carrier} guide", type="lock", main=checks.GROUND, driven=carrier, rows=(*unused, *ROWS[3:]))

    @cached_property
    def springs(self) -> tuple[Bushing, ...]:
        """Stiffness and damping of the modal coordinates."""
        _, mass, stiffness = self.shapes.diagonal
        damping = 2.0 * np.asarray(self.damping_ratio) * np.sqrt(stiffness * mass)
        k, c = (np.zeros((len(self.carriers), 6)) for _ in range(2))
        for j in range(self.shapes.count):
            k[j // 3, j % 3], c[j // 3, j % 3] = stiffness[j], damping[j]
        names = zip(self.carriers, k, c, strict=True)
        return tuple(
            Bushing(name=f"{name} spring", main=checks.GROUND, driven=name, at=(0, 0, 0), stiffness=one, damping=other)
            for name, one, other in names
        )

    def terms(self) -> list[tuple[str, tuple[str, str], Array]]:
        """Return for each node and each pair of carriers: the tie, the carriers, and the shapes by row and coordinate."""
        columns = self.shapes.diagonal[0]
        u, psi = (np.einsum("jnx,ji->nxi", self.shapes.array(label), columns) for label in ("translations", "rotations"))
        rows = np.concatenate([u, 0.5 * psi], axis=1)  # node, row, shape
        rows = np.concatenate([rows, np.zeros((*rows.shape[:2], -rows.shape[2] % 6))], axis=2)
        carriers = [*self.carriers, checks.GROUND]
        pairs = [(carriers[2 * p], carriers[2 * p + 1]) for p in range(-(-len(self.carriers) // 2))]
        return [
            (f"{node} tie", pair, rows[k, :, 6 * p : 6 * p + 6])
            for k, node in enumerate(self.nodes)
            for p, pair in enumerate(pairs)
        ]
