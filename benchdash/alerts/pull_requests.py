"""Pull requests are told how they did: a status beside the commit, and one comment that is kept up to date.

A pull request is looked at after each of its runs, until the analysis is done. What was told is a digest: the
same words are not told again. A crash may repeat a status; a comment is looked for before one is written.

Each code host is a job of its own, in a queue of their own: one that is slow, or answers anything, makes its
own pull requests wait and nobody else.
"""

import hashlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.addresses import absolute
from benchdash.alerts.channels.errors import RefusedError, UnavailableError
from benchdash.alerts.code_hosts import CommitStatus, StatusState, code_host
from benchdash.alerts.models import RETRY_FIELDS, CodeHost, PullRequestAnswer, is_due
from benchdash.database.locks import alone_with
from benchdash.regressions.comparison.gate import Gate, GateError, Question, decide
from benchdash.regressions.comparison.gate_words import markdown, summary
from benchdash.regressions.comparison.markdown_text import plain
from benchdash.results.models import Run, VersionPlace
from benchdash.results.pull_requests import branch_of, number_in, of_pull_requests

_log = logging.getLogger(__name__)

MAX_SHOWN: Final = 20
# Nobody asks any more about a commit that was measured longer ago.
MAX_AGE: Final = timedelta(days=14)
# After so long a code host makes room for others; what is left is told at the next look.
MAX_SECONDS_A_LOOK: Final = 30.0
_WORST_FIRST: Final = ("fail", "unknown", "pass")
_MAX_WAIT: Final = timedelta(hours=1)
_TOLD_FIELDS: Final = ("commit", "told", "told_at", "comment", "seen_run", "is_pending")


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
        api_url=api_url.strip().rstrip("/"),
    )
    host.secret = secret.strip()
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


def ask_again(host: CodeHost) -> None:
    """Make all of its pull requests due at once."""
    for rows in (CodeHost.objects.filter(pk=host.pk), host.answers.all()):
        rows.update(attempts=0, retry_at=None, error="")


def last_answers(host: CodeHost) -> Sequence[PullRequestAnswer]:
    """Return what was told to the pull requests that were measured last, the newest first."""
    return list(host.answers.order_by(F("seen_run").desc(nulls_first=True), "-number")[:MAX_SHOWN])


def waiting(project: Project, number: int) -> CodeHost | PullRequestAnswer | None:
    """Return what keeps a pull request from being told how it did: its code host, or the answer itself."""
    host = code_host_of(project)
    answer = host.answers.filter(number=number).first() if host else None
    return next((one for one in (host, answer) if one and one.error), None)


# --- the answers --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _News:
    """The messages to a pull request: beside its commit, and in its comment, which waits for the analysis."""

    commit: str
    status: CommitStatus
    comment: str | None

    @property
    def digest(self) -> str:
        words = [self.commit, self.status.state, self.status.sentence, self.comment or ""]
        return hashlib.sha256("\0".join(words).encode()).hexdigest()


def hosts_to_ask() -> Sequence[int]:
    """Return the ids of the code hosts whose pull requests may have news: none while mail is held."""
    if settings.HOLD_MAIL:
        return []
    measured = _recent_runs().filter(project=OuterRef("project"))
    hosts = CodeHost.objects.filter(is_due(), Exists(measured), project__deleting_since=None)
    # Jobs expire where all workers are busy: by chance, and not always those of the same hosts.
    return list(hosts.order_by("?").values_list("pk", flat=True))


def answer_pull_requests(host_id: int) -> int:
    """Tell each pull request of a code host that has news, and return how many were told.

    Where it does not answer as it should, all of them wait, longer each time.
    """
    with alone_with("code host", host_id) as is_alone:
        host = CodeHost.objects.filter(is_due(), pk=host_id).select_related("project").first()
        if host is None or not is_alone:
            return 0
        if trouble := host.secret_trouble:
            _postpone(host, UnavailableError(trouble))
            return 0
        told, until = 0, time.monotonic() + MAX_SECONDS_A_LOOK
        try:
            for request in _with_news(host):
                told += _answer(host, request)
                if time.monotonic() > until:
                    break
        except UnavailableError as error:
            _postpone(host, error)
        else:
            _succeeded(host)
        return told


class _Request(NamedTuple):
    """A pull request, and the id of its newest run."""

    number: int
    newest_run: int


def _recent_runs() -> QuerySet[Run]:
    return Run.objects.filter(of_pull_requests(), recorded_at__gte=timezone.now() - MAX_AGE).order_by()


def _with_news(host: CodeHost) -> list[_Request]:
    """Return the pull requests with runs that were not looked at, or not analysed when they were."""
    places = VersionPlace.objects.filter(of_pull_requests(), project=host.project)
    runs = _recent_runs().filter(project=host.project, version__in=places.values("version"))
    newest = runs.values_list("branch").annotate(newest=Max("pk")).order_by("newest")
    measured = [_Request(number, run) for branch, run in newest if (number := number_in(branch))]
    answers = {one.number: one for one in host.answers.filter(number__in=[one.number for one in measured])}
    due = [one for one in measured if _is_due(answers.get(one.number), one)]
    # One that fails every time comes last, and the others are told before it.
    return sorted(due, key=lambda one: answers[one.number].attempts if one.number in answers else 0)


def _is_due(answer: PullRequestAnswer | None, request: _Request) -> bool:
    if answer is None:
        return True
    if answer.retry_at:
        return answer.retry_at <= timezone.now()
    return answer.is_pending or answer.seen_run != request.newest_run


def _answer(host: CodeHost, request: _Request) -> bool:
    """Look at a pull request, and return whether it was told anything. Raises UnavailableError."""
    answer, _ = PullRequestAnswer.objects.get_or_create(host=host, number=request.number)
    try:
        is_told = _tell_news(host, request, answer)
    except UnavailableError as error:
        _postpone(answer, error)
        raise
    except (GateError, RefusedError) as error:
        _postpone(answer, error)
        return False
    except Exception:  # noqa: BLE001 - an answer that cannot be made must not hold up the others
        _log.exception("%s of %s could not be made", answer, host)
        _postpone(answer, RuntimeError("benchdash could not make the answer; its log says why"))
        return False
    answer.seen_run = request.newest_run
    _succeeded(answer)
    return is_told


def _postpone(tried: CodeHost | PullRequestAnswer, error: Exception) -> None:
    wait = tried.postpone(error, max_wait=_MAX_WAIT)
    _log.warning("%s: %s; next try in %s", tried, error, wait)
    _save(tried)


def _succeeded(tried: CodeHost | PullRequestAnswer) -> None:
    tried.attempts, tried.retry_at, tried.error = 0, None, ""
    _save(tried)


def _save(tried: CodeHost | PullRequestAnswer) -> None:
    """Save what a look changes, and nothing where somebody has disconnected the code host meanwhile."""
    names = [*RETRY_FIELDS, *(_TOLD_FIELDS if isinstance(tried, PullRequestAnswer) else ())]
    rows = type(tried)._default_manager.filter(pk=tried.pk)
    rows.update(**{name: getattr(tried, name) for name in names})


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
