"""Copies are looked for among thousands of runs of one workload and version, whatever the history holds."""

import tracemalloc
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.results.models import Run
from tests.builders import make_token
from tests.ingest.receiving.test_copies import FORMS, SAID
from tests.ingest.sending import client_of, send
from tests.results.concurrency import at_once

pytestmark = pytest.mark.django_db

HEAD = "workload,threads,repetition,qps"


@pytest.fixture
def post(api):
    """Sends a file as a script does, and returns the answer."""
    return lambda data, **said: _post(api, data, **said)


def _post(client, data, **said):
    answer = send(client, data if isinstance(data, bytes) else data.encode(), **SAID, **said)
    assert answer.status_code == 201, answer.content
    return answer.json()


def table(values, separator=","):
    """Runs of one workload and version, one a line."""
    lines = [HEAD, *(f"scan,8,{at},{value}" for at, value in enumerate(values, 1))]
    return "\n".join(lines).replace(",", separator)


def exact(number, *, start=0):
    """Figures with so many digits that each is measured once."""
    return [f"{12_000 + (start + at) * 0.7310529:.4f}" for at in range(number)]


def rows_that_are_found(queries):
    """How many rows the statement fetched that looks for runs with the same figure."""
    [sql] = [one["sql"] for one in queries.captured_queries if "AS wanted (upload_id" in one["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT coalesce(sum(cardinality(found.at)), 0) FROM ({sql}) found (own, other, at, id)"
        )
        return cursor.fetchone()[0]


def test_statements_and_memory_grow_with_an_upload_and_not_with_its_square(post):
    post(table(exact(3)))
    taken = {}
    for number in (250, 1000):
        tracemalloc.start()
        with CaptureQueriesContext(connection) as queries:
            answer = post(table(exact(number, start=10_000 + number)))
        taken[number] = tracemalloc.get_traced_memory()[1], len(queries)
        tracemalloc.stop()
        assert (len(answer["runs"]), answer["copies"]) == (number, [])
        assert rows_that_are_found(queries) == 0
    assert taken[1000][0] < 6 * taken[250][0]
    assert taken[1000][1] <= taken[250][1]


@pytest.mark.parametrize("value", ["100", "12345.678"])
def test_runs_whose_figures_are_all_the_same_are_not_held_against_each_other(post, value):
    post(table(["7"]))
    peaks = []
    for number in (100, 400):
        post(table([value] * number), started_at="2026-03-01T04:00:00Z", notes=f"{number}")
        tracemalloc.start()
        answer = post(table([value] * number), started_at="2026-03-02T04:00:00Z", notes=f"again {number}")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(answer["runs"]) == number
    assert peaks[1] < 6 * peaks[0]


def test_a_history_of_the_same_figure_makes_no_upload_slower(post):
    found = []
    for night in range(45):
        with CaptureQueriesContext(connection) as queries:
            answer = post(
                table(["100", "200", "300"]), started_at=f"2026-03-{night % 28 + 1:02}T0{night // 28}:00Z"
            )
        assert answer["copies"] == []
        found.append((rows_that_are_found(queries), len(queries)))
    assert found[44] == found[30]
    assert found[44][0] < 100


def test_a_table_of_many_repeats_is_a_copy_of_itself_in_another_form(post, project):
    values = [*exact(290), *exact(10)]
    first = post(table(values))
    second = post(table(values, separator="\t"))
    assert {copy["of_upload"] for copy in second["copies"]} == {first["id"]}
    assert len(second["copies"]) == len(values) == Run.objects.filter(project=project).count()


def test_a_table_with_fewer_digits_is_a_copy_of_that_with_more_among_many_runs(post, project):
    values = exact(300)
    first = post(table(values))
    rounded = post(table([f"{float(value):.1f}" for value in values]))
    assert {copy["of_upload"] for copy in rounded["copies"]} == {first["id"]}
    assert Run.objects.filter(project=project).count() == 300


def test_the_same_few_digits_many_times_prove_no_more_than_once(post, project):
    post(table(["101"] * 50, separator="\t"), started_at="2026-03-01T04:00:00Z")
    assert post(table(["101"] * 50), started_at="2026-03-02T04:00:00Z")["copies"] == []
    assert Run.objects.filter(project=project).count() == 100


@pytest.mark.django_db(transaction=True)
def test_forms_that_clients_send_at_the_same_time_are_one_run_among_many(project, post):
    post(table(exact(200)))
    racers = [client_of(make_token(project, name="racer")) for _ in FORMS]
    at_once(*(partial(_post, *one) for one in zip(racers, FORMS.values(), strict=True)))
    assert Run.objects.filter(project=project).exclude(workload__name="scan").count() == 1
