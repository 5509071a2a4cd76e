"""Masarati 2011: pendulum and helicopter blade."""

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.compile import JIT_DISABLED
from dalembert.papers import masarati2011

long = pytest.mark.skipif(JIT_DISABLED, reason="takes long as plain Python")


@long
def test_every_figure_is_met():
    off = [figure for figure in masarati2011.figures() if not figure.met]
    assert not off


@long
def test_without_projection_the_link_drifts():
    baseline, present = (np.abs(masarati2011.link_gap(masarati2011.blade_run(name))).max() for name in ("baseline", "present"))
    assert present < 1e-12
    assert baseline > 50.0 * present


@long
def test_the_blade_as_a_constrained_ode_of_scipy():
    """The same equations by `constrain` and solve_ivp, at tight tolerances: the independent angles of the paper's table."""
    from scipy.integrate import solve_ivp

    free = masarati2011.blade(1e-300)  # no constraint, no spring

    def rates(t, y):
        parts = free.dynamics(t, y[:2], y[2:])
        return np.concatenate([y[2:], np.linalg.solve(parts.M, parts.Q)])

    link = masarati2011.blade()
    ode = da.constrain(rates, position=[0, 1], velocity=[2, 3], mass=free.mass().toarray(), constraint=link.constraint)
    run = solve_ivp(
        ode,
        (0, 2),
        np.zeros(4),
        method=ode.method("RK45"),
        t_eval=masarati2011.BLADE_TIMES,
        rtol=1e-8,
        atol=1e-10,
        max_step=0.01,
    )
    np.testing.assert_allclose(run.y[0], masarati2011.BLADE_FLAP, atol=1e-6)
    np.testing.assert_allclose(run.y[1], masarati2011.BLADE_PITCH, atol=1e-6)
