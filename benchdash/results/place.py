"""The place of a history: its series are measured together and share one order of groups."""

from operator import attrgetter
from typing import NamedTuple

from django.db.models import QuerySet

from benchdash.results.models import Run, Series


class Place(NamedTuple):
    """The columns that series share to be looked at together: ids of one project's rows, and texts."""

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
        """Return the place of a row that has these columns: a series, or something kept for a place."""
        return cls._make(_COLUMNS(row))

    @property
    def of_every_stream(self) -> "Place":
        """The same place without its branch or line: where branches and releases are compared."""
        return self._replace(branch="", line="")

    def series(self) -> QuerySet[Series]:
        return Series.objects.filter(**self._asdict())

    @property
    def runs(self) -> QuerySet[Run]:
        """The runs at the place, on every branch and of every line."""
        return Run.objects.filter(
            project=self.project_id,
            version__product=self.product_id,
            version__build=self.build,
            hardware=self.hardware_id,
            configuration=self.configuration_id,
            counterpart=self.counterpart,
        )


_COLUMNS = attrgetter(*Place._fields)


def all_places(series: QuerySet[Series]) -> list[Place]:
    """Return the places of these series, each once, product by product."""
    rows = series.order_by(*Place._fields).values_list(*Place._fields).distinct()
    return list(map(Place._make, rows))
