"""Annotations that only answers of the API need."""

from datetime import UTC
from typing import Any

from django.db.models import Case, CharField, Count, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Cast, Coalesce, Concat, TruncDate

from benchdash.results.models import Measurement, Series


def with_points(series: QuerySet[Series]) -> QuerySet[Any]:
    """Annotate ``points``: the number of groups that benchdash.results.points.history would return."""
    day = Cast(TruncDate("run__started_at", tzinfo=UTC), CharField())
    place = Case(
        When(series__branch="", then=Cast("run__version", CharField())),
        default=Coalesce("run__version__commit", day),
    )
    content = Coalesce(Cast("run__content", CharField()), Value(""))
    counted = (
        Measurement.objects.filter(series=OuterRef("pk"), run__excluded_at=None)
        .order_by()
        .values("series")
        .annotate(number=Count(Concat(place, Value(" "), content), distinct=True))
    )
    return series.annotate(points=Coalesce(Subquery(counted.values("number")), 0))
