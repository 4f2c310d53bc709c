"""Lists: pages, filters, and a constant number of statements."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import NOBODY
from benchdash.results.corrections import exclude_run, rename
from benchdash.results.models import Product, Run, Series
from benchdash.results.points import histories
from benchdash.throttling import AnonymousThrottle
from tests.api.conftest import make_incident
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("amber", public=True)


def results(client, path, **query):
    answer = client.get(f"/api/v1/{path}/", query)
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


# --- pages ------------------------------------------------------------------------------------------------


def test_a_list_says_where_it_goes_on_until_its_end(project, anonymous):
    # All at one time, so that only their ids tell them apart.
    make_runs([make_record(number) for number in range(5)], project=project)
    seen, address = [], "/api/v1/runs/?limit=2&project=amber"
    while address:
        page = anonymous.get(address).json()
        seen.append([run["id"] for run in page["results"]])
        address = page["next"]
    expected = sorted(Run.objects.values_list("pk", flat=True), reverse=True)
    assert seen == [expected[:2], expected[2:4], expected[4:]]


def test_the_next_page_is_an_absolute_address_with_the_filters(project, anonymous, settings):
    make_runs([make_record(), make_record()], project=project)
    address = anonymous.get("/api/v1/runs/?limit=1&threads=4").json()["next"]
    assert address.startswith(f"{settings.SITE_URL}/api/v1/runs/?")
    assert "threads=4" in address


def test_a_row_that_comes_in_does_not_move_the_next_page(project, anonymous):
    make_series([1, 2, 3], project=project)
    first = anonymous.get("/api/v1/runs/?limit=1").json()
    make_run(project=project, started_at=START + timedelta(days=30))
    second = anonymous.get(first["next"]).json()
    assert (first["results"][0]["version"], second["results"][0]["version"]) == ("10.6.3", "10.6.2")


def test_versions_go_on_in_their_order_and_not_in_that_of_their_ids(project, anonymous):
    for version in ("10.11.7", "10.2.9", "10.2.44", "unknown"):
        make_run(project=project, version=version)
    first = anonymous.get("/api/v1/versions/?limit=2").json()
    second = anonymous.get(first["next"]).json()
    found = [version["version"] for version in first["results"] + second["results"]]
    assert found == ["unknown", "10.2.9", "10.2.44", "10.11.7"]


def test_versions_of_pull_requests_alone_are_listed_by_their_commit_only(project, anonymous):
    commits = {"pull/12": ["a" * 40, "b" * 40], "main": ["b" * 40, "c" * 40]}
    for branch, of_branch in commits.items():
        make_runs([make_record(branch=branch, commit=commit) for commit in of_branch], project=project)
    listed = results(anonymous, "versions", project="amber")
    assert {version["commit"] for version in listed} == {"b" * 40, "c" * 40}
    [asked] = results(anonymous, "versions", project="amber", commit="a" * 40)
    assert anonymous.get(f"/api/v1/versions/{asked['id']}/").status_code == 200


def test_what_only_pull_requests_have_is_listed_where_it_is_asked_for(project, anonymous):
    only = {"product": "patched", "hardware": "rack", "configuration": "tried", "workload": "new"}
    records = [
        make_record(branch="main"),
        make_record(branch="pull/12"),
        make_record(branch="pull/12", **only),
    ]
    *_, run = make_runs(records, project=project)
    for what, name in (
        ("products", "product"),
        ("configurations", "configuration"),
        ("workloads", "workload"),
    ):
        assert only[name] not in {row["name"] for row in results(anonymous, what, project="amber")}
        assert len(results(anonymous, what, project="amber", name=only[name])) == 1
    assert [row["name"] for row in results(anonymous, "hardware", project="amber")] == ["box"]
    for what in ("series", "runs"):
        assert {row["branch"] for row in results(anonymous, what, project="amber")} == {"main"}
        assert len(results(anonymous, what, project="amber", branch="pull/12")) == 2
    assert len(results(anonymous, "runs", project="amber", upload=run.upload_id)) == 3
    assert anonymous.get(f"/api/v1/runs/{run.pk}/").json()["branch"] == "pull/12"


def test_at_most_a_thousand_rows_are_given_at_once(project, anonymous):
    make_runs([make_record() for _ in range(1001)], project=project)
    page = anonymous.get("/api/v1/runs/?limit=5000").json()
    assert len(page["results"]) == 1000
    assert len(anonymous.get(page["next"]).json()["results"]) == 1


def test_a_cursor_of_another_list_is_refused(project, anonymous):
    make_runs([make_record(), make_record()], project=project)
    cursor = anonymous.get("/api/v1/runs/?limit=1").json()["next"].partition("cursor=")[2]
    answer = anonymous.get(f"/api/v1/series/?cursor={cursor}")
    assert answer.status_code == 400
    assert answer.json()["errors"] == [{"field": "cursor", "message": "this is not a cursor of this list"}]


@pytest.mark.parametrize(
    "path",
    [
        "projects",
        "products",
        "versions",
        "hardware",
        "configurations",
        "workloads",
        "runs",
        "series",
        "incidents",
        "subscriptions",
        "audit",
    ],
)
def test_a_longer_list_takes_no_more_statements(make_world, path):
    world = make_world(public=True)
    client = world.clients["bob"]

    def statements():
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(f"/api/v1/{path}/")
        return len(captured), len(answer.json()["results"])

    few, short = statements()
    for number in range(3):
        project = make_project(f"more-{number}", public=True)
        run = make_run(project=project, product=f"product {number}", workload=f"workload {number}")
        make_incident(run.measurements.get().series, run)
        other = make_run(
            project=world.project,
            product=f"product {number}",
            hardware=f"box {number}",
            configuration=f"set {number}",
            workload=f"workload {number}",
        )
        make_incident(other.measurements.get().series, other)
        client.post("/api/v1/subscriptions/", {"project": "quartz", "address": f"a{number}@example.org"})
        client.patch(f"/api/v1/products/{other.version.product_id}/", {"name": f"renamed {number}"})
    many, long = statements()
    assert long > short
    assert many == few <= 8


# --- filters ----------------------------------------------------------------------------------------------


def test_runs_are_found_by_what_they_are(project, anonymous):
    make_run(project=project, threads=4)
    make_run(project=project, threads=16, version="10.11.7", hardware="other box")
    make_run(project=project, threads=None, workload="JMH select1", product="MariaDB Connector/J")
    make_run(project=project, branch="main", commit="abcdef1" + 33 * "0", counterpart="net")

    def number(**query):
        return len(results(anonymous, "runs", **query))

    assert number() == 4
    assert number(threads=4) == 2
    assert number(threads=[4, 16]) == 3
    assert number(threads="null") == 1
    assert number(version="10.11.7") == 1
    assert number(version="10.11.7-MariaDB-log") == 1
    assert number(hardware="other box") == 1
    assert number(workload="JMH select1") == 1
    assert number(product="MariaDB Connector/J") == 1
    assert number(branch="main") == 1
    assert number(branch="") == 3
    assert number(commit="ABCDEF1") == 1
    assert number(counterpart="net") == 1
    assert number(configuration="default") == 4
    assert number(project="amber", threads=4, branch="main") == 1
    assert number(product="nothing") == 0


def test_an_empty_filter_of_what_is_never_empty_is_none(project, anonymous):
    make_run(project=project)
    assert len(results(anonymous, "runs", product="", threads="", hardware="", version="")) == 1


def test_things_are_found_by_their_old_names(project, anonymous):
    make_run(project=project, product="Maria")
    rename(Product.objects.get(), "MariaDB", by=NOBODY)
    assert [run["product"] for run in results(anonymous, "runs", product="Maria")] == ["MariaDB"]
    [product] = results(anonymous, "products", project="amber")
    assert (product["name"], product["aliases"]) == ("MariaDB", ["Maria"])


def test_excluded_runs_are_listed_and_can_be_told_apart(project, anonymous):
    make_series([1, 2], project=project)
    exclude_run(Run.objects.latest("pk"), by=NOBODY, reason="busy")
    assert [run["excluded"] for run in results(anonymous, "runs")] == [True, False]
    assert [run["version"] for run in results(anonymous, "runs", included="false")] == ["10.6.2"]


def test_incidents_are_found_by_their_state(make_world):
    client = make_world(public=True).clients["anonymous"]
    assert len(results(client, "incidents", state="new")) == 1
    assert results(client, "incidents", state="fixed") == []
    assert len(results(client, "incidents", state=["fixed", "new"])) == 1
    assert results(client, "incidents", historical="true") == []


def test_without_a_project_a_list_is_about_all_that_one_may_see(project, make_world, anonymous):
    make_run(project=project)
    world = make_world(public=False)
    assert {run["project"] for run in results(anonymous, "runs")} == {"amber"}
    assert {run["project"] for run in results(world.clients["bob"], "runs")} == {"amber", "quartz"}


# --- series -----------------------------------------------------------------------------------------------


def test_a_series_is_shown_as_the_contract_says(project, anonymous):
    make_series([100, 101], project=project, build="debug", counterpart="net", metric="latency_p95")
    [series] = results(anonymous, "series")
    assert series == {
        "id": Series.objects.get().pk,
        "project": "amber",
        "product": "MariaDB",
        "build": "debug",
        "branch": "",
        "line": "10.6",
        "hardware": "box",
        "configuration": "default",
        "counterpart": "net",
        "workload": "oltp_read_only",
        "threads": 4,
        "metric": "latency_p95",
        "unit": "ms",
        "direction": "lower",
        "is_derived": False,
        "points": 2,
        "printed_unit": "ms",
        "printed_factor": 1.0,
    }


def test_the_number_of_points_is_that_of_the_groups(project, anonymous):
    """On releases and branches, with and without commits, with contents that differ, and excluded runs."""
    make_series([[1, 2], 3], project=project)
    make_series([[1, 2], 3, 4], project=project, branch="main")
    days = [START, START + timedelta(hours=2), START + timedelta(days=1)]
    make_runs([make_record(started_at=day, branch="nightly") for day in days], project=project)
    for size in ("1G", "2G"):
        make_run(project=project, version="10.6.1", settings={"innodb_buffer_pool_size": size})
    exclude_run(Run.objects.filter(branch="main").latest("pk"), by=NOBODY, reason="busy")
    listed = {series["id"]: series["points"] for series in results(anonymous, "series")}
    assert listed == {pk: len(points) for pk, points in histories(listed).items()}
    assert sorted(listed.values()) == [2, 2, 4]


def test_a_series_without_points_has_none(project, anonymous):
    series = make_series([1], project=project)
    exclude_run(Run.objects.get(), by=NOBODY, reason="busy")
    assert [one["points"] for one in results(anonymous, "series")] == [0]
    assert anonymous.get(f"/api/v1/series/{series.pk}/").json()["points"] == 0


# --- throttling -------------------------------------------------------------------------------------------


@pytest.fixture
def three_a_day(monkeypatch):
    monkeypatch.setattr(AnonymousThrottle, "get_rate", lambda self: "3/day")


def test_who_asks_too_often_without_a_token_waits(three_a_day, make_world):
    clients = make_world(public=True).clients
    answers = [clients["anonymous"].get("/api/v1/runs/") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert 0 <= int(answers[-1].headers["Retry-After"]) <= 86400
    # The door for files counts with the rest.
    assert clients["anonymous"].get("/api/v1/uploads/").status_code == 429
    assert [clients[who].get("/api/v1/runs/").status_code for who in ("bob", "read token") * 4] == [200] * 8


def test_a_made_up_address_of_origin_does_not_help(three_a_day, anonymous):
    forwarded = [f"203.0.113.{number}" for number in range(4)]
    answers = [anonymous.get("/api/v1/runs/", HTTP_X_FORWARDED_FOR=address) for address in forwarded]
    assert answers[-1].status_code == 429


def test_without_redis_nobody_is_refused(three_a_day, redis_is_down, anonymous):
    assert {anonymous.get("/api/v1/runs/").status_code for _ in range(5)} == {200}
