"""Where a history lives: the series of one place are measured together and share one order of groups."""

from operator import attrgetter
from typing import NamedTuple

from django.db.models import QuerySet

from benchdash.results.models import Series


class Place(NamedTuple):
    """What series must share to be looked at together. Ids of one project's rows; texts may be empty."""

    project_id: int
    product_id: int
    build: str
    branch: str
    line: str
    hardware_id: int
    configuration_id: int
    counterpart: str

    @classmethod
    def of(cls, row: object) -> "Place":
        """The place of a row that has these columns: a series, or what is kept of a place."""
        return cls._make(_COLUMNS(row))

    @property
    def of_every_stream(self) -> "Place":
        """The same place without its branch or line: where branches and releases are compared."""
        return self._replace(branch="", line="")

    def series(self) -> QuerySet[Series]:
        return Series.objects.filter(**self._asdict())


_COLUMNS = attrgetter(*Place._fields)


def all_places(series: QuerySet[Series]) -> list[Place]:
    """Where these series were measured, each place once, product by product."""
    rows = series.order_by(*Place._fields).values_list(*Place._fields).distinct()
    return list(map(Place._make, rows))
