"""Versions that were measured in the same sessions."""

import numpy as np
import pytest

from benchdash.regressions.detection.paired_sessions import paired_with_first

MOOD = np.array([0.0, 0.4, -0.3, 0.2, -0.4])


def rows_of(effects, *, noise=0.01, rows=4):
    """Logs of versions in five sessions that lie far apart."""
    rng = np.random.default_rng(20261123)
    shape = rows, len(effects), len(MOOD)
    return MOOD + np.array(effects)[:, None] + noise * rng.normal(size=shape)


def test_the_mood_of_a_session_falls_out_of_the_difference():
    found = paired_with_first(rows_of([0.0, -0.1]))
    assert found.means[1] - found.means[0] == pytest.approx(-0.1, abs=0.02)
    assert np.sqrt(found.variance) == pytest.approx(0.01, abs=0.005)
    assert found.n.tolist() == [[5.0]] * 4


def test_all_versions_of_a_row_tell_its_noise():
    two, six = (paired_with_first(rows_of([0.0] * versions, rows=1)) for versions in (2, 6))
    assert (two.df[0, 0], six.df[0, 0]) == (4, 20)


def test_rows_support_each_other_by_no_more_than_they_know():
    one, two, many = (paired_with_first(rows_of([0.0, 0.0], rows=rows)) for rows in (1, 3, 30))
    assert one.df[0, 0] == 4
    assert 4 < two.df[0, 0] <= 12
    assert many.df.max() <= 12


def test_one_shared_session_is_no_pair():
    x = rows_of([0.0, 0.0])
    x[:, 1, 1:] = np.nan
    found = paired_with_first(x)
    assert (found.n.max(), found.df.max()) == (0, 0)


def test_a_session_that_one_side_lacks_does_not_count():
    x = rows_of([0.0, -0.1])
    x[:, 1, 1] = np.nan
    found = paired_with_first(x)
    assert found.n.tolist() == [[4.0]] * 4
    assert found.means[1] - found.means[0] == pytest.approx(-0.1, abs=0.03)


def test_a_version_that_scatters_more_than_the_others_is_judged_by_itself():
    x = rows_of([0.0] * 20, rows=1)
    x[0, -1] += np.array([0.3, -0.3, 0.2, -0.2, 0.3])
    found = paired_with_first(x)
    assert found.variance[0, -1] > 2 * found.variance[0, 0]
    assert found.df[0, -1] == 4
