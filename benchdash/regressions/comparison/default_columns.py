"""The columns that are compared where nobody chose any: the newest versions where most is measured."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.columns import Column, SelectorError, columns_at
from benchdash.results import catalogue
from benchdash.results.controls import is_control
from benchdash.results.models import DEFAULT_CONFIGURATION, Configuration, Hardware, Product
from benchdash.results.pull_requests import is_of_pull_request
from benchdash.results.queries import ids_called
from benchdash.results.version_places import newest_versions, places_of_versions

# Default number of columns of a matrix: it holds more of them than charts do.
MATRIX_COLUMNS: Final = 12
# The default reference of every page is the oldest of this many newest versions at a place.
_REFERENCE_DEPTH: Final = 12


class PlaceNames(NamedTuple):
    """The place of a column in the names that addresses and headings use; a Place of results has ids."""

    product: str
    build: str
    branch: str
    hardware: str
    configuration: str
    counterpart: str

    @classmethod
    def of(cls, column: Column) -> "PlaceNames":
        product, build = column.version.product.name, column.version.build
        return cls(product, build, column.branch, column.hardware, column.configuration, column.counterpart)

    def __str__(self) -> str:
        """``MariaDB debug on bench-03, branch main, configuration tuned, with Connector/C``."""
        parts = [f"{' '.join(filter(None, [self.product, self.build]))} on {self.hardware}"]
        if self.branch:
            parts.append(f"branch {self.branch}")
        if self.configuration != DEFAULT_CONFIGURATION:
            parts.append(f"configuration {self.configuration}")
        if self.counterpart:
            parts.append(f"with {self.counterpart}")
        return ", ".join(parts)


def recent_use(project: Project) -> Counter[PlaceNames]:
    """Count the newest runs of each place, that of the newest run first; one statement."""
    return Counter({PlaceNames(*one[:6]): one.runs for one in catalogue.recent_places(project)})


def newest_columns(available: Sequence[Column], project: Project) -> list[Column]:
    """Return the newest versions of the product measured last, at the place where it is measured most.

    Where it has one version there, the versions of other products there stand beside it. Controls tell of
    the machine: they are chosen only where there is nothing else.
    """
    available = [column for column in available if not is_control(column.version.build)] or available
    offered = Counter(map(PlaceNames.of, available))
    use = {place: runs for place, runs in recent_use(project).items() if place in offered} or offered
    product = next(iter(use)).product
    of_product = [place for place in use if place.product == product]
    releases = [place for place in of_product if not place.branch]
    place = max(releases or of_product, key=use.__getitem__)
    at_place = [column for column in available if PlaceNames.of(column) == place]
    if len(at_place) == 1:
        # Whatever its product and build.
        at_place = [column for column in available if PlaceNames.of(column)[2:] == place[2:]]
    return at_place


def default_reference(at_place: Sequence[Column]) -> Column:
    """Return what versions at a place (in their order) are held against where nobody chose."""
    return at_place[-_REFERENCE_DEPTH:][0]


def default_columns(at_place: Sequence[Column], number: int) -> list[Column]:
    """Return the default reference and the newest versions beside it."""
    newest = at_place[-_REFERENCE_DEPTH:]
    return [newest[0], *newest[1:][1 - number :]]


_NAMED: Final = {"product": Product, "hardware": Hardware, "configuration": Configuration}


def newest_at(project: Project, parts: Mapping[str, str]) -> list[Column]:
    """Return the newest versions at the place with these parts, in their order; few statements.

    ``parts`` are texts by field of PlaceNames, with old names; of several places it is the one that
    ``newest_columns`` takes. Those of pull requests are left out unless their branch is asked for. Raises
    SelectorError for the part that nothing has, or for ``project`` where nothing was measured at all.
    """
    places = [
        place
        for place in places_of_versions(project)
        if not is_of_pull_request(place.branch) or place.branch == parts.get("branch")
    ]
    for name, text in parts.items():
        if model := _NAMED.get(name):
            ids = ids_called(model, [text], project)
            places = [place for place in places if getattr(place, f"{name}_id") in ids]
        else:
            places = [place for place in places if getattr(place, name) == text]
        if not places:
            raise SelectorError(f"no version was measured with the {name} {text[:50]!r} there", field=name)
    available = columns_at(newest_versions(project, places)) if places else []
    if not available:
        raise SelectorError("no version was measured there", field=next(iter(parts), "project"))
    return newest_columns(available, project)
