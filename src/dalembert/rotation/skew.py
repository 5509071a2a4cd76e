"""Skew-symmetric matrices and their axial vectors, of stacks of vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.kernel.vec3 import Array


def tilde(a: ArrayLike) -> Array:
    """Return the matrices with ``tilde(a) b = a x b``.

    Parameters
    ----------
    a : array_like, shape (..., 3)

    Returns
    -------
    ndarray, shape (..., 3, 3)

    Examples
    --------
    >>> (tilde([1.0, 2.0, 3.0]) @ [4.0, 5.0, 6.0]).tolist()
    [-3.0, 6.0, -3.0]
    """
    x, y, z = np.moveaxis(np.asarray(a, float), -1, 0)
    none = np.zeros_like(x)
    rows = [np.stack(row, axis=-1) for row in ((none, -z, y), (z, none, -x), (-y, x, none))]
    return np.stack(rows, axis=-2)


def axial(S: ArrayLike) -> Array:
    """Return the axial vectors of the skew parts: ``axial(tilde(a)) = a``.

    Parameters
    ----------
    S : array_like, shape (..., 3, 3)

    Returns
    -------
    ndarray, shape (..., 3)

    Examples
    --------
    >>> axial(np.diag([7.0, 8.0, 9.0]) + tilde([1.0, 2.0, 3.0])).tolist()
    [1.0, 2.0, 3.0]
    """
    S = np.asarray(S, float)
    W = 0.5 * (S - np.swapaxes(S, -1, -2))
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)
