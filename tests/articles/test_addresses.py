"""Which addresses an article takes, and which runs they are about."""

import pytest
from django.http import QueryDict

from benchdash.articles.addresses import AddressError, checked_query, runs_of
from benchdash.results.models import Run, Series
from tests.builders import make_project, make_run

COLUMNS = "v=1.2.3&metric=tps"
NAMES_ALL = {
    "compare": COLUMNS,
    "matrix": COLUMNS,
    "curves": COLUMNS,
    "latency": "v=1.2.3",
    "pair": "base=1.2.3&against=2.2.3",
    "sweep": "v=1&metric=tps&setting=s",
    "history": "series=1",
}


@pytest.mark.parametrize(("page", "query"), NAMES_ALL.items())
def test_an_address_must_name_all_that_it_compares(page, query):
    assert checked_query(page, f"?{query}&page=2") == query
    for part in query.split("&"):
        with pytest.raises(AddressError, match="must say what it compares"):
            checked_query(page, query.replace(part, ""))


def test_two_runs_are_as_good_as_two_versions():
    assert checked_query("pair", "run=1&run=2") == "run=1&run=2"
    with pytest.raises(AddressError):
        checked_query("pair", "run=1")


def test_other_pages_and_what_moves_on_are_refused():
    for page, query in (
        ("uploads", "v=1"),
        ("matrix", f"{COLUMNS}&over=nights"),
        ("history", "series=1" * 2000),
    ):
        with pytest.raises(AddressError):
            checked_query(page, query)


@pytest.mark.django_db
def test_the_runs_of_an_address():
    project = make_project()
    run = make_run(project=project, version="10.6.1", branch="main", workload="reads", threads=4)
    make_run(project=project, version="10.6.1", workload="writes", threads=8)
    series = Series.objects.get(measurements__run=run)
    place = f"{run.version_id}.{run.hardware_id}.{run.configuration_id}"

    def count(page, query):
        return Run.objects.filter(runs_of(page, QueryDict(query))).count()

    assert count("compare", f"v={run.version_id}") == 2
    assert count("compare", f"v={place}~main") == 1
    assert count("compare", f"v={place}") == 1
    assert count("compare", f"v={run.version_id}&workload={run.workload_id}") == 1
    assert count("compare", f"v={run.version_id}&threads=8") == 1
    assert count("sweep", f"v={run.version_id}~main&setting=s") == 1
    assert count("history", f"series={series.pk}") == 1
    assert count("pair", f"base={place}&against={place}~main") == 2
    assert count("pair", f"run={run.pk}&run=1") == 0
    for nonsense in ("", "x", "1.x.2", "9" * 30, "1.2", "~", "%00"):
        assert count("compare", f"v={nonsense}") == 0
