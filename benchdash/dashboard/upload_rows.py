"""How an upload is written in a list, and the words of it that other pages have too."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from benchdash.dashboard import cells, numbers
from benchdash.dashboard.markup import EMPTY, html, joined
from benchdash.dashboard.navigation import page_urls
from benchdash.dashboard.received import Held
from benchdash.dashboard.shell import ProjectPage
from ingest.models import Upload

_MOST_NAMED: Final = 20
_FADED: Final = mark_safe(' class="is-faded"')
_ROW: Final = """<tr{}>
<th scope="row" class="file-name"><a href="{}" title="{}"><bdi>{}</bdi></a></th>
<td class="state">{} {} {}</td>
<td class="holds">{} {}</td>
<td class="number">{}</td>
<td class="when">{}</td>
{}
</tr>
"""


def table_rows(
    page: ProjectPage,
    uploads: Iterable[Upload],
    held: Mapping[int, Held],
    files: Mapping[int, Sequence[tuple[str, int]]],
    *,
    sees_reasons: bool,
) -> SafeString:
    """The rows as HTML; their heads are in the template.

    ``held`` is what an upload holds, ``files`` how many files of an archive are in which state, by its id.
    """
    url = page_urls("upload", page.project)
    return joined(
        html(
            _ROW,
            _FADED if upload.state == Upload.State.DELETED else EMPTY,
            url(upload.pk),
            upload.name,
            upload.name,
            cells.badge(upload.state),
            html('<span class="quiet mono">{}</span>', upload.format) if upload.format else EMPTY,
            progress(upload),
            _content(upload, held.get(upload.pk), files.get(upload.pk), sees_reasons=sees_reasons),
            _warnings(upload, url),
            numbers.count(upload.run_count) if upload.run_count else EMPTY,  # type: ignore[attr-defined]
            cells.ago(upload.received_at),
            html('<td class="by">{}</td>', sender(upload)) if page.is_member else EMPTY,
        )
        for upload in uploads
    )


def _content(
    upload: Upload, held: Held | None, files: Sequence[tuple[str, int]] | None, *, sees_reasons: bool
) -> SafeString:
    """What the upload holds, or why it holds nothing."""
    if upload.errors and sees_reasons:
        return _reason(upload)
    is_deleted, is_finished = upload.state == Upload.State.DELETED, upload.state in Upload.FINISHED
    if files and is_finished and not is_deleted:
        counts = (
            html("<span>{} {}</span>", cells.badge(state), numbers.count(number)) for state, number in files
        )
        return html('<span class="file-states">{}</span>', joined(counts))
    if held:
        return holds(held)
    if is_deleted:
        return html('<span class="quiet">{}</span>', "its runs are gone; it can be restored")
    return EMPTY if is_finished else html('<span class="quiet">{}</span>', "a job reads it")


def _reason(upload: Upload) -> SafeString:
    first, more = upload.errors[0], len(upload.errors) - 1
    line = f"line {numbers.count(first['line'])}: " if first["line"] else ""
    return html(
        '<span class="error">{}{}</span> {}',
        line,
        first["message"],
        html('<span class="quiet">and {} more</span>', more) if more else EMPTY,
    )


def _warnings(upload: Upload, url: Callable[[int], str]) -> SafeString:
    if not (number := len(upload.warnings)):
        return EMPTY
    words = f"{number} warning{'' if number == 1 else 's'}"
    return html('<a class="warnings" href="{}#warnings">{}</a>', url(upload.pk), words)


def holds(held: Held) -> SafeString:
    """``MariaDB 10.6.2 · oltp_read_only and 3 more · 1 to 64 threads``."""
    dot = mark_safe('<span class="dot" aria-hidden="true">·</span>')
    threads = html("{} {}", dot, held.threads) if held.threads else EMPTY
    return html("{} {} {} {}", _first_of(held.versions), dot, _first_of(held.workloads), threads)


def _first_of(names: Sequence[str]) -> SafeString:
    more = html(' <span class="quiet">and {} more</span>', len(names) - 1) if len(names) > 1 else EMPTY
    return html('<span title="{}">{}{}</span>', ", ".join(names[:_MOST_NAMED]), names[0], more)


def progress(upload: Upload) -> SafeString:
    """How many files of an archive were read, while there are more to read."""
    if upload.state in Upload.FINISHED or upload.total <= 1:
        return EMPTY
    label = f"{numbers.count(upload.done)} of {numbers.count(upload.total)} files"
    return html('<progress max="{}" value="{}" aria-label="{}"></progress>', upload.total, upload.done, label)


def sender(upload: Upload) -> SafeString:
    if upload.token:
        return html('<span title="a token">{}</span>', upload.token.name)
    if upload.user:
        return html('<span title="{}">{}</span>', upload.user.email, upload.user)
    return html('<span class="quiet">{}</span>', "a command")
