"""Which versions were measured, and where."""

from collections import defaultdict
from datetime import date, datetime
from typing import Annotated, Final

from django.db.models import Q
from pydantic import Field

from benchdash.accounts.access import Viewer
from benchdash.addresses import absolute
from benchdash.assistants.names import nearest_words
from benchdash.assistants.shapes import (
    DEFAULT_LIMIT,
    AnswerPart,
    Arguments,
    Limit,
    Offset,
    Project,
    Refusal,
    Text,
    Tool,
    ToolAnswer,
    left_out_words,
    table,
)
from benchdash.results.models import Product, ServerVersion, VersionPlace
from benchdash.results.queries import ids_called

_MAX_PLACES: Final = 10


class VersionsArguments(Arguments):
    project: Project
    product: Annotated[Text, Field(description="Exact name; left out: all products.")] = ""
    text: Annotated[Text, Field(description="What a version or commit begins with.")] = ""
    limit: Limit = DEFAULT_LIMIT
    offset: Offset = 0


class PlaceAnswer(AnswerPart):
    """The place of a measured version. No branch: it was measured as a release."""

    branch: str
    hardware: str
    configuration: str
    counterpart: str

    def __str__(self) -> str:
        branch = f"branch {self.branch}" if self.branch else ""
        return ", ".join(filter(None, [self.hardware, self.configuration, self.counterpart, branch]))


class VersionAnswer(AnswerPart):
    """``places`` are some of those where it was measured, ``more_places`` says how many others there are."""

    id: int
    product: str
    version: str
    build: str
    commit: str | None
    committed_at: datetime | None
    released_on: date | None
    places: list[PlaceAnswer]
    more_places: int


class VersionsAnswer(ToolAnswer):
    total: int
    versions: list[VersionAnswer]
    left_out: str
    url: str

    def in_words(self) -> str:
        rows = [
            (
                *(one.product, one.version, one.build, (one.commit or "")[:10], one.released_on),
                "; ".join(map(str, one.places)) + (f"; {one.more_places} more" if one.more_places else ""),
            )
            for one in self.versions
        ]
        head = ("product", "version", "build", "commit", "released", "measured on")
        return "\n\n".join(filter(None, [table(head, rows), self.left_out, self.url]))


def _versions(viewer: Viewer, asked: VersionsArguments) -> VersionsAnswer:
    project = viewer.project(asked.project, relative=True)
    found = ServerVersion.objects.filter(project=project, places__isnull=False)
    if asked.product:
        ids = ids_called(Product, [asked.product], project)
        if not ids:
            known = Product.objects.filter(project=project).values_list("name", flat=True)
            raise Refusal(nearest_words("product", asked.product, list(known)))
        found = found.filter(product__in=ids)
    if asked.text:
        found = found.filter(Q(version__istartswith=asked.text) | Q(commit__startswith=asked.text.lower()))
    found = found.distinct()
    total = found.count()
    if not total:
        raise Refusal("no version that was measured fits; leave something out")
    shown = list(
        found.select_related("product").order_by("product__name", "-sort_key", "-committed_at", "-pk")[
            asked.offset : asked.offset + asked.limit
        ]
    )
    places: dict[int, list[PlaceAnswer]] = defaultdict(list)
    rows = VersionPlace.objects.filter(version__in=[one.pk for one in shown]).order_by(
        "branch", "hardware__name", "configuration__name", "counterpart"
    )
    for version, *place in rows.values_list(
        "version", "branch", "hardware__name", "configuration__name", "counterpart"
    ):
        names = dict(zip(PlaceAnswer.model_fields, place, strict=True))
        places[version].append(PlaceAnswer(**names))
    return VersionsAnswer(
        total=total,
        versions=[
            VersionAnswer(
                id=one.pk,
                product=one.product.name,
                version=one.version,
                build=one.build,
                commit=one.commit,
                committed_at=one.committed_at,
                released_on=one.released_on,
                places=places[one.pk][:_MAX_PLACES],
                more_places=max(0, len(places[one.pk]) - _MAX_PLACES),
            )
            for one in shown
        ],
        left_out=left_out_words(len(shown), total, offset=asked.offset),
        url=absolute("dashboard:versions", project.slug),
    )


VERSIONS: Final = Tool(
    name="versions",
    title="List versions",
    description=(
        "List the versions that were measured, of each product the newest first, and on which machine, with"
        " which configuration and on which branch."
    ),
    arguments=VersionsArguments,
    answers=VersionsAnswer,
    function=_versions,
)
