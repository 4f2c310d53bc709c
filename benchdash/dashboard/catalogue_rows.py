"""The rows of the lists of what a project knows, as HTML; their heads are in the templates."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Final
from urllib.parse import quote, urlencode

from django.utils.safestring import SafeString

from benchdash.dashboard import cells, numbers
from benchdash.dashboard.catalogue import VersionRow, WorkloadRow, facts_in_words
from benchdash.dashboard.markup import EMPTY, html, joined
from benchdash.dashboard.navigation import page_url, page_urls
from benchdash.dashboard.shell import ProjectPage
from benchdash.results.models import ServerVersion

_ACTION: Final = '<td class="row-action"><a href="{}">{}</a></td>'

# --- versions -----------------------------------------------------------------------------------------------

_PRODUCT: Final = """<tbody>
<tr class="group-head"><th scope="rowgroup" colspan="9">{}</th>{}</tr>
{}</tbody>
"""
_VERSION: Final = """<tr>
<th scope="row" class="mono"><a href="{}?{}">{}</a>{}</th>
<td class="mono">{}</td>
<td>{}</td>
<td>{}</td>
<td class="when">{}</td>
<td class="when">{}</td>
<td class="subject">{}</td>
<td class="number">{}</td>
<td class="when">{}</td>
{}</tr>
"""


def version_table(page: ProjectPage, rows: Iterable[VersionRow], *, may_correct: bool) -> SafeString:
    """A body for each product; they stand together in ``rows``."""
    runs = page_url("runs", page.project)
    of_product, of_version = (
        page_urls("correction", page.project, kind) for kind in ("products", "versions")
    )
    return joined(
        html(
            _PRODUCT,
            product,
            html(_ACTION, of_product(product.pk), "Rename or merge") if may_correct else EMPTY,
            joined(_version(row, runs, of_version if may_correct else None) for row in listed),
        )
        for product, listed in groupby(rows, key=lambda row: row.version.product)
    )


def _version(row: VersionRow, runs: str, correction: Callable[[int], str] | None) -> SafeString:
    version, use = row.version, row.use
    return html(
        _VERSION,
        runs,
        _found_by(version),
        version.version,
        _old_names(row.old_names),
        row.line or numbers.NOTHING,
        version.build or numbers.NOTHING,
        cells.commit(version.commit),
        cells.ago(version.committed_at),
        version.released_on or numbers.NOTHING,
        ", ".join(use.branches) or numbers.NOTHING,
        numbers.count(use.runs),
        cells.ago(use.last_run_at),
        html(_ACTION, correction(version.pk), "Correct") if correction else EMPTY,
    )


def _found_by(version: ServerVersion) -> str:
    """The query of the list of its runs."""
    named = {"product": version.product.name, "version": version.version}
    return urlencode(named | ({"commit": version.commit} if version.commit else {}), quote_via=quote, safe="")


def _old_names(names: Sequence[str]) -> SafeString:
    return html(' <span class="quiet">was {}</span>', ", ".join(names)) if names else EMPTY


# --- workloads ----------------------------------------------------------------------------------------------

_WORKLOAD: Final = """<tr>
<th scope="row" class="long-name"><a href="{}?workload={}">{}</a> <span class="quiet">{}</span></th>
<td class="subject">{}</td>
<td class="number">{}</td>
<td class="number">{}</td>
<td class="when">{}</td>
<td class="subject">{}</td>
{}</tr>
"""
_OPTIONS: Final = """<details>
<summary>{}</summary>
<dl class="facts mono">{}</dl>
</details>"""


def workload_table(page: ProjectPage, rows: Iterable[WorkloadRow], *, may_correct: bool) -> SafeString:
    history, correction = (
        page_url("history", page.project),
        page_urls("correction", page.project, "workloads"),
    )
    return joined(
        html(
            _WORKLOAD,
            history,
            quote(row.workload.name, safe=""),
            row.workload,
            _also_found(row.old_names),
            ", ".join(map(str, row.use.threads)) or numbers.NOTHING,
            numbers.count(row.series),
            numbers.count(row.use.runs),
            cells.ago(row.use.last_run_at),
            _options(facts_in_words(row.workload.options)),
            html(_ACTION, correction(row.workload.pk), "Rename or merge") if may_correct else EMPTY,
        )
        for row in rows
    )


def _also_found(names: Iterable[str]) -> SafeString:
    found = [html("<b>{}</b>", name) for name in names]
    return html("Uploads also find it as {}.", joined(found, ", ")) if found else EMPTY


def _options(options: Sequence[tuple[str, Any]]) -> SafeString:
    if not options:
        return html('<span class="quiet">{}</span>', "not said")
    listed = joined(html("<dt>{}</dt><dd>{}</dd>", name, value) for name, value in options)
    return html(_OPTIONS, f"{len(options)} option{'' if len(options) == 1 else 's'}", listed)
