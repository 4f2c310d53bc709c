"""What an upload leads to, and that the pages there show it."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from benchdash.accounts.access import Viewer
from benchdash.dashboard.compare.next_steps import next_steps
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


def labels(project, runs):
    return [link.label for link in next_steps(project, runs).links]


def link(project, runs, label):
    return next(link.url for link in next_steps(project, runs).links if link.label == label)


def test_one_run_leads_to_its_page_and_says_what_more_would_need(project, client):
    runs = send(project)
    steps = next_steps(project, runs)
    assert [(one.label, one.url) for one in steps.links] == [
        ("See the run", f"/p/bench/runs/{runs[0].pk}/#while-it-ran")
    ]
    assert list(steps.needed) == [
        "A curve needs one workload of 10.11.19 at another number of threads.",
        "A comparison and a history need another version of MariaDB on box, measured with the same workload.",
    ]


def test_several_thread_counts_are_a_curve_of_exactly_these_runs(project, client):
    send(project, versions=["10.11.5"], workloads=["rw"], threads=[1, 8])
    runs = send(project, threads=[1, 8])
    assert labels(project, runs)[0] == "See the curve"
    address = link(project, runs, "See the curve")
    text = text_of(client.get(address))
    assert "10.11.19" in text
    assert "ro, transactions per second against threads" in text
    assert "rw, transactions per second" not in text
    assert len(parse_qs(urlsplit(address).query)["v"]) == 1


def test_thread_counts_that_came_one_by_one_are_a_curve_too(project):
    send(project, threads=[1])
    assert labels(project, send(project, threads=[8]))[0] == "See the curve"
    assert "See the curve" not in labels(project, send(project, threads=[16], configuration="other"))


def test_the_nearest_earlier_version_of_the_place_is_named(project, client):
    for version in ("10.6.23", "10.11.5", "10.11.21"):
        send(project, versions=[version])
    send(project, versions=["10.11.18"], hardware="elsewhere")
    send(project, versions=["10.11.17"], workloads=["another"])
    send(project, versions=["10.11.16"], configuration="tuned")
    send(project, versions=["10.11.15"], build="debug")
    runs = send(project)
    assert labels(project, runs) == ["See the history", "Compare with 10.11.5", "See the run"]
    text = text_of(client.get(link(project, runs, "Compare with 10.11.5")))
    assert "ro, 4 threads, transactions per second, box" in text
    history = text_of(client.get(link(project, runs, "See the history")))
    assert "10.11.19" in history
    assert next_steps(project, runs).needed == [
        "A curve needs one workload of 10.11.19 at another number of threads."
    ]


def test_without_an_earlier_version_it_is_the_next_one(project):
    send(project, versions=["10.11.21"])
    send(project, versions=["11.4.2"])
    assert "Compare with 10.11.21" in labels(project, send(project))


def test_a_version_whose_runs_do_not_count_is_none_to_compare_with(project):
    old = send(project, versions=["10.11.5"])
    exclude_run(old[0], by=Viewer(), reason="noise")
    assert labels(project, send(project)) == ["See the run"]
    assert next_steps(project, old) is None


def test_commits_of_a_branch_are_compared_with_the_one_before(project, client):
    def commit(number):
        at = START + timedelta(days=number)
        place = {"branch": "main", "commit": str(number) * 40, "committed_at": at, "started_at": at}
        return send(project, versions=["unknown"], **place)

    commit(1)
    commit(2)
    runs = commit(3)
    assert labels(project, runs)[1] == "Compare with 2222222222"
    assert client.get(link(project, runs, "Compare with 2222222222")).status_code == 200


def test_several_versions_of_one_upload_are_compared_with_each_other(project, client):
    runs = send(project, versions=["10.11.5", "10.11.19"], threads=[1, 8])
    assert labels(project, runs) == ["See the curves", "See the history", "Compare 10.11.5 with 10.11.19"]
    more = send(project, versions=["10.6.1", "10.6.2", "10.6.3"], workloads=[f"w{n}" for n in range(13)])
    assert labels(project, more) == ["See the history", "Compare the 3 versions"]
    assert "workload=" not in link(project, more, "See the history")


def test_several_settings_and_values_of_a_parameter_are_compared(project, client):
    runs = send(project, workloads=["b.select rows=1 avgt", "b.select rows=10 avgt"], threads=[1])
    assert labels(project, runs) == ["Compare the settings"]
    assert "rows" in text_of(client.get(link(project, runs, "Compare the settings")))
    records = [make_record(version="11.4.2", settings={"pool": size}, key=size) for size in ("1G", "2G")]
    runs = Run.objects.filter(pk__in=[run.pk for run in make_runs(records, project=project)])
    assert "Compare the settings" in labels(project, runs)


def test_workloads_of_one_version_are_seen_side_by_side(project, client):
    runs = send(project, workloads=["a", "b"], threads=[None])
    steps = next_steps(project, runs)
    assert [one.label for one in steps.links] == ["See the figures"]
    assert "Nobody said how many threads there were" in steps.needed[0]
    assert client.get(steps.first.url).status_code == 200


def test_however_many_runs_the_statements_are_as_many(project, django_assert_max_num_queries):
    runs = send(project, versions=[f"10.6.{n}" for n in range(9)], workloads=["a", "b"], threads=[1, 2, 4])
    with django_assert_max_num_queries(3):
        next_steps(project, runs)
    with django_assert_max_num_queries(6):
        next_steps(project, runs.filter(version__version="10.6.5"))
