"""The gate: is a commit slower than the one before?"""

from datetime import timedelta
from math import exp
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from markdown_it import MarkdownIt

from benchdash.regressions.detection.compare import compare_samples
from benchdash.results.models import TouchedSeries
from ingest.models import Upload
from tests.builders import (
    START,
    in_sessions,
    make_project,
    make_record,
    make_run,
    make_runs,
    make_series,
    make_upload,
)

pytestmark = pytest.mark.django_db

STEADY = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0]


@pytest.fixture
def project():
    return make_project("amber", public=True)


@pytest.fixture
def gate(anonymous):
    def gate(commit, **query):
        TouchedSeries.objects.all().delete()
        return ask(anonymous, commit, **query)

    return gate


def ask(client, commit, **query):
    query = {"project": "amber", "product": "MariaDB", "branch": "main", "commit": commit, **query}
    answer = client.get("/api/v1/gate/", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def ask_gate(client, **query):
    answer = client.get("/api/v1/gate/", {"project": "amber", **query})
    assert answer.status_code == 200, answer.content
    return answer.json() if "format" not in query else answer


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def digits(number):
    return f"{number:040x}"


def test_a_single_run_that_is_much_slower_than_the_history_scatters_fails(project, gate):
    make_series([*STEADY, 80.0], project=project, branch="main")
    answer = gate(digits(11))
    assert list(answer)[:5] == ["verdict", "analysis", "rows", "more_runs", "more_sessions"]
    assert (answer["verdict"], answer["analysis"], answer["more_runs"]) == ("fail", "done", 0)
    [row] = answer["rows"]
    assert (row["workload"], row["threads"], row["metric"]) == ("oltp_read_only", 4, "tps")
    assert row["group"] == "range queries with aggregation"
    assert (row["hardware"], row["configuration"], row["unit"]) == ("box", "default", "1/s")
    assert (row["base"]["value"], row["base"]["sessions"]) == (100, 10)
    [cell] = row["cells"]
    assert (cell["value"], cell["ratio"], cell["verdict"]) == (80, 0.8, "worse")


def test_repeats_that_agree_with_the_commit_before_pass(project, gate):
    quiet = [100 + (value - 100) / 4 for value in STEADY]
    make_series([*quiet, [100.0, 100.2, 99.9], [100.1, 100.0, 99.8]], project=project, branch="main")
    answer = gate(digits(12))
    assert (answer["verdict"], answer["rows"][0]["cells"][0]["verdict"]) == ("pass", "same")


def test_repeats_of_one_session_do_not_outvote_what_nights_scatter(project, gate, settings):
    settings.SESSION_GAP_S = 4 * 3600.0
    make_series([*STEADY, [100.0, 100.2, 99.9], [100.1, 100.0, 99.8]], project=project, branch="main")
    answer = gate(digits(12))
    assert answer["bounds"]["row"] == pytest.approx(-0.016, abs=0.002)


def test_what_does_not_matter_to_the_project_passes(project, gate):
    make_series([*STEADY, [97.0, 97.1, 96.9]], project=project, branch="main")
    assert gate(digits(11))["verdict"] == "fail"
    project.options = {"equivalence_margin": 0.1}
    project.save()
    answer = gate(digits(11))
    assert (answer["verdict"], answer["rows"][0]["cells"][0]["verdict"]) == ("pass", "same")


def test_repeats_that_share_a_session_count_once(project, gate):
    """Three runs of one server start agree, but the next start may be as far away as the other commit."""
    for branch, is_shared in (("shared", True), ("apart", False)):
        make_runs(
            [
                make_record(
                    value + offset,
                    branch=branch,
                    commit=digits(number),
                    started_at=START + timedelta(days=10 * number + repeat, minutes=repeat),
                    tags=(f"session:{number}",) if is_shared else (),
                )
                for number, value in ((1, 100.0), (2, 97.0))
                for repeat, offset in enumerate((0, 0.1, -0.1))
            ],
            project=project,
        )
    apart, shared = (gate(digits(2), branch=branch) for branch in ("apart", "shared"))
    assert (apart["verdict"], apart["rows"][0]["cells"][0]["basis"]) == ("fail", "sessions")
    assert (shared["verdict"], shared["rows"][0]["cells"][0]["basis"]) == ("unknown", "within session")


def test_the_history_of_a_gate_is_one_of_sessions_where_they_are_known(project, gate):
    """Each night is one session of three runs, so the nights scatter as sessions do: 0.8 %, not 1.4 %."""
    nights = [value + offset for value in (*STEADY, 97.0) for offset in (0, 0.01, -0.01)]
    runs = [
        make_record(
            value,
            branch="main",
            commit=digits(at // 3 + 1),
            started_at=START + timedelta(days=at // 3, minutes=at % 3),
            tags=(f"session:{at // 3}",),
        )
        for at, value in enumerate(nights)
    ]
    make_runs(runs, project=project)
    [cell] = gate(digits(11))["rows"][0]["cells"]
    night = compare_samples(STEADY, [97.0], direction="higher", history_sd=0.0082, history_df=8)
    assert (cell["basis"], cell["p"]) == ("history", pytest.approx(night.p, rel=0.05))


def test_what_the_noise_does_not_let_see_is_unknown_and_says_how_many_runs_would(project, gate):
    make_series([100, 110, 92, 105, 95, 108, 93, 104, 97, 100, 96], project=project, branch="main")
    answer = gate(digits(11))
    assert answer["verdict"] == "unknown"
    assert answer["more_runs"] is None or answer["more_runs"] > 0


def test_a_faster_commit_passes(project, gate):
    make_series([*STEADY, 130.0], project=project, branch="main")
    assert gate(digits(11))["verdict"] == "pass"


def test_a_response_time_that_grows_fails(project, gate):
    make_series(
        [*[value / 10 for value in STEADY], 13.0], project=project, branch="main", metric="latency_p95"
    )
    answer = gate(digits(11))
    assert (answer["verdict"], answer["rows"][0]["direction"]) == ("fail", "lower")


def test_one_slow_metric_among_good_ones_fails(project, gate):
    for number, value in enumerate([*STEADY, 130.0], 1):
        make_run(
            project=project,
            branch="main",
            commit=digits(number),
            readings={"tps": float(value), "latency_p95": value / 10},
        )
    answer = gate(digits(11))
    assert answer["verdict"] == "fail"
    assert {row["metric"]: row["cells"][0]["verdict"] for row in answer["rows"]} == {
        "tps": "better",
        "latency_p95": "worse",
    }


def test_metrics_that_nobody_watches_do_not_count(project, gate):
    for number, value in enumerate([*STEADY, 900.0], 1):
        readings = {"tps": STEADY[number % 3], "latency_max": value}
        make_run(project=project, branch="main", commit=digits(number), readings=readings)
    assert [row["metric"] for row in gate(digits(11))["rows"]] == ["tps"]


def test_a_base_may_be_any_commit_of_the_branch_or_the_beginning_of_one(project, gate):
    commits = ["abcdef1" + 33 * "0", "bbbbbbb" + 33 * "0", "ccccccc" + 33 * "0"]
    for commit, value in zip(commits, (100.0, 50.0, 50.0), strict=True):
        runs = [make_record(value + offset, branch="main", commit=commit) for offset in (0, 0.1, 0.2)]
        make_runs(in_sessions(runs), project=project)
    assert gate("CCCCCCC")["verdict"] == "pass"
    answer = gate("ccccccc", base="abcdef1")
    assert (answer["verdict"], answer["rows"][0]["base"]["value"]) == ("fail", 100.1)


def test_a_base_may_be_a_release(project, gate):
    released = [make_record(value, version="10.6.1") for value in (100.0, 100.1, 99.9)]
    measured = [make_record(value, branch="main", commit=digits(1)) for value in (80.0, 80.1, 79.9)]
    for records in (released, measured):
        make_runs(in_sessions(records), project=project)
    answer = gate(digits(1), base="10.6.1")
    assert (answer["verdict"], answer["rows"][0]["base"]["value"]) == ("fail", 100)


def test_the_first_commit_has_nothing_to_be_held_against(project, gate):
    make_series([100], project=project, branch="main")
    answer = gate(digits(1))
    assert (answer["verdict"], answer["rows"][0]["base"]) == ("unknown", None)


def test_a_commit_of_which_nothing_is_known_yet_is_unknown(project, gate):
    answer = gate("abcdef1")
    assert (answer["verdict"], answer["analysis"], answer["rows"]) == ("unknown", "done", [])
    assert (answer["more_runs"], answer["more_sessions"]) == (None, None)
    make_series(STEADY, project=project, branch="main")
    assert gate("abcdef1")["verdict"] == "unknown"
    assert gate(digits(3), branch="other")["verdict"] == "unknown"


def test_while_series_of_the_branch_are_due_the_analysis_is_pending(project, anonymous, gate):
    make_series(STEADY, project=project, branch="main")
    assert ask(anonymous, digits(3))["analysis"] == "pending"
    assert gate(digits(3))["analysis"] == "done"
    make_series(STEADY, project=project, branch="other")
    assert ask(anonymous, digits(3))["analysis"] == "done"


def test_machines_and_configurations_are_judged_apart(project, gate):
    for hardware, last in (("box", 80.0), ("other box", 100.0)):
        make_series([*STEADY, last], project=project, branch="main", hardware=hardware)
    answer = gate(digits(11))
    assert {row["hardware"]: row["cells"][0]["verdict"] for row in answer["rows"]}["box"] == "worse"
    assert len(answer["rows"]) == 2


def test_an_excluded_run_does_not_count(make_world):
    world = make_world(public=True)
    series = make_series([*STEADY, 80.0], project=world.project, branch="main")
    run = series.measurements.get(value=80).run
    world.clients["bob"].patch(f"/api/v1/runs/{run.pk}/", {"excluded": True, "reason": "busy"})
    assert ask(world.clients["anonymous"], digits(11), project="quartz")["rows"] == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"commit": ""}, "commit"),
        ({"commit": "xyz"}, "commit"),
        ({"commit": "0000000"}, "commit"),
        ({"pull_request": "x"}, "pull_request"),
        ({"version": "10.6.1"}, "version"),
        ({"base": "9.9.9"}, "base"),
        ({"base": "abcdef1"}, "base"),
        ({"base": "0000000"}, "base"),
    ],
)
def test_what_is_asked_wrongly_is_named(project, anonymous, query, field):
    make_series(STEADY, project=project, branch="main")
    query = {"project": "amber", "product": "MariaDB", "branch": "main", "commit": digits(3), **query}
    answer = anonymous.get("/api/v1/gate/", query)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field


def test_the_beginning_of_several_commits_lists_them(project, anonymous):
    make_series([1, 2], project=project, branch="main")
    query = {"project": "amber", "product": "MariaDB", "branch": "main", "commit": "0000000"}
    [error] = anonymous.get("/api/v1/gate/", query).json()["errors"]
    assert error["candidates"] == [digits(1), digits(2)]


def test_more_workloads_take_no_more_statements(project, anonymous, django_assert_max_num_queries):
    for workload in ("reads", "writes", "mix"):
        for threads in (1, 4):
            make_series(STEADY, project=project, branch="main", workload=workload, threads=threads)
    with django_assert_max_num_queries(14):
        assert len(ask(anonymous, digits(9))["rows"]) == 6


def test_what_is_only_likely_slower_neither_fails_nor_passes(project, gate):
    """Half as fast, in one session each, and nothing tells how much sessions scatter."""
    for number, level in ((1, 100.0), (2, 40.0)):
        start = START + timedelta(days=number)
        make_runs(
            [
                make_record(level + repeat / 10, branch="main", commit=digits(number), started_at=start)
                for repeat in range(3)
            ],
            project=project,
        )
    answer = gate(digits(2))
    assert answer["rows"][0]["cells"][0]["verdict"] == "likely_worse"
    assert (answer["verdict"], answer["more_sessions"]) == ("unknown", 2)


# --- releases, branches and pull requests -------------------------------------------------------------------


def released(project, version, *levels, **said):
    """Three sessions at each of the levels, by workload."""
    for workload, level in enumerate(levels):
        runs = [
            make_record(level + offset, version=version, workload=f"w{workload}", **said)
            for offset in (0, 0.1, -0.1)
        ]
        make_runs(in_sessions(runs), project=project)


def test_a_release_is_held_against_the_one_before_it_also_of_the_line_before(project, anonymous):
    for version, level in (("10.6.21", 100), ("10.6.22", 80), ("10.11.1", 60)):
        released(project, version, level)

    def verdict(version, **query):
        answer = ask_of(version, **query)
        return answer["verdict"], answer["bases"]

    def ask_of(version, **query):
        TouchedSeries.objects.all().delete()
        return ask_gate(anonymous, version=version, **query)

    assert verdict("10.6.22") == ("fail", ["10.6.21"])
    assert verdict("10.11.1") == ("fail", ["10.6.22"])
    assert verdict("10.6.22", base="10.11.1") == ("pass", ["10.11.1"])
    first = ask_of("10.6.21")
    assert (first["verdict"], first["bases"]) == ("unknown", [])
    assert "nothing was measured in what came before" in first["reasons"][0]
    never = ask_of("10.6.99")
    assert (never["verdict"], never["rows"], never["reasons"]) == (
        "unknown",
        [],
        ["Nothing was measured of 10.6.99. What was measured on a branch is asked for by branch or commit."],
    )
    project.options = {"lines_not_compared": [["10.6", "10.11"]]}
    project.save()
    assert verdict("10.11.1") == ("unknown", [])


def test_the_summary_and_the_reasons_count_the_same_rows_as_not_enough_to_tell(project, anonymous):
    """Of the steady one a loss of 10 % is excluded, of the noisy one it is not."""
    for number in (1, 2):
        for workload, scatter in (("steady", 2.0), ("noisy", 25.0)):
            values = [100 - number + scatter * (-1) ** number * wave for wave in (0, 1, -1, 0.5, -0.5, 0.8)]
            said = {"workload": workload, "branch": "main", "commit": digits(number)}
            make_runs(in_sessions([make_record(one, **said) for one in values]), project=project)
    TouchedSeries.objects.all().delete()
    answer = ask_gate(anonymous, branch="main")
    assert {row["cells"][0]["verdict"] for row in answer["rows"]} == {"unknown"}
    assert "1 row lost less than 10" in answer["summary"]
    assert "1 not enough to tell" in answer["summary"]
    assert answer["reasons"][0].startswith("1 row not enough to tell: noisy")


def test_what_the_base_has_and_a_commit_lacks_is_named_and_never_passes(project, anonymous):
    """One of four workloads was measured, and it is fine: nobody knows of the others."""
    for number, levels in ((1, (100, 50, 30, 20)), (2, (100,))):
        released(project, "1", *levels, branch="main", commit=digits(number))
    TouchedSeries.objects.all().delete()
    answer = ask_gate(anonymous, branch="main")
    assert (answer["of"]["commit"], answer["verdict"]) == (digits(2), "unknown")
    assert [row["workload"] for row in answer["missing"]] == ["w1", "w2", "w3"]
    assert "lacks 3 rows" in answer["reasons"][0]
    assert ask_gate(anonymous, branch="main", workload="w0")["verdict"] == "pass"


def test_a_pull_request_is_held_against_the_newest_of_its_base_and_by_its_noise(project, anonymous):
    make_series(STEADY, project=project, branch="main")
    for number, level in ((12, 80.0), (13, 100.0)):
        request = make_record(
            level, branch=f"pull/{number}", base_branch="main", commit=digits(90 + number), started_at=START
        )
        make_runs([request], project=project)
    make_runs([make_record(80.0, branch="pull/14", commit=digits(99))], project=project)
    TouchedSeries.objects.all().delete()
    answer = ask_gate(anonymous, pull_request=12)
    assert (answer["verdict"], answer["of"]["branch"]) == ("fail", "pull/12")
    assert answer["bases"] == [f"{digits(10)[:10]} on main"]
    [cell] = answer["rows"][0]["cells"]
    assert cell["basis"] == "history"
    assert ask_gate(anonymous, pull_request=13)["verdict"] != "fail"
    assert ask_gate(anonymous, branch="pull/12", base="main")["verdict"] == "fail"
    assert ask_gate(anonymous, commit=digits(102), base=digits(10))["verdict"] == "fail"
    without = ask_gate(anonymous, pull_request=14)
    assert without["verdict"] == "unknown"
    assert without["reasons"][0].startswith("Nobody said where pull request 14 is to be merged")


def test_a_base_that_is_a_branch_and_a_release_wants_to_be_said(project, anonymous):
    released(project, "10.6", 100)
    released(project, "1", 100, branch="10.6", commit=digits(1))
    released(project, "1", 80, branch="main", commit=digits(2))
    asked = {"project": "amber", "branch": "main", "base": "10.6"}
    answer = anonymous.get("/api/v1/gate/", asked)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["candidates"] == ["version:10.6", "branch:10.6"]
    for base in ("version:10.6", "branch:10.6"):
        assert ask_gate(anonymous, branch="main", base=base)["verdict"] == "fail"


@pytest.mark.parametrize("of_control", [{"branch": "main"}, {"version": "10.5.1"}], ids=["branch", "release"])
@pytest.mark.parametrize(
    ("commit", "control", "verdict"), [(60.0, 60.0, "unknown"), (55.0, 60.0, "unknown"), (30.0, 60.0, "fail")]
)
def test_only_what_a_commit_certainly_loses_beyond_its_control_fails(
    project, anonymous, commit, control, verdict, of_control
):
    """In a slow hour the build that never changes loses somewhat more or less than the one that is tested."""
    scattering = [100.0, 108.0, 93.0, 105.0, 95.0, 110.0, 91.0, 103.0, 97.0, 106.0]
    make_series([*scattering, commit], project=project, branch="main")
    make_series([*scattering, control], project=project, build="control", **of_control)
    TouchedSeries.objects.all().delete()
    answer = ask_gate(anonymous, branch="main", commit=digits(11))
    assert answer["verdict"] == verdict
    said = "1 row worse, but so is the control of the same sessions"
    assert any(said in reason for reason in answer["reasons"]) == (verdict == "unknown")


def test_what_was_not_measured_is_named_as_it_was_asked_for(project, anonymous):
    make_series(STEADY, project=project, branch="main")
    asked = [{"branch": "main", "product": "MySQL"}, {"pull_request": 9}, {"commit": "abcdef1"}]
    said = [ask_gate(anonymous, **one)["summary"] for one in asked]
    assert said == [
        "Unknown: nothing was measured of MySQL on main.",
        "Unknown: nothing was measured on pull/9.",
        "Unknown: nothing was measured of abcdef1.",
    ]


def test_a_workload_that_nobody_measured_keeps_a_gate_from_passing(project, anonymous):
    make_series([*STEADY, 130.0], project=project, branch="main")
    TouchedSeries.objects.all().delete()
    assert ask_gate(anonymous, branch="main", workload=["oltp_read_only"])["verdict"] == "pass"
    answer = ask_gate(anonymous, branch="main", workload=["oltp_read_only", "oltp_raed_write"])
    assert answer["verdict"] == "unknown"
    assert answer["reasons"] == [
        "Neither side has a workload 'oltp_raed_write': measure it, or mend its name in the question."
    ]


HOSTILE = "a|b`c`<img src=x>@everyone\x01 #12 &amp; https://evil.example"


def test_the_texts_for_comments_and_reports_hold_whatever_a_name_holds(project, anonymous):
    workload = HOSTILE.replace("\x01", "\u202e")
    make_series([*STEADY, 80.0], project=project, branch="main", workload=workload)
    TouchedSeries.objects.all().delete()
    answer = ask_gate(anonymous, branch="main", format="md")
    text = answer.content.decode()
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert text.startswith("**Fail: ")
    assert len([line for line in text.splitlines() if line.startswith("| ")]) == 3
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "<img" not in html
    assert "<a " not in html.replace(f'<a href="{text.splitlines()[-1][1:-1]}'.replace("&", "&amp;"), "")
    assert "@everyone" not in html
    answer = ask_gate(anonymous, branch="main", format="junit")
    assert answer["Content-Type"] == "application/xml; charset=utf-8"
    suites = ET.fromstring(answer.content)
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    [failure] = suites.iter("failure")
    assert failure.get("message").startswith("slower")
    answer = ask_gate(anonymous, branch="main", format="txt")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    place, head, row, verdict, *_ = answer.content.decode().splitlines()
    assert (place, head.split()[0], row.split()[-1]) == ("box", "workload", "slower")
    assert "\u202e" not in row
    assert verdict.startswith("Fail: ")
    none = ET.fromstring(ask_gate(anonymous, commit="abcdef1", format="junit").content)
    assert (none.get("failures"), none.get("skipped")) == ("0", "1")


def test_while_a_file_is_still_read_nothing_passes(project, anonymous):
    make_series([*STEADY, 130.0], project=project, branch="main")
    TouchedSeries.objects.all().delete()
    assert ask_gate(anonymous, branch="main")["verdict"] == "pass"
    upload = make_upload(project, state=Upload.State.QUEUED)
    answer = ask_gate(anonymous, branch="main")
    assert (answer["verdict"], answer["analysis"]) == ("unknown", "pending")
    Upload.objects.filter(pk=upload.pk).update(metadata={"commit": "f" * 40})
    assert ask_gate(anonymous, branch="main")["verdict"] == "pass"


def test_the_page_says_the_same(project, anonymous):
    make_series([*STEADY, 80.0], project=project, branch="main", workload="<b>ro</b>")
    TouchedSeries.objects.all().delete()
    answer = ask_gate(anonymous, branch="main")
    page = anonymous.get(answer["url"].removeprefix("http://testserver")).content.decode()
    assert answer["summary"] in page.replace("&#x27;", "'")
    assert "&lt;b&gt;ro&lt;/b&gt;" in page
    assert "slower" in page
    assert "ask about" in anonymous.get("/p/amber/gate/?branch=main&version=1").content.decode()


# --- what a pass excludes -----------------------------------------------------------------------------------


def measured_nights(project, sessions, *, loss=0.0, of=0, rows=12, noise=0.02, mood=0.015, seed=7, nights=22):
    """Nights of equal code on main, and a pull request in sessions of its own, of which rows lose speed."""
    rng = np.random.default_rng(seed)
    records = []
    for session in range(nights + sessions):
        shared, is_request = mood * rng.normal(), session >= nights
        for row in range(rows):
            level = 100 * (1 + row) * exp(shared + noise * rng.normal())
            stream = {"branch": "main", "commit": digits(session + 1)}
            if is_request:
                stream = {"branch": "pull/7", "base_branch": "main", "commit": digits(999)}
            records.append(
                make_record(
                    level * (1 - loss if is_request and row < of else 1),
                    workload=f"w{row:02}",
                    started_at=START + timedelta(days=session),
                    **stream,
                )
            )
    make_runs(records, project=project)
    TouchedSeries.objects.all().delete()


def test_equal_code_passes_and_every_way_out_says_which_losses_are_excluded(project, anonymous):
    measured_nights(project, 3)
    answer = ask_gate(anonymous, pull_request=7)
    assert (answer["verdict"], answer["more_sessions"]) == ("pass", 0)
    assert answer["margins"] == {"row": 0.10, "mean": 0.03}
    assert -0.10 < answer["bounds"]["row"] < answer["bounds"]["mean"] < 0
    assert answer["bounds"]["mean"] > -0.03
    said = "no row lost 10 %, the mean of 12 rows lost less than 3 %"
    assert said in plain(answer["summary"])
    assert "against its level over 20 nights" in plain(answer["reasons"][0])
    page = anonymous.get(answer["url"].removeprefix("http://testserver")).content.decode()
    texts = [ask_gate(anonymous, pull_request=7, format=form).content.decode() for form in ("md", "junit")]
    for text in (page, *texts):
        assert said in plain(text)
        assert "against its level over 20 nights" in plain(text)
    suites = ET.fromstring(texts[1])
    assert (suites.get("failures"), suites.get("skipped")) == ("0", "0")


def test_a_loss_in_a_third_of_the_rows_fails(project, anonymous):
    measured_nights(project, 3, loss=0.10, of=4)
    answer = ask_gate(anonymous, pull_request=7)
    assert answer["verdict"] == "fail"
    assert answer["bounds"]["row"] < -0.10


def test_a_single_noisy_session_cannot_tell_and_says_what_is_missing(project, anonymous):
    measured_nights(project, 1, noise=0.03, mood=0.02)
    answer = ask_gate(anonymous, pull_request=7)
    assert answer["verdict"] == "unknown"
    assert 1 <= answer["more_sessions"] <= 10
    [bounds, more] = answer["reasons"][-2:]
    assert "to pass, 10 % and 3 % are to be excluded" in plain(bounds)
    assert more == f"{answer['more_sessions']} more sessions of each would settle it."


def test_more_sessions_never_ask_for_more_of_them(project, anonymous):
    wanted = []
    for sessions in (1, 2, 3, 5):
        slug = f"with-{sessions}"
        measured_nights(make_project(slug, public=True), sessions, noise=0.03, mood=0.02)
        wanted.append(ask_gate(anonymous, project=slug, pull_request=7)["more_sessions"])
    assert wanted == sorted(wanted, reverse=True)
    assert wanted[0] > wanted[-1]


def test_where_sessions_scatter_too_much_the_gate_says_what_helps_instead(project, anonymous):
    measured_nights(project, 2, noise=0.06, mood=0.10)
    answer = ask_gate(anonymous, pull_request=7)
    assert (answer["verdict"], answer["more_sessions"]) == ("unknown", None)
    assert (
        "in turns beside a control, measure on a quieter machine, or set wider margins"
        in answer["reasons"][-1]
    )


def test_a_project_sets_the_losses_that_its_gates_exclude(project, anonymous):
    measured_nights(project, 3)
    project.options = {"gate_row_margin": 0.01, "gate_mean_margin": 0.005}
    project.save()
    answer = ask_gate(anonymous, pull_request=7)
    # What does not matter to the project need not be excluded.
    assert (answer["verdict"], answer["margins"]) == ("unknown", {"row": 0.02, "mean": 0.02})


def test_after_a_step_the_base_is_the_level_since(project, gate):
    """A commit that loses what the branch gained three nights ago is held against the new level."""
    make_series([*STEADY, *STEADY, 111.0, 110.0, 110.5, 100.0], project=project, branch="main")
    answer = gate(digits(24))
    assert (answer["verdict"], answer["rows"][0]["base"]["sessions"]) == ("fail", 3)


def test_strangers_learn_no_bounds_of_a_project_of_relative_figures(project, anonymous):
    measured_nights(project, 1, rows=2)
    assert ask_gate(anonymous, pull_request=7)["bounds"]["row"] < 0
    project.is_relative_only = True
    project.save()
    asked = {"project": "amber", "pull_request": 7}
    assert anonymous.get("/api/v1/gate/", asked).status_code in {403, 404}
    assert anonymous.get("/p/amber/gate/", asked).status_code == 403
