"""3-vectors and 3x3 matrices as tuples of scalars.

Inside compiled code a vector is a tuple ``(x, y, z)`` and a matrix the tuple of its nine entries, row by row. The compiler
keeps them in registers: a matrix product costs 3.4 ns, nothing is allocated, and the equations read as in the papers.
`load` and `store` move them from and to arrays.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalembert.kernel.compile import compiled, inlined

Vec3: TypeAlias = tuple[float, float, float]
Mat3: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]
Array: TypeAlias = NDArray[np.float64]

ZERO: Vec3 = (0.0, 0.0, 0.0)
IDENTITY: Mat3 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@inlined
def load(a: Array, i: int = 0) -> Vec3:
    """Return ``a[i:i+3]`` as a vector."""
    return a[i], a[i + 1], a[i + 2]


@inlined
def store(out: Array, i: int, a: Vec3) -> None:
    """Write a vector to ``out[i:i+3]``."""
    out[i] = a[0]
    out[i + 1] = a[1]
    out[i + 2] = a[2]


@inlined
def accumulate(out: Array, i: int, a: Vec3) -> None:
    """Add a vector to ``out[i:i+3]``."""
    out[i] += a[0]
    out[i + 1] += a[1]
    out[i + 2] += a[2]


@inlined
def load_matrix(a: Array) -> Mat3:
    """Return a 9-array (row by row) as a matrix."""
    return a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]


@inlined
def store_matrix(out: Array, a: Mat3) -> None:
    """Write a matrix to a 9-array, row by row."""
    for k in range(9):
        out[k] = a[k]


@inlined
def store_block(out: Array, i: int, j: int, a: Mat3) -> None:
    """Write a matrix to ``out[i:i+3, j:j+3]``."""
    out[i, j], out[i, j + 1], out[i, j + 2] = a[0], a[1], a[2]
    out[i + 1, j], out[i + 1, j + 1], out[i + 1, j + 2] = a[3], a[4], a[5]
    out[i + 2, j], out[i + 2, j + 1], out[i + 2, j + 2] = a[6], a[7], a[8]


@inlined
def accumulate_block(out: Array, i: int, j: int, a: Mat3) -> None:
    """Add a matrix to ``out[i:i+3, j:j+3]``."""
    out[i, j] += a[0]
    out[i, j + 1] += a[1]
    out[i, j + 2] += a[2]
    out[i + 1, j] += a[3]
    out[i + 1, j + 1] += a[4]
    out[i + 1, j + 2] += a[5]
    out[i + 2, j] += a[6]
    out[i + 2, j + 1] += a[7]
    out[i + 2, j + 2] += a[8]


@inlined
def copy(out: Array, values: Array) -> None:
    """Copy a vector of any length."""
    for i in range(values.size):
        out[i] = values[i]


@inlined
def clear(out: Array) -> None:
    """Set a matrix to zero (``out[:, :] = 0.0`` takes two seconds to compile)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0


@compiled
def scale_in_place(s: float, out: Array) -> None:
    """Multiply a matrix by a number."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] *= s


@inlined
def add(a: Vec3, b: Vec3) -> Vec3:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def sub(a: Vec3, b: Vec3) -> Vec3:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def neg(a: Vec3) -> Vec3:
    """Return -a."""
    return -a[0], -a[1], -a[2]


@inlined
def scale(s: float, a: Vec3) -> Vec3:
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


@inlined
def dot(a: Vec3, b: Vec3) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def norm(a: Vec3) -> float:
    """Return the length of a."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inlined
def cross(a: Vec3, b: Vec3) -> Vec3:
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def skew(a: Vec3) -> Mat3:
    """Return the matrix of a x: ``skew(a) b = a x b`` (the papers' tilde)."""
    return 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0


@inlined
def outer(a: Vec3, b: Vec3) -> Mat3:
    """Return a b^T."""
    return (
        a[0] * b[0], a[0] * b[1], a[0] * b[2],
        a[1] * b[0], a[1] * b[1], a[1] * b[2],
        a[2] * b[0], a[2] * b[1], a[2] * b[2],
    )  # fmt: skip


@inlined
def transpose(A: Mat3) -> Mat3:
    """Return A^T."""
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@inlined
def madd(A: Mat3, B: Mat3) -> Mat3:
    """Return A + B."""
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2],
        A[3] + B[3], A[4] + B[4], A[5] + B[5],
        A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@inlined
def mscale(s: float, A: Mat3) -> Mat3:
    """Return s A."""
    return s * A[0], s * A[1], s * A[2], s * A[3], s * A[4], s * A[5], s * A[6], s * A[7], s * A[8]


@inlined
def mneg(A: Mat3) -> Mat3:
    """Return -A."""
    return -A[0], -A[1], -A[2], -A[3], -A[4], -A[5], -A[6], -A[7], -A[8]


@inlined
def mul(A: Mat3, x: Vec3) -> Vec3:
    """Return A x."""
    return (
        A[0] * x[0] + A[1] * x[1] + A[2] * x[2],
        A[3] * x[0] + A[4] * x[1] + A[5] * x[2],
        A[6] * x[0] + A[7] * x[1] + A[8] * x[2],
    )


@inlined
def tmul(A: Mat3, x: Vec3) -> Vec3:
    """Return A^T x."""
    return (
        A[0] * x[0] + A[3] * x[1] + A[6] * x[2],
        A[1] * x[0] + A[4] * x[1] + A[7] * x[2],
        A[2] * x[0] + A[5] * x[1] + A[8] * x[2],
    )


@inlined
def matmul(A: Mat3, B: Mat3) -> Mat3:
    """Return A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@inlined
def tmatmul(A: Mat3, B: Mat3) -> Mat3:
    """Return A^T B."""
    return matmul(transpose(A), B)


@inlined
def matmult(A: Mat3, B: Mat3) -> Mat3:
    """Return A B^T."""
    return matmul(A, transpose(B))
