"""Projects, and the versions that were measured in them."""

from typing import Annotated, Any, Final

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q
from pydantic import Field

from benchdash.accounts.access import Viewer
from benchdash.addresses import absolute
from benchdash.answers.catalogue import ProjectSerializer, VersionSerializer
from benchdash.assistants.shapes import (
    Limit,
    ListTool,
    Name,
    Project,
    Refusal,
    Text,
    short,
    told,
    with_names,
)
from benchdash.results.models import Product, ServerVersion, VersionPlace

_OPTIONS: Final = (
    *("id", "is_sample", "raw_files_are_public", "created_at", "pull_request_days"),
    *("historical_after_days", "gate_row_margin", "gate_mean_margin"),
)


class ListProjects(ListTool):
    """List the projects that you may see, with the products that each measures.

    Call it first: every other tool wants the slug of a project. Where figures are relative, only
    members see more than ratios.
    """

    name = "list_projects"
    title = "List projects"
    limit: Limit = 50

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        visible = viewer.projects(relative=True)
        total = visible.count()
        shown = list(self.shown(visible))
        products: dict[int, list[str]] = {one.pk: [] for one in shown}
        # Whoever sees the figures of a project sees what it measures.
        listed = Product.objects.filter(project__in=products).order_by("name")
        for project, name in listed.values_list("project", "name"):
            products[project].append(name)
        projects = [
            {
                **told(ProjectSerializer, one, *_OPTIONS),
                "figures": "absolute" if viewer.may_see_absolute(one) else "relative",
                **short({"products": products[one.pk]}),
                "page": absolute("dashboard:overview", one.slug),
            }
            for one in shown
        ]
        note = (
            "You may see no project here. Public projects need no token; others need one of their own,"
            " with the scope read."
        )
        return {
            **self.listed("projects", projects, total),
            "note": "" if projects else note,
        }


class Versions(ListTool):
    """List the versions that were measured, of each product the newest first, and at which places.

    A place is a machine with a configuration and a branch (none: as a release). The versions of a place
    are ids.
    """

    name = "versions"
    title = "List versions"
    project: Project
    product: Name = ""
    text: Annotated[Text, Field(description="What a version or commit begins with.")] = ""

    def answer(self, viewer: Viewer) -> dict[str, Any]:
        project = viewer.project(self.project, relative=True)
        found = ServerVersion.objects.filter(project=project, places__isnull=False)
        found = with_names(found, self, project, {"product": Product})
        if self.text:
            found = found.filter(Q(version__istartswith=self.text) | Q(commit__startswith=self.text.lower()))
        found = found.distinct().order_by("product__name", "-sort_key", "-committed_at", "-pk")
        total = found.count()
        if not total:
            raise Refusal("no version that was measured fits; leave something out")
        shown = list(self.shown(found.select_related("product")))
        place = ("branch", "hardware__name", "configuration__name", "counterpart")
        places = VersionPlace.objects.filter(version__in=[one.pk for one in shown]).values(*place)
        measured = [
            {name.removesuffix("__name"): value for name, value in one.items()}
            for one in places.annotate(versions=ArrayAgg("version", distinct=True)).order_by(*place)
        ]
        versions = [told(VersionSerializer, one, "order", "has_order", "released_at") for one in shown]
        return {
            **self.listed("versions", versions, total),
            **short({"measured_at": measured}, most=100),
            "page": absolute("dashboard:versions", project.slug),
        }
