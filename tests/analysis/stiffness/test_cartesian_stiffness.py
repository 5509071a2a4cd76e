"""Cartesian stiffness matrices of models: against differences of what they are defined by, and against other analyses."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.analysis.stiffness.hessians import charts_of, from_corotational, from_fixed, hessian_1, hessian_2
from dalembert.kernel.compile import JIT_DISABLED
from dalembert.papers.metzger2010_models import stewart_gough
from dalembert.rotation.euler import EULER_SETS
from dalembert.rotation.quaternion import to_rotation
from dalembert.rotation.skew import axial, tilde
from random_models import CONSERVATIVE, central, one_force, random_state

ORIGIN = np.array([0.3, -0.2, 0.5])
ARM = np.array([0.2, 0.1, -0.3])  # of the material point, in the body
SHIFT = np.array([0.4, -0.1, 0.2])


def random_model(seed):
    """A body on springs, a bushing and a dead load, heavy, tied to a second body: everything that has a potential."""
    rng = np.random.default_rng(seed)
    model = da.Model("everything", gravity=rng.normal(size=3))
    for name in ("one", "two"):
        model.body(name, mass=2.0, inertia=(1, 2, 2.5), position=rng.normal(size=3), orientation=Rotation.random(rng=rng))
    for k in range(4):
        law = {"stiffness": rng.uniform(20, 90), "free_length": rng.uniform(0.3, 1.0)}
        main = "ground" if k < 2 else "two"
        model.spring(f"spring {k}", main, "one", at=3 * rng.normal(size=3), at_driven=rng.normal(size=3), **law)
    frame = {"at": rng.normal(size=3), "orientation": Rotation.random(rng=rng), "at_driven": rng.normal(size=3)}
    model.bushing("bushing", "ground", "one", **frame, stiffness=rng.uniform(5, 40, 6))
    model.load("pull", "one", force=rng.normal(size=3), at=rng.normal(size=3))
    return model


class Pose:
    """A body that is displaced and turned in the world, and the wrench on it there: (F, M) about its centre."""

    def __init__(self, system, q):
        self.system, self.q = system, q
        self.x, self.R = q[:3], to_rotation(q[3:7]).as_matrix()

    def moved(self, d):
        """Displacement of the centre and small rotation, both in the world."""
        step = np.concatenate([d[:3], self.R.T @ d[3:], np.zeros(self.system.n_velocities - 6)])
        return Pose(self.system, self.system.advance(self.q, step))

    @property
    def wrench(self):
        f = self.system.force(0.0, self.q, np.zeros(self.system.n_velocities))
        return f[:3], self.R @ f[3:6]

    def about(self, place):
        F, M = self.wrench
        return np.concatenate([F, M + np.cross(self.x - place, F)])

    @property
    def point(self):
        return self.x + self.R @ ARM


DISPLACED = {  # the centre's displacement for a unit displacement of the point that counts, and a rotation
    "K1c": lambda pose: np.zeros(3),
    "K2c": lambda pose: np.zeros(3),
    "K3c": lambda pose: pose.R @ ARM,
    "K4c": lambda pose: pose.R @ ARM,
    "KO": lambda pose: ORIGIN - pose.x,
}
LOADED = {
    "K1c": lambda pose: pose.about(ORIGIN),
    "K2c": lambda pose: pose.about(pose.x),
    "K3c": lambda pose: pose.about(ORIGIN),
    "K4c": lambda pose: pose.about(pose.point),
    "KO": lambda pose: pose.about(ORIGIN),
}


@pytest.mark.parametrize("name", DISPLACED)
@pytest.mark.parametrize("seed", range(4))
def test_matrices_are_the_differences_of_force_and_moment(name, seed):
    """(24), (33), (40), (116): -d(F, M_P) over displacements of the point that belongs to each, by sixth-order differences."""
    system = da.build(random_model(seed))
    pose = Pose(system, system.design.q)
    field = da.force_field(system, "one")
    found = {"K1c": field.about(ORIGIN).stiffness, "K2c": field.stiffness, "KO": field.about(ORIGIN).screw_stiffness}
    at_point = field.at(pose.point)
    found |= {"K3c": at_point.about(ORIGIN).stiffness, "K4c": at_point.stiffness}
    arm = DISPLACED[name](pose)
    columns = []
    for e in np.eye(6):
        d = np.concatenate([e[:3] - np.cross(e[3:], arm), e[3:]])  # dx = dx_A - dtheta x a
        columns.append(-central(lambda h, d=d: LOADED[name](pose.moved(h * d))))
    assert np.abs(np.column_stack(columns) - found[name]).max() < 1e-8 * np.abs(found[name]).max()


@pytest.mark.parametrize("seed", range(3))
def test_2Kc_is_the_tangent_that_dynamics_and_modes_use(seed):
    """2Kc = T K T^T + [0 0; 0 tilde(M)] with K of `System.stiffness`, element by element of `element_stiffnesses` too."""
    system = da.build(random_model(seed))
    q, rest = system.design.q, np.zeros(system.n_velocities)
    R = to_rotation(q[3:7]).as_matrix()
    K = system.stiffness(0.0, q, rest, np.zeros(0)).toarray()[:6, :6]
    summed = np.zeros((13, 13))
    for _, columns, block in system.element_stiffnesses(0.0, q, rest, np.zeros(0)):
        summed[np.ix_(columns, columns)] += block  # the ground's columns are -1: the last row
    assert np.abs(K - summed[:6, :6]).max() < 1e-12 * np.abs(K).max()
    field = da.force_field(system, "one")
    T = block_diag(np.eye(3), R)
    expected = T @ K @ T.T + block_diag(np.zeros((3, 3)), tilde(field.moment[0]))
    assert np.abs(field.stiffness - expected).max() < 1e-12 * np.abs(K).max()


@pytest.mark.parametrize("name", CONSERVATIVE)
def test_every_conservative_element_has_a_potential(name):
    """(58) for the field of each element on both of its bodies, at a random state with open joints."""
    rng = np.random.default_rng(58)
    model = one_force(rng, name)
    _, q, _ = random_state(rng, da.build(model))
    field = da.force_field(model, ["one", "two"], state=da.State(0.0, q, np.zeros(12)))
    assert field.potential_error < 1e-10
    assert field.stiffness.any()


def test_a_body_at_rest_vibrates_with_2Kc():
    """omega^2 of `modes` are the eigenvalues of M^-1 2Kc of a free body at rest."""
    model = da.Model("box on springs", gravity=(0, 0, -9.81))
    model.body("box", mass=3.0, inertia=(0.2, 0.3, 0.4), orientation=Rotation.from_euler("ZYX", [0.3, -0.2, 0.5]))
    for k, (x, y) in enumerate([(1, 1), (-1, 1), (1, -1), (-1, -1)]):
        ends = {"at": (1.5 * x, 1.3 * y, 1.0), "at_driven": (0.3 * x, 0.2 * y, 0.1)}
        model.spring(f"spring {k}", "ground", "box", **ends, stiffness=400.0, free_length=0.8)
    rest = da.equilibrium(model, stable=True)
    found = da.cartesian_stiffness(model, "box", state=rest.state, axes="body")
    assert np.abs(found.force).max() < 1e-9
    M = np.diag([3.0, 3.0, 3.0, 0.2, 0.3, 0.4])
    expected = np.sort(np.linalg.eigvals(np.linalg.solve(M, found.K2c.values)).real)
    vibration = da.modes(model, None, state=rest.state)
    assert np.sort(np.abs(vibration.eigenvalue.values) ** 2) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", ["321", "313"] if JIT_DISABLED else EULER_SETS)
def test_hessians_are_second_derivatives_of_the_energy(name):
    """1H and 2H of the centre, 3H and 4H of a material point, as differences of U in the coordinates of each set."""
    model = random_model(7)
    system = da.build(model)
    x, R = system.design.q[:3], to_rotation(system.design.q[3:7]).as_matrix()
    about = tuple(x + R @ ARM)
    found = da.cartesian_stiffness(model, "one", about=about, origin=ORIGIN, euler=name)
    chosen, rest = EULER_SETS[name], np.zeros(12)
    nu = chosen.angles(R)

    def energy(place, angles, arm, corotational):
        turned = chosen.matrix(angles)
        point = ORIGIN + turned @ place if corotational else place
        q = system.design.q.copy()
        q[:3] = point - turned @ arm
        q[3:7] = Rotation.from_matrix(turned).as_quat(scalar_first=True)
        return system.energy(0.0, q, rest).potential

    for number, arm in ((1, 0 * ARM), (2, 0 * ARM), (3, ARM), (4, ARM)):
        corotational = number in (1, 3)
        place = x + R @ arm
        start = np.concatenate([R.T @ (place - ORIGIN) if corotational else place, nu])
        H = hessian_by_differences(lambda c, a=arm, co=corotational: energy(c[:3], c[3:], a, co), start)
        ours = found[f"hessian_{number}"].values
        assert np.abs(ours - H).max() < 1e-7 * np.abs(H).max(), number
        assert found[f"eigenvalues_{number}"].values == pytest.approx(np.linalg.eigvalsh(H), rel=1e-5, abs=1e-5)


def hessian_by_differences(U, start, h=3e-3):
    """Second derivatives by sixth-order differences of first ones."""
    H, eye = np.zeros((start.size, start.size)), np.eye(start.size)
    for i in range(start.size):
        for j in range(i + 1):
            H[i, j] = H[j, i] = central(lambda s, i=i, j=j: central(lambda r: U(start + s * eye[i] + r * eye[j]), h), h)
    return H


@pytest.mark.parametrize("name", EULER_SETS)
def test_both_formulas_of_the_paper_lead_back_to_the_same_matrices(name):
    """(35) of 2H and (28) of 1H, with 1C, 1D, 1Y, 1Z as they are defined."""
    field = da.force_field(random_model(3), "one")
    about, charts = field.about(ORIGIN), charts_of(field, name)
    u2 = np.concatenate([-field.force[0], -charts[0].g @ field.moment[0]])
    back = from_fixed(field.bodies, field.position, charts, u2, hessian_2(field, charts))
    assert np.abs(back.stiffness - field.stiffness).max() < 1e-12 * np.abs(field.stiffness).max()
    u1 = np.concatenate([-field.rotation[0].T @ about.force[0], -charts[0].g @ about.moment[0]])
    parts = from_corotational(about.position, charts, u1, hessian_1(about, charts))
    for one, other in ((parts.field.stiffness, about.stiffness), (parts.field.screw_stiffness, about.screw_stiffness)):
        assert np.abs(one - other).max() < 1e-12 * np.abs(other).max()
    found = da.cartesian_stiffness(random_model(3), "one", origin=ORIGIN, euler=name)
    for label, block in (("C1", parts.C), ("D1", parts.D), ("Y1", parts.Y), ("Z1", parts.Z)):
        assert found[label].values == pytest.approx(block[0], abs=1e-11 * np.abs(about.stiffness).max())
    assert np.abs(axial(parts.C[0]) - about.force[0]).max() < 1e-11  # (48)
    assert np.abs(2.0 * axial(parts.D[0]) - about.moment[0]).max() < 1e-11  # (56)


def test_the_fixed_point_field_leads_back():
    field = da.force_field(random_model(2), ["one", "two"])
    back = field.about(ORIGIN).centred(field.bodies, ORIGIN)
    for name in ("position", "force", "moment", "stiffness"):
        assert getattr(back, name) == pytest.approx(getattr(field, name), abs=1e-11)


def test_body_axes_turn_the_matrices_only():
    """(43): K' = [Q 0; 0 Q] K [Q^T 0; 0 Q^T]."""
    model = random_model(1)
    world, body = (da.cartesian_stiffness(model, "one", axes=axes) for axes in ("world", "body"))
    R = da.force_field(model, "one").rotation[0]
    Q = np.kron(np.eye(2), R.T)
    for name in ("K1c", "K2c", "KO"):
        assert body[name].values == pytest.approx(Q @ world[name].values @ Q.T, rel=1e-9, abs=1e-9)
    assert body.force.values == pytest.approx(R.T @ world.force.values)
    assert body.translational_stiffness.values == pytest.approx(world.translational_stiffness.values)
    named = da.cartesian_stiffness(model, "one", axes=Rotation.from_matrix(R))
    assert named.K2c.values == pytest.approx(body.K2c.values)


def test_points_have_names_and_move_with_the_body():
    model = stewart_gough()
    system = da.build(model)
    moved = system.advance(system.design.q, np.array([0.02, 0, 0.01, 0.3, -0.2, 0.1]))
    state = da.State(0.0, moved, np.zeros(6))
    drawn = model.place("R", "here")
    for about in ("R", tuple(drawn)):
        found = da.cartesian_stiffness(model, "platform", about=about, state=state)
        assert found.point.values == pytest.approx(system.frame("R", moved)[0])
        assert found.K.identical(found.K4c)
    fixed = da.cartesian_stiffness(model, "platform", about="origin", origin="P", state=state)
    assert fixed.origin.values == pytest.approx([0.07, 0, 0])
    assert fixed.K.identical(fixed.K1c)
    assert fixed.K1c.unit.sel(wrench="Mx", displacement="rx") == "N m/rad"


def test_only_the_forces_that_are_named_count():
    model = random_model(5)
    weight = da.cartesian_stiffness(model, "one", forces=["gravity"])
    assert weight.force.values == pytest.approx(2.0 * model.gravity)
    assert not weight.K2c.values.any()
    parts = [da.force_field(model, "one", forces=[name]) for name in [*model.forces, "gravity"]]
    whole = da.force_field(model, "one")
    for name in ("force", "moment", "stiffness"):
        assert sum(getattr(part, name) for part in parts) == pytest.approx(getattr(whole, name), abs=1e-10)


def test_symmetric_and_skew_parts_add_up_and_the_skew_part_is_half_the_moment():
    found = da.cartesian_stiffness(random_model(4), "one")
    assert (found.symmetric.values + found.skew.values) == pytest.approx(found.K2c.values)
    assert axial(found.skew.values[3:, 3:]) == pytest.approx(found.moment.values / 2.0)  # (58)
    assert np.abs(found.skew.values[:3]).max() < 1e-12
    for name, other in (("axial_force", "force"), ("axial_moment_origin", "moment_origin"), ("axial_moment", "moment")):
        assert found[name].values == pytest.approx(found[other].values)


def singular_model():
    """A body that is pitched by 90 degrees: 3-2-1 is singular there."""
    model = da.Model("pitched")
    model.body("nose", mass=1.0, inertia=(1, 1, 1), orientation=Rotation.from_euler("ZYX", [20, 90, 0], degrees=True))
    model.bushing("mount", "ground", "nose", at=(0.1, 0, 0), at_driven=(0.12, 0.01, 0), stiffness=(9, 8, 7, 3, 2, 1))
    return model


def test_a_singular_set_is_left_for_another_and_the_report_says_so():
    found = da.cartesian_stiffness(singular_model(), "nose", euler="321")
    assert found.euler_set == "313"
    assert found.note == "body 'nose': Euler set '321' is singular at this pose, its Hessian is in the set '313'"
    regular = da.cartesian_stiffness(singular_model(), "nose", euler="313")
    assert regular.note == ""
    for name in ("K1c", "K2c", "KO"):
        assert found[name].identical(regular[name])
    assert found.hessian_2.values == pytest.approx(regular.hessian_2.values)


def test_a_body_that_nothing_acts_on():
    model = da.Model("free")
    model.body("stone", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(da.ModelError, match=r"body 'stone': no force field acts on it: .*; attach one"):
        da.cartesian_stiffness(model, "stone")
    model.body("other", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.spring("relaxed", "stone", "other", at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=1.0)
    assert da.cartesian_stiffness(model, "stone").K2c.values[0, 0] == pytest.approx(1.0)


def test_forces_without_potential_are_refused_by_name():
    model = random_model(6)
    model.load("thrust", "one", force=(0, 0, 9.0), follower=True)
    model.load("motor", "one", torque=(0, 0, 9.0))
    with pytest.raises(da.ModelError, match=r"force 'thrust' and force 'motor': it is not a potential.*eq\. 58.*forces="):
        da.cartesian_stiffness(model, "one")
    rest = [name for name in model.forces if name not in ("thrust", "motor")]
    assert da.cartesian_stiffness(model, "one", forces=rest).potential_error < 1e-12


def test_a_small_torque_on_a_stiff_mount_is_seen():
    """A dead torque of 0.1 N m is nothing beside 1e6 N/m, but it is beside 50 N m/rad."""
    model = da.Model("stiff")
    model.body("engine", mass=1.0, inertia=(1, 1, 1))
    model.bushing("mount", "ground", "engine", at=(0, 0, 0), stiffness=(1e6, 1e6, 1e6, 50, 50, 50))
    assert da.cartesian_stiffness(model, "engine").potential_error < 1e-12
    model.load("motor", "engine", torque=(0, 0, 0.1))
    with pytest.raises(da.ModelError, match=r"force 'motor': it is not a potential"):
        da.cartesian_stiffness(model, "engine")


def test_a_spring_through_the_centre_is_a_potential_in_spite_of_rounding():
    model = da.Model("through the centre")
    model.body("ball", mass=1.0, inertia=(1, 1, 1), position=(0.3, 0.7, -0.2), orientation=Rotation.from_rotvec([1, 2, 3]))
    model.spring("spring", "ground", "ball", at=(1.1, -0.4, 0.9), at_driven=(0.3, 0.7, -0.2), stiffness=1e7, free_length=0.1)
    assert da.cartesian_stiffness(model, "ball").potential_error < 1e-6


def test_a_field_of_ones_own_that_has_no_potential():
    good = da.force_field(random_model(6), "one")
    wrong = da.ForceField(good.bodies, good.position, good.rotation, good.force, 2.0 * good.moment, good.stiffness)
    with pytest.raises(da.ModelError, match=r"force field on body 'one': it is not a potential.* in M. by r.*; check"):
        da.cartesian_stiffness(wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"body": None}, "no body is named"),
        ({"body": "ones"}, "body 'ones': there is no such body; did you mean 'one'"),
        ({"about": "hip"}, "point 'hip': there is no such point or frame"),
        ({"about": (1.0, 2.0)}, "it is not a place; give a name or three coordinates"),
        ({"axes": "sideways"}, "point 'sideways': there is no such point or frame"),
        ({"axes": np.diag([1.0, 1.0, -1.0])}, "they are not three right-handed unit vectors"),
        ({"at": "home"}, "unknown place 'home'"),
        ({"euler": "322"}, "it is none of the twelve"),
        ({"forces": ["sprig 1"]}, "force 'sprig 1': there is no such force; did you mean 'spring 1'"),
        ({"planar": True}, "the z axes of the bodies are not normal to the plane"),
    ],
)
def test_what_is_asked_wrongly(arguments, message):
    with pytest.raises(da.ModelError, match=message):
        da.cartesian_stiffness(random_model(0), **({"body": "one"} | arguments))


def test_a_built_system_has_no_forces_to_choose_from():
    system = da.build(random_model(0))
    with pytest.raises(da.ModelError, match="give the model"):
        da.cartesian_stiffness(system, "one", forces=["spring 1"])
    assert da.cartesian_stiffness(system, "one").K2c.shape == (6, 6)


def test_the_picture_needs_a_compliance(tmp_path):
    found = da.cartesian_stiffness(stewart_gough(), "platform")
    found.plot().savefig(tmp_path / "ellipsoids.png")
    assert (tmp_path / "ellipsoids.png").stat().st_size > 10_000
    weight = da.cartesian_stiffness(random_model(5), "one", forces=["gravity"])
    with pytest.raises(da.ModelError, match="there is none: the stiffness is singular"):
        weight.plot()
