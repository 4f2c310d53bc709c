"""Notes of people on a moment or a span of time of the charts: a new kernel, a new disk."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.results.models import Annotation, Hardware, Product, Series

MAX_ANNOTATIONS: Final = 1000
# The newest of a chart; more would hide its lines.
MAX_SHOWN: Final = 100


def annotate(
    project: Project,
    *,
    at: datetime,
    text: str,
    until: datetime | None = None,
    hardware: Hardware | None = None,
    product: Product | None = None,
    by: Viewer,
) -> Annotation:
    """Write on a moment, or on the span up to ``until``, of one machine, one product, or all charts.

    Raises django.core.exceptions.ValidationError for an empty text, a span that ends before it begins, and
    where the project has too many.
    """
    text = " ".join(text.split())
    if not text:
        raise ValidationError({"text": "say what happened"})
    if until is not None and until < at:
        raise ValidationError({"until": "the span ends before it begins"})
    made = Annotation(
        project=project, at=at, until=until, hardware=hardware, product=product, text=text, by=by.user
    )
    made.full_clean()
    with transaction.atomic():
        if Annotation.objects.filter(project=project).count() >= MAX_ANNOTATIONS:
            raise ValidationError({"text": f"a project has at most {MAX_ANNOTATIONS} annotations"})
        made.save()
        audit(project, by, "annotated", text, detail=_detail(made))
    return made


def remove_annotation(annotation: Annotation, *, by: Viewer) -> None:
    with transaction.atomic():
        audit(annotation.project, by, "annotation removed", annotation.text, detail=_detail(annotation))
        annotation.delete()


def annotations_of(series: Iterable[Series]) -> QuerySet[Annotation]:
    """Return the newest annotations that belong on a chart of these series of one project."""
    shown = list(series)
    return (
        Annotation.objects.filter(
            Q(hardware=None) | Q(hardware__in={one.hardware_id for one in shown}),
            Q(product=None) | Q(product__in={one.product_id for one in shown}),
            project__in={one.project_id for one in shown},
        )
        .select_related("hardware", "product", "by")
        .order_by("-at", "-pk")[:MAX_SHOWN]
    )


def _detail(annotation: Annotation) -> dict[str, str]:
    detail = {"at": annotation.at.isoformat()}
    if annotation.until:
        detail["until"] = annotation.until.isoformat()
    for name, of in (("hardware", annotation.hardware), ("product", annotation.product)):
        if of:
            detail[name] = of.name
    return detail
