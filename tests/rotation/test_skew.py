"""Skew matrices of stacks of vectors."""

import numpy as np

from dalembert.rotation.skew import axial, tilde

RNG = np.random.default_rng(0)


def test_tilde_is_the_cross_product():
    a, b = RNG.normal(size=(2, 5, 3))
    assert np.abs(np.einsum("nij,nj->ni", tilde(a), b) - np.cross(a, b)).max() < 1e-15


def test_axial_is_the_inverse_and_ignores_the_symmetric_part():
    a, S = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3, 3))
    assert np.abs(axial(tilde(a) + S + np.swapaxes(S, -1, -2)) - a).max() < 1e-15
