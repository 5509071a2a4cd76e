"""What a 6x6 stiffness matrix is in an engineer's words: principal stiffnesses, compliance, its centre.

With K = [K_t K_tr; K_rt K_r] and C = K^-1 = [C_t C_tr; C_rt C_r], in one set of axes and about one point of the body:

* Translational eigen-stiffnesses: a body that is pushed without turning answers along the push with k_t: those of K_t.
  Rotational ones: a couple turns a body that is free to move about its own axis with 1/k_r: those of C_r. Neither depends on
  the point, and neither mixes metres and radians, as eigenvalues of K would (Lipkin and Patterson 1992).
* Centre of compliance. About A = B + a the coupling is C_tr - tilde(a) C_r. There is one point where it is symmetric

      (tr(C_r) I - C_r) a = axial(C_tr - C_tr^T)                   (Loncaric 1987)

  if C is; where nothing is left of it, a force through the point moves the body without turning it. In a plane that is
  always so.

A stiffness that carries load is not symmetric (58); its symmetric part is what these look at.

References
----------
H. Lipkin, T. Patterson, Geometrical properties of modelled robot elasticity, ASME DE-Vol. 45 (1992). J. Loncaric, Normal forms
of stiffness and compliance matrices, IEEE J. Robotics Automation 3 (1987).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.kernel.vec3 import Array
from dalembert.linalg.null import null_directions
from dalembert.rotation.skew import axial, tilde

DECOUPLED = 1e-9
"""Coupling that is left at the centre, as a length beside that of the compliances, which counts as none."""


class Principal(NamedTuple):
    """Eigen-stiffnesses, the softest first, and their directions.

    Attributes
    ----------
    translational : array
        [N/m].
    translations : array
        Directions in rows.
    rotational : array
        [N m/rad], of a body that is free to move meanwhile.
    rotations : array
        Directions in rows.
    """

    translational: Array
    translations: Array
    rotational: Array
    rotations: Array


class Centre(NamedTuple):
    """A centre of compliance.

    Attributes
    ----------
    offset : array
        From the point that the matrices belong to [m]; NaN if there is none.
    kind : str
        ``"decoupled"``: forces through it do not turn the body; ``"symmetric"``: the coupling that is left there is symmetric;
        ``"none"``.
    """

    offset: Array
    kind: str


def principal(K: Array) -> Principal:
    """Return eigen-stiffnesses and directions of a 6x6 matrix, or of a 3x3 matrix in a plane (x, y, rotation).

    Translations that nothing resists are held while the rotational ones are found.

    Examples
    --------
    >>> principal(np.diag([3.0, 1.0, 2.0, 9.0, 7.0, 8.0])).rotational.tolist()
    [7.0, 8.0, 9.0]
    """
    n = K.shape[0] // 2 if K.shape[0] == 6 else 2
    S = 0.5 * (K + K.T)
    k_t, E = np.linalg.eigh(S[:n, :n])
    turned = S[n:, n:] - S[n:, :n] @ np.linalg.pinv(S[:n, :n], rcond=1e-12) @ S[:n, n:]  # C_r^-1, by Schur
    k_r, e = np.linalg.eigh(0.5 * (turned + turned.T))
    return Principal(k_t, E.T, k_r, e.T)


def inverse(K: Array) -> Array | None:
    """Return the compliance of a stiffness, or None if there is a direction that it does not resist.

    Examples
    --------
    >>> inverse(np.diag([4.0, 4.0, 4.0, 2.0, 2.0, 0.0])) is None
    True
    """
    size = np.sqrt(np.maximum(np.abs(K).max(axis=1), np.abs(K).max(axis=0)))
    if not size.all():
        return None
    scaled = K / np.outer(size, size)
    if null_directions(scaled)[0].size:
        return None
    return np.asarray(np.linalg.inv(scaled) / np.outer(size, size))


def centre_of_compliance(C: Array | None) -> Centre:
    """Return the centre of compliance of a 6x6 matrix, or of a 3x3 matrix in a plane.

    Examples
    --------
    A spring of each direction at (0, 0, 1), seen from the origin:

    >>> X = np.block([[np.eye(3), -tilde([0, 0, 1.0])], [np.zeros((3, 3)), np.eye(3)]])
    >>> K = X.T @ np.diag([5.0, 6.0, 7.0, 1.0, 2.0, 3.0]) @ X
    >>> centre_of_compliance(inverse(K)).offset.round(9).tolist()
    [0.0, 0.0, 1.0]
    """
    if C is None:
        return Centre(np.full(3, np.nan), "none")
    S = 0.5 * (C + C.T)
    if S.shape[0] == 3:
        x, y = S[0, 2] / S[2, 2], S[1, 2] / S[2, 2]
        return Centre(np.array([-y, x, 0.0]), "decoupled") if S[2, 2] != 0.0 else Centre(np.full(3, np.nan), "none")
    C_tr, C_r = S[:3, 3:], S[3:, 3:]
    shift = np.trace(C_r) * np.eye(3) - C_r
    if null_directions(shift)[0].size:
        return Centre(np.full(3, np.nan), "none")
    a = np.linalg.solve(shift, 2.0 * axial(C_tr))
    left = C_tr - tilde(a) @ C_r
    size = np.sqrt(np.abs(S[:3, :3]).max() * np.abs(C_r).max())
    return Centre(a, "decoupled" if np.abs(left).max() <= DECOUPLED * size else "symmetric")
