"""The lists of versions, hardware, configurations and workloads, and their correction."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, re_path

from benchdash.accounts.models import Scope
from benchdash.dashboard.pages.catalogue import queries as catalogue
from benchdash.dashboard.pages.catalogue.forms import BuildForm, MergeForm, RenameForm, UnmergeForm, name_of
from benchdash.dashboard.pages.catalogue.queries import ConfigurationRow, VersionRow
from benchdash.dashboard.shell import filters, numbers
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.project_page import ProjectPage, found_or_hidden, project_form, project_page
from benchdash.regressions.queries import Difference, differing
from benchdash.results import corrections
from benchdash.results.corrections import VERSION_FACTS, CorrectionError, Effect, Thing, correct_version
from benchdash.results.merges import later_runs
from benchdash.results.models import (
    Configuration,
    ConfigurationContent,
    Hardware,
    Merge,
    Product,
    Run,
    ServerVersion,
    Workload,
)

_PAGE: Final = 100
_DIGEST: Final = re.compile("[0-9a-f]{64}")
# Columns of versions that stand only where one of the rows has something in them.
_OPTIONAL: Final[Mapping[str, Callable[[VersionRow], object]]] = {
    "build": lambda row: row.version.build,
    "commit": lambda row: row.version.commit,
    "committed": lambda row: row.version.committed_at,
    "released": lambda row: row.version.released_at,
    "order": lambda row: row.order,
    "branches": lambda row: row.use.branches,
}


@project_page
def versions(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    chip, found = _chosen_versions(request, page)
    pages = Paginator(found, _PAGE).get_page(request.GET.get("page"))
    rows = catalogue.version_rows(pages)
    context = {
        "filters": [chip],
        "reset_url": request.path if chip.chosen else "",
        "pages": pages,
        "rows": rows,
        "columns": [name for name, held in _OPTIONAL.items() if any(map(held, rows))],
        "without_order": sum(row.order == catalogue.NOT_KNOWN for row in rows),
        "may_correct": page.may(Scope.TRIAGE),
    }
    return page.render(request, "dashboard/versions.html", context)


@project_page
def versions_csv(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    _, found = _chosen_versions(request, page)
    columns = (
        *("product", "version", "line", "build", "commit", "committed_at", "released_on"),
        *("sorts_as", "branches", "runs"),
    )
    rows = (
        (
            *(row.version.product.name, row.version.version, row.line, row.version.build, row.version.commit),
            row.version.committed_at and row.version.committed_at.isoformat(),
            *(row.version.released_on, row.version.order, " ".join(row.use.branches), row.use.runs),
        )
        for row in catalogue.version_rows(found)
    )
    return csv_file(f"{page.project.slug}-versions", columns, rows)


def _chosen_versions(request: HttpRequest, page: ProjectPage) -> tuple[FilterChip, QuerySet[ServerVersion]]:
    products = Product.objects.filter(project=page.project).order_by("name").values_list("name", flat=True)
    chip = filters.some_of_names("product", "Product", products, request.GET.getlist("product"))
    found = filters.filtered(catalogue.versions(page.project), [chip], {"product": "product__name"})
    return chip, found


@project_page
def hardware(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    rows = [
        (row, catalogue.facts_in_words(row.hardware.facts)) for row in catalogue.hardware_rows(page.project)
    ]
    context = {"rows": rows, "may_correct": page.may(Scope.TRIAGE)}
    return page.render(request, "dashboard/hardware.html", context)


@project_page
def hardware_csv(_request: HttpRequest, page: ProjectPage) -> HttpResponse:
    listed = catalogue.hardware_rows(page.project)
    facts = sorted({name for row in listed for name in row.hardware.facts})
    rows = (
        (row.hardware.name, row.use.runs, *(row.hardware.facts.get(name) for name in facts)) for row in listed
    )
    return csv_file(f"{page.project.slug}-hardware", ("hardware", "runs", *facts), rows)


@project_page
def workloads(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    pages = Paginator(catalogue.workload_rows(page.project), _PAGE).get_page(request.GET.get("page"))
    rows = [(row, catalogue.facts_in_words(row.workload.options)) for row in pages]
    context = {"pages": pages, "rows": rows, "may_correct": page.may(Scope.TRIAGE)}
    return page.render(request, "dashboard/workloads.html", context)


@project_page
def workloads_csv(_request: HttpRequest, page: ProjectPage) -> HttpResponse:
    rows = (
        (
            *(row.workload.name, " ".join(map(str, row.use.threads)), row.series, row.use.runs),
            "; ".join(f"{name}={value}" for name, value in row.workload.options.items()),
        )
        for row in catalogue.workload_rows(page.project)
    )
    columns = ("workload", "threads", "series", "runs", "options")
    return csv_file(f"{page.project.slug}-workloads", columns, rows)


@project_page
def configurations(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    rows = catalogue.configuration_rows(page.project)
    context = {
        "rows": rows,
        "contents": _choices(rows),
        "comparison": _comparison(request, page),
        "may_correct": page.may(Scope.TRIAGE),
    }
    return page.render(request, "dashboard/configurations.html", context)


def _choices(rows: Sequence[ConfigurationRow]) -> list[tuple[str, str]]:
    """Return each content once: its digest, and words to choose it by."""
    choices: dict[str, str] = {}
    for row in rows:
        for stream in row.streams:
            for one in stream.contents:
                if one.content:
                    where = ", ".join(filter(None, [str(row.configuration), stream.product, stream.branch]))
                    since = f"{one.first_run_at.day} {one.first_run_at:%b %Y}"
                    choices.setdefault(one.content.digest, f"{one.content}: {where}, since {since}")
    return list(choices.items())


@project_page
def configurations_csv(_request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Write one line for each setting of each content."""
    rows = (
        (
            *(row.configuration.name, stream.product, stream.branch, one.content.digest[:10]),
            *(one.first_run_at.isoformat(), one.runs, name, value),
        )
        for row in catalogue.configuration_rows(page.project)
        for stream in row.streams
        for one in stream.contents
        if one.content
        for name, value in one.settings
    )
    columns = ("configuration", "product", "branch", "content", "first_run_at", "runs", "setting", "value")
    return csv_file(f"{page.project.slug}-configurations", columns, rows)


@dataclass(frozen=True)
class ContentComparison:
    """Two contents side by side, of one configuration or of two."""

    before: ConfigurationContent
    after: ConfigurationContent
    differences: Sequence[Difference]


def _comparison(request: HttpRequest, page: ProjectPage) -> ContentComparison | None:
    """Compare the two contents of an address; None unless it names two that there are."""
    digests = [request.GET.get(name, "") for name in ("from", "to")]
    if not all(_DIGEST.fullmatch(digest) for digest in digests):
        return None
    contents = ConfigurationContent.objects.filter(project=page.project, digest__in=digests)
    known = {content.digest: content for content in contents}
    if not all(digest in known for digest in digests):
        return None
    before, after = (known[digest] for digest in digests)
    return ContentComparison(before, after, differing(before.settings, after.settings))


@dataclass(frozen=True)
class Kind:
    """A kind of thing that can be corrected, by its name in addresses."""

    model: type[Thing]
    noun: str
    page: str


_KINDS: Final = {
    "products": Kind(Product, "product", "versions"),
    "versions": Kind(ServerVersion, "version", "versions"),
    "hardware": Kind(Hardware, "machine", "hardware"),
    "configurations": Kind(Configuration, "configuration", "configurations"),
    "workloads": Kind(Workload, "workload", "workloads"),
}

_MAX_SHOWN_RUNS: Final = 10


@dataclass(frozen=True)
class Correction:
    """One thing that can be done on the page: its form, and what it does with the fields of the form.

    ``runs`` are some that it concerns.
    """

    name: str
    title: str
    verb: str
    form: forms.Form
    apply: Callable[..., Effect]
    field: str
    about: str = ""
    runs: Sequence[Run] = ()


@project_form
def correction(request: HttpRequest, page: ProjectPage, kind: str, pk: str) -> HttpResponse:
    """Show first what a correction would change; the same form, sent once more, makes it."""
    page.require(Scope.TRIAGE)
    what = _KINDS[kind]
    thing = _thing(page, what, int(pk))
    # The name of the thing as it was: a preview leaves its mark on the object.
    old_name = str(thing)
    possible = _corrections(request, page, thing)
    effect, previewed, status = None, "", 200
    for one in (one for one in possible if one.form.is_bound):
        status = 422
        if not one.form.is_valid():
            continue
        is_preview = "confirmed" not in request.POST
        try:
            with transaction.atomic():
                effect = one.apply(**one.form.cleaned_data)
                transaction.set_rollback(is_preview)
        except CorrectionError as error:
            one.form.add_error(error.field or one.field, f"{str(error)[:1].upper()}{str(error)[1:]}.")
            continue
        if not is_preview:
            messages.success(request, f"{old_name}: corrected. {_words(effect)}")
            return redirect(f"dashboard:{what.page}", page.project.slug)
        previewed, status = one.name, 200
    context = {
        "thing": thing,
        "old_name": old_name,
        "noun": what.noun,
        "list_url": f"dashboard:{what.page}",
        "corrections": possible,
        "previewed": previewed,
        "effect": effect and _words(effect),
    }
    return page.render(request, "dashboard/correction.html", context, status=status)


def _thing(page: ProjectPage, kind: Kind, pk: int) -> Any:
    """Return what is to be corrected. Raise NotVisible where there is no such thing."""
    found: QuerySet[Any] = kind.model._default_manager.filter(project=page.project, pk=pk)
    if kind.model is ServerVersion:
        found = found.select_related("product")
    return found_or_hidden(found, f"there is no {kind.noun} {pk} in the project '{page.project.slug}'")


def _corrections(request: HttpRequest, page: ProjectPage, thing: Any) -> list[Correction]:
    asked = request.POST.get("correction")

    def sent(name: str) -> Any:
        return request.POST if asked == name else None

    def rename(name: str, reason: str) -> Effect:
        return corrections.rename(thing, name, by=page.viewer, reason=reason)

    def merge(into: Any, reason: str) -> Effect:
        return corrections.merge(thing, into, by=page.viewer, reason=reason)

    rename_form = RenameForm(sent("rename"), initial={"name": name_of(thing)}, prefix="rename")
    merge_form = MergeForm(_others(thing), sent("merge"), prefix="merge")
    possible = [
        Correction("rename", "Rename", "Rename it", rename_form, rename, "name"),
        Correction("merge", "Merge into another", "Merge them", merge_form, merge, "into"),
    ]
    if isinstance(thing, ServerVersion):
        possible.append(_build_correction(page, thing, sent("build")))
    merged = thing.merges.filter(parent=None).order_by("-pk")
    return [*possible, *(_unmerge_correction(page, one, sent(f"unmerge-{one.pk}")) for one in merged)]


def _unmerge_correction(page: ProjectPage, merge: Merge, sent: Any) -> Correction:
    later = later_runs(merge)
    name = f"unmerge-{merge.pk}"
    form = UnmergeForm(merge.name, later.count(), sent, prefix=name)

    def take_apart(reason: str, *, with_later: bool = False) -> Effect:
        return corrections.unmerge(merge, by=page.viewer, reason=reason, with_later=with_later)

    return Correction(
        name=name,
        title=f"Take {merge.name} out again",
        verb="Take it out",
        form=form,
        apply=take_apart,
        field="reason",
        about=f"Merged into this on {merge.at:%Y-%m-%d}. Its runs and old names go back to it.",
        runs=list(later.select_related("workload", "version")[:_MAX_SHOWN_RUNS]),
    )


def _build_correction(page: ProjectPage, version: ServerVersion, sent: Any) -> Correction:
    known = {name: getattr(version, name) for name in VERSION_FACTS}
    form = BuildForm(sent, initial=known, prefix="build")

    def correct(reason: str, **_: Any) -> Effect:
        if not (facts := form.facts()):
            raise CorrectionError("nothing is different from what is known")
        return correct_version(version, facts, by=page.viewer, reason=reason)

    return Correction("build", "Correct its order, or its commit", "Correct it", form, correct, "commit")


def _others(thing: Any) -> QuerySet[Any]:
    """Return the things that this one can be merged into."""
    found: QuerySet[Any] = type(thing)._default_manager.filter(project=thing.project_id).exclude(pk=thing.pk)
    if isinstance(thing, ServerVersion):
        return found.filter(product=thing.product_id).order_by("-sort_key", "-committed_at", "-pk")
    return found.order_by("name")


def _words(effect: Effect) -> str:
    """Return ``12 runs of 3 uploads and 8 series change; 2 of the series continue in ones ...``."""
    runs, uploads = numbers.counted(effect.runs, "run"), numbers.counted(effect.uploads, "upload")
    said = f"{runs} of {uploads} and {effect.series} series change"
    if effect.merged:
        said += f"; {effect.merged} of the series continue in ones that are there already"
    return f"{said}."


urlpatterns = [
    path("versions/", versions, name="versions"),
    path("versions.csv", versions_csv, name="versions_csv"),
    path("hardware/", hardware, name="hardware"),
    path("hardware.csv", hardware_csv, name="hardware_csv"),
    path("configurations/", configurations, name="configurations"),
    path("configurations.csv", configurations_csv, name="configurations_csv"),
    path("workloads/", workloads, name="workloads"),
    path("workloads.csv", workloads_csv, name="workloads_csv"),
    re_path(rf"^(?P<kind>{'|'.join(_KINDS)})/(?P<pk>[0-9]{{1,18}})/correct/$", correction, name="correction"),
]
