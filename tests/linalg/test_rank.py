"""Rank and dependent rows: against singular values, planted answers, the paper's three methods and the sparse way."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import null_space

import dalembert as da
from dalembert.linalg.rank import MEMBER, dependencies, scaled_rows
from dalembert.linalg.solvability import METHODS, b_matrix, null_by_qr, null_by_svd
from random_models import coupled, one_joint

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 40), st.integers(1, 30), st.integers(0, 5))
def test_rank_and_dependent_rows_against_the_null_space(seed, m, n, extra):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.3) * 10.0 ** rng.integers(-3, 4, n)
    copies = rng.integers(0, m, extra)
    A = np.vstack([A, rng.normal(size=(extra, 1)) * A[copies]])
    scaled = scaled_rows(sp.csr_array(A))[0].toarray()
    basis = null_space(scaled.T, rcond=1e-10)
    for most_dense in (400, 3, 0):  # as a whole, in groups, by inverse iteration
        found = dependencies(sp.csc_array(A), most_dense=most_dense)
        assert found.rank == np.linalg.matrix_rank(scaled, rtol=1e-10)
        assert found.degree == m + extra - found.rank
        assert found.rows == list(np.nonzero(np.linalg.norm(basis, axis=1) > 1e-6)[0])
        null = found.sample(100)
        assert np.abs(A.T @ null).max(initial=0.0) < 1e-9 * max(1.0, np.abs(A).max()) * np.abs(null).max(initial=1.0)


@given(SEEDS, st.sampled_from(["revolute", "universal", "distance", "fixed", "coupled"]))
def test_the_sparse_way_agrees_with_the_dense_one(seed, kind):
    rng = np.random.default_rng(seed)
    model = coupled(rng) if kind == "coupled" else one_joint(rng, kind)
    double = model.joints[next(iter(model.joints))]
    model.joint("double", double.type, double.main, double.driven, at=double.at, orientation=double.orientation,
                at_driven=double.at_driven, orientation_driven=double.orientation_driven)  # fmt: skip
    system = da.build(model)
    A = system.jacobian(0.0, system.design.q)
    whole, sparse = dependencies(A), dependencies(A, most_dense=0)
    assert (whole.rank, whole.rows) == (sparse.rank, sparse.rows)


def planted(rng):
    """Independent rows, some joints of which get more rows that depend on them; joints, and which of them are unique.

    Row groups X are joints. Redundancy is planted between two or three joints each; a joint that is in none is unique.
    """
    n, joints = int(rng.integers(12, 30)), int(rng.integers(4, 9))
    sizes = rng.integers(1, 3, joints)
    basis = rng.normal(size=(sizes.sum(), n)) * 10.0 ** rng.integers(-2, 3, n)
    members = [list(part) for part in np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])]
    unique, extra = [True] * joints, []
    for _ in range(int(rng.integers(0, 4))):
        tied = rng.choice(joints, size=int(rng.integers(2, 4)), replace=False)
        rows = [row for joint in tied[1:] for row in members[joint] if row < sizes.sum()]
        members[tied[0]].append(sizes.sum() + len(extra))
        extra.append(rng.uniform(0.5, 2.0, len(rows)) * rng.choice([-1, 1], len(rows)) @ basis[rows])
        for joint in tied:
            unique[joint] = False
    return np.vstack([basis, *extra]), members, unique, len(extra)


@given(SEEDS)
def test_three_methods_and_the_sparse_one_find_planted_answers(seed):
    A, members, unique, extra = planted(np.random.default_rng(seed))
    for method in METHODS.values():
        assert [method(A, rows, None) for rows in members] == unique
    for most_dense in (400, 0):
        found = dependencies(sp.csc_array(A), most_dense=most_dense)
        assert found.degree == extra
        assert not found.close
        null = found.sample() / found.row_scale[:, None]
        scaled = scaled_rows(sp.csr_array(A))[0].toarray()
        largest = [np.abs(scaled[rows].T @ null[rows]).max(initial=0.0) for rows in members]
        assert [value <= MEMBER for value in largest] == unique


@given(SEEDS, st.floats(-12.0, -3.0))
def test_nearly_dependent_rows_are_a_close_decision(seed, exponent):
    """A row that misses dependence by 10^exponent: where that is near the tolerance, the result says so."""
    rng = np.random.default_rng(seed)
    A, size = rng.normal(size=(6, 12)), 10.0**exponent
    A = np.vstack([A, A[0] + A[1] + size * np.linalg.norm(A[0]) * rng.normal(size=12) / np.sqrt(12)])
    found = dependencies(sp.csc_array(A))
    if -10.5 < exponent < -7.0:
        assert found.close
    if exponent > -4.0:
        assert not found.close
        assert found.rank == 7


@pytest.mark.parametrize("null", [null_by_qr, null_by_svd])
@given(seed=SEEDS)
def test_b_is_the_same_in_any_basis_of_the_null_space(null, seed):
    A, members, _, extra = planted(np.random.default_rng(seed))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    for rows in members:
        B = b_matrix(A, rows, null)
        assert B.shape == (A.shape[1], extra)
        reference = A[rows].T @ null_space(A.T, rcond=1e-10)[rows]
        assert np.allclose(B @ B.T, reference @ reference.T, atol=1e-8)
