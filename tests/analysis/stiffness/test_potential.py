"""Fields from potential energies: every way to give one leads to the matrices of the model's own springs."""

import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.rotation.euler import EULER_SETS

BASES = np.array([[1.0, 0.2, -0.4], [-0.8, 0.9, 0.1], [0.3, -1.1, 0.6]])
TIPS = np.array([[0.2, 0.1, -0.1], [-0.15, 0.2, 0.1], [0.05, -0.2, 0.25]])
STIFFNESSES, FREE = np.array([30.0, 50.0, 80.0]), np.array([0.6, 0.9, 1.1])
CENTRE = np.array([0.1, 0.2, 0.3])
TURN = Rotation.from_euler("ZYX", [0.4, -0.7, 0.5])
ORIGIN_AXES = {"1": (1, 2), "2": (2, 0), "3": (0, 1)}


def springs():
    model = da.Model("three springs")
    model.body("body", mass=1.0, inertia=(1, 1, 1), position=CENTRE, orientation=TURN)
    for k in range(3):
        end = CENTRE + TURN.apply(TIPS[k])
        law = {"stiffness": STIFFNESSES[k], "free_length": FREE[k]}
        model.spring(f"spring {k}", "ground", "body", at=BASES[k], at_driven=end, **law)
    return da.force_field(model, "body")


FIELD = springs()


def energy(R, x):
    return float(0.5 * STIFFNESSES @ (np.linalg.norm(x + TIPS @ R.T - BASES, axis=1) - FREE) ** 2)


def symbolic_matrix(name, angles):
    """R_i(nu^1) R_j(nu^2) R_k(nu^3), written out independently of `EulerSet`."""
    R = sp.eye(3)
    for axis, angle in zip(name, angles, strict=True):
        one = sp.eye(3)
        j, k = ORIGIN_AXES[axis]
        one[j, j] = one[k, k] = sp.cos(angle)
        one[j, k], one[k, j] = -sp.sin(angle), sp.sin(angle)
        R = R * one
    return R


def expression(X, R):
    U = 0
    for k in range(3):
        leg = sp.Matrix(X) + R * sp.Matrix(TIPS[k]) - sp.Matrix(BASES[k])
        U += STIFFNESSES[k] / 2 * (sp.sqrt(leg.dot(leg)) - FREE[k]) ** 2
    return U


X, NU = sp.symbols("X_1:4"), sp.symbols("nu_1:4")
ENTRIES = sp.Matrix(3, 3, sp.symbols("R_1:4(1:4)"))
OF_ENTRIES = da.Potential.sympy(expression(X, ENTRIES), X, ENTRIES)


def assert_same(found, tolerance):
    for name in ("force", "moment", "stiffness"):
        ours, expected = getattr(found, name), getattr(FIELD, name)
        assert np.abs(ours - expected).max() < tolerance * np.abs(expected).max(), name
    assert found.potential_error < tolerance


@pytest.mark.parametrize("name", EULER_SETS)
def test_a_function_of_orientation_and_place(name):
    assert_same(da.Potential(energy).field(CENTRE, TURN.as_matrix(), euler=name), 1e-8)


@pytest.mark.parametrize("name", EULER_SETS)
def test_an_expression_of_the_entries_of_R(name):
    assert_same(OF_ENTRIES.field(CENTRE, TURN, euler=name), 1e-13)


@pytest.mark.parametrize("name", ["321", "131"])
def test_an_expression_of_euler_angles(name):
    U = expression(X, symbolic_matrix(name, NU))
    assert_same(da.Potential.sympy(U, X, NU, euler=name).field(CENTRE, TURN), 1e-13)


def test_an_expression_of_components_along_the_body():
    """U1(nu, x): the route of (28), with the force on the body's axes and the moment about O."""
    R = symbolic_matrix("321", NU)
    U = expression(R * sp.Matrix(X), R)
    assert_same(da.Potential.sympy(U, X, NU, euler="321", components="body").field(CENTRE, TURN), 1e-13)


def test_a_material_point_in_the_place_of_the_centre():
    """U4: the energy as a function of x_A gives (F, M_A) and 4Kc."""
    arm = np.array([0.3, -0.1, 0.2])
    point = CENTRE + TURN.apply(arm)
    found = da.Potential(lambda R, x: energy(R, x - R @ arm)).field(point, TURN.as_matrix())
    expected = FIELD.at(point)
    assert found.stiffness == pytest.approx(expected.stiffness, abs=1e-7 * np.abs(expected.stiffness).max())
    assert found.moment == pytest.approx(expected.moment, abs=1e-7)
    assert_same(found.at(CENTRE), 1e-8)


def test_parameters_and_a_closed_form():
    """An isotropic spring of the centre and a torsion cos(theta): 2Kc = k I, and M = sin(theta) g^2 in rotations."""
    psi, theta, phi, k = sp.symbols("psi theta phi k")
    U = k / 2 * (X[0] ** 2 + X[1] ** 2 + X[2] ** 2) + sp.cos(theta)
    field = da.Potential.sympy(U, X, [psi, theta, phi], euler="321", parameters={k: 7.0}).field(
        [1, 0, 0], Rotation.from_euler("ZYX", [0.0, 0.3, 0.0])
    )
    assert field.force[0] == pytest.approx([-7, 0, 0])
    assert field.moment[0] == pytest.approx([0, np.sin(0.3), 0])
    assert np.diag(field.stiffness)[:3] == pytest.approx([7, 7, 7])
    assert field.stiffness[4, 4] == pytest.approx(-np.cos(0.3))


def test_several_bodies_in_space():
    """U of two bodies as a function against the model with the same springs."""
    model = da.Model("two")
    places, turns = np.array([[0.0, 0, 0], [1.0, 0.3, 0.2]]), Rotation.from_euler("ZYX", [[0.2, 0.1, 0], [-0.3, 0.4, 0.1]])
    for name, x, R in zip(("a", "b"), places, turns, strict=True):
        model.body(name, mass=1.0, inertia=(1, 1, 1), position=x, orientation=R)
    for k in range(3):
        ends = {"at": places[0] + turns[0].apply(TIPS[k]), "at_driven": places[1] + turns[1].apply(-TIPS[k])}
        model.spring(f"spring {k}", "a", "b", **ends, stiffness=STIFFNESSES[k], free_length=FREE[k])

    def of_pair(R, x):
        legs = x[0] + TIPS @ R[0].T - x[1] + TIPS @ R[1].T
        return float(0.5 * STIFFNESSES @ (np.linalg.norm(legs, axis=1) - FREE) ** 2)

    found = da.Potential(of_pair, bodies=("a", "b")).field(places, turns)
    expected = da.force_field(model, ["a", "b"])
    assert found.stiffness == pytest.approx(expected.stiffness, abs=1e-8 * np.abs(expected.stiffness).max())
    assert found.moment == pytest.approx(expected.moment, abs=1e-8)


def test_a_plane_as_function_and_as_expression():
    """Section 6: the 3x3 matrices of both; several bodies as a chain of three, section 9."""
    x, y, a = sp.symbols("x y a")
    c, s = sp.cos(a), sp.sin(a)
    U = 20 * (sp.sqrt((x + c / 5 - 1) ** 2 + (y + s / 5 - 2) ** 2) - 1) ** 2 + x * y * a
    number = sp.lambdify([a, (x, y)], U)
    pose = ([0.3, -0.2], 0.4)
    fields = [da.Potential.sympy(U, [x, y], [a]).field(*pose), da.Potential.planar(number).field(*pose)]
    found = [da.cartesian_stiffness(field, planar=True) for field in fields]
    H = sp.hessian(U, (x, y, a)).subs({x: 0.3, y: -0.2, a: 0.4})
    expected = np.array(H.evalf(), float)
    for one, tolerance in zip(found, (1e-12, 1e-7), strict=True):
        assert one.K2c.values == pytest.approx(expected, abs=tolerance * np.abs(expected).max())
        assert one.hessian_2.values == pytest.approx(expected, abs=tolerance * np.abs(expected).max())
        assert one.K2c.wrench.values.tolist() == ["Fx", "Fy", "Mz"]


def test_a_planar_chain_of_bodies():
    """Section 9 for N = 4: 2Kc of (115) is the Hessian of U, and couples neighbours only."""
    n = 4

    def of_chain(psi, x):
        ends = x + 0.4 * np.column_stack([np.cos(psi), np.sin(psi)])
        starts = np.vstack([x[1:] - 0.4 * np.column_stack([np.cos(psi[1:]), np.sin(psi[1:])]), [[4.5, 0.1]]])
        return float(50.0 * np.sum((np.linalg.norm(starts - ends, axis=1) - 0.3) ** 2) + 5.0 * np.sum(x[0] ** 2))

    names = [f"link {k}" for k in range(n)]
    places = np.column_stack([np.arange(n) * 1.2, 0.1 * np.arange(n)])
    psi = 0.1 * np.arange(n)
    found = da.cartesian_stiffness(da.Potential.planar(of_chain, bodies=names).field(places, psi), planar=True)
    K = found.K2c.values
    assert K.shape == (3 * n, 3 * n)
    assert pytest.approx(K, abs=1e-9 * np.abs(K).max()) == K.T
    assert np.abs(K[:3, 6:]).max() < 1e-6
    about = found.K1c.values
    assert np.abs(about - about.T).max() > 1.0  # 1Kc is not symmetric


def test_the_pose_at_a_singular_angle():
    pitched = Rotation.from_euler("ZYX", [0.4, np.pi / 2, 0.0])
    field = OF_ENTRIES.field(CENTRE, pitched, euler="321")
    regular = OF_ENTRIES.field(CENTRE, pitched, euler="313")
    assert field.stiffness == pytest.approx(regular.stiffness, abs=1e-10)
    of_angles = da.Potential.sympy(X[0] ** 2 + sp.cos(NU[0]), X, NU, euler="321")
    with pytest.raises(da.ModelError, match=r"Euler set '321': it is singular at this pose.*write it in the set '313'"):
        of_angles.field(CENTRE, pitched)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda R, x: x, r"the function gives an array of shape \(3,\); a potential energy is one real number"),
        (lambda R, x: 1j * x[0], "a potential energy is one real number"),
        (lambda R, x: "much", "the function gives 'much'"),
        (lambda R, x: np.inf * x[0], "its value near this pose is"),
        (lambda R, x: abs(x[0] - 0.1), "its second derivatives by two steps differ"),
        (lambda R, x: np.arctan2(R[1, 0], R[0, 0]) ** 2, "one value at a pose"),
    ],
)
def test_what_is_no_potential_energy(function, message):
    with pytest.raises(da.ModelError, match=f"potential energy: .*{message}"):
        da.Potential(function).field(CENTRE, Rotation.from_euler("z", np.pi))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"expression": X[0] * sp.Symbol("k")}, "unknown symbols k; give them values"),
        ({"expression": sp.Matrix([X[0], X[1]])}, "is no scalar expression"),
        ({"rotation": NU[:2]}, "3 positions and 2 rotations do not fit 1 body"),
        ({"euler": None}, "name the set of the angles"),
        ({"rotation": ENTRIES}, "leave `euler` out"),
        ({"components": "body", "rotation": ENTRIES, "euler": None}, "cannot be had with these rotations"),
        ({"bodies": ("a", "b")}, "do not fit 2 bodies"),
    ],
)
def test_expressions_that_do_not_fit(arguments, message):
    given = {"expression": X[0] ** 2, "position": X, "rotation": NU, "euler": "321"} | arguments
    with pytest.raises(da.ModelError, match=message):
        da.Potential.sympy(given.pop("expression"), given.pop("position"), given.pop("rotation"), **given)


def test_derivatives_that_are_not_finite_and_poses_that_do_not_fit():
    root = da.Potential.sympy(sp.sqrt(X[0]), X, NU, euler="321")
    with pytest.raises(da.ModelError, match="its derivatives are not finite at this pose"):
        root.field([0, 0, 0])
    with pytest.raises(da.ModelError, match=r"position has the shape \(2,\); give the shape \(1, 3\)"):
        root.field([0, 0])
    with pytest.raises(da.ModelError, match="orientation has entries that are not finite"):
        root.field([1, 0, 0], np.full((3, 3), np.nan))
