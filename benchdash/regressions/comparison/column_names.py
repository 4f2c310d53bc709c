"""Names for the columns of a comparison, that say what differs between them, and ids for addresses."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from benchdash.regressions.comparison.version_table import Column
from benchdash.results.models import UNKNOWN_VERSION, Run, Series

_SHORT_COMMIT: Final = 10

_PLACE: Final[tuple[Callable[[Column], str], ...]] = (
    lambda column: column.branch,
    lambda column: column.hardware,
    lambda column: column.configuration,
    lambda column: column.counterpart,
)


def short_id(column: Column) -> str:
    return id_at(column.version.pk, column)


def id_at(version: int, place: Column | Run | Series) -> str:
    """``12.3.1``: version, hardware, configuration; ``~branch`` and ``~counterpart`` where it has them."""
    text = f"{version}.{place.hardware_id}.{place.configuration_id}"
    if place.branch or place.counterpart:
        text += f"~{place.branch}"
    return f"{text}~{place.counterpart}" if place.counterpart else text


def names(columns: Sequence[Column]) -> list[str]:
    """A name for each column that says its version, and what else is not the same in all of them."""
    telling = [part for part in _PLACE if _differ(part(column) for column in columns)]
    return [
        ", ".join([version, *filter(None, (part(column) for part in telling))])
        for version, column in zip(_version_names(columns), columns, strict=True)
    ]


def _version_names(columns: Sequence[Column]) -> list[str]:
    """Product where they differ, version and build; a commit where it says more than the version does."""
    with_product = _differ(column.version.product_id for column in columns)
    plain = [_version_name(column, with_product=with_product) for column in columns]
    versions_by_name: dict[str, set[int]] = defaultdict(set)
    for name, column in zip(plain, columns, strict=True):
        versions_by_name[name].add(column.version.pk)
    return [
        f"{name} {short_commit(column)}".strip() if len(versions_by_name[name]) > 1 else name
        for name, column in zip(plain, columns, strict=True)
    ]


def _version_name(column: Column, *, with_product: bool) -> str:
    version = column.version
    known = version.version
    if known == UNKNOWN_VERSION:
        known = short_commit(column) or ("" if with_product else UNKNOWN_VERSION)
    return " ".join(filter(None, [version.product.name if with_product else "", known, version.build]))


def short_commit(column: Column) -> str:
    return (column.version.commit or "")[:_SHORT_COMMIT]


def are_versions_in_order(columns: Sequence[Column]) -> bool:
    """Whether they are versions of one product, each once, so that colours may follow their order."""
    versions = {column.version.pk for column in columns}
    return len(versions) == len(columns) and not _differ(column.version.product_id for column in columns)


def _differ(values: Iterable[object]) -> bool:
    return len(set(values)) > 1
