"""The overview of a project."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.dashboard.shell import numbers
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.mornings import morning_of
from benchdash.regressions.services import analyse_touched
from benchdash.results.wording import NO_BREAK
from tests.builders import START, make_project, make_record, make_runs, make_series, make_upload, make_user
from tests.dashboard.page_text import chip, matrix, text_of

pytestmark = pytest.mark.django_db

STEADY = (1.0, 1.001, 1.002)


@pytest.fixture
def project():
    return make_project("bench", public=True)


def measure(project, *, versions=("10.2.44", "10.6.23"), workloads=("ro",), threads=(1, 16), **fields):
    """A run in each of three sessions, whose tps falls by a tenth with each version."""
    records = [
        make_record(
            1000.0 * count * (1 - 0.1 * number) * steady,
            version=version,
            workload=workload,
            threads=count,
            **{"started_at": START + timedelta(days=20 * number + session), **fields},
        )
        for number, version in enumerate(versions)
        for workload in workloads
        for count in threads
        for session, steady in enumerate(STEADY)
    ]
    return make_runs(records, project=project)


def heading(answer):
    [words] = re.findall(r"<h1>(.*?)</h1>", answer.content.decode(), re.DOTALL)
    return words


def get(client, query=""):
    return client.get(f"/p/bench/?{query}")


# --- the matrix of releases ---------------------------------------------------------------------------------


def test_workloads_stand_against_versions_relative_to_the_oldest_shown(client, project):
    measure(project, workloads=["ro", "rw"])
    assert matrix(get(client)) == [
        ["Workload", "10.6.23", "10.2.44"],
        ["Geometric mean", "▼ 0.90", ""],
        ["ro", "▼ 0.90", "4,004"],
        ["rw", "▼ 0.90", "4,004"],
    ]


def test_of_many_workloads_those_with_the_worst_figures_are_shown(client, project):
    steady = [f"steady_{number:02}" for number in range(60)]
    for version in ("1", "2"):
        measure(project, workloads=steady, threads=[1], versions=[version])
    measure(project, workloads=["writes"], threads=[1], versions=["1", "2"])
    page = get(client)
    assert matrix(page)[2] == ["writes 1 thread", "▼ 0.90", "1,001"]
    assert len(matrix(page)) == 2 + 60
    said = "These are the 60 workloads with the worst figures; the means count all. 1 more workload"
    assert said in text_of(page)
    assert len(matrix(get(client, "rows=all"))) == 2 + 61


def test_a_workload_opens_to_its_thread_counts(client, project):
    measure(project)
    pk = project.workloads.get().pk
    assert f"open={pk}" in get(client).content.decode()
    assert matrix(get(client, f"open={pk}"))[2:] == [
        ["ro", "▼ 0.90", "4,004"],
        ["1 thread", "▼ 0.90", "1,001"],
        ["16 threads", "▼ 0.90", "16,016"],
    ]


def test_a_cell_is_coloured_says_its_value_and_leads_to_the_comparison(client, project):
    measure(project, threads=[16])
    page = get(client).content.decode()
    [cell] = re.findall(
        r'<td class="number level-worse-3"><a href="([^"]+)" title="([^"]+)"><span.*?>▼</span>0.90</a>', page
    )
    old, new = (short_id(column) for column in columns_of(project, Selector()))
    workload = project.workloads.get().pk
    query = f"base={old}&amp;against={new}&amp;workload={workload}&amp;threads=16"
    assert cell == (
        f"/p/bench/compare/pair/?{query}",
        "14,414 per second, n = 3 in 3 sessions, slower, noise: sessions",
    )
    assert client.get(cell[0].replace("&amp;", "&")).status_code == 200


def test_eight_versions_are_shown_and_more_where_asked(client, project):
    """The reference, which is the same on every page, and the newest."""
    measure(project, versions=[f"10.6.{patch}" for patch in range(12)], threads=[1])
    assert matrix(get(client))[0] == ["Workload", *(f"10.6.{patch}" for patch in range(11, 4, -1)), "10.6.0"]
    assert len(matrix(get(client, "show=16"))[0]) == 13


def test_the_newest_of_each_release_line_can_be_shown(client, project):
    measure(project, versions=["10.6.22", "10.6.23", "10.11.14", "10.11.15"], threads=[1])
    assert matrix(get(client, "show=lines"))[0] == ["Workload", "10.11.15", "10.6.23"]


def test_another_baseline_can_be_chosen(client, project):
    measure(project, threads=[1])
    new = short_id(columns_of(project, Selector(version="10.6.23"))[0])
    assert matrix(get(client, f"base={new}")) == [
        ["Workload", "10.2.44", "10.6.23"],
        ["ro 1 thread", "▲ 1.11", "900.9"],
    ]


def test_the_place_that_the_newest_runs_use_most_comes_first_and_others_can_be_chosen(client, project):
    measure(project, hardware="idle", threads=[1])
    measure(project, hardware="busy")
    measure(project, product="MySQL", versions=["9.5.0"], hardware="idle", threads=[1])
    answer = get(client)
    assert (chip(answer, "product"), chip(answer, "hardware")) == ("all", "all")
    assert "MariaDB on busy" in text_of(answer)
    # What does not fit together gives way: MySQL was not measured on the busy machine.
    answer = get(client, "product=MySQL&hardware=busy")
    assert chip(answer, "product") == "MySQL"
    assert "MySQL on idle" in text_of(answer)


def test_a_metric_can_be_chosen(client, project):
    make_runs([make_record(readings={"tps": 100.0, "latency_avg": 5.0})], project=project)
    assert chip(get(client), "metric") == "transactions per second"
    assert "response time, average, relative to" in text_of(get(client, "metric=latency_avg"))


def test_a_single_version_is_its_own_baseline(client, project):
    measure(project, versions=["10.2.44"], threads=[1])
    assert matrix(get(client)) == [["Workload", "10.2.44"], ["ro 1 thread", "1,001"]]


def test_versions_without_the_metric_are_told_from_an_error(client, project):
    measure(project, versions=[f"10.6.{patch}" for patch in range(12)], threads=[1])
    make_runs([make_record(readings={"qps": 1.0}, version="10.5.1")], project=project)
    assert "Not measured lately" in text_of(get(client, "metric=qps"))


def test_nonsense_in_the_address_is_no_error(client, project):
    measure(project)
    query = "product=%00&branch=x&hardware=&metric=x&show=x&base=x&open=x&open=-1&build=~"
    assert get(client, query).status_code == 200


# --- the matrix of a branch ---------------------------------------------------------------------------------


def test_a_branch_stands_against_its_newest_release(client, project):
    make_series([100.0, 110.0, 90.0], project=project, branch="main", workload="ro")
    make_runs([make_record(100.0, version="10.6.1", workload="ro")], project=project)
    answer = get(client, "branch=main")
    assert chip(answer, "base") == "10.6.1"
    assert matrix(answer)[0] == ["Workload", *(f"00000000 {day} Mar" for day in (4, 3, 2)), "10.6.1"]
    assert matrix(answer)[1] == ["ro 4 threads", "0.90", "1.10", "1.00", "100.0"]
    assert re.search(
        r'href="/p/bench/history/\?series=\d+" title="110.0 per second, n = 1', answer.content.decode()
    )


def test_a_branch_without_a_release_stands_against_its_oldest_shown_group(client, project):
    make_series([100.0, 110.0, 90.0], project=project, branch="main", workload="ro")
    answer = get(client, "branch=main")
    assert matrix(answer)[1] == ["ro 4 threads", "0.90", "1.10", "100.0"]
    assert "relative to 00000000 = 1.00" in text_of(answer)


def test_the_oldest_group_can_be_the_baseline_beside_a_release(client, project):
    make_series([100.0, 110.0], project=project, branch="main", workload="ro")
    make_runs([make_record(50.0, version="10.6.1", workload="ro")], project=project)
    assert matrix(get(client, "branch=main&base=~"))[1] == ["ro 4 threads", "1.10", "100.0"]


# --- the morning --------------------------------------------------------------------------------------------

STEADY_NIGHTS = [100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6] * 4


def nights(project, values, **fields):
    """A night each, the last one five hours ago."""
    start = timezone.now() - timedelta(days=len(values) - 1, hours=5)
    make_series(values, project=project, branch="main", start=start, **fields)


def lost(values):
    return [*values, *(0.7 * value for value in values[:7])]


def test_the_heading_says_what_is_new_and_a_line_what_it_is(client, project):
    nights(project, lost(STEADY_NIGHTS))
    analyse_touched()
    answer = get(client)
    text = text_of(answer)
    assert heading(answer) == "1 new loss."
    assert re.search(r": 1 of 1 workload ran on box", text)
    assert re.search(r"New ▼ −30\.\d % MariaDB main in oltp_read_only, 1 of 1 series, since \d", text)
    assert text.index("1 new loss") < text.index("Workloads the newest")


def test_a_quiet_nightly_project_has_no_matrix_but_its_workloads(client, project):
    nights(project, STEADY_NIGHTS)
    analyse_touched()
    answer = get(client)
    assert heading(answer) == "Nothing new."
    assert re.search(r"oltp_read_only 4 threads 99\.60 tps −0\.4 % as usual, ± \d\.\d %", text_of(answer))
    assert 'id="matrix"' not in answer.content.decode()
    assert 'aria-label="28 points, ' in answer.content.decode()


def test_a_figure_has_its_unit_where_the_name_of_its_metric_does_not_say_it(client, project):
    nights(project, STEADY_NIGHTS, metric="latency_p95")
    assert "99.60 response time p95 ms" in text_of(get(client))


def test_the_last_confirmed_change_of_a_row_is_its_own(client, project):
    """Its incident has another workload that lost more."""
    nights(project, lost(STEADY_NIGHTS))
    nights(project, [value * (0.9 if value < 95 else 1) for value in lost(STEADY_NIGHTS)], workload="other")
    analyse_touched()
    assert Incident.objects.count() == 1
    shown = {row.workload: row.change for row in morning_of(project).rows}
    assert len(set(shown.values())) == 2
    text = text_of(get(client))
    for workload, change in shown.items():
        words = numbers.change(change).replace(NO_BREAK, " ")
        assert re.search(rf"{workload} 4 threads (?:(?!threads).)*{words} since", text)


@pytest.mark.parametrize("state", ["expected", "wontfix", "new"])
def test_an_old_loss_that_still_holds_is_never_passed_over(client, project, state):
    """Its row is red, whatever people or its age made of it."""
    nights(project, lost(STEADY_NIGHTS))
    analyse_touched()
    Incident.objects.update(state=state, historical=state == "new")
    answer = get(client)
    assert heading(answer) == "Nothing new. 1 old loss still holds."
    assert re.search(r"Still lost ▼ −30\.\d % MariaDB main in oltp_read_only", text_of(answer))


def test_one_night_far_off_is_told_and_not_confirmed(client, project):
    nights(project, [*STEADY_NIGHTS, 80.0])
    assert re.search(
        r"−20\.0 % slower than usual, one night; not confirmed \(usual: ± \d\.\d %\)", text_of(get(client))
    )


def test_a_young_history_says_what_would_be_enough(client, project):
    nights(project, STEADY_NIGHTS[:4])
    assert "not enough to tell: needs 3 more nights" in text_of(get(client))


def test_what_did_not_come_is_named_with_how_often_it_came(client, project):
    nights(project, STEADY_NIGHTS)
    start = timezone.now() - timedelta(days=29, hours=5)
    make_series(STEADY_NIGHTS, project=project, branch="main", start=start, hardware="bench-03")
    text = text_of(get(client))
    assert re.search(
        r"Missing \d+ \w+ ago MariaDB main on bench-03, no results since .* it used to report every night",
        text,
    )


def test_the_address_narrows_the_rows(client, project):
    nights(project, STEADY_NIGHTS, workload="here")
    nights(project, STEADY_NIGHTS, workload="there", hardware="bench-03")
    assert "MariaDB main on bench-03" in text_of(get(client))
    text = text_of(get(client, "hardware=box"))
    assert "here 4 threads" in text
    assert "there 4 threads" not in text


def test_thread_counts_of_a_workload_are_one_row_that_opens(client, project):
    for threads in (1, 16):
        nights(project, [threads * value for value in STEADY_NIGHTS], threads=threads)
    assert re.search(
        r"oltp_read_only 2 thread counts 1 thread: 99\.60, −0\.4 %, as usual", text_of(get(client))
    )


def test_who_has_an_incident_is_for_members(client, project):
    alice = make_user(member_of=project)
    nights(project, lost(STEADY_NIGHTS))
    analyse_touched()
    Incident.objects.update(assignee=alice)
    assert "Alice" not in text_of(get(client))
    client.force_login(alice)
    assert "Alice has it" in text_of(get(client))


def test_a_person_follows_a_project_and_follows_it_no_more(client, project):
    measure(project, threads=[1])
    assert "Follow" not in text_of(get(client))
    client.force_login(make_user())
    assert "Follow" in text_of(get(client))
    assert client.post("/p/bench/following/", {"follow": ""}).status_code == 302
    assert "bench stands on your front page now." in text_of(get(client))
    assert "Unfollow" in text_of(get(client))
    client.post("/p/bench/following/", {"unfollow": ""})
    assert "Unfollow" not in text_of(get(client))


# --- empty, who, how much -----------------------------------------------------------------------------------


def test_an_empty_project_begins_with_the_page_that_takes_files(client, project):
    assert "Charts appear here with the first results" in text_of(get(client))
    client.force_login(make_user(member_of=project))
    assert get(client)["Location"] == "/p/bench/uploads/new/"
    measure(project)
    assert get(client).status_code == 200


def test_a_private_project_is_for_its_members(client):
    project = make_project("bench")
    measure(project)
    assert get(client).status_code == 404
    client.force_login(make_user(member_of=project))
    assert get(client).status_code == 200


def test_any_number_of_things_takes_the_same_statements(client, project, django_assert_max_num_queries):
    measure(project, threads=[1])
    with django_assert_max_num_queries(23):
        get(client)
    measure(
        project, versions=[f"10.6.{patch}" for patch in range(9)], workloads=["a", "b", "c"], hardware="box"
    )
    for number in range(4):
        make_upload(project, name=f"file-{number}.txt")
    with django_assert_max_num_queries(23):
        get(client)


def test_any_length_of_a_branch_takes_the_same_statements(client, project, django_assert_num_queries):
    make_series([100.0] * 3, project=project, branch="main", workload="a", start=START)
    with django_assert_num_queries(25):
        get(client, "branch=main")
    for workload in "bcd":
        make_series(
            [100.0] * 20, project=project, branch="main", workload=workload, start=START + timedelta(days=1)
        )
    with django_assert_num_queries(25):
        get(client, "branch=main")
