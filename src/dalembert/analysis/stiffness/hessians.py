"""Cartesian stiffness matrices and Hessians in Euler angles (Metzger, Faruk Senan & O'Reilly 2010, sections 3 and 4).

With the dual Euler basis as rows of G, the body's axes e_i as rows of Q, u = dU/dnu, and the Hessians 1H in (x_i, nu) and 2H in
(X_i, nu), where x_i are the components of r in the body's axes and X_i those in fixed axes:

    F = -dU2/dX,     M   = -G^T u2,     2Kc = [I 0; 0 G^T] 2H [I 0; 0 G] + [0 0; 0 2D]                          (11), (35)
    F = -Q^T dU1/dx, M_O = -G^T u1,     K_O = [Q^T 0; 0 G^T] 1H [Q 0; 0 G] + [0 1C; 0 1D]                       (17), (41)
                                        1Kc = K_O + [0 1Y; 0 1Z]                                                (42)

    1C = sum dQ_im/dnu^k G^k_n dU1/dx_i,    D = sum dG^i_m/dnu^k G^k_n u_i,    S_mn = r . (e_n x e_m)           (31), (38), (32)
    1Y = Q^T 1K_1 S Q,                      1Z = G^T 1K_3^T S Q

Both directions are here: `from_fixed` and `from_corotational` make a field of gradient and Hessian, `hessian_2` and `hessian_1`
the Hessians of a field. U3, U4 are U1, U2 of a material point in the place of the centre. (30), (37) are printed with the
indices of K_3 exchanged: row i, column j of the upper right block is d2U/(dx_i dnu^j).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from dalembert.analysis.stiffness.force_field import FixedPointField, ForceField, corners
from dalembert.kernel.vec3 import Array
from dalembert.rotation.euler import EulerSet, euler_set, most_regular_set
from dalembert.rotation.skew import tilde

REGULAR = 1e-4
"""A set is left for another where |n| of its Euler basis is smaller: its Hessian then has errors of 1e-16 / |n|^2."""


class Chart(NamedTuple):
    """A set of Euler angles at one orientation.

    Attributes
    ----------
    euler : EulerSet
    angles : array, shape (3,)
        [rad].
    wanted : str
        The set that was asked for; another one is taken where it is singular.
    """

    euler: EulerSet
    angles: Array
    wanted: str

    @property
    def G(self) -> Array:
        """The dual Euler basis g^1, g^2, g^3 in rows (7)."""
        return self.euler.dual_basis(self.angles)

    @property
    def g(self) -> Array:
        """The Euler basis g_1, g_2, g_3 in rows."""
        return self.euler.basis(self.angles)

    def D(self, u: Array) -> Array:
        """Return ``D_mn = sum dG^i_m/dnu^k G^k_n u_i`` (31), (38)."""
        return np.asarray(np.einsum("ikm,kn,i->mn", self.euler.dual_basis_derivative(self.angles), self.G, u))

    def C(self, gradient: Array) -> Array:
        """Return ``C_mn = sum dQ_im/dnu^k G^k_n dU/dx_i`` (31)."""
        return np.asarray(np.einsum("kmi,kn,i->mn", self.euler.matrix_derivative(self.angles), self.G, gradient))


def chart_at(R_WB: ArrayLike, euler: str | EulerSet = "321") -> Chart:
    """Return a set of Euler angles at an orientation, or another set where that one is singular.

    Examples
    --------
    >>> chart_at(np.eye(3), "321").euler.name, chart_at(np.eye(3), "313").euler.name
    ('321', '321')
    """
    wanted = euler_set(euler)
    R = np.asarray(R_WB, float)
    lean = abs(R[wanted.axes[0], wanted.axes[2]])  # p of g_3 = p E_i + n E_l
    regular = np.sqrt(max(0.0, 1.0 - lean**2)) >= REGULAR
    chosen = wanted if regular else most_regular_set(R)
    return Chart(chosen, chosen.angles(R), wanted.name)


def charts_of(field: ForceField, euler: str | EulerSet = "321") -> list[Chart]:
    """Return the charts of all bodies of a field."""
    return [chart_at(R, euler) for R in field.rotation]


def hessian_2(field: ForceField, charts: Sequence[Chart]) -> Array:
    """Return the Hessian in (X_1, X_2, X_3, nu^1, nu^2, nu^3) of each body, from 2Kc (35); from 4Kc that of U4."""
    D = [chart.D(-chart.g @ M) for chart, M in zip(charts, field.moment, strict=True)]
    T = block_diag(*(one for chart in charts for one in (np.eye(3), chart.g.T)))
    H = T.T @ (field.stiffness - block_diag(*(corners(rr=one) for one in D))) @ T
    return _symmetric(H)


def hessian_1(about: FixedPointField, charts: Sequence[Chart]) -> Array:
    """Return the Hessian in (x_1, x_2, x_3, nu^1, nu^2, nu^3) of each body, from K_O (41); with 3Kc that of U3."""
    gradients = -np.einsum("nji,nj->ni", about.rotation, about.force)
    blocks = [
        corners(tr=chart.C(dU_dx), rr=chart.D(-chart.g @ M))
        for chart, dU_dx, M in zip(charts, gradients, about.moment, strict=True)
    ]
    T = block_diag(*(one for chart, R in zip(charts, about.rotation, strict=True) for one in (R, chart.g.T)))
    return _symmetric(T.T @ (about.screw_stiffness - block_diag(*blocks)) @ T)


def from_fixed(
    bodies: tuple[str, ...], position: Array, charts: Sequence[Chart], gradient: Array, hessian: Array
) -> ForceField:
    """Return the field of a potential from its derivatives with respect to (X, nu) of each body (11), (16), (35).

    Parameters
    ----------
    bodies : tuple of str
    position : array, shape (n, 3)
        Centres, or material points: X [m].
    charts : sequence of Chart
    gradient : array, shape (6 n,)
    hessian : array, shape (6 n, 6 n)
    """
    g = gradient.reshape(-1, 6)
    moment = -np.stack([chart.G.T @ u for chart, u in zip(charts, g[:, 3:], strict=True)])
    D = [corners(rr=chart.D(u)) for chart, u in zip(charts, g[:, 3:], strict=True)]
    T = block_diag(*(one for chart in charts for one in (np.eye(3), chart.G)))
    return ForceField(bodies, position, _rotations(charts), -g[:, :3], moment, T.T @ hessian @ T + block_diag(*D))


class Corotational(NamedTuple):
    """What (28) makes 1Kc of.

    Attributes
    ----------
    field : FixedPointField
        F, M_O, 1Kc and K_O.
    C, D, Y, Z : array, shape (n, 3, 3)
        Of each body by itself.
    """

    field: FixedPointField
    C: Array
    D: Array
    Y: Array
    Z: Array


def from_corotational(r: Array, charts: Sequence[Chart], gradient: Array, hessian: Array) -> Corotational:
    """Return the field of a potential from its derivatives with respect to (x, nu) of each body (17), (28), (31).

    Parameters
    ----------
    r : array, shape (n, 3)
        From O to the centres, or to material points, in fixed axes [m].
    charts : sequence of Chart
    gradient : array, shape (6 n,)
    hessian : array, shape (6 n, 6 n)
    """
    g, R = gradient.reshape(-1, 6), _rotations(charts)
    force = -np.einsum("nij,nj->ni", R, g[:, :3])
    moment = -np.stack([chart.G.T @ u for chart, u in zip(charts, g[:, 3:], strict=True)])
    C = np.stack([chart.C(one[:3]) for chart, one in zip(charts, g, strict=True)])
    D = np.stack([chart.D(one[3:]) for chart, one in zip(charts, g, strict=True)])
    left = block_diag(*(one for chart, R_WB in zip(charts, R, strict=True) for one in (R_WB.T, chart.G)))
    K_O = left.T @ hessian @ left + block_diag(*(corners(tr=c, rr=d) for c, d in zip(C, D, strict=True)))
    S = _turned_displacements(r, R)  # (32), for all bodies: dx_i of a rotation, S Q dtheta
    YZ = left.T @ hessian @ S
    own = [YZ[6 * k : 6 * k + 6, 6 * k + 3 : 6 * k + 6] for k in range(len(g))]
    field = FixedPointField(r, R, force, moment, K_O + YZ, K_O)
    return Corotational(field, C, D, np.stack([one[:3] for one in own]), np.stack([one[3:] for one in own]))


def _turned_displacements(r: Array, R: Array) -> Array:
    """Return ``[0 S Q; 0 0]`` of each body, S_mn = r . (e_n x e_m) (32): S = tilde of r in the body's axes."""
    blocks = [corners(tr=tilde(R_WB.T @ one) @ R_WB.T) for one, R_WB in zip(r, R, strict=True)]
    return np.asarray(block_diag(*blocks))


def _rotations(charts: Sequence[Chart]) -> Array:
    return np.stack([chart.euler.matrix(chart.angles) for chart in charts])


def _symmetric(H: Array) -> Array:
    """Return a Hessian without the rounding that its making left."""
    return np.asarray(0.5 * (H + H.T))
