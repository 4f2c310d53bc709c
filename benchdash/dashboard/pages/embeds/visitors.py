"""Who may see what is embedded: everybody what is public, and whoever has a signed link what it shows.

An embedded chart stands in the pages of others. Who is signed in here makes no difference to it, so that no
such page can show, or be made to measure, what only its visitor may see.
"""

from dataclasses import dataclass

from django.http import QueryDict

from benchdash.accounts.access import NOBODY, RelativeFiguresOnly
from benchdash.accounts.models import Project
from benchdash.accounts.signed_links import LinkEnded, NotSigned, require_signature
from benchdash.dashboard.shell.project_page import ProjectPage


@dataclass
class NothingToShow(Exception):  # noqa: N818 - an answer, not a fault
    """Why there is nothing to show: a sentence, and a few words for a badge."""

    status: int
    sentence: str
    words: str


def embedded_page(slug: str, what: str, query: QueryDict, *, shows_ratios: bool = False) -> ProjectPage:
    """Return the project as nobody in particular sees it. Raises NothingToShow.

    ``what`` is shown with the parameters of ``query``. A project that publishes relative figures only shows
    what ``shows_ratios`` alone, by signed links too: they go to others than members.
    """
    project = Project.objects.filter(slug=slug, deleting_since=None).first()
    if project is None:
        raise _not_found()
    if not project.is_public:
        try:
            require_signature(project, what, query)
        except NotSigned:
            raise _not_found() from None
        except LinkEnded:
            sentence = "The time of this link is over; whoever made it can make another."
            raise NothingToShow(404, sentence, "link ended") from None
    if project.is_relative_only and not shows_ratios:
        raise NothingToShow(403, f"{RelativeFiguresOnly()}.", "relative figures only")
    return ProjectPage(project, NOBODY, [])


def _not_found() -> NothingToShow:
    return NothingToShow(
        404, "There is nothing public at this address. A signed link must be copied whole.", "not found"
    )
