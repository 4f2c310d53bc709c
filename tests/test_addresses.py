"""How addresses of pages are read and written, those of old articles, mails and bookmarks too."""

from datetime import UTC, datetime, time
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
from django.http import QueryDict

from benchdash.addresses import (
    QUERIES,
    ColumnId,
    HistoryQuery,
    IncidentsQuery,
    MatrixQuery,
    PairQuery,
    RowsQuery,
    SweepQuery,
    history_of,
    moment,
)
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from tests.builders import make_project, make_record, make_runs, make_token
from tests.dashboard.page_text import text_of

SAID = {
    "overview": "hardware=a&threads=8&metric=tps&show=16&open=7&rows=all",
    "matrix": "v=1.2.3&v=4.2.3&base=1.2.3&workload=7&threads=none&over=versions&values=both&open=7",
    "pair": "v=1.2.3&base=1.2.3&against=4.2.3&workload=7&metric=tps&rows=all",
    "sweep": "v=1~main&base=8M&metric=tps&setting=pool&with=a%3D1&with=b%3D2&x=threads&axis=log",
    "history": "series=1&series=2&place=any&x=time&scale=log&relative=0&control=1&charts=small&open=1",
}


@pytest.mark.parametrize(("page", "address"), SAID.items())
def test_an_address_is_written_as_it_was_read(page, address):
    query = QUERIES[page].of(address)
    assert str(query) == address
    assert QUERIES[page].of(QueryDict(str(query))) == query


def test_parameters_come_in_one_order_and_what_is_no_parameter_goes():
    shuffled = "utm_source=mail&metric=tps&base=4&page=2&v=4&v=5&v=4"
    assert str(MatrixQuery.of(shuffled)) == "v=4&v=5&base=4&metric=tps"


def test_what_goes_without_saying_is_not_written():
    assert str(MatrixQuery.of("values=relative&sort=name&over=&base=&v=")) == ""
    assert str(HistoryQuery.of("x=versions&scale=")) == ""


def test_a_value_that_is_not_known_is_as_if_it_were_not_there():
    assert MatrixQuery.of("sort=size&axis=cubic&until=%00") == MatrixQuery()
    assert MatrixQuery.of("sort=worst&sort=size").sort == "name"


def test_of_a_parameter_that_comes_once_the_last_counts():
    assert PairQuery.of("base=1&base=2").base == "2"
    assert RowsQuery.of("values=relative&operation=read&operation=").operation == "read"


@pytest.mark.parametrize("nothing", ["none", "~"])
def test_both_words_for_nothing_are_read_and_one_is_written(nothing):
    address = f"branch={nothing}&build={nothing}&counterpart={nothing}&threads={nothing}"
    for query in (*QUERIES.values(), RowsQuery, IncidentsQuery):
        assert str(query.of(address)) == "branch=none&build=none&counterpart=none&threads=none"
    assert MatrixQuery.of(f"threads={nothing}&threads=8&threads=x&threads=4").thread_counts == [4, 8, None]


def test_values_of_settings_and_names_of_workloads_are_never_nothing():
    assert SweepQuery.of("base=~&workload=~&with=~").parameters == [
        ("base", "~"),
        ("workload", "~"),
        ("with", "~"),
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("12", (12, None, None, None, None)),
        ("12~main", (12, None, None, "main", "")),
        ("12.3.1", (12, 3, 1, "", "")),
        ("12.3.1~main", (12, 3, 1, "main", "")),
        ("12.3.1~~Connector/C ~ 3.4", (12, 3, 1, "", "Connector/C ~ 3.4")),
        ("12.3.1~main~Connector/C", (12, 3, 1, "main", "Connector/C")),
    ],
)
def test_a_version_at_a_place_has_one_spelling(text, parts):
    assert ColumnId.of(text) == parts
    assert str(ColumnId(*parts)) == text


@pytest.mark.parametrize("text", ["", "~", "x", "-1", "1.2", "1.2.3.4", "1.x.2", "9" * 30, "8M", "set"])
def test_anything_else_is_no_version(text):
    assert ColumnId.of(text) is None


def test_a_version_without_a_place_fits_each_of_its_places():
    column = ColumnId(12, 3, 1, "main", "")
    assert [ColumnId.of(text).fits(column) for text in ("12", "12~main", "12.3.1~main")] == [True] * 3
    assert [ColumnId.of(text).fits(column) for text in ("13", "12~next", "12.3.1")] == [False] * 3


def test_moments_are_in_utc_and_a_day_may_mean_its_end():
    assert moment("2026-03-01T12:00:00+02:00") == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert moment("2026-03-01T12:00:00") == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert moment("2026-03-01", of_day=time.max).isoformat() == "2026-03-01T23:59:59.999999+00:00"
    assert [moment(text) for text in ("", "x", "2026-13-01", "0001-01-01T00:00:00+14:00")] == [None] * 4


def test_a_query_makes_addresses_of_pages_and_of_their_numbers(settings):
    project = SimpleNamespace(slug="bench")
    settings.SITE_URL = "https://bench.example"
    assert history_of(1, 2).url(project) == "/p/bench/history/?series=1&series=2"
    assert history_of(1).absolute("bench") == "https://bench.example/p/bench/history/?series=1"
    assert MatrixQuery().url(project) == "/p/bench/compare/matrix/"
    branch = PairQuery(base="1.2.3~a&b", against="4.2.3~a+b")
    assert PairQuery.of(branch.url(project).partition("?")[2]) == branch
    query = MatrixQuery(versions=("4.2.3", "1.2.3"), base="1.2.3", metrics=("tps",), threads=("none",))
    numbers = query.numbers(project, "compare", format="csv")
    assert parse_qsl(numbers.partition("?")[2]) == [
        ("project", "bench"),
        ("metric", "tps"),
        ("base", "1.2.3"),
        ("against", "4.2.3"),
        ("threads", "none"),
        ("format", "csv"),
    ]


# --- the spellings that are out in the world ----------------------------------------------------------------


@pytest.fixture
def project(db):
    project = make_project("bench", public=True)
    records = [
        make_record(version=version, threads=threads, **place)
        for version in ("10.6.1", "10.6.2")
        for threads in (None, 4)
        for place in ({}, {"branch": "main", "counterpart": "proxy"})
    ]
    make_runs(records, project=project)
    return project


@pytest.mark.parametrize("nothing", ["none", "~"])
@pytest.mark.parametrize("path", ["", "compare/matrix/", "compare/pair/", "history/"])
def test_old_words_for_nothing_are_followed_without_a_complaint(client, project, path, nothing):
    answer = client.get(f"/p/bench/{path}?branch={nothing}&counterpart={nothing}&build={nothing}")
    assert answer.status_code == 200
    assert "There is no" not in text_of(answer)
    said = {
        "": lambda context: context["shown"].place.counterpart,
        "compare/matrix/": lambda context: context["shown"].chosen.columns.chosen[0].counterpart,
        "compare/pair/": lambda context: context["choice"].against.counterpart,
        "history/": lambda context: context["choice"].series[0].counterpart,
    }
    assert said[path](answer.context) == ""


@pytest.mark.parametrize("nothing", ["none", "~"])
def test_both_words_for_no_baseline_of_a_branch_mean_the_oldest_night(client, project, nothing):
    answer = client.get(f"/p/bench/compare/matrix/?over=nights&base={nothing}")
    assert "There is no" not in text_of(answer)
    [chip] = [one for one in answer.context["filters"] if one.name == "base"]
    assert [choice.value for choice in chip.chosen] == ["none"]


@pytest.mark.parametrize("nothing", ["none", "~"])
def test_incidents_of_releases_have_both_words(client, project, nothing):
    answer = client.get(f"/p/bench/incidents/?tab=everything&branch={nothing}")
    assert answer.status_code == 200


@pytest.mark.parametrize("nobody", ["none", "null"])
def test_the_api_takes_ids_of_columns_and_both_words_for_no_threads(client, project, nobody):
    old, new = columns_of(project, Selector(branch="main"))
    token = make_token(project)
    asked = {"project": "bench", "metric": "tps", "threads": nobody}
    headers = {"Authorization": f"Bearer {token}"}
    found = [
        client.get("/api/v1/compare/", {**asked, "base": base, "against": against}, headers=headers).json()
        for base, against in (
            (short_id(old), short_id(new)),
            ('{"version": "10.6.1", "branch": "main"}', '{"version": "10.6.2", "branch": "main"}'),
        )
    ]
    assert found[0] == found[1]
    assert [row["threads"] for row in found[0]["rows"]] == [None]
    answer = client.get("/api/v1/compare/", {**asked, "base": "99.1.1"}, headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "base")


@pytest.mark.parametrize("page", ["", "curves/", "latency/"])
def test_pages_that_became_rows_of_the_matrix_lead_there(client, project, page):
    old, new = map(short_id, columns_of(project, Selector(branch="main")))
    answer = client.get(f"/p/bench/compare/{page}", {"v": [old, new], "base": new, "values": "relative"})
    assert answer.status_code == 301
    query = MatrixQuery.of(answer.headers["Location"].partition("?")[2])
    assert (query.versions, query.base, query.over, query.drawn) == ((old, new), new, "versions", "relative")
