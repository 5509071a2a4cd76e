"""Metzger, Faruk Senan & O'Reilly 2010: every figure of `dalembert reproduce metzger2010`."""

import numpy as np
import pytest

import dalembert as da
from dalembert.papers import metzger2010
from dalembert.papers.metzger2010_models import data, platform_energy, platform_orientation

PARTS = [
    "printed_figures",
    "platform_figures",
    "planar_figures",
    "planar_two_bodies_figures",
    "two_bodies_figures",
    "pose_figures",
    "wheel_figures",
]


@pytest.mark.parametrize("part", PARTS)
def test_every_figure_is_met(part):
    figures = list(getattr(metzger2010, part)())
    assert figures
    assert [figure for figure in figures if not figure.met] == []


def test_a_wrong_number_would_be_seen(monkeypatch):
    """The comparison fails where the platform is another one: a spring a millionth stiffer."""
    changed = {**data()["parameters"], "spring_stiffness_N_per_cm": [10.00001, 20.0, 30.0, 40.0, 50.0, 60.0]}
    monkeypatch.setitem(data(), "parameters", changed)
    off = [figure.name for figure in metzger2010.platform_figures() if not figure.met]
    assert "platform: stiffness_2Kc_si: largest deviation beyond its ten decimals" in off
    assert "platform: hessian_U1_eq_74: largest deviation beyond its ten decimals" in off


def test_every_number_of_the_reference_is_compared():
    """All keys of the section on the platform, and every entry of the printed matrices (half of the symmetric ones)."""
    compared = " ".join(figure.name for figure in metzger2010.platform_figures())
    assert all(name in compared for name in data()["independent"])
    tables = [np.asarray(table) for table in data()["printed"].values()]
    expected = sum(21 if table.shape == (6, 6) else table.size for table in tables)
    assert len(list(metzger2010.printed_figures())) == expected


def test_the_misprints_are_named():
    named = [figure for figure in metzger2010.printed_figures() if "misprint" in figure.source]
    assert {figure.name.split(" [")[0] for figure in named} == {"corotational_basis (68)", "1Z (73)"}
    printed = data()["printed"]
    ours = metzger2010.printed_values(metzger2010.platform())
    assert ours["1Z (73)"][1, 0] == pytest.approx(-printed["1Z (73)"][1][0], abs=5e-3)
    for name, place in metzger2010.MISPRINTS:
        wrong = abs(ours[name][place] - printed[name][place[0]][place[1]])
        assert wrong > metzger2010.LAST_DIGITS * 1e-6, (name, place)


def test_another_set_of_euler_angles_gives_other_hessians_and_the_same_matrices():
    """The reference's identity with 3-1-3 angles, at the platform's pose."""
    fields = [
        da.Potential(platform_energy, length=10.0).field(
            data()["parameters"]["centre_position_cm"], platform_orientation(), euler=name
        )
        for name in ("321", "313")
    ]
    one, other = (da.cartesian_stiffness(field, euler=name) for field, name in zip(fields, ("321", "313"), strict=True))
    assert np.abs(one.K2c.values - other.K2c.values).max() < 1e-5
    assert np.abs(one.hessian_2.values - other.hessian_2.values).max() > 100.0
    angles = da.euler.euler_set("313").angles(platform_orientation())
    assert np.degrees(angles) == pytest.approx([89.9934295064, 134.9973871087, 114.7267643485], rel=1e-9)


def test_the_pictures(tmp_path):
    paths = metzger2010.draw(tmp_path)
    assert [path.name for path in paths] == ["metzger2010_platform.png", "metzger2010_wheel.png"]
    assert all(path.stat().st_size > 10_000 for path in paths)
