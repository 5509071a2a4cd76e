"""Which constraint rows have unique multipliers (Wojtyra and Fraczek 2013, by random projection).

A multiplier is unique exactly when all vectors of the null space of A^T vanish in its row. Random vectors are projected on that
null space by ``mu (A A^T + mu I)^-1``, applied twice, with rows of A scaled to length one: sparse, without a rank decision on
the whole matrix.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from dalembert.kernel.vec3 import Array
from dalembert.system.protocol import MechanicalSystem

MU = 1e-9
UNIQUE_BELOW = 1e-4
"""Random null vectors of length about one: unique rows come out below 1e-10, the others near 0.1."""


def unique_rows(system: MechanicalSystem, t: float, q: Array) -> NDArray[np.bool_]:
    """Return for each constraint row whether its multiplier is unique at a position.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("door")
    >>> leaf = model.body("leaf", mass=1.0, inertia=(1, 1, 1))
    >>> for k in (1, 2):
    ...     _ = model.revolute(f"hinge {k}", model.ground, leaf, at=(0, 0, k), axis=(0, 0, 1))
    >>> system = da.build(model)
    >>> bool(unique_rows(system, 0.0, system.design.q).all())
    False
    """
    m = system.n_constraints
    if m == 0:
        return np.ones(0, dtype=bool)
    A = sp.csr_array(system.jacobian(t, q))
    lengths = np.sqrt(A.multiply(A).sum(axis=1))
    A = sp.diags_array(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ A
    factors = splu(sp.csc_matrix(A @ A.T + MU * sp.eye_array(m)))
    vectors = np.random.default_rng(0).standard_normal((m, 12))
    for _ in range(2):
        vectors = MU * factors.solve(vectors)
    return np.asarray(np.abs(vectors).max(axis=1) < UNIQUE_BELOW)
