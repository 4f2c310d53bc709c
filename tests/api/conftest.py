"""Fixtures of the API's tests."""

import socket
from dataclasses import dataclass

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project, Role, Scope, User
from benchdash.alerts.models import Subscription
from benchdash.alerts.subscriptions import subscribe
from benchdash.articles.models import Article
from benchdash.articles.services import NewBlock, create_article
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.baselines import Target, set_baseline
from benchdash.results.models import Baseline, Run, Series
from benchdash.results.place import Place
from benchdash.results.records import SampleTable
from tests.builders import START, make_project, make_series, make_token, make_user


@pytest.fixture(autouse=True)
def _nothing_is_remembered():
    """Neither a worker's heartbeat nor how often somebody asked."""
    cache.clear()


@pytest.fixture
def redis_is_down(settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1"}}


def client_of(who=None):
    """Of a user, of the secret of a token, or of nobody."""
    client = APIClient()
    client.default_format = "json"
    if isinstance(who, User):
        client.force_login(who)
    elif who:
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {who}")
    return client


@pytest.fixture
def anonymous():
    return client_of()


@dataclass(frozen=True)
class World:
    """A project with one of everything, and a client for everybody who might ask about it."""

    project: Project
    series: Series
    run: Run
    incident: Incident
    subscription: Subscription
    article: Article
    baseline: Baseline
    clients: dict[str, APIClient]


OUTSIDERS = ("charlie", "anonymous", "token of another project")
READERS = ("rita", "read token")
WRITERS = ("alice", "bob", "triage token", "admin token")


@pytest.fixture
def make_world(db):
    def make_world(*, public):
        project = make_project("quartz", public=public, name="Quartz")
        for pool in ("8M", "16M"):
            settings = {"quartz_pool": pool}
            make_series([100, 101], project=project, workload="quartz_writes", settings=settings)
        histogram = SampleTable("histogram", ("latency_ms", "count"), ((1.0, 90.0), (2.0, 10.0)))
        series = make_series(
            [100, 101, 80],
            project=project,
            workload="quartz_reads",
            hardware="quartz-box",
            samples=(histogram,),
        )
        run = Run.objects.filter(measurements__series=series).latest("pk")
        branch = make_series([100, 101], project=project, workload="quartz_writes", branch="quartz-branch")
        first = branch.measurements.get(value=100).run.version
        baseline = set_baseline(
            Place.of(branch), Target(first, branch_group=True), by=Viewer(), reason="quartz"
        )
        incident = make_incident(series, run)
        subscription, _ = subscribe(project, "quartz@example.org", by=Viewer())
        article = create_article(
            project,
            title="Quartz in words",
            prose="what quartz does",
            blocks=[NewBlock("history", f"series={series.pk}")],
            by=Viewer(),
        )
        people = {
            "alice": make_user("alice", member_of=project, role=Role.ADMIN),
            "bob": make_user("bob", member_of=project),
            "rita": make_user("rita", member_of=project, role=Role.READER),
            "charlie": make_user("charlie"),
            "anonymous": None,
            "token of another project": make_token(make_project("other"), *Scope.values),
            "upload token": make_token(project, Scope.UPLOAD),
            "read token": make_token(project, Scope.READ),
            "triage token": make_token(project, Scope.TRIAGE),
            "admin token": make_token(project, Scope.ADMIN),
        }
        clients = {name: client_of(who) for name, who in people.items()}
        return World(project, series, run, incident, subscription, article, baseline, clients)

    return make_world


def make_incident(series, run, **fields):
    """A regression of a series at a run, as analysis would store it."""
    incident = Incident.objects.create(
        project=series.project,
        product=series.product,
        branch=series.branch,
        line=series.line,
        until=run.version,
        **{
            "kind": Incident.Kind.REGRESSION,
            "status": Incident.Status.CONFIRMED,
            "started_at": START,
            "worst": -0.2,
            "median": -0.2,
            "metric": series.metric,
            "looked_at": 2,
            **fields,
        },
    )
    incident.largest = ChangePoint.objects.create(
        series=series,
        run=run,
        incident=incident,
        state=ChangePoint.State.CONFIRMED,
        before=100.5,
        after=80,
        change=80 / 100.5 - 1,
        confidence=0.99,
        groups_before=2,
        groups_after=1,
    )
    incident.save(update_fields=["largest"])
    return incident


@pytest.fixture
def no_way_out(monkeypatch, settings):
    """Every name leads to this machine, so that no test of a webhook leaves it."""
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    known = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda _host, port, *more, **options: known("127.0.0.1", port, *more, **options),
    )
