"""Random systems of a user's own equations, at one state: constant matrices of chosen ranks and moderate condition."""

import numpy as np

import dalembert as da


def orthonormal(rng, n):
    return np.linalg.qr(rng.standard_normal((n, n)))[0]


def random_mechanics(seed: int, n: int, rows: int, redundant: int, singular: bool) -> da.Mechanics:
    """n coordinates, independent rows and combinations of them, a mass matrix that may need the rows to be regular."""
    rng = np.random.default_rng(seed)
    V = orthonormal(rng, n)
    A = orthonormal(rng, rows) @ (rng.uniform(0.3, 3.0, (rows, 1)) * V[:, :rows].T)
    A = np.vstack([A, rng.standard_normal((redundant, rows)) @ A])
    U = orthonormal(rng, n)
    M = (U * rng.uniform(0.3, 3.0, n)) @ U.T
    if singular and rows:  # directions without inertia, held by the rows
        missing = rng.integers(1, rows + 1)
        N = np.linalg.qr(V[:, :missing] + 0.2 / np.sqrt(n) * rng.standard_normal((n, missing)))[0]
        P = np.eye(n) - N @ N.T
        M = P @ M @ P
        M[np.abs(M) < 1e-14] = 0.0  # rounding is not inertia
    Q, C, a = rng.standard_normal((3, n))
    return da.Mechanics.from_functions(
        "random", [f"q{k}" for k in range(n)], mass=M, force=lambda t, q, v: Q, non_ideal=lambda t, q, v: C,
        holonomic=(lambda t, q: A @ q) if len(A) else None,
        jacobian=(lambda t, q, v: A) if len(A) else None,
        acceleration_right_side=(lambda t, q, v: A @ a) if len(A) else None,
    )  # fmt: skip
