"""A measured loss that exists only at many threads, sent through the public door like any other result.

Three server starts for each way of serving connections, one to 512 threads each, in turns. Each turn is a
session. truth.json beside the files says what was to be seen in them.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from benchdash.regressions.models import ChangePoint
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run
from tests.builders import make_project, make_token

pytestmark = pytest.mark.django_db

MEASURED = Path(__file__).parents[2] / "ingest/samples/releases/threadpool/mariadb-10.11.19"
POOL = "pool-of-threads"
ONE_EACH = "one-thread-per-connection"
SPINNING = "innodb_sync_spin_loops-100000"
AS_RELEASES = ({"version": "10.11.18"}, {"version": "10.11.19"})
AS_COMMITS = (
    {"branch": "10.11", "commit": "a" * 40, "committed_at": "2026-11-19T10:00:00Z"},
    {"branch": "10.11", "commit": "b" * 40, "committed_at": "2026-11-20T10:00:00Z"},
)
MANY = {64, 128, 256, 512}
FEW = {1, 2, 4, 8, 16}


@pytest.fixture
def project():
    return make_project("pool", public=True)


def send(project, before, after, *, groups=AS_RELEASES, leaving_out=()):
    """All sixty files of two states, the first state as the older group; of the metas, all but some keys."""
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(project)}")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    for state, group in zip((before, after), groups, strict=True):
        for file in sorted((MEASURED / state).glob("rep*/*.txt")):
            meta = json.loads(file.with_suffix(".meta.json").read_text())
            told = {name: value for name, value in meta.items() if name not in leaving_out}
            # As if it had been measured yesterday: older results are no news.
            started_at = yesterday + timedelta(minutes=meta["sequence"])
            with file.open("rb") as content:
                answer = api.post(
                    "/api/v1/uploads/",
                    {
                        "file": content,
                        "hardware": "bench-03",
                        "meta": json.dumps(told),
                        "started_at": started_at.isoformat(),
                        "session": file.parent.name,
                        **group,
                    },
                )
            assert answer.status_code == 201, answer.content
    assert Run.objects.count() == 60
    analyse_touched()
    return api


def threads_of(change_points, **which):
    return set(change_points.filter(**which).values_list("series__threads", flat=True))


@pytest.mark.parametrize("groups", [AS_RELEASES, AS_COMMITS], ids=["releases", "commits"])
def test_it_is_found_where_it_is_and_not_at_few_threads(project, groups):
    api = send(project, POOL, ONE_EACH, groups=groups)
    [incident] = api.get("/api/v1/incidents/", {"project": "pool"}).json()["results"]
    assert (incident["kind"], incident["status"], incident["historical"]) == (
        "regression",
        "confirmed",
        False,
    )
    assert -0.4 < incident["worst"] < incident["median"] < -0.2
    found = ChangePoint.objects.exclude(state="withdrawn")
    assert threads_of(found, series__metric="tps") == MANY
    assert threads_of(found) == MANY


@pytest.mark.slow
def test_without_the_configurations_it_is_searched_for_and_only_suspected(project):
    api = send(project, POOL, ONE_EACH, leaving_out=("server_config",))
    [incident] = api.get("/api/v1/incidents/", {"project": "pool"}).json()["results"]
    assert (incident["kind"], incident["status"]) == ("regression", "suspected")
    assert threads_of(ChangePoint.objects.all()) == MANY


def test_the_way_back_is_an_improvement(project):
    api = send(project, ONE_EACH, POOL)
    [incident] = api.get("/api/v1/incidents/", {"project": "pool"}).json()["results"]
    assert (incident["kind"], incident["status"]) == ("improvement", "confirmed")
    assert threads_of(ChangePoint.objects.all()) == MANY


@pytest.mark.slow
@pytest.mark.parametrize("groups", [AS_RELEASES, AS_COMMITS], ids=["releases", "commits"])
def test_a_setting_without_an_effect_gives_nothing(project, groups):
    send(project, ONE_EACH, SPINNING, groups=groups)
    assert not ChangePoint.objects.exists()


def test_the_comparison_is_worse_from_64_threads_on_and_not_at_few(project):
    api = send(project, POOL, ONE_EACH)
    query = {"project": "pool", "metric": "tps", "base": json.dumps({"version": "10.11.18"})}
    rows = api.get("/api/v1/compare/", query).json()["rows"]
    verdicts = {row["threads"]: row["cells"][0]["verdict"] for row in rows}
    assert {verdicts[threads] for threads in MANY} == {"worse"}
    assert "worse" not in {verdicts[threads] for threads in FEW}


def test_at_32_threads_the_verdict_is_just_borne_out(project):
    """830, 882, 958 against 556, 756, 851: a median 14 % lower and a mean 20 %, with overlapping values.

    By themselves these six prove nothing (Welch p = 0.21). Turn by turn, and with the noise of all other
    thread counts, they do.
    """
    api = send(project, POOL, ONE_EACH)
    query = {"project": "pool", "metric": "tps", "base": json.dumps({"version": "10.11.18"})}
    query |= {"against": json.dumps({"version": "10.11.19"})}
    rows = api.get("/api/v1/compare/", query).json()["rows"]
    [cell] = next(row["cells"] for row in rows if row["threads"] == 32)
    assert (cell["verdict"], cell["basis"], cell["n"]) == ("worse", "pairs", 3)
    assert cell["ratio"] == pytest.approx(755.53 / 881.75, abs=0.0001)
    assert (round(cell["low"], 2), round(cell["high"], 2)) == (0.67, 0.95)
    assert cell["p"] == pytest.approx(0.0402, abs=0.0001)
