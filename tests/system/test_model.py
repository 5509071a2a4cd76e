"""What a user writes: the table of a model, and an error in plain words for every mistake."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as da


def pendulum():
    model = da.Model("pendulum", gravity=(0, 0, -9.81))
    model.point("pivot", (0, 0, 0))
    model.body("bob", mass=15.0, position=(0, 0, -4))
    model.body("hook", mass=1.0, position=(0, 0, -5))
    model.revolute("hinge", model.ground, "bob", at="pivot", axis=(0, 1, 0))
    model.prismatic("slider", "bob", "hook", at=(0, 0, -4), axis=(0, 0, 1))
    return model


MISTAKES = {
    "double body": (lambda m: m.body("bob", mass=1.0), "body 'bob': the name is used twice"),
    "double joint": (lambda m: m.fixed("hinge", "bob", "hook"), "joint 'hinge': the name is used twice"),
    "double point": (lambda m: m.point("pivot", (1, 0, 0)), "point 'pivot': the name is used twice"),
    "frame named as a point": (lambda m: m.frame("pivot", "bob", at=(0, 0, 0)), "frame 'pivot': the name is used twice"),
    "unknown body": (lambda m: m.fixed("j", "bob", "hok"), "joint 'j': unknown body 'hok'; did you mean 'hook'?"),
    "unknown joint type": (lambda m: m.joint("j", "revolut", "bob", "hook"), "did you mean 'revolute'?"),
    "itself": (lambda m: m.fixed("j", "bob", "bob"), "joint 'j': it ties 'bob' to itself; name two different bodies"),
    "NaN position": (lambda m: m.body("b", mass=1.0, position=(0, np.nan, 0)), "body 'b': position is not finite"),
    "infinite velocity": (lambda m: m.body("b", mass=1.0, velocity=(0, np.inf, 0)), "body 'b': velocity is not finite"),
    "two numbers": (lambda m: m.body("b", mass=1.0, position=(0, 1)), "body 'b': position has shape (2,); give 3 numbers"),
    "text": (lambda m: m.body("b", mass=1.0, position="up"), "body 'b': position is not a list of numbers ('up')"),
    "negative mass": (lambda m: m.body("b", mass=-1.0), "body 'b': mass is negative (-1); give 0 or more"),
    "NaN mass": (lambda m: m.body("b", mass=np.nan), "body 'b': mass is not finite"),
    "mass as text": (lambda m: m.body("b", mass="heavy"), "body 'b': mass is not a number ('heavy')"),
    "triangle": (lambda m: m.body("b", mass=1.0, inertia=(1, 1, 3)), "break the triangle inequality"),
    "negative inertia": (lambda m: m.body("b", mass=1.0, inertia=(1, 1, -1)), "are not all positive or zero"),
    "asymmetric inertia": (lambda m: m.body("b", mass=1.0, inertia=np.triu(np.ones((3, 3)))), "tensor is not symmetric"),
    "four moments": (lambda m: m.body("b", mass=1.0, inertia=(1, 1, 1, 0)), "inertia has shape (4,)"),
    "zero axis": (lambda m: m.revolute("j", "bob", "hook", axis=(0, 0, 0)), "joint 'j': axis has length zero"),
    "zero quaternion": (lambda m: m.body("b", mass=1.0, orientation_wxyz=(0, 0, 0, 0)), "quaternion of length zero"),
    "bare quaternion": (lambda m: m.body("b", mass=1.0, orientation=(1, 0, 0, 0)), "name the argument orientation_wxyz"),
    "not a rotation": (lambda m: m.body("b", mass=1.0, orientation=2 * np.eye(3)), "orientation is not a rotation matrix"),
    "mirrored": (lambda m: m.body("b", mass=1.0, orientation=-np.eye(3)), "orientation is not a rotation matrix"),
    "unknown point": (lambda m: da.build(_with(m, at="pivto")), "joint 'j': unknown point 'pivto'; did you mean 'pivot'?"),
    "axis and orientation": (
        lambda m: m.revolute("j", "bob", "hook", axis=(1, 0, 0), orientation=Rotation.identity()),
        "joint 'j': both axis and orientation are given",
    ),
    "named ground": (lambda m: m.body("ground", mass=1.0), "'ground' is the name of the world itself"),
    "dot in a name": (lambda m: m.body("a.b", mass=1.0), "body 'a.b': the name is not usable"),
    "lock without rows": (lambda m: m.lock("j", "bob", "hook"), "joint 'j': a lock without rows does nothing"),
    "unknown row": (lambda m: m.lock("j", "bob", "hook", rows=("Rw",)), "joint 'j': unknown row 'Rw'"),
    "screw without lead": (lambda m: m.screw("j", "bob", "hook"), "joint 'j': the screw has no lead"),
    "lead of a hinge": (lambda m: m.revolute("j", "bob", "hook", lead=1.0), "joint 'j': a revolute joint has no 'lead'"),
    "no distance": (lambda m: da.build(_with_rod(m)), "joint 'j': the distance is zero, its direction undefined"),
    "gear on a slider": (lambda m: m.gear("g", "hinge", "slider", ratio=2.0), "joint 'slider' (prismatic) has no 'angle'"),
    "gear on nothing": (lambda m: m.gear("g", "hinge", "hing", ratio=2.0), "coupling 'g': unknown joint 'hing'"),
    "zero ratio": (lambda m: m.coupling("g", {("hinge", "angle"): 0.0}), "the ratio of joint 'hinge' is zero"),
    "empty coupling": (lambda m: m.coupling("g", {}), "coupling 'g': it couples nothing"),
    "unknown coordinate": (lambda m: m.motion("d", "hinge", "angel", da.Constant(0.0)), "did you mean 'angle'?"),
    "motion of nothing": (lambda m: m.motion("d", "hing", "angle", da.Constant(0.0)), "motion 'd': unknown joint 'hing'"),
    "not a law": (lambda m: m.motion("d", "hinge", "angle", 3.0), "motion 'd': 3.0 is not a motion law"),
    "driven twice": (lambda m: _drive_twice(m), "'Rx' of joint 'hinge' already follows motion 'd'"),
    "driven rod": (lambda m: da.build(_drive_rod(m)), "motion 'd': a distance joint has no 'angle'"),
    "driven universal": (lambda m: da.build(_drive_universal(m)), "the angle of the universal joint 'u' cannot be driven"),
    "no body": (lambda m: da.build(da.Model("void")), "model 'void': it has no body"),
    "massless and free": (lambda m: (m.body("b", mass=0.0), da.build(m)), "body 'b': it has no mass and no joint"),
    "body of another model": (lambda m: m.fixed("j", pendulum().bodies["bob"], "hook"), "belongs to another model"),
    "gravity": (lambda m: da.Model("m", gravity=9.81), "model 'm': gravity has shape ()"),
}  # fmt: skip


def _with(model, **arguments):
    model.fixed("j", "bob", "hook", **arguments)
    return model


def _with_rod(model):
    model.distance("j", "bob", "hook", at=(1, 2, 3), at_driven=(1, 2, 3))
    return model


def _drive_twice(model):
    model.motion("d", "hinge", "angle", da.Constant(0.0))
    model.motion("e", "hinge", "Rx", da.Constant(0.0))


def _drive_rod(model):
    model.distance("rod", "bob", "hook", at=(1, 2, 3), at_driven=(1, 2, 4))
    model.motion("d", "rod", "angle", da.Constant(0.0))
    return model


def _drive_universal(model):
    model.universal("u", "bob", "hook")
    model.motion("d", "u", "Rx", da.Constant(0.0))
    return model


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_the_element_and_the_remedy(mistake):
    make, message = MISTAKES[mistake]
    with pytest.raises(da.ModelError) as error:
        make(pendulum())
    assert message in str(error.value)
    assert error.value.remedy
    assert error.value.element in str(error.value)


def test_a_model_shows_itself_in_a_terminal_and_in_a_notebook():
    model = pendulum()
    model.motion("drive", "hinge", "angle", da.Ramp(slope=1.0))
    assert str(model).splitlines() == [
        "pendulum: 2 bodies, 2 joints, gravity (0, 0, -9.81) m/s2",
        "  body     bob      15 kg at (0, 0, -4)",
        "  body     hook     1 kg at (0, 0, -5)",
        "  joint    hinge    revolute: ground - bob",
        "  joint    slider   prismatic: bob - hook",
        "  motion   drive    angle of hinge: Ramp",
    ]
    assert repr(model) == str(model)
    assert "<td>hinge</td><td>revolute: ground - bob</td>" in model._repr_html_()


def test_a_long_model_shows_its_beginning():
    model = da.Model("crowd")
    for k in range(100):
        model.body(f"b{k}", mass=1.0)
    assert len(str(model).splitlines()) == 42
    assert "60 more" in str(model)


def test_joint_types_are_methods_with_help():
    assert "turns about x" in da.Model.revolute.__doc__
    assert da.Model.hinge.__doc__ == da.Model.revolute.__doc__


def test_frames_and_points_are_places():
    model = pendulum()
    model.frame("tip", "bob", at=(1, 0, -4), orientation=Rotation.from_euler("z", 90, degrees=True))
    model.spherical("ball", "bob", "hook", at="tip")
    system = da.build(model)
    d = np.zeros(12)
    d[5] = np.pi / 2  # bob turns about its own z axis
    position, R = system.frame("tip", system.advance(system.design.q, d))
    assert np.allclose(position, [0, 1, -4])
    assert np.allclose(R, Rotation.from_euler("z", 180, degrees=True).as_matrix())
    with pytest.raises(da.ModelError, match="did you mean 'tip'"):
        system.frame("tipp", system.design.q)
