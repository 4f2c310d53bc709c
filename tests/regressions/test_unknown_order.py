"""Versions whose order nobody said, through the public door: files in, pages, API and mail out."""

from datetime import timedelta
from random import Random

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from benchdash.accounts.models import Scope
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.services import analyse_touched
from tests.builders import PASSWORD, make_project, make_token, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

WORKLOADS = ("point_select", "read_only", "read_write", "update_index", "delete")
SESSIONS = 3


class Door:
    def __init__(self):
        self.project = make_project("servers", public=True)
        subscribe(self.project, "dba@example.org")
        self.api = APIClient()
        token = make_token(self.project, Scope.UPLOAD, Scope.READ, Scope.TRIAGE)
        self.api.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        self.now = timezone.now().replace(microsecond=0)

    def release(self, version, level, *, days_ago, workloads=WORKLOADS, sessions=SESSIONS, **fields):
        """Sessions of every workload at three thread counts, in a table each; return the last answer."""
        for session in range(sessions):
            noise = Random(f"{version} {session}")
            rows = [
                f"{workload},{threads},{1000 * threads**0.5 * level * noise.gauss(1, 0.005):.2f}"
                for workload in workloads
                for threads in (1, 8, 32)
            ]
            text = "\n".join(["workload,threads,tps", *rows])
            started_at = self.now - timedelta(days=days_ago) + timedelta(hours=4 * session)
            answer = self.api.post(
                "/api/v1/uploads/",
                {
                    "file": SimpleUploadedFile("result.csv", text.encode()),
                    "product": "PostgreSQL",
                    "hardware": "bench-03",
                    "version": version,
                    "started_at": started_at.isoformat(),
                    **fields,
                },
            )
            assert answer.status_code == 201, answer.content
        return answer.json()

    def get(self, path, **query):
        answer = self.api.get(f"/api/v1/{path}/", {"project": "servers", **query})
        assert answer.status_code == 200, answer.content
        return answer.json()

    def correct(self, version, **facts):
        [found] = self.get("versions", version=version)["results"]
        answer = self.api.patch(f"/api/v1/versions/{found['id']}/", facts, format="json")
        assert answer.status_code == 200, answer.content
        return answer.json()

    def points(self):
        [series] = self.get("series", workload="read_only", threads=8)["results"]
        return self.get(f"series/{series['id']}/points")

    def versions(self):
        return [row[0] for row in self.points()["rows"]]

    def analyse(self):
        analyse_touched()
        owe_alerts()
        send_owed_alerts()


@pytest.fixture
def door():
    return Door()


@pytest.fixture
def builds(door):
    """Three builds without an order: the one that sorts last by its letters was measured first."""
    door.release("x.pg180", 0.8, days_ago=6)
    door.release("x.pg1222", 1.0, days_ago=9)
    door.release("x.pg173", 1.0, days_ago=3)
    door.analyse()
    return door


def test_builds_whose_order_nobody_said_come_by_time_and_are_no_regression(builds):
    assert builds.versions() == ["x.pg1222", "x.pg180", "x.pg173"]
    assert builds.points()["change_points"] == []
    assert builds.get("incidents")["results"] == []
    assert mail.outbox == []
    assert [one["has_order"] for one in builds.get("versions")["results"]] == [False] * 3
    compared = builds.get("compare", base='{"version": "x.pg1222"}', metric="tps")
    [of_180] = [
        cell
        for row in compared["rows"]
        if (row["workload"], row["threads"]) == ("read_only", 8)
        for cell, column in zip(row["cells"], compared["columns"], strict=True)
        if column["version"] == "x.pg180"
    ]
    assert (of_180["verdict"], of_180["ratio"]) == ("worse", pytest.approx(0.8, abs=0.02))


def test_the_gate_of_a_build_without_an_order_is_unknown_and_says_how_to_mend_that(builds):
    answer = builds.get("gate", product="PostgreSQL", version="x.pg180")
    assert (answer["verdict"], answer["bases"]) == ("unknown", [])
    [reason] = answer["reasons"]
    assert reason == (
        "Nobody said how x.pg180 and the other releases follow each other: say on the page Versions by which"
        " number each sorts or when it was released, or ask with base."
    )
    asked = builds.get("gate", product="PostgreSQL", version="x.pg180", base="x.pg1222")
    assert (asked["verdict"], asked["bases"]) == ("fail", ["x.pg1222"])


def test_the_badge_claims_no_release_before_one_without_an_order(builds, client):
    badge = client.get("/p/servers/badge.svg?kind=geomean")
    assert b"no known order" in badge.content
    assert b"x.pg1222" in client.get("/p/servers/badge.svg?kind=geomean&base=x.pg1222").content


def test_numbers_that_are_said_order_builds_and_what_they_show_is_old_news(builds):
    for version, number in (("x.pg180", "18.0"), ("x.pg1222", "12.22"), ("x.pg173", "17.3")):
        corrected = builds.correct(version, order=number, reason="its name says so")
        assert (corrected["order"], corrected["has_order"], corrected["changes"]["runs"]) == (
            number,
            True,
            45,
        )
    builds.analyse()
    assert builds.versions() == ["x.pg1222", "x.pg173", "x.pg180"]
    [incident] = builds.get("incidents")["results"]
    assert (incident["from"], incident["to"], incident["status"]) == ("x.pg173", "x.pg180", "confirmed")
    assert mail.outbox == []
    assert builds.get("gate", product="PostgreSQL", version="x.pg180")["verdict"] == "fail"
    entries = builds.get("audit")["results"]
    assert {one["action"] for one in entries[:3]} == {"version corrected"}

    builds.correct("x.pg173", order=None)
    builds.correct("x.pg1222", order="")
    unknown = builds.get("gate", product="PostgreSQL", version="x.pg180")
    assert (unknown["verdict"], unknown["bases"]) == ("unknown", [])
    assert "how x.pg1222, x.pg173 and the other releases follow each other" in unknown["reasons"][0]
    builds.analyse()
    assert builds.points()["change_points"] == []
    assert builds.get("incidents", status="confirmed")["results"] == []
    assert builds.versions() == ["x.pg1222", "x.pg173", "x.pg180"]
    assert mail.outbox == []


def test_dates_of_releases_order_builds_too(builds):
    for version, day in (("x.pg180", "2025-09-25"), ("x.pg1222", "2025-02-20"), ("x.pg173", "2025-02-13")):
        builds.correct(version, released_at=f"{day}T12:00:00Z")
    builds.analyse()
    assert builds.versions() == ["x.pg173", "x.pg1222", "x.pg180"]
    [incident] = builds.get("incidents")["results"]
    assert (incident["from"], incident["to"]) == ("x.pg1222", "x.pg180")
    assert mail.outbox == []


def test_an_order_without_numbers_is_an_error_of_that_field(builds):
    [found] = builds.get("versions", version="x.pg180")["results"]
    answer = builds.api.patch(f"/api/v1/versions/{found['id']}/", {"order": "the last"}, format="json")
    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        {"field": "order", "message": "'the last' does not begin with numbers, as 18.0 does"}
    ]


def test_a_build_without_an_order_takes_no_part_among_releases_that_have_one(door):
    """It was measured last, and would be a loss of a half to whom it followed."""
    for number, version in enumerate(("17.1", "17.2", "17.3"), 1):
        door.release(version, 1.0, days_ago=30 - number, product="DuckDB")
    door.release("main-build-a", 0.5, days_ago=2, product="DuckDB")
    door.release("12ab34f", 0.5, days_ago=1, product="DuckDB")
    door.analyse()
    assert door.versions() == ["main-build-a", "12ab34f", "17.1", "17.2", "17.3"]
    assert door.points()["change_points"] == []
    assert door.get("gate", product="DuckDB", version="17.3")["bases"] == ["17.2"]

    door.release("DuckDB v17.4", 0.8, days_ago=0.9, product="DuckDB")
    door.analyse()
    [shown] = door.points()["change_points"]
    assert (shown["index"], shown["state"]) == (5, "confirmed")
    [incident] = door.get("incidents")["results"]
    assert (incident["from"], incident["to"]) == ("17.3", "DuckDB v17.4")
    assert len(mail.outbox) == 1


def test_builds_with_commit_times_are_ordered_by_them(door):
    for number, level in ((2, 0.8), (1, 1.0)):
        door.release(
            "nightly",
            level,
            days_ago=2 * number,
            commit=f"{number:040x}",
            committed_at=(door.now - timedelta(days=5 - number)).isoformat(),
        )
    door.analyse()
    points = door.points()
    assert [row[1][-1] for row in points["rows"]] == ["1", "2"]
    assert [one["index"] for one in points["change_points"]] == [1]


def test_the_page_of_versions_says_what_has_no_order_and_takes_one_after_a_preview(builds, client):
    make_user(member_of=builds.project, password=PASSWORD)
    assert client.login(username="alice@example.org", password=PASSWORD)
    assert "3 versions without an order" in text_of(client.get("/p/servers/versions/"))
    [found] = builds.get("versions", version="x.pg180")["results"]
    address = f"/p/servers/versions/{found['id']}/correct/"
    wrong = client.post(address, {"correction": "build", "build-order": "first"})
    assert "'first' does not begin with numbers, as 18.0 does." in text_of(wrong)
    said = {"correction": "build", "build-order": "18.0", "build-reason": "its name says so"}
    assert "45 runs of 3 uploads and 15 series change." in text_of(client.post(address, said))
    assert not builds.get("versions", version="x.pg180")["results"][0]["has_order"]
    assert client.post(address, {**said, "confirmed": "yes"}).status_code == 302
    text = text_of(client.get("/p/servers/versions/"))
    assert "2 versions without an order" in text
    assert "as 18.0" in text


def test_the_history_says_what_has_no_order_and_compares_it_with_nothing_before(builds, client):
    text = text_of(client.get("/p/servers/history/?workload=read_only&threads=8"))
    assert "Nobody said where 3 versions stand among the others." in text
    assert "-20" not in text
    for version, number in (("x.pg180", "18.0"), ("x.pg1222", "12.22"), ("x.pg173", "17.3")):
        builds.correct(version, order=number)
    assert "Nobody said" not in text_of(client.get("/p/servers/history/?workload=read_only&threads=8"))


def test_what_an_older_archive_says_of_a_build_without_an_order_puts_it_earlier_in_lists(builds):
    def listed():
        return [one["version"] for one in builds.get("versions")["results"]]

    assert listed() == ["x.pg1222", "x.pg180", "x.pg173"]
    upload = builds.release("x.pg173", 1.01, days_ago=30, sessions=1)
    assert listed() == ["x.pg173", "x.pg1222", "x.pg180"]
    assert builds.api.delete(f"/api/v1/uploads/{upload['id']}/").status_code == 204
    assert listed() == ["x.pg1222", "x.pg180", "x.pg173"]


def test_the_name_of_a_product_decides_what_stands_in_front_of_a_number(door):
    for version, days in (("duckdb-1.10.0", 9), ("duckdb-1.9.1", 6)):
        door.release(version, 1.0, days_ago=days, product="analytics", sessions=1)
    assert door.versions() == ["duckdb-1.10.0", "duckdb-1.9.1"]
    [product] = door.get("products")["results"]
    renamed = door.api.patch(f"/api/v1/products/{product['id']}/", {"name": "DuckDB"}, format="json")
    assert renamed.status_code == 200
    assert door.versions() == ["duckdb-1.9.1", "duckdb-1.10.0"]
