"""The list of runs, and everything about one run."""

from datetime import timedelta

import plotly.graph_objects as go
import pytest
from django.urls import reverse
from playwright.sync_api import expect

from benchdash.accounts.models import AuditEntry, Role
from benchdash.charts.plotly import plotly
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run
from benchdash.results.readings import Reading
from benchdash.results.records import SampleTable
from tests.builders import (
    START,
    make_project,
    make_record,
    make_run,
    make_runs,
    make_series,
    make_upload,
    make_user,
)

pytestmark = pytest.mark.django_db


def list_of(client, project, **query):
    answer = client.get(reverse("dashboard:runs", args=[project.slug], query=query))
    assert answer.status_code == 200
    return answer


def page_of(client, run, project=None):
    slug = (project or run.project).slug
    answer = client.get(reverse("dashboard:run", args=[slug, run.pk]))
    assert answer.status_code == 200
    return answer


def text_of(answer):
    return " ".join(answer.content.decode().split())


def runs_of(answer):
    """Their ids."""
    return [row.pk for row in answer.context["rows"]]


def correct(client, run, what, **form):
    return client.post(reverse(f"dashboard:run_{what}", args=[run.project.slug, run.pk]), form, follow=True)


# --- the list -----------------------------------------------------------------------------------------------


def test_runs_are_listed_latest_first_with_their_main_reading(client):
    project = make_project(public=True)
    early = make_run(readings={"latency_p95": 5.0, "tps": 120.0}, project=project)
    late = make_run(readings={"latency_p95": 6.0}, project=project, started_at=START + timedelta(days=1))
    answer = list_of(client, project)
    assert runs_of(answer) == [late.pk, early.pk]
    assert [row.value for row in answer.context["rows"]] == [6, 120]


@pytest.mark.parametrize(
    "query",
    [
        {"product": "MySQL"},
        {"version": "8.0.44"},
        {"commit": "0123ABC"},
        {"branch": "main"},
        {"workload": "rw"},
        {"hardware": "other"},
        {"configuration": "tuned"},
        {"tag": "release"},
        {"excluded": "yes"},
    ],
)
def test_runs_are_found_by_what_they_are(client, query):
    project = make_project(public=True)
    make_run(project=project)
    found = make_run(
        project=project,
        product="MySQL",
        version="8.0.44",
        commit="0123abcdef" * 4,
        branch="main",
        workload="rw",
        hardware="other",
        configuration="tuned",
        tags=("release",),
    )
    found.excluded_at = START
    found.save()
    answer = list_of(client, project, **query)
    assert runs_of(answer) == [found.pk]
    chosen = [one for chip in answer.context["filters"] for one in chip.chosen]
    assert [one.value for one in chosen] == [
        str(value).lower() if "commit" in query else value for value in query.values()
    ]


def test_runs_of_pull_requests_are_listed_where_they_are_asked_for(client):
    project = make_project(public=True)
    assert "pull requests" not in text_of(list_of(client, project))
    place = {"branch": "pull/12", "commit": "a" * 40, "workload": "new", "hardware": "rack"}
    of_request = make_run(project=project, **place)
    assert "Only pull requests were measured" in text_of(list_of(client, project))
    run = make_run(project=project)
    answer = list_of(client, project)
    assert runs_of(answer) == [run.pk]
    assert "1 run, latest first." in text_of(answer)
    assert 'by their branch, such as <a href="?branch=pull%2F12">pull/12</a>' in text_of(answer)
    assert [chip.name for chip in answer.context["filters"] if chip.leaves_choice] == ["excluded"]
    asked = (
        {"branch": "pull/12"},
        {"commit": "a" * 40},
        {"upload": of_request.upload_id},
        {"workload": "new"},
    )
    for query in asked:
        assert runs_of(list_of(client, project, **query)) == [of_request.pk]


def test_runs_of_an_upload_can_be_listed(client):
    project = make_project(public=True)
    make_run(project=project)
    upload = make_upload(project)
    found = make_run(upload=upload)
    assert runs_of(list_of(client, project, upload=upload.pk)) == [found.pk]


@pytest.mark.parametrize("query", [{"upload": "x"}, {"upload": "9" * 30}, {"version": "no"}, {"page": "x"}])
def test_any_address_can_be_asked_for(client, query):
    project = make_project(public=True)
    make_run(project=project)
    list_of(client, project, **query)


def test_who_finds_no_run_can_begin_again(client):
    project = make_project(public=True)
    assert "Charts appear here with the first results" in text_of(list_of(client, project))
    make_run(project=project)
    assert "No run has all of this" in text_of(list_of(client, project, version="1.0"))


def test_the_list_takes_the_same_statements_however_long_it_is(client, django_assert_num_queries):
    project = make_project(public=True)
    make_run(project=project)
    with django_assert_num_queries(5):
        list_of(client, project)
    make_runs([make_record(workload=f"w{number}") for number in range(120)], project=project)
    with django_assert_num_queries(5):
        answer = list_of(client, project)
    assert len(runs_of(answer)) == 50


# --- one run ------------------------------------------------------------------------------------------------


def test_a_run_says_all_about_itself(client):
    run = make_run(
        project=make_project(public=True),
        build="debug",
        commit="0123456789" * 4,
        counterpart="Connector/C 3.4",
        repetition=2,
        duration_s=61.0,
        tags=("weekly",),
        notes="after the move",
        options={"tables": 8},
        facts={"command": "sysbench --threads=4 oltp_read_only run"},
        hardware_facts={"cpu_model": "EPYC"},
        environment={"cpu_model": "EPYC", "kernel": "6.1.0"},
        configuration="tuned",
        configuration_text="[mysqld]\nsync_binlog = 1\n",
        settings={"sync_binlog": "1"},
        started_at_is_assumed=True,
        warnings=("the file says 4 threads and its sender 8",),
    )
    text = text_of(page_of(client, run))
    for words in (
        "10.6.23",
        "debug",
        "0123456789" * 4,
        "Connector/C 3.4",
        "1 min 01 s",
        "weekly",
        "after the move",
        "sysbench --threads=4 oltp_read_only run",
        "EPYC",
        "6.1.0",
        "sync_binlog = 1",
        "assumed",
        "the file says 4 threads and its sender 8",
    ):
        assert words in text
    # Facts of the machine are said once, those of this run beside them.
    assert text.count("EPYC") == 1


def test_what_is_derived_of_a_scaling_curve_is_no_reading_of_its_run(client):
    project = make_project(public=True)
    runs = make_runs([make_record(100.0 * n, threads=n) for n in (1, 2, 4, 8)], project=project)
    analyse_touched()
    assert runs[3].measurements.count() == 5
    page = page_of(client, runs[3])
    assert [row.series.metric for row in page.context["details"].readings] == ["tps"]
    assert {row.metric for row in list_of(client, project).context["rows"]} == {"tps"}


def test_readings_stand_beside_the_group_before_and_lead_to_their_history(client):
    project = make_project(public=True)
    make_series([[90.0, 110.0]], project=project, version="10.6.1")
    run = make_run(
        readings=(Reading("tps", 80.0, "1/s", "higher", low=70.0, high=90.0),),
        project=project,
        version="10.6.2",
    )
    answer = page_of(client, run)
    (reading,) = answer.context["details"].readings
    assert (reading.value, reading.low, reading.high, reading.before) == (80, 70, 90, 100)
    assert reading.change == pytest.approx(-0.2)
    assert (
        f'href="/p/{project.slug}/history/?series={reading.series.pk}">transactions per second<'
        in text_of(answer)
    )


def test_what_changed_since_the_group_before_is_named(client):
    project = make_project(public=True)
    make_run(project=project, version="10.6.1", settings={"a": "1", "b": "x"}, configuration_text="a")
    run = make_run(project=project, version="10.6.2", settings={"a": "2", "b": "x"}, configuration_text="b")
    text = text_of(page_of(client, run))
    assert "a: 1 → 2" in text
    assert "b: x" not in text


def test_the_first_group_has_nothing_before_it(client):
    run = make_run(project=make_project(public=True))
    assert "This is the first point of its history." in text_of(page_of(client, run))


def test_what_a_tool_printed_meanwhile_is_drawn(client):
    tables = (
        SampleTable("sysbench", ("time_s", "tps", "latency_p95"), ((1.0, 90.0, 5.0), (2.0, 110.0, None))),
        SampleTable("histogram", ("latency_ms", "count"), ((1.0, 30.0), (2.0, 70.0))),
        SampleTable("pgbench", ("time_s", "tps"), ((1.0, 90.0), (2.0, 110.0))),
        SampleTable("ycsb", ("time_s", "ops_per_s", "read.latency_avg"), ((1.0, 90.0, 5.0),)),
        SampleTable("read histogram", ("latency_ms", "count"), ((1.0, 30.0), (2.0, 70.0))),
        SampleTable("transaction counter", ("reading", "tpm"), ((1.0, 0.0), (2.0, 70.0))),
        SampleTable("vmstat", ("us", "sy"), ((50.0, 9.0),)),
    )
    answer = page_of(client, make_run(project=make_project(public=True), samples=tables))
    drawn = {chart.name: chart.figure for chart in answer.context["intervals"]}
    known, others = ["sysbench", "pgbench", "ycsb", "histogram"], ["read-histogram", "transaction-counter"]
    assert list(drawn) == [*known, *others, "vmstat"]
    for source in known + others:
        go.Figure(plotly(drawn[source]))
    assert drawn["vmstat"] is None
    assert [chart.height for chart in answer.context["intervals"]] == [400, 320, 400, 320, 320, 320, 320]
    titles = [chart.title.rpartition(", ")[2] for chart in answer.context["intervals"]]
    assert titles[:3] == ["while it ran"] * 3
    assert 'id="sysbench-table"' in text_of(answer)
    assert 'id="histogram-table"' in text_of(answer)


def test_iterations_of_jmh_are_drawn_in_the_unit_of_the_score(client):
    tables = (
        SampleTable("iterations", ("fork", "iteration", "score"), ((1.0, 1.0, 50.0), (2.0, 1.0, 70.0))),
    )
    score = (Reading("score", 60.0, "ns/op", "lower"),)
    run = make_run(project=make_project(public=True), readings=score, samples=tables)
    (chart,) = page_of(client, run).context["intervals"]
    go.Figure(plotly(chart.figure))
    assert plotly(chart.figure)["layout"]["yaxis"]["title"]["text"] == "score (ns/op), lower is better"


def test_the_raw_file_is_for_members(client):
    project = make_project(public=True)
    run = make_run(project=project)
    raw = reverse("dashboard:upload_raw", args=[project.slug, run.upload_id])
    assert raw not in text_of(page_of(client, run))
    client.force_login(make_user(member_of=project))
    assert raw in text_of(page_of(client, run))


def test_a_run_exists_only_in_its_project_and_for_who_may_see_it(client):
    public, private = make_project(public=True), make_project()
    run = make_run(project=private)
    for slug in (public.slug, private.slug):
        assert client.get(reverse("dashboard:run", args=[slug, run.pk])).status_code == 404
    assert client.get(reverse("dashboard:run", args=[public.slug, 2**70])).status_code == 404
    client.force_login(make_user(member_of=private))
    page_of(client, run)


def test_a_run_takes_the_same_statements_however_much_it_holds(client, django_assert_num_queries):
    project = make_project(public=True)
    make_series([100.0, 101.0], project=project)
    run = Run.objects.select_related("project").latest("started_at")
    with django_assert_num_queries(12):
        page_of(client, run)
    make_series([[100.0, 101.0]] * 20, project=project)
    many = dict.fromkeys(("tps", "qps", "latency_avg", "latency_p95", "latency_max"), 5.0)
    run = make_run(project=project, version="10.6.30", readings=many)
    with django_assert_num_queries(12):
        page_of(client, run)


# --- leaving a run out --------------------------------------------------------------------------------------


def test_a_member_excludes_a_run_with_a_reason_and_takes_it_back(client):
    project = make_project(public=True)
    run = make_run(project=project)
    client.force_login(make_user(member_of=project))
    text = text_of(correct(client, run, "exclude", reason="the disk was full"))
    assert "The run is excluded. 1 series is looked at again." in text
    assert "it counts neither in points nor in analysis. Reason: the disk was full" in text
    run.refresh_from_db()
    assert run.is_excluded
    text = text_of(correct(client, run, "restore"))
    assert "The run counts again." in text
    assert list(AuditEntry.objects.order_by("id").values_list("action", "reason")) == [
        ("run excluded", "the disk was full"),
        ("run restored", ""),
    ]
    assert "<td>run excluded</td><td>the disk was full</td>" in text


def test_an_exclusion_needs_a_reason(client):
    project = make_project(public=True)
    run = make_run(project=project)
    client.force_login(make_user(member_of=project))
    assert "Nothing was changed: say why the run is excluded." in text_of(correct(client, run, "exclude"))
    run.refresh_from_db()
    assert not run.is_excluded


def test_reasons_are_for_members(client):
    project = make_project(public=True)
    run = make_run(project=project)
    client.force_login(make_user(member_of=project))
    correct(client, run, "exclude", reason="the disk was full")
    client.logout()
    text = text_of(page_of(client, run))
    assert "it counts neither in points nor in analysis" in text
    assert "the disk was full" not in text


def test_who_may_not_triage_excludes_nothing(client):
    project = make_project(public=True)
    run = make_run(project=project)
    assert "Exclude run" not in text_of(page_of(client, run))
    assert client.post(f"/p/{project.slug}/runs/{run.pk}/exclude/")["Location"].startswith("/sign-in/")
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.post(f"/p/{project.slug}/runs/{run.pk}/exclude/", {"reason": "x"}).status_code == 403
    assert client.get(f"/p/{project.slug}/runs/{run.pk}/exclude/").status_code == 405
    run.refresh_from_db()
    assert not run.is_excluded


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_excluding_asks_first_and_names_the_run(chromium_page, sign_in):
    project = make_project(public=True)
    run = make_run(project=project)
    sign_in(make_user(member_of=project))
    chromium_page.goto(reverse("dashboard:run", args=[project.slug, run.pk]))
    chromium_page.get_by_label("Reason").fill("the disk was full")
    chromium_page.get_by_role("button", name=f"Exclude run {run.pk}").click()
    question = chromium_page.get_by_role("dialog")
    expect(question).to_contain_text(f"Exclude run {run.pk} of 10.6.23 from 1 series?")
    question.get_by_role("button", name=f"Exclude run {run.pk}").click()
    expect(chromium_page.get_by_role("status")).to_contain_text("The run is excluded.")
