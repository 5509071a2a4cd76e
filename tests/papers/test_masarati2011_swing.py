"""The swing of Masarati 2011 and its beam element; its motions are figures of test_masarati2011."""

import pytest

from dalembert.kernel.compile import JIT_DISABLED
from dalembert.papers import masarati2011_swing as swing
from dalembert.papers.figures import table_of


def assert_met(figures):
    rows = list(figures)
    assert rows
    assert all(row.met for row in rows), table_of(rows)


def test_the_beam_of_the_appendix():
    assert_met(swing.appendix_figures())


def test_table_1_to_all_printed_digits():
    assert_met(swing.table_1_figures())


@pytest.mark.skipif(JIT_DISABLED, reason="100,000 steps")
def test_pictures_are_drawn(tmp_path):
    assert {path.name for path in swing.draw(tmp_path)} == {path.name for path in tmp_path.iterdir()}
