"""All formulations on random systems: redundant rows, singular masses, forces that do work; the saddle solve against each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.formulations import masarati
from dalembert.formulations.choose import EXACT, accelerations
from random_systems import random_mechanics

REGULAR_ONLY = ("fundamental", "gauss")


@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 9), rows=st.integers(0, 9), redundant=st.integers(0, 4), singular=st.booleans()
)
@settings(max_examples=60)
def test_all_formulations_agree(seed, n, rows, redundant, singular):
    system = random_mechanics(seed, n, min(rows, n), redundant, singular)
    state = (0.0, system.design.q, system.design.v)
    reference = accelerations(system, *state, formulation="null_space")
    size = np.abs(reference.acceleration).max() + 1.0
    force = np.abs(reference.constraint_force).max() + np.abs(reference.multipliers).max(initial=0.0) + 1.0
    for name in ("saddle", *EXACT):
        if singular and name in REGULAR_ONLY:
            continue
        ours = accelerations(system, *state, formulation=name)
        assert np.abs(ours.acceleration - reference.acceleration).max() < 1e-10 * size, name
        assert np.abs(ours.constraint_force - reference.constraint_force).max() < 1e-9 * force, name
        assert np.abs(ours.multipliers - reference.multipliers).max(initial=0.0) < 1e-9 * force, name


@given(seed=st.integers(0, 10**6))
def test_the_constraint_force_does_the_work_that_is_given_and_no_more(seed):
    """w^T Q^c = w^T C for every w with A w = 0 (Udwadia and Schutte 2010, eq. 6)."""
    system = random_mechanics(seed, 7, 4, 2, True)
    parts = system.dynamics(0.0, system.design.q, system.design.v)
    _, values, right = np.linalg.svd(parts.A)
    w = right[int(np.sum(values > 1e-9)) :]
    for name in ("saddle", "auxiliary", "pseudo_inverse", "null_space"):
        found = accelerations(system, 0.0, system.design.q, system.design.v, formulation=name)
        np.testing.assert_allclose(w @ found.constraint_force, w @ parts.C, atol=1e-8 * np.abs(found.constraint_force).max())


def test_formulations_that_need_a_regular_mass_say_so():
    system = random_mechanics(1, 5, 3, 0, True)
    with pytest.raises(da.SolveError, match="take 'auxiliary' or 'saddle'"):
        accelerations(system, 0.0, system.design.q, system.design.v, formulation="fundamental")


def test_unknown_formulations_are_refused():
    system = random_mechanics(1, 3, 1, 0, False)
    with pytest.raises(da.ModelError, match="did you mean 'null_space'"):
        accelerations(system, 0.0, system.design.q, system.design.v, formulation="nullspace")


def test_projectors_of_masarati():
    """P is idempotent with A P = A, for any W; what it leaves of v is in the null space of A (12)."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((3, 6))
    A = np.vstack([A, A[0] + A[1]])
    L = rng.standard_normal((6, 6))
    b = A @ rng.standard_normal(6)
    for W in (np.eye(6), L @ L.T + np.eye(6)):
        P, p = masarati.projectors(W, A, b)
        np.testing.assert_allclose(P @ P, P, atol=1e-10)
        np.testing.assert_allclose(A @ P, A, atol=1e-10)
        v = rng.standard_normal(6)
        velocity, mu = masarati.projected_velocity(v, A, b, W)
        np.testing.assert_allclose(velocity, (np.eye(6) - P) @ v + p, atol=1e-10)
        np.testing.assert_allclose(A @ velocity, b, atol=1e-10)
        np.testing.assert_allclose(W @ (v - velocity), A.T @ mu, atol=1e-10)


def test_multibody_systems_take_every_formulation():
    model = da.Model("door", gravity=(0, 0, -9.81))
    model.body("leaf", mass=20.0, inertia=(1, 2, 3), position=(0.5, 0, 1), angular_velocity=(0, 0, 2))
    for k in (0, 1):
        model.revolute(f"hinge {k}", model.ground, "leaf", at=(0, 0, k + 0.5), axis=(0, 0, 1))
    system = da.build(model)
    state = da.assemble(system)
    expected = accelerations(system, state.t, state.q, state.v)
    for name in EXACT:
        found = accelerations(system, state.t, state.q, state.v, formulation=name)
        np.testing.assert_allclose(found.acceleration, expected.acceleration, atol=1e-10)
        np.testing.assert_allclose(found.multipliers, expected.multipliers, atol=1e-9)
