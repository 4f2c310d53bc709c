"""The newest release against the one before it, as one figure: for a badge."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.columns import Column, Selector, columns_of, metrics_in_common
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.rows import summary_of
from benchdash.regressions.comparison.verdict_words import short_words
from benchdash.regressions.comparison.verdicts import of_table
from benchdash.regressions.comparison.version_table import compare_columns
from benchdash.results.controls import is_control
from benchdash.results.metrics import main_metric
from benchdash.results.models import UNKNOWN_VERSION
from benchdash.results.readings import HIGHER, UNKNOWN, Direction
from benchdash.results.versions import first_in_order, parse_version
from benchdash.results.wording import change


class NoPairError(Exception):
    """There are no two releases to compare, in a few words."""


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """How the newest release does against ``before``.

    ``speed`` is the geometric mean of the ratios of speeds, above 1 is faster; where nobody has said which
    direction of the metric is better, of the values. ``unit`` is that of the values, ``verdict`` of all rows
    together.
    """

    product: str
    version: str
    before: str
    metric: str
    speed: float | None
    unit: str
    direction: Direction
    verdict: str

    @property
    def words(self) -> str:
        """``11.4.3 vs 11.4.2: +1.2 %, faster``; no figure where it proves nothing."""
        said = short_words(self.verdict, self.metric, self.direction)
        proves_nothing = self.verdict == "unknown" and self.direction != UNKNOWN
        figure = "" if proves_nothing or self.speed is None else f"{change(self.speed - 1, self.unit)}, "
        return f"{self.version} vs {self.before}: {figure}{said}"


def newest_release(
    project: Project, *, product: str = "", hardware: str = "", metric: str = "", base: str = ""
) -> ReleaseChange:
    """Compare the newest release of a product with ``base``, a version, or with the release before it.

    Of several products, machines or configurations it is the place with most releases. Where their order is
    not known, the newest is the one that was measured last, and ``base`` has to be given. Few statements,
    the same computation as on the page of comparisons. Raises NoPairError.
    """
    selector = Selector(product=product or None, hardware=hardware or None, branch="")
    columns = _of_one_place(
        [
            one
            for one in columns_of(project, selector)
            if not is_control(one.version.build) and one.version.version != UNKNOWN_VERSION
        ]
    )
    if not columns:
        raise NoPairError("no releases")
    newest, before = columns[-1], columns[:-1]
    if base:
        texts = {base, parse_version(base).version}
        before = [one for one in before if one.version.version in texts]
    elif before:
        before = before[first_in_order([one.version.sort_key for one in columns]) :]
        if not before:
            raise NoPairError("no known order")
    if not before:
        raise NoPairError(f"no release {base}" if base else "one release only")
    reference = before[-1]
    measured = metrics_in_common(project, [reference, newest])
    if not measured or (metric and metric not in measured):
        raise NoPairError(f"no metric {metric}" if metric else "no metric of both releases")
    wanted = metric or main_metric(measured)
    table = compare_columns(project, metric=wanted, base=reference, columns=[newest])
    if project.is_relative_only:
        table = table_for_others(table)
    speed = summary_of(table.rows, of_speeds=True).geomean[0] if table.rows else None
    direction: Direction = table.direction if table.direction == UNKNOWN else HIGHER
    return ReleaseChange(
        product=newest.version.product.name,
        version=newest.version.version,
        before=reference.version.version,
        metric=wanted,
        speed=speed,
        unit=table.unit,
        direction=direction,
        verdict=of_table(table.rows, 0, margin=table.margin),
    )


def _of_one_place(columns: Sequence[Column]) -> list[Column]:
    """Keep the columns of the place that has most of them, in the order of versions."""
    places = Counter(column.place for column in columns)
    most = max(places, key=places.__getitem__, default=None)
    return [column for column in columns if column.place == most]
