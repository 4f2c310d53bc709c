"""The compare page."""

import json
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import plotly.graph_objects as go
import pytest

from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.results.readings import Reading
from tests.builders import START, in_sessions, make_project, make_record, make_runs, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("bench", public=True, notice="A noisy machine measured this.")


def measure(
    project, *, versions=("10.2.44", "10.6.23"), workloads=("ro",), threads=(1, 16), runs=1, **fields
):
    """Runs whose tps falls by a tenth with each version."""
    records = [
        make_record(
            **{
                "readings": {"tps": 1000.0 * (count or 1) * (1 - 0.1 * number), "latency_p95": 2.0 + number},
                "version": version,
                "workload": workload,
                "threads": count,
                "repetition": repetition,
                # Each repetition is a session of its own.
                "started_at": START + timedelta(days=20 * number + repetition),
                **fields,
            }
        )
        for number, version in enumerate(versions)
        for workload in workloads
        for count in threads
        for repetition in range(runs)
    ]
    return make_runs(records, project=project)


SINGLE = {"10.2.44": 100.0, "10.6.23": 103.0}


def get(client, query="", **headers):
    return client.get(f"/p/bench/compare/?{query}", headers=headers)


def ids(project, **place):
    return [short_id(column) for column in columns_of(project, Selector(**place))]


def figures(answer):
    """The figures of a page by their names."""
    found = re.findall(
        r'<script id="figure-([^"]+)" type="application/json">(.*?)</script>', answer.content.decode()
    )
    return {name: json.loads(text) for name, text in found}


def titles(answer):
    return re.findall(r'<span class="chart-title">([^<]+)</span>', answer.content.decode())


# --- what is shown ------------------------------------------------------------------------------------------


def test_a_bare_address_shows_throughput_and_response_time_against_threads(client, project):
    measure(project)
    answer = get(client)
    assert titles(answer) == [
        "ro, transactions per second against threads, box",
        "ro, response time, 95th percentile against threads, box",
    ]
    assert [trace["name"] for trace in next(iter(figures(answer).values()))["data"]] == ["10.2.44", "10.6.23"]


def test_every_figure_is_one_that_plotly_knows(client, project):
    measure(project)
    measure(project, workloads=["DO 1"], threads=[None])
    for query in ("", "values=relative&axis=log"):
        for figure in figures(get(client, query)).values():
            go.Figure(figure)


def test_the_table_says_value_runs_error_change_and_verdict(client, project):
    measure(project, runs=3)
    text = text_of(get(client, "metric=tps"))
    assert "threads 10.2.44 10.6.23" in text
    assert "16 16,000 ± 0 100 % 14,400 ± 0 ▼ −10.0 % slower" in text
    assert "Medians of 3 runs; ± is the 95 % interval of the level. Noise: sessions." in text


def test_the_table_says_what_would_settle_an_unknown_verdict(client, project):
    measured = (("10.2.44", (100.0, 104.0, 96.0)), ("10.6.23", (103.0, 99.0, 107.0)))
    for version, values in measured:
        records = [make_record(value, version=version, workload="ro", threads=1) for value in values]
        make_runs(in_sessions(records), project=project)
    text = text_of(get(client, "metric=tps"))
    more = re.search(r"\+3\.0 % not enough to tell (\d+) more sessions of each would settle it", text)
    assert 1 < int(more[1]) < 30
    make_runs(
        [make_record(value, version=version, workload="ro", threads=2) for version, value in SINGLE.items()],
        project=project,
    )
    text = text_of(get(client, "metric=tps"))
    assert re.search(r"\+3\.0 % not enough to tell, \d+ more", text)
    assert re.search(r"1 cell would be settled by \d+ more sessions? of each\.", text)


def test_one_thread_count_makes_bars_with_the_tool_s_error(client, project):
    score = Reading("score", 20.0, "ns/op", "lower", low=18.0, high=22.0)
    measure(project, threads=[None], readings=(score,))
    answer = get(client)
    [figure] = figures(answer).values()
    assert figure["data"][0]["type"] == "bar"
    assert figure["data"][0]["error_x"]["array"] == [2.0, 2.0]
    text = text_of(answer)
    assert "version score ns/op ± n change verdict noise 10.2.44 20.00 ± 2.0 1 100 % reference" in text
    assert "0.0 % not enough to tell 2 more sessions of each would settle it the tool's own error" in text
    assert "One run each; ± is the tool's own error." in text


def test_a_workload_with_and_without_a_thread_count_is_drawn_apart(client, project):
    measure(project, threads=[1, 2, None])
    assert titles(get(client, "metric=tps")) == [
        "ro, transactions per second against threads, box",
        "ro, transactions per second, box",
    ]


def test_values_can_be_drawn_relative_to_the_reference(client, project):
    measure(project)
    answer = get(
        client,
        f"metric=tps&values=relative&base={ids(project)[1]}&" + "&".join(f"v={i}" for i in ids(project)),
    )
    [figure] = figures(answer).values()
    assert [trace["y"] for trace in figure["data"]] == [[pytest.approx(100 / 0.9)] * 2, [100.0, 100.0]]
    assert figure["layout"]["yaxis"]["title"]["text"] == "% of 10.6.23, higher is better"
    assert titles(answer) == ["ro, transactions per second against threads relative to 10.6.23, box"]


def test_a_workload_without_the_reference_is_drawn_as_it_is(client, project):
    measure(project, versions=["10.2.44"], workloads=["ro"])
    measure(project, versions=["10.6.23"], workloads=["ro", "rw"])
    answer = get(client, "metric=tps&values=relative")
    assert titles(answer) == [
        "ro, transactions per second against threads relative to 10.2.44, box",
        "rw, transactions per second against threads, box",
    ]
    assert "The reference was not measured here." in text_of(answer)


def test_many_workloads_stand_on_pages_of_twelve_charts_that_lead_to_the_matrix_of_all(client, project):
    measure(project, workloads=[f"w{number:02}" for number in range(40)], threads=[1])
    answer = get(client)
    text = text_of(answer)
    assert "Workloads 1 to 6 of 40" in text
    assert "1 to 6 of 40 workloads Next" in text
    assert len(figures(answer)) == 12
    assert titles(answer)[0].startswith("w00, ")
    assert len(figures(get(client, "page=7"))) == 8
    page = answer.content.decode()
    [url] = re.findall(r'<a href="([^"]+)">All workloads in the matrix</a>', page)
    matrix = text_of(client.get(url.replace("&amp;", "&")))
    assert all(f"w{number:02}" in matrix for number in range(40))


def test_few_workloads_stand_below_a_matrix_of_all(client, project):
    measure(project, workloads=["ro", "rw"])
    text = text_of(get(client))
    assert "All workloads" in text
    assert "All workloads in the matrix" not in text


def test_only_workloads_that_the_versions_have_take_room_on_a_page(client, project):
    measure(project, workloads=[f"old{number:02}" for number in range(20)], versions=["10.2.44"])
    measure(project, workloads=["ro", "rw"], versions=["10.6.23", "10.11.14"])
    chosen = "&".join(f"v={short_id(one)}" for one in columns_of(project, Selector())[1:])
    assert {title.split(",")[0] for title in titles(get(client, chosen))} == {"ro", "rw"}


def test_workloads_threads_and_metrics_narrow_the_page(client, project):
    measure(project, workloads=["ro", "rw"], threads=[1, 4, 16])
    pk = project.workloads.get(name="rw").pk
    answer = get(client, f"workload={pk}&threads=4&threads=16&metric=latency_p95")
    assert titles(answer) == ["rw, response time, 95th percentile against threads, box"]
    [figure] = figures(answer).values()
    assert figure["data"][0]["x"] == [4, 16]


def test_versions_without_the_main_metric_of_their_place_show_what_they_have(client, project):
    measure(project, versions=["10.2.44", "10.6.23"])
    measure(project, versions=["10.11.14", "10.11.15"], readings={"qps": 5.0})
    answer = get(client, "&".join(f"v={i}" for i in ids(project)[2:]))
    assert titles(answer) == ["ro, queries per second against threads, box"]


def test_the_project_s_notice_stands_once_on_the_page_and_in_the_picture_of_every_chart(client, project):
    measure(project)
    page = get(client).content.decode()
    notices = re.findall(r'<p class="chart-notice" hidden>([^<]+)</p>', page)
    assert notices == ["A noisy machine measured this."] * 2
    assert page.count("A noisy machine measured this.") == 1 + len(notices)


def test_what_differs_beside_the_version_is_said(client, project):
    measure(project, versions=["10.2.44"], hardware="a")
    measure(project, versions=["10.6.23"], hardware="b")
    text = text_of(get(client, "&".join(f"v={i}" for i in ids(project))))
    assert "Different hardware: a; b." in text
    assert "10.2.44, a" in text


# --- choosing -----------------------------------------------------------------------------------------------


def test_filters_keep_the_whole_choice_in_the_address(client, project):
    measure(project)
    page = get(client, "values=relative&axis=log").content.decode()
    assert '<input type="hidden" name="values" value="relative">' in page
    assert '<input type="hidden" name="axis" value="log">' in page
    assert len(re.findall(r'name="v" value="[^"]+" checked', page)) == 2
    # Each link carries it all, so that it can be opened elsewhere.
    absolute = next(
        url for url in re.findall(r'href="(/p/bench/compare/\?[^"]+)"', page) if "values=" not in url
    )
    assert parse_qs(urlsplit(absolute.replace("&amp;", "&")).query)["v"] == ids(project)


def test_a_choice_that_is_gone_says_so_and_suggests(client, project):
    measure(project)
    text = text_of(get(client, "v=99.1.1"))
    assert "Nothing here is called 99.1.1" in text
    assert "No version chosen" in text
    assert "Versions of MariaDB on box" in text


def test_a_choice_with_several_meanings_asks_which(client, project):
    measure(project, versions=["10.2.44"], hardware="a")
    measure(project, versions=["10.2.44"], hardware="b")
    version = columns_of(project, Selector())[0].version.pk
    text = text_of(get(client, f"v={version}"))
    assert "was measured in several places. Which is meant? 10.2.44, a 10.2.44, b" in text


def test_filters_that_nothing_fits_offer_to_drop_them(client, project):
    measure(project, threads=[1])
    answer = get(client, "threads=77")
    assert "Nothing of these versions was measured so" in text_of(answer)
    assert "Show all workloads and thread counts" in text_of(answer)


def test_nonsense_in_the_address_is_no_error(client, project):
    measure(project)
    for query in (
        "v=%00&base=~&metric=x&workload=-1&threads=9999999999&page=x&axis=x&find=%00",
        "v=1.2.3~~~&v=²",
    ):
        assert get(client, query).status_code == 200


def test_a_project_without_results_leads_its_members_to_how_the_first_are_sent(client, project):
    assert "members of this project send" in text_of(get(client))
    client.force_login(make_user(member_of=project))
    page = get(client).content.decode()
    assert f'href="/p/{project.slug}/">Send the first results</a>' in page


# --- who, how much ------------------------------------------------------------------------------------------


def test_a_private_project_is_compared_by_its_members_alone(client):
    project = make_project("bench")
    measure(project)
    assert get(client).status_code == 404
    client.force_login(make_user(member_of=project))
    assert get(client).status_code == 200


def test_another_project_s_columns_mean_nothing_here(client, project):
    measure(project)
    other = make_project("other")
    measure(other, versions=["11.8.3"])
    assert "Nothing here is called" in text_of(get(client, f"v={ids(other)[0]}"))


def test_any_number_of_versions_and_workloads_takes_the_same_statements(
    client, project, django_assert_num_queries
):
    measure(project)
    query = "metric=tps&" + "&".join(f"v={i}" for i in ids(project))
    get(client, query)
    with django_assert_num_queries(13):
        get(client, query)
    measure(project, versions=[f"10.6.{patch}" for patch in range(14)], workloads=["a", "b", "c"])
    query = "metric=tps&" + "&".join(f"v={i}" for i in ids(project))
    with django_assert_num_queries(13):
        get(client, query)


def test_a_chart_s_numbers_can_be_taken_away_as_csv(client, project):
    measure(project, workloads=["ro", "rw"], runs=3)
    page = get(client, "metric=tps").content.decode()
    [url, _] = re.findall(r'href="([^"]+)">Save as CSV<', page)
    answer = client.get(url.replace("&amp;", "&"))
    head, *lines = answer.content.decode().splitlines()
    assert head.startswith("workload,threads,")
    assert {line.split(",")[0] for line in lines} == {"ro"}
    assert len(lines) == 4
