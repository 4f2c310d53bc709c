"""Which series an address chooses."""

from datetime import timedelta

import pytest

from benchdash.accounts.access import Viewer
from benchdash.addresses import HistoryQuery
from benchdash.dashboard.pages.history.selection import choose_series, panels
from benchdash.results.corrections import rename
from benchdash.results.models import Series
from tests.builders import START, make_project, make_run, make_series

pytestmark = pytest.mark.django_db


def chosen(project, query=""):
    return choose_series(project, HistoryQuery.of(query))


def said(choice, *names):
    return [tuple(str(getattr(one, name)) for name in names) for one in choice.series]


def chip(choice, name):
    return next((one for one in choice.filters if one.name == name), None)


# --- nothing asked for --------------------------------------------------------------------------------------


def test_a_project_without_results_has_nothing_to_choose():
    choice = chosen(make_project())
    assert not choice.has_any
    assert choice.series == []


def test_an_address_that_asks_for_nothing_gets_the_place_measured_last():
    project = make_project()
    make_series([1, 2, 3], project=project, hardware="old", start=START - timedelta(days=90))
    make_series([1, 2, 3], project=project, hardware="new")
    choice = chosen(project)
    assert said(choice, "hardware") == [("new",)]
    assert [one.value for one in chip(choice, "hardware").chosen] == ["new"]


def test_what_only_pull_requests_have_is_offered_where_their_branch_is_asked_for():
    project = make_project()
    make_series([1, 2, 3], project=project, branch="main")
    make_series([1, 2], project=project, branch="pull/12", workload="new", threads=8, hardware="rack")
    offered = {one.name for one in chosen(project).filters}
    assert not offered & {"branch", "workload", "threads", "hardware"}
    asked = chosen(project, "branch=pull/12")
    assert said(asked, "workload") == [("new",)]
    assert [one.value for one in chip(asked, "workload").choices] == ["new", "oltp_read_only"]
    alone = chosen(project, "workload=new")
    assert (said(alone, "branch"), alone.unknown) == ([("pull/12",)], [])
    assert [one.value for one in chip(alone, "branch").chosen] == ["pull/12"]
    assert chosen(project, "workload=none_such").unknown


def test_a_project_of_pull_requests_alone_has_results():
    project = make_project()
    make_series([1, 2], project=project, branch="pull/12")
    choice = chosen(project)
    assert (choice.has_any, choice.series) == (True, [])


def test_a_single_run_elsewhere_does_not_hide_the_histories():
    project = make_project()
    make_series([1, 2, 3], project=project, hardware="nightly")
    make_run(project=project, hardware="laptop", started_at=START + timedelta(days=9))
    assert said(chosen(project), "hardware") == [("nightly",)]


def test_what_leaves_no_choice_has_no_chip_and_stands_in_no_address():
    project = make_project()
    make_series([1, 2], project=project)
    choice = chosen(project)
    assert [one.name for one in choice.filters] == ["metric"]
    assert not any(one.chosen for one in choice.filters)


def test_who_takes_back_the_last_choice_gets_all_places():
    project = make_project()
    make_series([1, 2, 3], project=project, hardware="a")
    make_series([1, 2, 3], project=project, hardware="b")
    kept = chosen(project).kept
    assert kept == [("place", "any")]
    assert said(chosen(project, "place=any"), "hardware") == [("a",), ("b",)]
    assert chosen(project, "hardware=a&threads=4").kept == []


def test_nights_of_one_version_are_a_history_too():
    project = make_project()
    for night in range(3):
        make_run(project=project, branch="main", version="unknown", started_at=START + timedelta(days=night))
    make_run(project=project, started_at=START + timedelta(days=9))
    assert said(chosen(project), "branch") == [("main",)]


# --- asked for ----------------------------------------------------------------------------------------------


def test_values_of_one_name_add_up_and_names_narrow_down():
    project = make_project()
    for workload in ("ro", "rw", "ps"):
        for threads in (1, 8):
            make_run(project=project, workload=workload, threads=threads)
    choice = chosen(project, "workload=ro&workload=rw&threads=8")
    assert said(choice, "workload", "threads") == [("ro", "8"), ("rw", "8")]


def test_none_stands_for_what_nobody_said():
    project = make_project()
    make_run(project=project, threads=None)
    make_run(project=project, branch="main", threads=2)
    assert said(chosen(project, "threads=none"), "threads") == [("None",)]
    assert said(chosen(project, "branch=none"), "branch") == [("",)]
    labels = {one.value: one.label for one in chip(chosen(project), "branch").choices}
    assert labels == {"none": "releases", "main": "main"}


def test_thread_counts_and_release_lines_are_in_the_order_of_numbers_and_versions():
    project = make_project()
    for version in ("10.11.2", "10.6.23"):
        for threads in (16, 2):
            make_run(project=project, version=version, threads=threads)
    choice = chosen(project, "workload=oltp_read_only")
    assert said(choice, "threads", "line") == [
        ("2", "10.6"),
        ("2", "10.11"),
        ("16", "10.6"),
        ("16", "10.11"),
    ]
    assert [one.value for one in chip(choice, "threads").choices] == ["2", "16"]
    assert [one.value for one in chip(choice, "line").choices] == ["10.6", "10.11"]


def test_numbers_in_names_count_as_numbers():
    project = make_project()
    for size in (10, 9, 100):
        make_run(project=project, workload=f"select size={size}")
    choice = chosen(project, "product=MariaDB")
    assert said(choice, "workload") == [("select size=9",), ("select size=10",), ("select size=100",)]


def test_a_thing_is_found_by_its_old_name():
    project = make_project()
    run = make_run(project=project, workload="oltp_ro")
    make_run(project=project, workload="other")
    rename(run.workload, "oltp_read_only", by=Viewer())
    choice = chosen(project, "workload=oltp_ro")
    assert said(choice, "workload") == [("oltp_read_only",)]
    assert [one.value for one in chip(choice, "workload").chosen] == ["oltp_read_only"]


def test_without_a_metric_it_is_the_main_one_of_what_was_chosen():
    project = make_project()
    make_run(project=project, readings={"tps": 10, "latency_p95": 5})
    make_run(project=project, workload="DO 1", readings={"qps": 10})
    assert said(chosen(project, "workload=oltp_read_only"), "metric") == [("tps",)]
    choice = chosen(project, "workload=DO+1")
    assert said(choice, "metric") == [("qps",)]
    assert chip(choice, "metric").summary == "qps"
    assert chip(choice, "metric").chosen == []


def test_several_metrics_can_be_chosen():
    project = make_project()
    make_run(project=project, readings={"tps": 10, "latency_p95": 5, "latency_avg": 4})
    assert said(chosen(project, "metric=latency_p95&metric=tps"), "metric") == [("tps",), ("latency_p95",)]


def test_series_can_be_named_by_their_ids():
    project = make_project()
    one = make_series([1, 2], project=project, workload="ro")
    make_series([1, 2], project=project, workload="rw")
    choice = chosen(project, f"series={one.pk}")
    assert choice.series == [one]
    assert [value.value for value in chip(choice, "workload").chosen] == ["ro"]
    # The first chip that is changed takes the ids out of the address.
    assert choice.kept == [("series", "")]


def test_series_of_another_project_are_not_there():
    other = make_series([1, 2], project=make_project())
    assert chosen(make_project(), f"series={other.pk}").series == []


@pytest.mark.parametrize(
    "query",
    [
        "series=x",
        "series=99999999999999999999999",
        "series=-1",
        "threads=many",
        "threads=99999999999",
        "threads=²",
    ],
)
def test_what_cannot_be_there_is_not_found(query):
    project = make_project()
    make_run(project=project)
    assert chosen(project, query).series == []


def test_nothing_breaks_at_a_null_character():
    project = make_project()
    make_run(project=project)
    assert chosen(project, "workload=%00").series


# --- nothing found ------------------------------------------------------------------------------------------


def test_who_finds_nothing_learns_which_choice_to_drop():
    project = make_project()
    make_run(project=project, workload="ro", hardware="a")
    make_run(project=project, workload="rw", hardware="b")
    choice = chosen(project, "workload=ro&hardware=b&threads=4")
    assert choice.series == []
    assert {(one.name, one.value) for one in choice.relaxations} == {("workload", "ro"), ("hardware", "b")}


def test_a_metric_that_was_not_measured_there_can_be_dropped():
    project = make_project()
    make_run(project=project)
    choice = chosen(project, "metric=qps")
    assert [(one.name, one.value) for one in choice.relaxations] == [("metric", "qps")]


# --- panels -------------------------------------------------------------------------------------------------


def test_release_lines_of_one_thing_share_a_panel():
    project = make_project()
    for version in ("10.6.1", "10.11.1", "11.4.1"):
        for threads in (1, 2):
            make_run(project=project, version=version, threads=threads)
    found = panels(chosen(project, "product=MariaDB").series)
    assert [[one.line for one in panel] for panel in found] == [["10.6", "10.11", "11.4"]] * 2


def test_choosing_takes_the_same_statements_however_much_there_is(django_assert_num_queries):
    project = make_project()
    make_run(project=project)
    with django_assert_num_queries(4):
        chosen(project)
    for workload in ("a", "b", "c"):
        make_series([1, 2, 3], project=project, workload=workload, hardware=workload)
    with django_assert_num_queries(4):
        chosen(project)
    ids = Series.objects.filter(project=project).values_list("pk", flat=True)
    query = "&".join(f"series={pk}" for pk in ids)
    with django_assert_num_queries(3):
        chosen(project, query)
