"""Every address of the installation, and projects with one of everything to fill them in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, get_resolver, reverse

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Membership, Project, Role, Token, User
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.subscriptions import subscribe
from benchdash.articles.models import Block
from benchdash.articles.services import NewBlock, create_article
from benchdash.regressions.models import Incident
from benchdash.regressions.triage import comment
from benchdash.results.annotations import annotate
from benchdash.results.baselines import Target, set_baseline
from benchdash.results.models import Annotation, Baseline, ProjectMetric, Run, Series
from benchdash.results.place import Place
from ingest.models import Companion, Upload
from tests.api.conftest import make_incident
from tests.builders import START, make_project, make_series, make_token, make_upload, make_user, make_webhook

# They show nothing of a project, or have a rule and tests of their own.
WITHOUT_PROJECT = frozenset(
    {
        "admin",  # tests/accounts/test_admin.py
        "admin_sign_in",  # tests/dashboard/shell/test_shell.py
        "api/.../",  # where nothing is
        "api:token",  # of the token that asks: tests/api/test_token.py
        "assistants:mcp",  # tests/assistants/
        "client_checksum",  # for everybody: tests/api/test_client_file.py
        "client_file",
        "dashboard:account",  # of who is signed in: tests/dashboard/pages/account/test_views.py
        "dashboard:confirm_subscription",  # for holders of a key: notifications/test_mail_links.py
        "dashboard:my_morning",  # leads to the list of projects
        "dashboard:one_click",  # for holders of a signed link, the same
        "dashboard:operations",  # for superusers: tests/dashboard/pages/operations/test_views.py
        "dashboard:place_try_again",
        "dashboard:sign_in",
        "dashboard:sign_out",
        "dashboard:unsubscribe",  # for holders of a key: notifications/test_mail_links.py
        "docs",
        "healthz",
        "metrics",
        "readyz",
        "schema",
        "statistics",
    }
)
# Which of them an address that deletes several would delete.
OF_NOBODY = {
    "api:subscription-list": "&address=new@example.org",
    "api:webhook-list": "&url=https://192.0.2.1/",
}
# What stands in an address beside the slug of the project, by the beginning of its name.
_ARGUMENTS = {
    "api:annotation": lambda world: {"pk": world.annotation.pk},
    "api:article": lambda world: {"pk": world.block.article_id},
    "api:baseline": lambda world: {"pk": world.baseline.pk},
    "api:configuration": lambda world: {"pk": world.run.configuration_id},
    "api:hardware": lambda world: {"pk": world.run.hardware_id},
    "api:incident": lambda world: {"pk": world.incident.pk},
    "api:metric": lambda world: {"pk": world.metric.pk},
    "api:product": lambda world: {"pk": world.run.version.product_id},
    "api:run": lambda world: {"pk": world.run.pk},
    "api:series": lambda world: {"pk": world.series.pk},
    "api:subscription": lambda world: {"pk": world.subscription.pk},
    "api:version": lambda world: {"pk": world.run.version_id},
    "api:webhook": lambda world: {"pk": world.webhook.pk},
    "api:workload": lambda world: {"pk": world.run.workload_id},
    "dashboard:article": lambda world: {"name": world.block.article.slug},
    "dashboard:article_block": lambda world: {"name": world.block.article.slug, "pk": world.block.pk},
    "dashboard:alert": lambda world: {"pk": world.alert.pk},
    "dashboard:correction": lambda world: {"kind": "workloads", "pk": world.run.workload_id},
    "dashboard:embed": lambda _: {"chart": "history"},
    "dashboard:incident": lambda world: {"pk": world.incident.pk},
    "dashboard:member": lambda world: {"pk": world.membership.pk},
    "dashboard:run": lambda world: {"pk": world.run.pk},
    "dashboard:subscription": lambda world: {"pk": world.subscription.pk},
    "dashboard:token": lambda world: {"pk": world.token.pk},
    "dashboard:upload": lambda world: {"pk": world.upload.pk},
    "dashboard:upload_companion": lambda world: {"pk": world.upload.pk, "companion": world.companion.pk},
    "dashboard:webhook": lambda world: {"pk": world.webhook.pk},
    "ingest:companion": lambda world: {"pk": world.upload.pk, "companion": world.companion.pk},
    "ingest:upload": lambda world: {"pk": world.upload.pk},
}


# --- a world ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """A private project and its admin, with one of everything."""

    project: Project
    admin: User
    membership: Membership
    token: Token
    upload: Upload
    companion: Companion
    run: Run
    series: Series
    incident: Incident
    subscription: Subscription
    webhook: Subscription
    alert: Alert
    block: Block
    annotation: Annotation
    baseline: Baseline
    metric: ProjectMetric


def make_world(word, *, admin="alice") -> World:
    """``word`` is the slug of the project, and stands in every name and text of it."""
    project = make_project(word, name=word, notice=f"a notice of {word}")
    user = make_user(admin, member_of=project, role=Role.ADMIN)
    make_token(project, name=f"{word} nightly")
    names = {name: f"{word} {name}" for name in ("product", "hardware", "workload", "configuration")}
    known = {"settings": {word: "1"}, "environment": {word: "6.1"}, "notes": f"notes of {word}"}
    series = make_series([100, 101, 80], project=project, **names, **known)
    branch = make_series([100, 101, 80], project=project, branch=f"{word}-branch", **names)
    first = branch.measurements.get(value=100).run.version
    target = Target(first, branch_group=True)
    run = Run.objects.filter(measurements__series=series).latest("pk")
    upload = Upload.objects.get(pk=run.upload_id)
    Upload.objects.filter(pk=upload.pk).update(name=f"{word}.txt", warnings=[f"{word} is new"])
    refused = make_upload(project, name=f"{word}-refused.txt", state=Upload.State.REFUSED)
    companion = Companion.objects.create(
        upload=upload, raw=refused.raw, kind=Companion.Kind.OTHER, name=f"{word}.vmstat.txt"
    )
    incident = make_incident(series, run)
    comment(incident, by=Viewer(user=user), text=f"a comment on {word}")
    article = create_article(
        project,
        title=f"{word} in words",
        prose=f"prose of {word}",
        blocks=[NewBlock("history", f"series={series.pk}", f"a view of {word}", f"a text on {word}")],
        by=Viewer(user=user),
    )
    subscription, _ = subscribe(project, f"{word}@example.org", by=Viewer(user=user))
    return World(
        project=project,
        admin=user,
        membership=Membership.objects.get(user=user),
        token=project.tokens.get(),
        upload=upload,
        companion=companion,
        run=run,
        series=series,
        incident=incident,
        subscription=subscription,
        webhook=make_webhook(project, f"https://192.0.2.1/{word}"),
        annotation=annotate(project, at=START, text=f"an annotation of {word}", by=Viewer(user=user)),
        baseline=set_baseline(Place.of(branch), target, by=Viewer(user=user), reason=f"why {word}"),
        metric=ProjectMetric.objects.create(project=project, name=f"{word}_mb"),
        block=article.blocks.get(),
        alert=Alert.objects.create(project=project, incident=incident, address=subscription.address),
    )


# --- its addresses ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Address:
    """An address by its name; ``wants`` is what stands in it."""

    name: str
    wants: frozenset[str]

    @property
    def is_page(self) -> bool:
        return self.name.startswith("dashboard:")

    def examples(self, world: World) -> dict[str, object]:
        """What stands in it beside a slug. Fails for an address that nobody gave an example for."""
        wanted = self.wants - {"slug"}
        # run_exclude is about a run, upload_companion about more than an upload.
        beginnings = sorted((name for name in _ARGUMENTS if self.name.startswith(name)), key=len)
        given = _ARGUMENTS[beginnings[-1]](world) if wanted and beginnings else {}
        assert given.keys() == wanted, f"give {self.name} an example of {sorted(wanted)} in {__name__}"
        return given

    def of(self, slug: str, **examples: object) -> str:
        """In the project with this slug, which lists of the API take as a parameter."""
        if "slug" in self.wants:
            return reverse(self.name, kwargs={"slug": slug, **examples})
        address = reverse(self.name, kwargs=examples)
        return address if examples or self.is_page else f"{address}?project={slug}"


def addresses() -> list[Address]:
    """Those that are of a project, or list what is in several."""
    found = {name: wants for name, wants in _walk(get_resolver().url_patterns) if name not in WITHOUT_PROJECT}
    return [Address(name, wants) for name, wants in sorted(found.items())]


def _walk(patterns, namespace="", wants=frozenset()) -> Iterator[tuple[str, frozenset[str]]]:
    for one in patterns:
        route, regex = str(one.pattern), one.pattern.regex
        own = wants | regex.groupindex.keys()
        if isinstance(one, URLPattern):
            unnamed = route.strip("^$").replace(".*", "...")
            yield f"{namespace}{one.name or unnamed}", own
        elif one.namespace == "admin":
            yield "admin", own
        else:
            inner = f"{one.namespace}:" if one.namespace else namespace
            yield from _walk(one.url_patterns, inner, own)


def without_random_words(body):
    """The body of a page without the random words of its session, which may look like anything."""
    return re.sub(r'(csrfmiddlewaretoken" value=|nonce=)"[^"]*"', "", body)
