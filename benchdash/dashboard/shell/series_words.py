"""Words for what series have in common, and for what tells them apart."""

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Final, NamedTuple

from benchdash.dashboard.shell import numbers
from benchdash.results.models import DEFAULT_CONFIGURATION, Series


class _Part(NamedTuple):
    """One thing to say of a series; a ``usual`` text is said only where series differ in it."""

    text: Callable[[Series], str]
    usual: str = ""


_PRODUCT: Final = _Part(lambda series: series.product.name)
_BRANCH: Final = _Part(lambda series: series.branch or "releases", usual="releases")
_LINE: Final = _Part(lambda series: series.line or ("" if series.branch else "no line"), usual="no line")
_BUILD: Final = _Part(lambda series: series.build or "no build", usual="no build")
# The parts of one group stand together: ``MariaDB 10.6 debug``.
_GROUPS: Final = (
    (_Part(lambda series: series.workload.name),),
    (
        _Part(
            lambda series: "all threads" if series.is_derived else threads_words(series.threads),
            usual="threads not said",
        ),
    ),
    (_Part(lambda series: numbers.metric_name(series.metric)),),
    (_PRODUCT, _BRANCH, _LINE, _BUILD),
    (_Part(lambda series: series.hardware.name),),
    (_Part(lambda series: series.configuration.name, usual=DEFAULT_CONFIGURATION),),
    (
        _Part(
            lambda series: f"with {series.counterpart}" if series.counterpart else "with nothing else",
            usual="with nothing else",
        ),
    ),
)
_PARTS: Final = tuple(chain.from_iterable(_GROUPS))


def threads_words(threads: int | None) -> str:
    return "threads not said" if threads is None else numbers.counted(threads, "thread")


def title(series: Sequence[Series]) -> str:
    """Return what series share: ``oltp_read_only, 4 threads, transactions per second, MariaDB 10.6, box``."""
    shared = [part for part in _PARTS if len({part.text(one) for one in series}) == 1]
    return _said(series[0], _unusual(series[0], shared))


def names(series: Sequence[Series]) -> list[str]:
    """For each series what tells it from the others (``10.6``); one alone is called by what was measured."""
    telling = _telling(series)
    version = (_PRODUCT, _BRANCH, _LINE, _BUILD)
    return [_told(one, telling) or _said(one, _unusual(one, version)) for one in series]


def panel_names(panels: Sequence[Sequence[Series]]) -> list[str]:
    """For each panel, whose series differ in their release lines alone, what tells it from the others."""
    first = [panel[0] for panel in panels]
    telling = [part for part in _telling(first) if part is not _LINE]
    return [_told(one, telling) or title([one]) for one in first]


def _telling(series: Sequence[Series]) -> list[_Part]:
    return [part for part in _PARTS if len({part.text(one) for one in series}) > 1]


def _unusual(series: Series, parts: Sequence[_Part]) -> list[_Part]:
    return [part for part in parts if part.text(series) != part.usual]


def _told(series: Series, telling: Sequence[_Part]) -> str:
    """Say what is unusual of these parts; where nothing is, that they are as usual."""
    return _said(series, _unusual(series, telling) or telling)


def _said(series: Series, parts: Collection[_Part]) -> str:
    groups = (
        " ".join(filter(None, (part.text(series) for part in group if part in parts))) for group in _GROUPS
    )
    return ", ".join(filter(None, groups))
