"""Branches as CI and people write them: one branch has one name, wherever it comes in or is asked for."""

import pytest

from benchdash.alerts.models import Subscription
from benchdash.results.models import Run, Series
from tests.builders import PASSWORD, make_token, make_user
from tests.ingest import sending
from tests.ingest.sending import SYSBENCH, client_of

pytestmark = pytest.mark.django_db

SAID = {"product": "MariaDB", "hardware": "box", "workload": "oltp_read_only"}
WAYS = ("refs/heads/main", "heads/main", "origin/main", "refs/remotes/origin/main", "main")


@pytest.fixture
def api(project):
    return client_of(make_token(project, "upload", "read", "admin"))


def send(api, branch, number=1, **said):
    """One more run: another commit, and another result."""
    data = SYSBENCH.replace(b"48.55", b"%d.55" % (40 + number))
    said = {**SAID, "version": "unknown", "commit": f"{number:07x}", "branch": branch, **said}
    return sending.send(api, data, **said)


def test_every_way_to_write_main_is_main(api):
    for number, way in enumerate(WAYS, 1):
        assert send(api, way, number).status_code == 201
    assert set(Run.objects.values_list("branch", flat=True)) == {"main"}
    assert send(api, "", 9, meta='{"branch": "origin/main"}').status_code == 201
    assert Series.objects.get(metric="tps").measurements.count() == 6


@pytest.mark.parametrize("name", ["feature/x", "release/10.11", "origin-main", "upstream/main", "heads"])
def test_slashes_within_a_name_stay(api, name):
    send(api, f"refs/heads/{name}")
    assert Run.objects.get().branch == name


@pytest.mark.parametrize("name", ["pull/12", "refs/pull/12/head", "12/merge"])
def test_a_pull_request_stays_what_it_is_and_is_no_new_branch(api, name):
    answer = send(api, name)
    assert Run.objects.get().branch == "pull/12"
    assert "branch" not in str(answer.json()["warnings"])


@pytest.mark.parametrize("field", ["branch", "base_branch"])
@pytest.mark.parametrize("ref", ["HEAD", "origin/HEAD", "refs/heads/HEAD", "(HEAD detached at 3f9a2c1)"])
def test_head_is_refused_with_how_to_name_the_branch(api, ref, field):
    answer = send(api, **{"branch": "main", "pull_request": "12", field: ref})
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["field"] == field
    assert error["message"].startswith(f"'{ref}' names no branch: send its own name, such as main")


def test_a_new_branch_is_named_with_the_nearest_only_where_that_is_near(api):
    assert "new branch 'main'" in send(api, "refs/heads/main").json()["warnings"]
    again = send(api, "main", 2).json()["warnings"]
    slip = send(api, "mian", 3).json()["warnings"]
    other = send(api, "release/10.11", 4).json()["warnings"]
    assert not [one for one in again if "branch" in one]
    assert "new branch 'mian'; the nearest known one is 'main'" in slip
    assert "new branch 'release/10.11'" in other


def test_no_far_name_of_any_kind_is_called_near(api):
    send(api, "main")
    answer = send(api, "main", 2, product="PostgreSQL", hardware="xeon-gold", workload="tpcc 100 warehouses")
    assert answer.json()["warnings"] == [
        *("new product 'PostgreSQL'", "new hardware 'xeon-gold'", "new workload 'tpcc 100 warehouses'")
    ]


@pytest.mark.parametrize("way", WAYS)
def test_the_api_is_asked_for_a_branch_in_any_way(api, way):
    send(api, "main", 1, started_at="2026-03-02T04:00:00Z", committed_at="2026-03-02T03:00:00Z")
    send(api, "main", 2, started_at="2026-03-03T04:00:00Z", committed_at="2026-03-03T03:00:00Z")
    asked = {"project": "mine", "branch": way}
    assert len(api.get("/api/v1/runs/", asked).json()["results"]) == 2
    assert api.get("/api/v1/series/", asked).json()["results"]
    gate = {**asked, "commit": "0000002"}
    assert api.get("/api/v1/gate/", gate).json()["verdict"] == "unknown"
    against_itself = api.get("/api/v1/gate/", {**gate, "base": f"branch:{way}"})
    assert against_itself.status_code == 200, against_itself.content
    sides = {"project": "mine", "metric": "tps", "base": f'{{"commit": "0000001", "branch": "{way}"}}'}
    compared = api.get(
        "/api/v1/compare/", {**sides, "against": f'{{"commit": "0000002", "branch": "{way}"}}'}
    )
    assert [column["commit"] for column in compared.json()["columns"]] == ["0000002"]
    nights = api.get("/api/v1/nights/", {**asked, "metric": "tps"})
    assert nights.status_code == 200, nights.content


def test_subscriptions_and_pages_know_a_branch_by_any_way(api, client, project):
    send(api, "main")
    sent = {"project": "mine", "address": "a@example.org", "branch": "refs/heads/main"}
    assert api.post("/api/v1/subscriptions/", sent, format="json").status_code == 201
    assert Subscription.objects.get().branch == "main"
    make_user("alice", password=PASSWORD, member_of=project)
    client.login(email="alice@example.org", password=PASSWORD)
    page = client.get("/p/mine/history/", {"branch": "refs/heads/main", "hardware": "box"})
    assert "oltp_read_only" in page.content.decode()
