"""The matrix page."""

import csv
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from tests.builders import START, make_project, make_record, make_runs, make_series, make_user
from tests.dashboard.page_text import chip, matrix, text_of

pytestmark = pytest.mark.django_db

STEADY = (1.0, 1.001, 1.002)
VERSIONS = ("10.2.44", "10.6.23", "10.11.15")


@pytest.fixture
def project():
    return make_project("bench", public=True)


def measure(project, *, versions=VERSIONS, workloads=("hot-points", "scan"), threads=(1,), repeats=STEADY):
    """The tps of each workload falls by a tenth with each version, from 1,000 for each thread."""
    records = [
        make_record(
            1000.0 * count * (1 - 0.1 * number) * steady,
            version=version,
            workload=workload,
            threads=count,
            started_at=START + timedelta(days=20 * number + session),
        )
        for number, version in enumerate(versions)
        for workload in workloads
        for count in threads
        for session, steady in enumerate(repeats)
    ]
    return make_runs(records, project=project)


def get(client, query=""):
    return client.get(f"/p/bench/compare/matrix/?{query}")


def names(answer):
    """Of the rows below the head, without their thread counts."""
    return [row[0] for row in matrix(answer)[1:]]


def test_it_is_a_tab_under_compare(client, project):
    measure(project)
    page = client.get("/p/bench/compare/", follow=True).content.decode()
    assert '<a href="/p/bench/compare/matrix/" aria-current="page">Matrix</a>' in page


def test_versions_stand_in_groups_relative_to_the_oldest(client, project):
    measure(project, workloads=["hot-points", "scan", "point-query"])
    answer = get(client)
    assert matrix(answer) == [
        ["Workload", "10.11.15", "10.6.23", "10.2.44"],
        ["Geometric mean", "▼ 0.80", "▼ 0.90", ""],
        ["lowest", "0.80", "0.90", ""],
        ["highest", "0.80", "0.90", ""],
        ["Point queries 2", "▼ 0.80", "▼ 0.90", ""],
        ["lowest", "0.80", "0.90", ""],
        ["highest", "0.80", "0.90", ""],
        ["hot-points", "▼ 0.80", "▼ 0.90", "1,001"],
        ["point-query", "▼ 0.80", "▼ 0.90", "1,001"],
        ["Range queries 1", "", "", ""],
        ["scan", "▼ 0.80", "▼ 0.90", "1,001"],
    ]
    text = text_of(answer)
    assert "transactions per second, higher is better, relative to 10.2.44; in bold the geometric" in text
    assert "of each group of workloads; 1 thread" in text


def test_each_version_can_stand_against_the_one_before(client, project):
    measure(project, workloads=["scan"])
    answer = get(client, "relative_to=previous")
    assert matrix(answer)[1] == ["scan 1 thread", "▼ 0.89", "▼ 0.90", "1,001"]
    assert "each column relative to the one before" in text_of(answer)
    assert chip(answer, "base") is None
    # A click compares the two.
    old, middle, new = (short_id(column) for column in columns_of(project, Selector()))
    page = answer.content.decode().replace("&amp;", "&")
    assert f"pair/?base={old}&against={middle}&" in page
    assert f"pair/?base={middle}&against={new}&" in page


def test_another_reference_and_other_versions_can_be_chosen(client, project):
    measure(project, workloads=["scan"])
    old, _, new = (short_id(column) for column in columns_of(project, Selector()))
    assert matrix(get(client, f"v={old}&v={new}&base={new}"))[:2] == [
        ["Workload", "10.2.44", "10.11.15"],
        ["scan 1 thread", "▲ 1.25", "800.8"],
    ]


def test_values_and_numbers_of_runs_can_stand_in_the_cells(client, project):
    measure(project, workloads=["scan"])
    assert matrix(get(client, "values=both"))[1][2:] == ["▼ 0.90 900.9, n = 3", "1,001 n = 3"]
    assert matrix(get(client, "values=absolute"))[1][2:] == ["▼ 900.9 n = 3", "1,001 n = 3"]


def test_one_thread_count_can_be_chosen_and_others_fold(client, project):
    measure(project, workloads=["scan"], threads=[1, 16])
    assert matrix(get(client, "rows=flat"))[-1][0] == "scan"
    assert matrix(get(client, "threads=16"))[-1][::3] == ["scan 16 threads", "16,016"]
    pk = project.workloads.get().pk
    opened = matrix(get(client, f"open={pk}"))
    assert [row[0] for row in opened[-3:]] == ["scan", "1 thread", "16 threads"]


def test_rows_can_be_sorted_and_those_without_a_change_left_out(client, project):
    measure(project, workloads=["a", "c"])
    make_runs(
        [
            make_record(
                100.0 * steady,
                version=version,
                workload="b",
                threads=1,
                started_at=START + timedelta(days=20 * number + session),
            )
            for number, version in enumerate(VERSIONS)
            for session, steady in enumerate(STEADY)
        ],
        project=project,
    )
    assert names(get(client, "rows=flat"))[-3:] == ["a", "b", "c"]
    assert names(get(client, "rows=flat&sort=worst"))[-3:] == ["a", "c", "b"]
    answer = get(client, "rows=flat&changed=1")
    assert names(answer)[-2:] == ["a", "c"]
    assert "1 workload without a change is hidden; the means count it." in text_of(answer)


def test_where_nothing_changed_it_says_so(client, project):
    measure(project, versions=["10.6.1"], workloads=["scan"])
    make_runs(
        [
            make_record(
                1000.0 * steady,
                version="10.6.2",
                workload="scan",
                threads=1,
                started_at=START + timedelta(days=20 + session),
            )
            for session, steady in enumerate(STEADY)
        ],
        project=project,
    )
    assert "No workload has a difference beyond the noise" in text_of(get(client, "changed=1"))


def test_groups_alone_are_a_summary(client, project):
    measure(project, workloads=["hot-points", "scan.warm", "scan", "point-query"])
    assert names(get(client, "rows=groups")) == [
        *("Geometric mean", "lowest", "highest"),
        *("Point queries 2", "lowest", "highest"),
        *("Range queries 2", "lowest", "highest"),
    ]


def test_one_session_each_has_no_colours_and_a_headline_that_says_what_would_settle_it(client, project):
    measure(project, workloads=["scan"], repeats=[1.0])
    answer = get(client)
    assert re.search(r'<td class="number level-unknown"><a [^>]+>0.90', answer.content.decode())
    assert (
        "One session each: what the machine did that hour cannot be told from what the version does. 2 more"
        " sessions of 10.2.44, of 10.6.23 and of 10.11.15 would tell how much sessions scatter here."
    ) in text_of(answer)
    answer = get(client, "colours=size")
    assert "level-worse-3" in answer.content.decode()
    assert "Colours show how large differences are, not whether they are real" in text_of(answer)


def test_a_cell_leads_to_its_two_sides_and_that_of_the_base_to_its_history(client, project):
    measure(project, versions=VERSIONS[:2], workloads=["scan"])
    old, new = (short_id(column) for column in columns_of(project, Selector()))
    pk = project.workloads.get().pk
    page = get(client).content.decode().replace("&amp;", "&")
    sides = f"/p/bench/compare/pair/?base={old}&against={new}&workload={pk}&threads=1"
    assert f'<a href="{sides}"' in page
    [history] = re.findall(r'<td class="number matrix-base"><a href="([^"]+)"', page)
    assert client.get(sides).status_code == client.get(history).status_code == 200


# --- nights -------------------------------------------------------------------------------------------------


def nights(project, values, *, workload="scan", **fields):
    records = [
        make_record(
            value,
            version="unknown",
            branch="main",
            workload=workload,
            started_at=START + timedelta(days=day),
            **fields,
        )
        for day, value in enumerate(values)
    ]
    return make_runs(records, project=project)


def test_the_nights_of_a_branch_stand_by_their_days_in_per_cent(client, project):
    nights(project, [100.0, 110.0, 90.0])
    answer = get(client)
    assert matrix(answer) == [
        ["Workload", "4 Mar", "3 Mar", "2 Mar"],
        ["scan 4 threads", "−10.0 %", "+10.0 %", "100.0"],
    ]
    assert "MariaDB on box, branch main" in text_of(answer)


def test_a_night_can_stand_against_the_one_before(client, project):
    nights(project, [100.0, 110.0, 99.0])
    assert matrix(get(client, "relative_to=previous"))[1][1:] == ["−10.0 %", "+10.0 %", "100.0"]


def test_a_commit_stands_below_its_day_and_a_cell_leads_to_its_history(client, project):
    make_series([100.0, 110.0], project=project, branch="main", workload="scan")
    answer = get(client)
    assert matrix(answer)[0] == ["Workload", "3 Mar 00000000", "2 Mar 00000000"]
    assert re.search(r'href="/p/bench/history/\?series=\d+"', answer.content.decode())


def test_years_are_said_where_there_are_several(client, project):
    nights(project, [100.0])
    later = START.replace(year=2027)
    make_runs(
        [make_record(110.0, version="unknown", branch="main", workload="scan", started_at=later)],
        project=project,
    )
    assert matrix(get(client))[0] == ["Workload", "2 Mar 2027", "2 Mar 2026"]


def test_beside_releases_nights_are_one_click_away_and_stand_against_the_newest_release(client, project):
    measure(project, versions=["10.6.1", "10.6.2"], workloads=["scan"], threads=[4])
    nights(project, [3600.0])
    answer = get(client)
    assert matrix(answer)[0] == ["Workload", "10.6.2", "10.6.1"]
    assert "over=nights" in answer.content.decode()
    answer = get(client, "over=nights")
    assert matrix(answer)[:2] == [["Workload", "2 Mar", "10.6.2"], ["scan 4 threads", "−0.1 %", "3,604"]]
    assert matrix(get(client, "over=nights&base=~"))[0] == ["Workload", "2 Mar"]


def links(answer):
    return {link.label: link.url for link in answer.context["shown"].pages}


def test_earlier_nights_are_one_click_away_and_back(client, project):
    nights(project, [100.0 + night for night in range(20)])
    newest = get(client)
    assert matrix(newest)[0] == ["Workload", *(f"{day} Mar" for day in range(21, 13, -1))]
    assert list(links(newest)) == ["Earlier"]
    earlier = client.get(links(newest)["Earlier"])
    assert matrix(earlier)[0] == ["Workload", *(f"{day} Mar" for day in range(13, 5, -1))]
    assert list(links(earlier)) == ["Earlier", "Later"]
    assert "until" not in links(earlier)["Later"]
    assert matrix(client.get(links(earlier)["Later"])) == matrix(newest)


def test_a_day_in_the_address_is_the_last_that_is_shown(client, project):
    nights(project, [100.0, 110.0, 120.0])
    answer = get(client, "until=2026-03-03")
    assert matrix(answer)[0] == ["Workload", "3 Mar", "2 Mar"]
    assert ("until", "2026-03-03") in answer.context["kept"]
    assert "Nothing of these was measured so" in text_of(get(client, "until=2020-01-01"))
    for nonsense in ("soon", "2026-13-01", "0001-01-01T00:00:00%2B23:59", "9999-12-31T23:59:59-23:59"):
        assert get(client, f"until={nonsense}").status_code == 200


# --- the baseline of a branch -------------------------------------------------------------------------------


def move(client, project, target, *, reason="the pool was resized", back=""):
    [branch, *_] = columns_of(project, Selector(branch="main"))
    said = {"stream": short_id(branch), "target": target, "reason": reason, "back": back}
    return client.post("/p/bench/compare/matrix/baseline/", said, follow=True)


def night(project, day):
    """The value of a night in the form."""
    return f"group.{project.versions.get().pk}.2026-03-{day:02d}"


@pytest.fixture
def alice(client, project):
    alice = make_user(member_of=project)
    client.force_login(alice)
    return alice


def test_a_member_moves_the_baseline_with_a_reason_and_everything_says_so(client, project, alice):
    nights(project, [100.0, 200.0, 50.0])
    assert matrix(get(client))[0] == ["Workload", "4 Mar", "3 Mar", "2 Mar"]
    answer = move(client, project, night(project, 3), back="values=both&base=~")
    assert answer.redirect_chain == [("/p/bench/compare/matrix/?over=nights&values=both", 302)]
    assert "The baseline is 3 Mar 2026 from now on." in text_of(answer)
    answer = get(client)
    assert matrix(answer) == [
        ["Workload", "4 Mar", "2 Mar", "3 Mar 2026"],
        ["scan 4 threads", "−75.0 %", "−50.0 %", "200.0"],
    ]
    text = text_of(answer)
    assert "Baseline: 3 Mar 2026 set by Alice just now because “the pool was resized”" in text
    [entry] = project.audit_entries.all()
    assert (entry.action, entry.subject, entry.reason) == (
        "baseline moved",
        "MariaDB main",
        "the pool was resized",
    )
    assert entry.detail == {"before": "none", "after": "3 Mar 2026"}


def test_the_overview_holds_the_branch_against_the_same_baseline(client, project, alice):
    nights(project, [100.0, 200.0, 50.0])
    move(client, project, night(project, 3))
    answer = client.get("/p/bench/?branch=main")
    assert matrix(answer)[1] == ["scan 4 threads", "0.25", "0.50", "200.0"]
    assert chip(answer, "base") == "3 Mar 2026 (set for this branch)"


def test_a_baseline_older_than_the_shown_nights_still_counts(client, project, alice):
    nights(project, [200.0, *[100.0] * 35])
    move(client, project, night(project, 2))
    assert matrix(get(client))[1][::9] == ["scan 4 threads", "200.0"]
    assert matrix(get(client))[1][1] == "▼ −50.0 %"


def test_a_release_or_a_commit_can_be_the_baseline(client, project, alice):
    measure(project, versions=["10.6.1", "10.6.2"], workloads=["scan"], threads=[4])
    make_series([500.0, 1000.0], project=project, branch="main", workload="scan")
    old = project.versions.get(version="10.6.1").pk
    move(client, project, f"release.{old}")
    answer = get(client, "over=nights")
    assert matrix(answer)[0] == ["Workload", "3 Mar 00000000", "2 Mar 00000000", "10.6.1"]
    first = project.versions.get(commit=f"{1:040x}").pk
    move(client, project, f"group.{first}.2026-03-02")
    answer = get(client, "over=nights")
    assert matrix(answer) == [
        ["Workload", "3 Mar 00000000", "2 Mar 2026 00000000"],
        ["scan 4 threads", "+100.0 %", "500.0"],
    ]


def test_a_baseline_can_be_moved_back_and_taken_back(client, project, alice):
    nights(project, [100.0, 200.0, 50.0])
    move(client, project, night(project, 3))
    move(client, project, night(project, 4), reason="a new machine")
    page = get(client).content.decode()
    [target] = re.findall(r'name="target" value="([^"]+)"', page)
    assert target == night(project, 3)
    move(client, project, target, reason="moved back")
    assert matrix(get(client))[0][-1] == "3 Mar 2026"
    move(client, project, "none", reason="not needed")
    answer = get(client)
    assert matrix(answer)[0][-1] == "2 Mar"
    assert "because “not needed”" in text_of(answer)
    assert project.baselines.count() == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reason": " "}, "the reason is missing or malformed"),
        ({"target": "group.1"}, "the target is missing or malformed"),
        ({"target": "release.999999999"}, "there is no such version"),
        ({"target": "group.999999999.2026-13-41"}, "there is no such version"),
        ({"target": "group.999999999.9999-12-31"}, "there is no such version"),
        ({"target": "none"}, "this is the baseline already"),
    ],
)
def test_what_cannot_be_the_baseline_leaves_it(client, project, alice, change, said):
    nights(project, [100.0, 200.0])
    answer = move(client, project, **{"target": night(project, 2), **change})
    assert f"The baseline stays: {said}." in text_of(answer)
    assert not project.baselines.exists()


def test_a_night_without_runs_cannot_be_the_baseline(client, project, alice):
    nights(project, [100.0, 200.0])
    answer = move(client, project, night(project, 9))
    assert "The baseline stays: nothing of this was measured there." in text_of(answer)
    pk = project.versions.get().pk
    for target in (f"release.{pk}", f"group.{pk}.9999-12-31", f"group.{pk}.0001-01-01"):
        assert "nothing of this was measured" in text_of(move(client, project, target))


def test_who_may_not_triage_sees_the_baseline_and_nothing_to_move_it(client, project, alice):
    nights(project, [100.0, 200.0])
    move(client, project, night(project, 3))
    client.logout()
    text = text_of(get(client))
    assert "Baseline: 3 Mar 2026 set just now" in text
    assert "pool was resized" not in text
    assert "Alice" not in text
    assert "Move the baseline" not in text
    [branch, *_] = columns_of(project, Selector(branch="main"))
    said = {"stream": short_id(branch), "target": "none", "reason": "mine"}
    assert client.post("/p/bench/compare/matrix/baseline/", said).status_code == 302
    assert project.baselines.count() == 1


def test_a_baseline_without_the_metric_is_stood_in_for(client, project, alice):
    nights(project, [100.0, 200.0])
    nights(project, [5.0], workload="other", readings={"qps": 5.0})
    make_runs([make_record(1.0, version="10.6.1", readings={"qps": 1.0})], project=project)
    move(client, project, f"release.{project.versions.get(version='10.6.1').pk}")
    answer = get(client, "over=nights&metric=tps")
    assert "The chosen baseline has nothing of this metric" in text_of(answer)
    assert matrix(answer)[1] == ["scan 4 threads", "+100.0 %", "100.0"]


# --- CSV, empty, who, how much ------------------------------------------------------------------------------


def test_the_file_has_all_figures_of_every_column(client, project):
    measure(project, versions=VERSIONS[:2], workloads=["scan"])
    answer = get(client, "format=csv")
    assert answer["Content-Type"].startswith("text/csv")
    [row] = csv.DictReader(StringIO(answer.content.decode("utf-8-sig")))
    assert (row["group"], row["workload"], row["threads"]) == ("range queries", "scan", "1")
    assert (float(row["10.2.44 value"]), row["10.2.44 n"]) == (pytest.approx(1001), "3")
    assert float(row["10.6.23 ratio"]) == pytest.approx(0.9)
    assert row["10.6.23 verdict"] == "worse"


def test_an_empty_project_says_what_will_be_here(client, project):
    assert "Charts appear here with the first results" in text_of(get(client))


def test_what_was_not_measured_so_is_told_from_an_error(client, project):
    measure(project)
    assert "Nothing of these was measured so" in text_of(get(client, "threads=999"))
    assert "No version chosen" in text_of(get(client, "v=9999999"))


def test_nonsense_in_the_address_is_no_error(client, project):
    measure(project)
    nights(project, [100.0])
    names = ["v", "base", "metric", "workload", "threads", "rows", "sort", "changed", "colours", "open"]
    names += ["charts", "drawn", "axis", "operation"]
    wrong = "&".join(f"{name}={value}" for name in names for value in ("x", "%00", "9" * 30))
    for over in ("versions", "nights", "x"):
        assert get(client, f"over={over}&{wrong}&branch=x&show=x&values=x&relative_to=x").status_code == 200


def test_a_private_project_is_for_its_members(client):
    project = make_project("bench")
    measure(project)
    assert get(client).status_code == 404
    client.force_login(make_user(member_of=project))
    assert get(client).status_code == 200


@pytest.mark.parametrize("over", ["versions", "nights"])
def test_any_size_takes_the_same_statements(client, project, over):
    measure(project, versions=["10.6.1", "10.6.2"])
    nights(project, [100.0, 90.0])
    with CaptureQueriesContext(connection) as few:
        get(client, f"over={over}")
    assert len(few) < 25
    measure(project, versions=[f"10.7.{patch}" for patch in range(9)], workloads="abc", threads=[1, 2])
    for workload in "def":
        nights(project, [100.0] * 20, workload=workload)
    with CaptureQueriesContext(connection) as many:
        get(client, f"over={over}")
    assert len(many) == len(few)
