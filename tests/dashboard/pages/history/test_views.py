"""The history page: one or several series against versions or time."""

import csv
import io
import re
from datetime import timedelta
from html import unescape

import plotly.graph_objects as go
import pytest
from django.urls import reverse
from playwright.sync_api import expect

from benchdash.accounts.access import Viewer
from benchdash.charts.plotly import plotly
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.annotations import annotate
from benchdash.results.corrections import exclude_run
from benchdash.results.models import Run
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series, make_user
from tests.dashboard.controls import choose_display, opened_filter

pytestmark = pytest.mark.django_db


def address(project, name="history", **query):
    return reverse(f"dashboard:{name}", args=[project.slug], query=query)


def shown(client, project, **query):
    answer = client.get(address(project, **query))
    assert answer.status_code == 200
    return answer


def shown_at(client, url):
    answer = client.get(url)
    assert answer.status_code == 200
    return answer


def text_of(answer):
    return re.sub(r">\s+<", "><", answer.content.decode())


def make_change_point(series, index, *, state="confirmed", with_incident=True):
    run = Run.objects.filter(measurements__series=series).order_by("started_at")[index]
    incident = None
    if with_incident:
        incident = Incident.objects.create(
            project=series.project,
            product=series.product,
            kind="regression",
            status="confirmed",
            started_at=run.started_at,
            worst=-0.2,
            median=-0.2,
        )
    return ChangePoint.objects.create(
        series=series,
        run=run,
        incident=incident,
        state=state,
        before=100.0,
        after=80.0,
        change=-0.2,
        confidence=0.99,
        groups_before=index,
        groups_after=2,
    )


def make_beside_a_control(tested, control, *, project, **fields):
    """Nights of a server and a control that ran ten minutes later; None: no control that night."""
    make_nights(control, project=project, build="control", delay=timedelta(minutes=10), **fields)
    return make_nights(tested, project=project, **fields)


def make_nights(values, *, project, delay=timedelta(0), **fields):
    records = [
        make_record(
            tps,
            branch="nightly",
            version="unknown",
            started_at=START + timedelta(days=night) + delay,
            **fields,
        )
        for night, tps in enumerate(values)
        if tps is not None
    ]
    return make_runs(records, project=project)[0].measurements.get().series


# --- what is drawn ------------------------------------------------------------------------------------------


def test_one_series_is_a_chart_and_a_table_that_says_the_same(client):
    project = make_project(public=True)
    series = make_series([100.0, 90.0, [80.0, 82.0]], project=project)
    answer = shown(client, project, series=series.pk)
    (chart,) = answer.context["charts"]
    go.Figure(plotly(chart.figure))
    assert chart.title == "oltp_read_only, 4 threads, transactions per second, MariaDB 10.6, box"
    assert plotly(chart.figure)["data"][0]["y"] == [100, 90, 81]
    assert [row.point.value for row in chart.rows] == [81, 90, 100]
    runs = Run.objects.filter(version__version="10.6.3").order_by("-started_at")
    assert f'href="{reverse("dashboard:run", args=[project.slug, runs[0].pk])}">10.6.3</a>' in text_of(answer)
    assert "−10.0\u00a0%" in text_of(answer)


def test_a_change_is_a_flag_on_the_chart_with_its_number_in_list_table_csv_and_alternative_text(client):
    project = make_project(public=True)
    series = make_series([100.0, 101.0, 80.0, 81.0], project=project)
    change_point = make_change_point(series, 2)
    answer = shown(client, project, series=series.pk)
    incident = reverse("dashboard:incident", args=[project.slug, change_point.incident_id])
    flag, change = plotly(answer.context["charts"][0].figure)["layout"]["annotations"]
    assert flag["text"] == '<a href="#flag-1" target="_self">1 ▼</a>'
    assert change["text"] == "−20.0\u00a0%"
    text = text_of(answer)
    assert text.count(f'href="{incident}">incident {change_point.incident_id}</a>') == 1
    [row] = re.findall(r"<tr id=\"history-1-flag-1\".*?</tr>", text, re.DOTALL)
    for words in ("1 ▼", "10.6.3", "100.0 → 80.0", "−20.0\u00a0%", incident):
        assert words in row
    assert text.count('href="#history-1-flag-1">1 ▼</a>') == 1
    assert "box. 1 ▼ 10.6.3: −20.0\u00a0%" in text
    rows = list(
        csv.DictReader(io.StringIO(client.get(address(project, "history_csv")).content.decode("utf-8-sig")))
    )
    assert [row["flag"] for row in rows] == ["", "", "1", ""]


def test_flags_are_numbered_along_the_axis_whatever_they_tell_of(client):
    project = make_project(public=True)
    series = make_series([100.0, 101.0, 80.0, 81.0, 80.0], project=project)
    make_change_point(series, 2)
    annotate(project, at=START + timedelta(days=1), text="a new disk", by=Viewer())
    answer = shown(client, project, series=series.pk)
    words = [(flag.text, flag.words) for flag in answer.context["charts"][0].flags]
    assert words == [
        ("1", "10.6.2: no change found, a new disk"),
        ("2 ▼", "10.6.3: −20.0\u00a0%"),
    ]
    assert "a new disk" in text_of(answer)


def test_the_two_sides_of_a_change_can_be_compared(client):
    project = make_project(public=True)
    series = make_series([100.0, 101.0, 80.0, 81.0], project=project)
    make_change_point(series, 2)
    answer = shown(client, project, series=series.pk)
    [address] = set(re.findall(r'href="([^"]+)">compare</a>', text_of(answer)))
    comparison = shown_at(client, unescape(address))
    assert comparison.context["names"] == ("10.6.2", "10.6.3")
    nights = make_nights([100.0, 80.0], project=project)
    make_change_point(nights, 1)
    assert ">compare</a>" not in text_of(shown(client, project, series=nights.pk))


def test_a_switched_setting_stands_in_chart_and_table(client):
    project = make_project(public=True)
    records = [
        make_record(
            version=f"10.6.{number}",
            settings={"performance_schema": value},
            configuration_text=value,
        )
        for number, value in enumerate(["OFF", "ON"])
    ]
    make_runs(records, project=project)
    answer = shown(client, project)
    marks = plotly(answer.context["charts"][0].figure)["data"][-1]
    assert marks["text"] == ["<b>1: settings changed</b><br>performance_schema: OFF → ON"]
    assert '<span class="mono">performance_schema: OFF → ON</span>' in text_of(answer)


def test_up_to_six_series_share_a_chart_and_more_are_small_ones(client):
    project = make_project(public=True)
    for threads in range(1, 7):
        make_series([100.0, 110.0], project=project, threads=threads)
    answer = shown(client, project)
    assert [len(chart.lines) for chart in answer.context["charts"]] == [6]
    make_series([100.0, 110.0], project=project, threads=7)
    answer = shown(client, project, charts="small")
    small = answer.context["small_charts"]
    assert [chart.title for chart in small] == ["1 thread", *(f"{number} threads" for number in range(2, 8))]
    for chart in small:
        go.Figure(plotly(chart.figure))
    assert text_of(answer).count('<tr><th scope="row">') == 7
    (large,) = shown_at(client, small[2].url).context["charts"]
    assert [line.name for line in large.lines] == ["MariaDB 10.6"]


# --- one large chart of many workloads ----------------------------------------------------------------------


def many(project, *, changed=None):
    """Eight workloads at one level; ``changed`` has a confirmed change."""
    series = {
        name: make_series([100.0, 101.0, 100.0, 101.0], project=project, workload=name) for name in "abcdefgh"
    }
    if changed:
        make_change_point(series[changed], 2)
    return series


def test_many_workloads_open_on_one_large_chart_of_that_which_changed_most(client):
    project = make_project(public=True)
    many(project, changed="f")
    answer = shown(client, project)
    (chart,) = answer.context["charts"]
    assert chart.series.workload.name == "f"
    rows = answer.context["workloads"]
    assert [row.name for row in rows] == ["f", *"abcdegh"]
    assert [row.is_open for row in rows] == [True] + [False] * 7
    assert (rows[0].change.level.change, rows[0].since) == (-0.2, "10.6.3")
    assert "The chart shows the workload that changed most." in text_of(answer)
    assert text_of(answer).count('<polyline points="3.0,') == 8


def test_where_nothing_changed_the_most_measured_workload_is_open(client):
    project = make_project(public=True)
    series = many(project)
    make_runs([make_record(100.0, version="10.6.4", workload="d", repetition=9)], project=project)
    answer = shown(client, project)
    (chart,) = answer.context["charts"]
    assert chart.series == series["d"]
    assert "No workload changed beyond the noise; the chart shows the one measured most." in text_of(answer)


def test_a_click_opens_another_and_the_list_stays(client):
    project = make_project(public=True)
    many(project, changed="f")
    first = shown(client, project, x="time")
    third = first.context["workloads"][2]
    answer = shown_at(client, third.url)
    (chart,) = answer.context["charts"]
    assert chart.series.workload.name == third.name == "b"
    assert [row.name for row in answer.context["workloads"]] == ["f", *"abcdegh"]
    assert "The chart shows" not in text_of(answer)
    assert "x=time" in third.url
    # An article keeps what was open.
    assert "open=" in first.context["fixed_url"]


def test_all_as_small_charts_is_one_click_away_and_back(client):
    project = make_project(public=True)
    many(project)
    answer = shown(client, project, scale="log")
    assert answer.context["small_url"].endswith("?scale=log&charts=small")
    small = shown_at(client, answer.context["small_url"])
    assert len(small.context["small_charts"]) == 8
    assert "charts" not in small.context["large_url"]
    # The form keeps it through a filter.
    assert ("charts", "small") in small.context["kept"]


def test_what_is_open_stays_open_on_another_page_of_the_list(client):
    project = make_project(public=True)
    make_runs([make_record(workload=f"w{number:02}") for number in range(20)], project=project)
    answer = shown(client, project, page=2)
    assert [row.name for row in answer.context["workloads"]] == ["w18", "w19"]
    opened = shown(client, project, open=answer.context["workloads"][1].key)
    assert len(opened.context["workloads"]) == 18
    (chart,) = opened.context["charts"]
    assert chart.series.workload.name == "w19"
    assert shown(client, project, open=999999).context["charts"][0].series.workload.name == "w00"


def test_of_very_many_workloads_the_largest_changes_come_first(client):
    project = make_project(public=True)
    series = [make_series([100.0, 80.0], project=project, workload=f"w{number:02}") for number in range(26)]
    make_change_point(series[25], 1)
    answer = shown(client, project)
    assert answer.context["workloads"][0].name == "w25"


def test_many_small_charts_come_page_by_page(client):
    project = make_project(public=True)
    make_runs([make_record(workload=f"w{number:02}") for number in range(19)], project=project)
    first, second = shown(client, project, charts="small"), shown(client, project, charts="small", page=2)
    assert len(first.context["small_charts"]) == 18
    assert "1 to 18 of 19" in text_of(first)
    assert [chart.title for chart in second.context["small_charts"]] == ["w18"]


def test_release_lines_share_a_chart_however_many(client):
    project = make_project(public=True)
    make_runs([make_record(version=f"10.{minor}.1") for minor in range(2, 12)], project=project)
    (chart,) = shown(client, project).context["charts"]
    assert [line.name for line in chart.lines] == [f"10.{minor}" for minor in range(2, 12)]
    assert plotly(chart.figure)["layout"]["xaxis"]["categoryarray"][-2:] == ["10.10.1", "10.11.1"]


def test_each_metric_has_a_chart_of_its_own_with_its_newest_groups(client):
    project = make_project(public=True)
    records = [
        make_record(version=f"10.6.{number}", readings={"tps": 100.0, "latency_p95": 5.0})
        for number in range(30)
    ]
    make_runs(records, project=project)
    answer = client.get(address(project) + "?metric=tps&metric=latency_p95")
    charts = answer.context["charts"]
    assert {chart.series.metric for chart in charts} == {"tps", "latency_p95"}
    assert [len(chart.rows) for chart in charts] == [20, 20]
    alone = shown_at(client, charts[0].open_url).context["charts"]
    assert [chart.rows.paginator.count for chart in alone] == [30]


def test_versions_of_two_products_have_an_axis_each_and_share_that_of_time(client):
    project = make_project(public=True)
    make_series([100.0, 90.0], project=project)
    make_series([100.0, 90.0], project=project, product="MySQL")
    assert len(shown(client, project, hardware="box").context["charts"]) == 2
    (chart,) = shown(client, project, hardware="box", x="time").context["charts"]
    assert plotly(chart.figure)["layout"]["xaxis"]["type"] == "date"


def test_the_table_of_lines_says_what_nights_and_what_releases_are_held_against(client):
    project = make_project("bench", public=True)
    release = make_series([100.0, 101.0, 99.0], project=project)
    night = make_series([100.0, 101.0, 99.0], project=project, branch="main")
    for series, words in (
        ([release], "Against the one before"),
        ([night], "Of its level"),
        ([release, night], "or"),
    ):
        page = client.get("/p/bench/history/", {"series": [one.pk for one in series], "x": "time"})
        heads = re.findall(
            r'<th scope="col" class="number" title="A night[^>]*>([^<]*)</th>', page.content.decode()
        )
        assert heads
        assert all(words in head for head in heads)


def test_the_address_says_how_to_draw(client):
    project = make_project(public=True)
    make_series([200.0, 200.0, 100.0], project=project)
    (chart,) = shown(client, project, scale="log", relative="1").context["charts"]
    assert plotly(chart.figure)["layout"]["yaxis"]["type"] == "log"
    assert plotly(chart.figure)["data"][0]["y"] == [100, 100, 50]
    answer = shown(client, project, x="time")
    sides = {side.label: side for switch in answer.context["switches"] for side in switch.links}
    assert sides["time"].is_current
    assert sides["linear"].is_current
    assert sides["relative"].url.endswith("?x=time&relative=1")


def test_lines_far_apart_are_relative_unless_it_is_wished_otherwise(client):
    project = make_project(public=True)
    make_series([1000.0, 1000.0, 900.0], project=project, workload="fast")
    make_series([10.0, 11.0, 11.0], project=project, workload="slow")
    (chart,) = shown(client, project).context["charts"]
    assert plotly(chart.figure)["data"][0]["y"] == [100, 100, 90]
    assert "90.0\u00a0%" in text_of(shown(client, project))
    (chart,) = shown(client, project, relative="0").context["charts"]
    assert plotly(chart.figure)["data"][0]["y"] == [1000, 1000, 900]


def test_relative_to_the_median_of_the_first_level_a_first_outlier_moves_nothing(client):
    project = make_project(public=True)
    series = make_series([50.0, 100.0, 100.0, 100.0, 80.0, 80.0], project=project)
    make_change_point(series, 4)
    (chart,) = shown(client, project, series=series.pk, relative="1").context["charts"]
    assert plotly(chart.figure)["data"][0]["y"] == [50, 100, 100, 100, 80, 80]
    assert (
        plotly(chart.figure)["layout"]["yaxis"]["title"]["text"] == "% of the first level, higher is better"
    )


def test_beside_its_own_change_a_series_says_the_headline_of_its_incident(client):
    project = make_project(public=True)
    series = make_series([100.0, 101.0, 60.0, 61.0], project=project)
    change_point = make_change_point(series, 2)
    Incident.objects.update(median=-0.123)
    text = text_of(shown(client, project, series=series.pk))
    assert f"incident {change_point.incident_id}</a> (−12.3\u00a0% in all)" in text


def test_release_lines_are_relative_to_the_oldest_one(client):
    project = make_project(public=True)
    for version, tps in (("10.6.1", 100.0), ("11.4.1", 80.0)):
        make_run(tps, project=project, version=version)
    (chart,) = shown(client, project, relative="1").context["charts"]
    joined, *lines = plotly(chart.figure)["data"]
    assert [trace["y"] for trace in lines] == [[100], [80]]
    # One version each: they are joined, or nothing would say which comes after which.
    assert (joined["x"], joined["y"]) == (["10.6.1", "11.4.1"], [100, 80])


def test_response_times_over_more_than_a_decade_are_drawn_by_their_logs(client):
    project = make_project(public=True)
    make_series([1.0, 20.0], project=project, metric="latency_p95")
    (chart,) = shown(client, project).context["charts"]
    assert plotly(chart.figure)["layout"]["yaxis"]["type"] == "log"
    (chart,) = shown(client, project, scale="linear").context["charts"]
    assert plotly(chart.figure)["layout"]["yaxis"]["type"] == "linear"


def test_excluded_runs_are_hollow_and_their_reasons_for_members(client):
    project = make_project(public=True)
    make_series([100.0, 10.0], project=project)
    wrong = Run.objects.get(version__version="10.6.2")
    exclude_run(wrong, by=Viewer(), reason="somebody compiled beside it")
    answer = shown(client, project)
    assert plotly(answer.context["charts"][0].figure)["data"][1]["marker"]["symbol"] == "circle-open"
    assert "excluded</span>" in text_of(answer)
    assert "somebody compiled" not in text_of(answer)
    client.force_login(make_user(member_of=project))
    assert "somebody compiled" in text_of(shown(client, project))


def test_long_tables_come_page_by_page(client):
    project = make_project(public=True)
    make_series([100.0] * 150, project=project)
    first, last = shown(client, project), shown(client, project, page=8)
    assert len(first.context["charts"][0].rows) == 20
    assert [row.name for row in last.context["charts"][0].rows][-1] == "10.6.1"
    assert "CSV of all 150" in text_of(first)


# --- nothing to draw ----------------------------------------------------------------------------------------


def test_an_empty_project_says_what_will_be_here(client):
    project = make_project(public=True)
    assert "Charts appear here with the first results" in text_of(shown(client, project))


def test_who_finds_nothing_is_offered_what_would_be_found(client):
    project = make_project(public=True)
    make_run(project=project, workload="ro", hardware="a")
    make_run(project=project, workload="rw", hardware="b")
    answer = shown(client, project, workload="ro", hardware="b")
    assert "Without hardware b" in text_of(answer)
    without_hardware = re.search(r'href="[^"?]*(\?[^"]*)">Without hardware', text_of(answer))[1]
    assert len(shown_at(client, address(project) + without_hardware).context["charts"]) == 1


def test_series_that_are_gone_are_told(client):
    project = make_project(public=True)
    make_run(project=project)
    assert "These series are not here any more" in text_of(shown(client, project, series=999999))


# --- who sees it --------------------------------------------------------------------------------------------


def test_the_history_of_a_private_project_does_not_exist_for_others(client):
    project = make_project()
    series = make_series([1.0, 2.0], project=project)
    for name in ("history", "history_csv"):
        assert client.get(address(project, name, series=series.pk)).status_code == 404
    client.force_login(make_user(member_of=project))
    assert client.get(address(project, series=series.pk)).status_code == 200


def test_names_from_files_are_escaped_in_page_and_figure(client):
    project = make_project(public=True)
    make_run(project=project, workload="<img src=x>")
    make_run(project=project, workload="other")
    answer = shown(client, project)
    assert "<img src=x>" not in text_of(answer)
    assert plotly(answer.context["charts"][0].figure)["data"][0]["name"] == "&lt;img src=x&gt;"


# --- statements ---------------------------------------------------------------------------------------------


def test_a_page_takes_the_same_statements_whatever_it_draws(client, django_assert_num_queries):
    project = make_project(public=True)
    make_series([100.0, 90.0], project=project)
    # A large chart has annotations, and one series the changes that it could show.
    with django_assert_num_queries(10):
        shown(client, project)
    for threads in range(5, 30):
        series = make_series([100.0, 90.0, 80.0, 81.0], project=project, threads=threads)
        make_change_point(series, 2)
    # The list looks for the largest changes of all, before it reads a page of them.
    with django_assert_num_queries(11):
        shown(client, project)
    with django_assert_num_queries(9):
        shown(client, project, charts="small")


def test_values_relative_to_controls_take_one_statement_more(client, django_assert_num_queries):
    project = make_project(public=True)
    for threads in range(1, 30):
        make_beside_a_control([100.0, 50.0], [10.0, 5.0], project=project, threads=threads)
    with django_assert_num_queries(8):
        shown(client, project, build="none", charts="small")
    with django_assert_num_queries(9):
        shown(client, project, build="none", charts="small", control="1")


# --- relative to the control --------------------------------------------------------------------------------


def test_nights_are_shown_relative_to_the_control_of_their_sessions(client):
    project = make_project(public=True)
    series = make_beside_a_control([100.0, 50.0, 102.0, 120.0], [10.0, 5.0, 10.0, None], project=project)
    answer = shown(client, project, series=series.pk)
    assert ">relative to the control</a>" in text_of(answer)
    assert plotly(answer.context["charts"][0].figure)["data"][0]["y"] == [100, 50, 102, 120]
    answer = shown(client, project, series=series.pk, control="1")
    (chart,) = answer.context["charts"]
    go.Figure(plotly(chart.figure))
    assert plotly(chart.figure)["data"][0]["y"] == [100, 100, 102, None]
    assert "relative to control" in plotly(chart.figure)["layout"]["yaxis"]["title"]["text"]
    assert [row.point.value for row in chart.rows] == [102, 100, 100]
    assert "1 of 4 points have no control in their sessions" in " ".join(text_of(answer).split())
    table = csv.DictReader(io.StringIO(client.get(chart.csv_url).content.decode("utf-8-sig")))
    assert [(row["value"], row["relative_to_control"]) for row in table] == [
        ("100.0", "1"),
        ("100.0", "1"),
        ("102.0", "1"),
    ]


def test_small_charts_are_relative_to_the_control_too(client):
    project = make_project(public=True)
    for threads in range(1, 10):
        make_beside_a_control([100.0, 50.0], [10.0, 5.0], project=project, threads=threads)
    answer = shown(client, project, build="none", control="1", relative="0", charts="small")
    assert {tuple(plotly(one.figure)["data"][0]["y"]) for one in answer.context["small_charts"]} == {
        (75.0, 75.0)
    }


def test_without_a_control_there_is_no_such_switch(client):
    project = make_project(public=True)
    series = make_nights([100.0, 90.0], project=project)
    answer = shown(client, project, series=series.pk, control="1")
    assert "to the control" not in text_of(answer)
    assert plotly(answer.context["charts"][0].figure)["data"][0]["y"] == [100, 90]


def test_a_line_without_a_control_beside_one_that_has_one_stays_as_it_was_measured(client):
    project = make_project(public=True)
    one = make_beside_a_control([100.0, 50.0], [10.0, 5.0], project=project)
    other = make_nights([80.0, 90.0], project=project, threads=64)
    answer = shown(client, project, series=[one.pk, other.pk], control="1")
    lines = {named.line.series: named.line for chart in answer.context["charts"] for named in chart.lines}
    assert [point.value for point in lines[other].points] == [80, 90]
    assert "1 of 2 lines have no control" in " ".join(text_of(answer).split())


def test_a_change_stands_where_it_was_found_or_at_the_next_night_with_a_control(client):
    project = make_project(public=True)
    series = make_beside_a_control([100.0, 101.0, 80.0, 81.0], [10.0, 10.0, None, 10.0], project=project)
    make_change_point(series, 2)
    answer = shown(client, project, series=series.pk, control="1")
    (named,) = answer.context["charts"][0].lines
    assert list(named.line.shifts) == [2]
    assert named.line.points[2].value == 81
    assert named.line.levels_at(2) == (100.5, 81)


# --- all rows as a file -------------------------------------------------------------------------------------


def test_all_groups_can_be_taken_away_as_csv(client):
    project = make_project(public=True)
    series = make_series([100.0, 101.0, 80.0, 81.0], project=project)
    make_change_point(series, 2)
    answer = client.get(address(project, "history_csv", series=series.pk))
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [row["version"] for row in rows] == ["10.6.1", "10.6.2", "10.6.3", "10.6.4"]
    assert [float(row["value"]) for row in rows] == [100, 101, 80, 81]
    assert [row["change_point"] for row in rows] == ["", "", "confirmed", ""]
    assert rows[0]["time"] == START.isoformat()


# --- in the browser -----------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_flag_on_the_chart_leads_to_its_row_and_buttons_step_from_change_to_change(chromium_page):
    project = make_project(public=True)
    series = make_series([100.0] * 10 + [80.0] * 10 + [90.0] * 10, project=project)
    make_change_point(series, 10)
    make_change_point(series, 20)
    chromium_page.goto(address(project))
    chromium_page.locator("figure.chart[data-drawn]").wait_for()
    flags = chromium_page.locator(".annotation-text a")
    expect(flags).to_have_text(["1 ▼", "2 ▼"])
    chosen = chromium_page.locator("tr.is-chosen")
    box = flags.first.bounding_box()
    chromium_page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(chosen).to_contain_text("1 ▼")
    chromium_page.get_by_role("button", name="Next change").click()
    expect(chosen).to_contain_text("2 ▼")
    expect(chromium_page.locator(".history-step")).to_have_text("2: 10.6.21: −20.0\u00a0%")
    expect(chromium_page.get_by_role("button", name="Next change")).to_have_attribute("aria-disabled", "true")
    chromium_page.get_by_role("button", name="Previous change").click()
    expect(chosen).to_contain_text("1 ▼")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_part_of_the_axis_gets_labels_of_its_own_until_the_whole_is_back(chromium_page):
    project = make_project(public=True)
    series = make_series([100.0] * 40 + [80.0] * 40, project=project)
    make_change_point(series, 40)
    chromium_page.goto(address(project))
    chromium_page.locator("figure.chart[data-drawn]").wait_for()
    ticks = chromium_page.locator(".xtick text")
    whole = ticks.all_text_contents()
    assert "10.6.41" in whole

    def show(first, last):
        ends = {"xaxis.range[0]": first, "xaxis.range[1]": last}
        chromium_page.evaluate("ends => Plotly.relayout(document.querySelector('.chart-plot'), ends)", ends)

    show(3.5, 8.5)
    expect(ticks).to_have_text([f"10.6.{number}" for number in range(5, 10)])
    show(-0.5, 79.5)
    expect(ticks).to_have_text(whole)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_one_click_changes_the_axis_and_a_chip_keeps_it(chromium_page):
    project = make_project(public=True)
    make_series([100.0, 90.0, 95.0], project=project, workload="ro")
    make_series([50.0, 60.0, 65.0], project=project, workload="rw")
    chromium_page.goto(address(project))
    choose_display(chromium_page, "time")
    expect(chromium_page.get_by_role("link", name="time", exact=True)).to_have_attribute(
        "aria-current", "true"
    )
    assert "x=time" in chromium_page.url
    opened_filter(chromium_page, "workload")
    chromium_page.get_by_label("rw").check()
    expect(chromium_page.locator(".chart-title")).to_have_text(re.compile("^rw, 4 threads"))
    assert "x=time" in chromium_page.url
    assert "workload=rw" in chromium_page.url
    chromium_page.locator("figure.chart[data-drawn] .main-svg").first.wait_for()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_click_on_a_point_opens_its_run(chromium_page):
    project = make_project(public=True)
    make_series([100.0, 90.0, 95.0], project=project)
    run = Run.objects.get(version__version="10.6.2")
    chromium_page.goto(address(project))
    chromium_page.locator("figure.chart[data-drawn] .main-svg").first.wait_for()
    box = chromium_page.locator(".scatterlayer .point").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    chromium_page.mouse.move(x, y)
    expect(chromium_page.locator(".hoverlayer .hovertext")).to_contain_text("90.00 tps, n = 1")
    chromium_page.mouse.click(x, y)
    chromium_page.wait_for_url(f"**/runs/{run.pk}/")
