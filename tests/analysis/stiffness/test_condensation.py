"""Compliance of mechanisms at a body: closed forms, differences of equilibria, sparse against dense."""

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.linearize import linearize
from dalembert.analysis.stiffness import condensation
from dalembert.analysis.stiffness.labels import DISPLACEMENTS
from dalembert.kernel.compile import JIT_DISABLED
from dalembert.papers import metzger2010, peng2024

G, LENGTH, MASS = 9.81, 2.0, 3.0


def pendulum(height=-LENGTH):
    model = da.Model("pendulum", gravity=(0, 0, -G))
    model.body("bob", mass=MASS, inertia=(0.1, 0.1, 0.1), position=(0, 0, height))
    model.revolute("hinge", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    return model


@pytest.mark.parametrize(("height", "sign"), [(-LENGTH, 1.0), (LENGTH, -1.0)])
def test_a_hanging_weight_resists_with_K_c_alone(height, sign):
    """m g / L at the bob, against the force where it stands upright; m g L about the hinge."""
    found = da.condensed_stiffness(pendulum(height), "bob")
    assert found.along((1, 0, 0)) == pytest.approx(sign * MASS * G / LENGTH)
    assert found.along((0, 0, 1)) == np.inf
    assert found.rate.sel(displacement="ry") == pytest.approx(sign * MASS * G * LENGTH)
    assert found.freedoms == 1
    assert "stiffness" not in found


def test_springs_in_series():
    """A body behind another: k1 k2 / (k1 + k2) along, and six freedoms."""
    model = da.Model("series")
    for name, x in (("one", 1.0), ("two", 2.0)):
        model.body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
    stiffness = {"first": (100.0, 200.0, 300.0, 40.0, 50.0, 60.0), "second": (300.0, 200.0, 100.0, 60.0, 50.0, 40.0)}
    model.bushing("first", "ground", "one", at=(2, 0, 0), stiffness=stiffness["first"])
    model.bushing("second", "one", "two", at=(2, 0, 0), stiffness=stiffness["second"])
    found = da.condensed_stiffness(model, "two")
    first, second = (np.array(stiffness[name]) for name in ("first", "second"))
    assert found.stiffness.values == pytest.approx(np.diag(first * second / (first + second)), abs=1e-9)
    assert found.compliance.values @ found.stiffness.values == pytest.approx(np.eye(6), abs=1e-12)
    assert found.freedoms == 6
    held = da.cartesian_stiffness(model, "two")  # the others held: the second bushing alone
    assert held.K2c.values == pytest.approx(np.diag(second), abs=1e-9)


def test_a_body_alone_has_the_stiffness_of_its_field():
    """Without joints and other bodies, at rest: 2Kc about the centre, 4Kc about a point, K_O about the origin."""
    model = metzger2010.stewart_gough()
    rest = da.equilibrium(model)
    for about, name in (("center", "K2c"), ("R", "K4c"), ("origin", "KO")):
        found = da.condensed_stiffness(model, "platform", about=about, state=rest.state)
        field = da.cartesian_stiffness(model, "platform", about=about, state=rest.state)
        K = field[name].values
        assert found.stiffness.values == pytest.approx(K, abs=1e-8 * np.abs(K).max())
        assert found.translational_stiffness.values == pytest.approx(field.translational_stiffness.values)


def test_the_point_and_the_axes_of_the_push():
    """A lever: the stiffness at its tip is that of its middle by (1/2)^2, in turned axes too."""
    model = da.Model("lever")
    model.body("lever", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.revolute("hinge", "ground", "lever", at=(0, 0, 0), axis=(0, 1, 0))
    model.spring("spring", "ground", "lever", at=(1, 0, -1), at_driven=(1, 0, 0), stiffness=100.0)
    model.frame("tip", "lever", at=(2, 0, 0), orientation=da.euler.euler_set("321").rotation([0.3, 0.2, 0.1]))
    middle, tip = (da.condensed_stiffness(model, "lever", about=about) for about in ("center", "tip"))
    assert middle.along((0, 0, 1)) == pytest.approx(100.0)
    assert tip.along((0, 0, 2)) == pytest.approx(25.0)
    turned = da.condensed_stiffness(model, "lever", about="tip", axes="tip")
    E = da.euler.euler_set("321").matrix([0.3, 0.2, 0.1])
    assert turned.along(E.T @ [0, 0, 1]) == pytest.approx(25.0)


def test_the_wheel_of_the_wishbone_against_equilibria_at_other_loads():
    assert [figure for figure in metzger2010.wheel_figures() if not figure.met] == []


def test_without_K_c_the_wheel_would_be_softer():
    """What other programs leave out is a third of it: the slope of equilibria tells who is right."""
    force = peng2024.wishbone_force()
    model = peng2024.double_wishbone(force=force)
    names = [f"wheel.{name}" for name in ("Fx", "Fy", "Fz", "Tx", "Ty", "Tz")]
    outputs = [f"wheel.{name}" for name in DISPLACEMENTS]
    lin = linearize(model, inputs=names, outputs=outputs, with_constraint_stiffness=False)
    without = 1.0 / condensation._dense_compliance(lin, "wheel")[2, 2]
    slope = 1.0 / metzger2010.wheel_slopes(force)[2]
    assert da.condensed_stiffness(model, "wheel").along((0, 0, 1)) == pytest.approx(slope, rel=1e-8)
    assert without < 0.7 * slope


def chain(n):
    """A hanging chain of n links with a soft spring at each hinge."""
    model = da.Model("chain", gravity=(0, 0, -G))
    main = "ground"
    for k in range(n):
        name = f"link {k}"
        model.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, -0.1 - 0.2 * k))
        model.revolute(f"hinge {k}", main, name, at=(0, 0, -0.2 * k), axis=(0, 1, 0))
        model.torsion_spring(f"spring {k}", f"hinge {k}", stiffness=3.0)
        main = name
    return model


def test_sparse_and_dense_compliances_are_the_same(monkeypatch):
    model = chain(8)
    dense = da.condensed_stiffness(model, "link 5")
    monkeypatch.setattr(condensation, "MOST_DENSE", 0)
    sparse = da.condensed_stiffness(model, "link 5")
    assert np.abs(dense.compliance - sparse.compliance).max() < 1e-11 * np.abs(dense.compliance).max()
    assert dense.freedoms == sparse.freedoms


@pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")
def test_a_long_chain():
    """300 links (1,800 unknowns) without weight: a push at the last turns every hinge by lever / stiffness.

    The condition of the flexibility grows with n^4: 8e9 here, so that 1e-6 could be lost.
    """
    n = 300
    model = chain(n)
    model.gravity[:] = 0.0
    found = da.condensed_stiffness(model, f"link {n - 1}")
    levers = 0.2 * np.arange(n)[::-1] + 0.1
    assert 1.0 / found.along((1, 0, 0)) == pytest.approx(np.sum(levers**2) / 3.0, rel=1e-8)
    assert float(found.compliance.sel(displacement="ry", wrench="Fx")) == pytest.approx(-np.sum(levers) / 3.0, rel=1e-8)


def test_a_direction_that_nothing_resists():
    model = pendulum()
    model.gravity[:] = 0.0
    for limit in (condensation.MOST_DENSE, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(condensation, "MOST_DENSE", limit)
            with pytest.raises(da.SolveError, match=r"body 'bob': nothing resists it in some direction.*attach a spring"):
                da.condensed_stiffness(model, "bob")


def test_what_nothing_resists_elsewhere_does_not_matter():
    model = pendulum()
    model.body("loose", mass=1.0, inertia=(1, 1, 1), position=(5, 0, 0))
    model.revolute("axle", "ground", "loose", at=(5, 0, 0), axis=(0, 0, 1))
    assert da.condensed_stiffness(model, "bob").along((1, 0, 0)) == pytest.approx(MASS * G / LENGTH)


def test_a_mechanism_that_is_not_at_rest():
    model = da.Model("leaning", gravity=(0, 0, -G))
    model.body("bob", mass=MASS, inertia=(0.1, 0.1, 0.1), position=(1, 0, -1))
    model.revolute("hinge", "ground", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    with pytest.raises(da.ModelError, match=r"the mechanism is not at rest there: .* left unbalanced; use at='equilibrium'"):
        da.condensed_stiffness(model, "bob", at="design")
    assert da.condensed_stiffness(model, "bob").freedoms == 1


def test_a_body_that_joints_hold_altogether():
    model = da.Model("fixed")
    model.body("post", mass=1.0, inertia=(1, 1, 1))
    model.fixed("weld", "ground", "post", at=(0, 0, 0))
    found = da.condensed_stiffness(model, "post")
    assert found.freedoms == 0
    assert np.isinf(found.rate.values).all()
