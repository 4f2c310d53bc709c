"""The reader of histories says what the readers said that it replaces."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchdash.results import newest_points, point_columns, points, queries
from benchdash.results.models import Run, Series, ServerVersion
from benchdash.results.readings import HIGHER, Reading
from tests.builders import START, make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


def assert_same_points():
    series = Series.objects.select_related("product").in_bulk()
    for excluded in (False, True):
        assert points.histories(series, excluded=excluded) == queries.histories(series, excluded=excluded)
    between = {"since": START + timedelta(hours=5), "until": START + timedelta(hours=30)}
    assert points.histories(series, **between) == queries.histories(series, **between)
    assert points.histories_and_excluded(series) == queries.histories_and_excluded(series)


def assert_same_columns():
    series = Series.objects.in_bulk()
    for pk, old in point_columns.point_columns(series).items():
        new = points.points({pk: series[pk]})
        assert {name: new.column(name) for name in points.COLUMNS} == {
            name: list(column) for name, column in old.columns.items()
        }
        for run in Run.objects.values_list("pk", flat=True):
            assert new.index_of(run) == old.index_of(run)


def assert_same_newest(newest):
    series = Series.objects.in_bulk()
    streams = {pk: newest_points.Stream(one.product_id, one.branch) for pk, one in series.items()}
    old, new = newest_points.newest_points(streams, newest=newest), points.points(series, newest=newest)
    np.testing.assert_array_equal(new.series, old.series)
    np.testing.assert_array_equal(new.levels, old.values)
    np.testing.assert_array_equal(new.version_ids, old.version_ids)
    np.testing.assert_array_equal(new.independent, old.independent)
    assert new._index_of == old.starts


@st.composite
def records(draw):
    """Runs of a few commits or versions at a few times, so that all that can be equal often is."""
    commits = [None, *(f"{at:07x}" for at in range(4))]
    found = []
    for number in range(draw(st.integers(1, 14))):
        commit = draw(st.sampled_from(commits))
        made = draw(st.one_of(st.none(), st.integers(0, 3)))
        low = draw(st.one_of(st.none(), st.floats(1, 5)))
        value = draw(st.sampled_from([-1.0, 0.0, 5.0, 6.25, 7.0, 100.0]))
        readings = (Reading("score", value, "ops/s", HIGHER, low=low, high=low and low + 1),)
        found.append(
            make_record(
                key=str(number),
                branch=draw(st.sampled_from(["", "main", "main", "other"])),
                threads=draw(st.sampled_from([1, 4])),
                version=draw(st.sampled_from(["10.6.1", "10.6.10", "10.6.9", "10.6.1-rc"])),
                commit=commit,
                committed_at=START + timedelta(hours=made) if commit and made is not None else None,
                started_at=START + timedelta(hours=draw(st.integers(0, 40))),
                settings=draw(st.sampled_from([None, {"size": "1G"}, {"size": "2G"}])),
                tags=draw(
                    st.sampled_from([(), ("session:a",), ("x", "session:b", "session:a"), ("nightly",)])
                ),
                readings=readings,
            )
        )
    return found, draw(st.sets(st.integers(0, 11)))


@settings(max_examples=60, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
@given(records(), st.integers(1, 5))
def test_the_readers_agree(drawn, newest):
    of_runs, excluded = drawn
    Run.objects.all().delete()
    Series.objects.all().delete()
    ServerVersion.objects.all().delete()
    project = make_project()
    make_runs(of_runs[::2], project=project)
    if of_runs[1::2]:
        make_runs(of_runs[1::2], project=project)
    Run.objects.filter(key__in=[str(at) for at in excluded]).update(excluded_at=timezone.now())
    with transaction.atomic():
        assert_same_points()
        assert_same_columns()
        assert_same_newest(100)
        assert_same_newest(newest)
