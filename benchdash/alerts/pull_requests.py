"""Pull requests are told how they did: a status beside the commit, and one comment that is kept up to date.

A pull request is looked at after each of its runs, until the analysis is done. What was told is a digest: the
same words are not told again. A crash may repeat a status; a comment is looked for before one is written.
"""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.addresses import absolute
from benchdash.alerts.channels.errors import RefusedError, UnavailableError
from benchdash.alerts.code_hosts import CommitStatus, StatusState, code_host
from benchdash.alerts.models import CodeHost, PullRequestAnswer
from benchdash.regressions.comparison.gate import Gate, GateError, Question, decide
from benchdash.regressions.comparison.gate_words import markdown, summary
from benchdash.regressions.comparison.markdown_text import plain
from benchdash.results.models import Run, VersionPlace
from benchdash.results.pull_requests import branch_of, number_in, of_pull_requests

_log = logging.getLogger(__name__)

MAX_SHOWN: Final = 20
# What was measured longer ago is nobody's question any more.
MAX_AGE: Final = timedelta(days=14)
_WORST_FIRST: Final = ("fail", "unknown", "pass")
_MIN_WAIT: Final = timedelta(minutes=1)
_MAX_WAIT: Final = timedelta(hours=1)


# --- the connection -----------------------------------------------------------------------------------------


def code_host_of(project: Project) -> CodeHost | None:
    return CodeHost.objects.select_related("project").filter(project=project).first()


def connect(
    project: Project, *, kind: str, repository: str, secret: str, api_url: str, by: Viewer
) -> CodeHost:
    """Answer the pull requests of this repository from now on, instead of any other.

    Raises django.core.exceptions.ValidationError where the code host does not know the repository, or does
    not let the token in.
    """
    host = CodeHost(
        project=project,
        kind=kind,
        repository=repository,
        secret=secret.strip(),
        api_url=api_url.strip().rstrip("/"),
    )
    if not (host.api_url.startswith("https://") or settings.WEBHOOKS_MAY_BE_PRIVATE):
        raise ValidationError({"api_url": "the token goes over https only"})
    if trouble := try_code_host(host):
        raise ValidationError(f"{host} was not reached: {trouble}")
    with transaction.atomic():
        # Two who connect at once: the second waits here.
        Project.objects.select_for_update().get(pk=project.pk)
        CodeHost.objects.filter(project=project).delete()
        host.save()
        audit(project, by, "code host connected", str(host), detail={"api_url": host.api_url})
    return host


def disconnect(host: CodeHost, *, by: Viewer) -> None:
    """Answer no pull requests any more. What was written stays there."""
    with transaction.atomic():
        audit(host.project, by, "code host disconnected", str(host))
        host.delete()


def try_code_host(host: CodeHost) -> str:
    """Ask for the repository, and return what went wrong, or nothing."""
    if settings.HOLD_MAIL:
        return "nothing is sent from this installation (HOLD_MAIL=1)"
    try:
        code_host(host.kind).check(host)
    except (RefusedError, UnavailableError) as error:
        return str(error)
    return ""


def last_answers(host: CodeHost) -> Sequence[PullRequestAnswer]:
    """Return what was told to the pull requests that were measured last, the newest first."""
    return list(host.answers.order_by(F("seen_run").desc(nulls_first=True), "-number")[:MAX_SHOWN])


# --- the answers --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _News:
    """What a pull request is told: beside its commit, and in its comment, which waits for the analysis."""

    commit: str
    status: CommitStatus
    comment: str | None

    @property
    def digest(self) -> str:
        words = [self.commit, self.status.state, self.status.sentence, self.comment or ""]
        return hashlib.sha256("\0".join(words).encode()).hexdigest()


def answer_pull_requests() -> int:
    """Tell each pull request with news, and return how many were told: none while mail is held."""
    if settings.HOLD_MAIL:
        return 0
    told = 0
    for host in CodeHost.objects.filter(project__deleting_since=None).select_related("project"):
        for request in _with_news(host):
            is_reached, is_told = _answer(host, request)
            told += is_told
            if not is_reached:
                break
    return told


class _Request(NamedTuple):
    """A pull request, and the id of its newest run."""

    number: int
    newest_run: int


def _with_news(host: CodeHost) -> list[_Request]:
    """Return the pull requests with runs that were not looked at, or not analysed when they were."""
    places = VersionPlace.objects.filter(of_pull_requests(), project=host.project)
    runs = Run.objects.filter(
        of_pull_requests(),
        project=host.project,
        version__in=places.values("version"),
        recorded_at__gte=timezone.now() - MAX_AGE,
    )
    newest = runs.order_by().values_list("branch").annotate(newest=Max("pk")).order_by("newest")
    measured = [_Request(number, run) for branch, run in newest if (number := number_in(branch))]
    answers = {one.number: one for one in host.answers.filter(number__in=[one.number for one in measured])}
    return [one for one in measured if _is_due(answers.get(one.number), one)]


def _is_due(answer: PullRequestAnswer | None, request: _Request) -> bool:
    if answer is None:
        return True
    if answer.retry_at:
        return answer.retry_at <= timezone.now()
    return answer.is_pending or answer.seen_run != request.newest_run


@transaction.atomic
def _answer(host: CodeHost, request: _Request) -> tuple[bool, bool]:
    """Look at a pull request; return whether the code host was reached, and whether it was told anything."""
    PullRequestAnswer.objects.get_or_create(host=host, number=request.number)
    # Another worker may be telling it right now.
    rows = PullRequestAnswer.objects.select_for_update(skip_locked=True)
    answer = rows.filter(host=host, number=request.number).first()
    if answer is None:
        return True, False
    try:
        is_told = _tell_news(host, request, answer)
    except (GateError, RefusedError, UnavailableError) as error:
        wait = min(_MIN_WAIT * 2 ** min(answer.attempts, 10), _MAX_WAIT)
        _log.warning(
            "pull request %s of %s was not told, next try in %s: %s", request.number, host, wait, error
        )
        answer.attempts += 1
        answer.retry_at = timezone.now() + wait
        answer.error = (str(error) or type(error).__name__)[:500]
        answer.save()
        return not isinstance(error, UnavailableError), False
    answer.attempts, answer.retry_at, answer.error = 0, None, ""
    answer.seen_run = request.newest_run
    answer.save()
    return True, is_told


def _tell_news(host: CodeHost, request: _Request, answer: PullRequestAnswer) -> bool:
    """Tell what is new. Raises GateError, RefusedError or UnavailableError."""
    news = _news(host.project, request)
    answer.is_pending = news is not None and news.comment is None
    if news is None or news.digest == answer.told:
        return False
    kind = code_host(host.kind)
    kind.set_status(host, news.commit, news.status)
    if news.comment is not None:
        answer.comment = _write_comment(host, request, news.comment, answer.comment)
    answer.commit, answer.told, answer.told_at = news.commit, news.digest, timezone.now()
    return True


def _write_comment(host: CodeHost, request: _Request, text: str, known: int | None) -> int:
    """Write the comment of the pull request anew; it has one. Raises RefusedError or UnavailableError."""
    kind, mark = code_host(host.kind), f"<!-- benchdash {host.project.slug} -->"
    text = f"{mark}\n{text}"
    if known is not None:
        try:
            written: int = kind.write_comment(host, request.number, text, known)
            return written
        except RefusedError as error:
            if error.is_permanent:
                raise
            # Somebody deleted it.
    found: int = kind.write_comment(host, request.number, text, kind.find_comment(host, request.number, mark))
    return found


def _news(project: Project, request: _Request) -> _News | None:
    """Hold the newest commit against where it is to be merged, product by product; None without any run.

    Raises GateError.
    """
    branch = branch_of(request.number)
    measured = VersionPlace.objects.filter(project=project, branch=branch)
    products = sorted(set(measured.values_list("product__name", flat=True)))
    asked = [Question(product=name, pull_request=request.number) for name in products]
    gates = [gate for question in asked if (gate := decide(project, question)).sides.is_measured]
    if not gates:
        return None
    addresses = [_address(project, request, gate, is_only=len(gates) == 1) for gate in gates]
    commit = gates[-1].sides.subject.commit
    if not all(gate.is_analysed for gate in gates):
        waiting = CommitStatus("pending", "Results are being analysed.", addresses[0])
        return _News(commit, waiting, None)
    verdicts = {gate.verdict for gate in gates}
    state: StatusState = (
        "failure" if "fail" in verdicts else "pending" if "unknown" in verdicts else "success"
    )
    worst = min(gates, key=lambda gate: _WORST_FIRST.index(gate.verdict))
    status = CommitStatus(state, summary(worst), addresses[gates.index(worst)])
    parts = [_comment(project, gate, address) for gate, address in zip(gates, addresses, strict=True)]
    return _News(commit, status, "\n".join(parts))


def _address(project: Project, request: _Request, gate: Gate, *, is_only: bool) -> str:
    """Return the address of the page that shows the same."""
    query = {"pull_request": str(request.number)}
    if gate.sides.product and not is_only:
        query["product"] = gate.sides.product.name
    return f"{absolute('dashboard:gate', project.slug)}?{urlencode(query)}"


def _comment(project: Project, gate: Gate, url: str) -> str:
    """Return the words of a comment; without a table where absolute figures are for members only."""
    if project.is_relative_only:
        return f"**{plain(summary(gate))}**\n\n<{url}>\n"
    return markdown(gate, url=url)
