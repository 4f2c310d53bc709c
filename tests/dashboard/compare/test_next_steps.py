"""What an upload leads to, and that the pages there show it."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from benchdash.accounts.access import Viewer
from benchdash.dashboard.compare.next_steps import next_step
from benchdash.results.corrections import exclude_run
from benchdash.results.models import Run
from tests.builders import START, make_project, make_record, make_runs
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("bench", public=True)


def send(project, *, versions=("10.11.19",), threads=(4,), workloads=("ro",), **fields):
    """The runs of one upload."""
    runs = make_runs(
        [
            make_record(version=version, threads=count, workload=workload, **fields)
            for version in versions
            for workload in workloads
            for count in threads
        ],
        project=project,
    )
    return Run.objects.filter(pk__in=[run.pk for run in runs])


def test_one_run_leads_to_its_page_and_says_what_more_would_need(project, client):
    runs = send(project)
    step = next_step(project, runs)
    assert step.sentence == "1 run: ro at 4 threads, MariaDB 10.11.19 on box"
    assert (step.link.label, step.link.url) == ("Open the run", f"/p/bench/runs/{runs[0].pk}/#while-it-ran")
    assert step.needed == [
        "A curve needs one workload of 10.11.19 at another number of threads.",
        "A comparison and a history need another version of MariaDB on box, measured with the same workload.",
    ]


def test_several_thread_counts_are_a_curve_of_exactly_these_runs(project, client):
    send(project, versions=["10.6.23"], workloads=["rw"], threads=[1, 8])
    step = next_step(project, send(project, threads=[1, 8]))
    assert step.sentence == "2 runs, 1 curve: ro at 1 to 8 threads, MariaDB 10.11.19 on box"
    assert step.link.label == "Open the curve"
    text = text_of(client.get(step.link.url))
    assert "10.11.19" in text
    assert "ro, transactions per second against threads" in text
    assert "rw, transactions per second" not in text
    assert len(parse_qs(urlsplit(step.link.url).query)["v"]) == 1


def test_thread_counts_that_came_one_by_one_are_a_curve_too(project):
    send(project, threads=[1])
    assert next_step(project, send(project, threads=[8])).link.label == "Open the curve"
    elsewhere = next_step(project, send(project, threads=[16], configuration="other"))
    assert elsewhere.link.label == "Open the run"


def test_the_nearest_earlier_version_of_the_place_stands_beside_it(project, client):
    for version in ("10.6.23", "10.11.5", "10.11.21"):
        send(project, versions=[version])
    send(project, versions=["10.11.18"], hardware="elsewhere")
    send(project, versions=["10.11.17"], workloads=["another"])
    send(project, versions=["10.11.16"], configuration="tuned")
    send(project, versions=["10.11.15"], build="debug")
    step = next_step(project, send(project))
    assert step.link.label == "Compare with 10.11.5"
    text = text_of(client.get(step.link.url))
    assert "ro, 4 threads, transactions per second, box" in text
    assert step.needed == ["A curve needs one workload of 10.11.19 at another number of threads."]


def test_without_an_earlier_version_it_is_the_next_one(project):
    send(project, versions=["10.11.21"])
    send(project, versions=["11.4.2"])
    assert next_step(project, send(project)).link.label == "Compare with 10.11.21"


def test_a_version_whose_runs_do_not_count_is_none_to_compare_with(project):
    old = send(project, versions=["10.11.5"])
    exclude_run(old[0], by=Viewer(), reason="noise")
    assert next_step(project, send(project)).link.label == "Open the run"
    assert next_step(project, old) is None


def test_commits_of_a_branch_are_compared_with_the_one_before_and_many_are_a_history(project, client):
    def commit(number):
        at = START + timedelta(days=number)
        place = {"branch": "main", "commit": str(number) * 40, "committed_at": at, "started_at": at}
        return send(project, versions=["unknown"], **place)

    commit(1)
    commit(2)
    step = next_step(project, commit(3))
    assert step.link.label == "Compare with 2222222222"
    assert client.get(step.link.url).status_code == 200
    every = next_step(project, Run.objects.all())
    assert every.link.label == "Open the history"
    assert client.get(every.link.url).status_code == 200


def test_all_versions_of_an_upload_are_sides_of_one_comparison(project, client):
    curves = next_step(project, send(project, versions=["10.11.5", "10.11.19"], threads=[1, 8]))
    assert (curves.link.label, curves.needed) == ("Open the 2 curves", [])
    assert len(parse_qs(urlsplit(curves.link.url).query)["v"]) == 2
    more = next_step(
        project,
        send(project, versions=["10.6.1", "10.6.2", "10.6.3"], workloads=[f"w{n}" for n in range(13)]),
    )
    assert more.sentence == (
        "39 runs: w0, w1 and 11 more workloads at 4 threads, MariaDB 10.6.1, 10.6.2 and 10.6.3 on box"
    )
    assert more.link.label == "Open the comparison"
    assert "workload=" not in more.link.url


def test_three_drivers_of_one_file_are_three_sides(project, client):
    drivers = {"MariaDB Connector/J": "3.5.1", "MySQL Connector/J": "9.1.0", "Drizzle JDBC": "1.4"}
    runs = make_runs(
        [
            make_record(product=name, version=version, workload="DO 1", threads=None)
            for name, version in drivers.items()
        ],
        project=project,
    )
    step = next_step(project, Run.objects.filter(pk__in=[run.pk for run in runs]))
    assert step.sentence == (
        "3 runs: DO 1, Drizzle JDBC 1.4, MariaDB Connector/J 3.5.1 and MySQL Connector/J 9.1.0 on box"
    )
    assert len(parse_qs(urlsplit(step.link.url).query)["v"]) == 3
    text = text_of(client.get(step.link.url))
    assert all(name in text for name in drivers)


def test_several_settings_and_values_of_a_parameter_are_a_sweep(project, client):
    runs = send(project, workloads=["b.select rows=1 avgt", "b.select rows=10 avgt"], threads=[1])
    step = next_step(project, runs)
    assert step.link.label == "Open the sweep"
    assert "rows" in text_of(client.get(step.link.url))
    records = [make_record(version="11.4.2", settings={"pool": size}, key=size) for size in ("1G", "2G")]
    runs = Run.objects.filter(pk__in=[run.pk for run in make_runs(records, project=project)])
    assert next_step(project, runs).link.label == "Open the sweep"


def test_workloads_of_one_version_are_seen_side_by_side(project, client):
    step = next_step(project, send(project, workloads=["a", "b"], threads=[None]))
    assert step.link.label == "Open the figures"
    assert "Nobody said how many threads there were" in step.needed[0]
    assert client.get(step.link.url).status_code == 200


def test_however_many_runs_the_statements_are_as_many(project, django_assert_max_num_queries):
    runs = send(project, versions=[f"10.6.{n}" for n in range(9)], workloads=["a", "b"], threads=[1, 2, 4])
    with django_assert_max_num_queries(3):
        next_step(project, runs)
    with django_assert_max_num_queries(6):
        next_step(project, runs.filter(version__version="10.6.5"))
