"""The subject of a gate and its base: a commit, a release, a branch or a pull request."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import OuterRef, Q, QuerySet, Subquery

from benchdash.accounts.models import Project
from benchdash.results.branches import branch_called
from benchdash.results.models import Product, PullRequest, Run, VersionPlace
from benchdash.results.pull_requests import MAX_DIGITS, PREFIX, branch_of, is_of_pull_request, number_in
from benchdash.results.queries import ids_called
from benchdash.results.versions import COMMIT, parse_version

# The newest commit of a branch is the one with the newest time, or that came in last.
_MAX_NEWEST: Final = 200
_SHOWN_DIGITS: Final = 10
_KINDS: Final = ("commit", "version", "branch")


class GateError(Exception):
    """A commit or a base that names nothing, or more than one thing: ``candidates``."""

    def __init__(self, field: str, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.candidates = candidates


@dataclass(frozen=True, slots=True)
class Question:
    """The question. Empty texts and None were not said; a ``branch`` of ``""`` means releases.

    ``commit`` and ``base`` may be the beginning of a commit. ``base`` is a commit, a version or a branch, and
    says which in front (``branch:10.6``) where its text means several. ``workloads``: only these count.
    """

    product: str = ""
    branch: str | None = None
    commit: str = ""
    version: str = ""
    base: str = ""
    pull_request: int | None = None
    workloads: tuple[str, ...] = ()

    @classmethod
    def of_texts(cls, texts: Mapping[str, str], workloads: Sequence[str] = ()) -> "Question":
        """Read a question from the parameters of an address. Raises GateError."""
        commit, number = texts.get("commit"), texts.get("pull_request", "")
        if commit is not None and not COMMIT.fullmatch(commit.lower()):
            raise GateError("commit", f"{commit[:50]!r} is not 7 to 40 hex digits")
        if number and number_in(f"{PREFIX}{number}") is None:
            raise GateError(
                "pull_request",
                f"{number[:50]!r} is not the number of a pull request, of {MAX_DIGITS} digits at most",
            )
        return cls(
            product=texts.get("product", ""),
            branch=texts.get("branch"),
            commit=(commit or "").lower(),
            version=texts.get("version", ""),
            base=texts.get("base", ""),
            pull_request=int(number) if number else None,
            workloads=tuple(filter(None, workloads)),
        )

    @property
    def texts(self) -> dict[str, str]:
        """The parameters that ask it, without ``workloads``."""
        values = {name: getattr(self, name) for name in PARAMETERS}
        return {name: str(value) for name, value in values.items() if value not in (None, "")}


PARAMETERS: Final = ("product", "branch", "commit", "version", "pull_request", "base")


@dataclass(frozen=True, slots=True)
class GateSide:
    """The runs of one commit or release in a stream; of a branch alone, those of its newest group."""

    branch: str = ""
    commit: str = ""
    version: str = ""

    @property
    def name(self) -> str:
        """``10.6.23``, ``3f9a2c1a77 on main``, ``the newest of main``."""
        if self.version:
            return self.version
        on = f" on {self.branch}" if self.branch else ""
        if self.commit:
            return f"{self.commit[:_SHOWN_DIGITS]}{on}"
        return f"the newest of {self.branch}" if self.branch else "a release"


@dataclass(frozen=True, slots=True)
class GateSides:
    """``base`` is None for the group before: of the branch, or of the release line.

    ``is_measured``: of the subject there is a run, included or not. ``base_trouble`` says why there is no
    base where there should be one.
    """

    product: Product | None
    subject: GateSide
    is_measured: bool
    asked_product: str = ""
    base: GateSide | None = None
    base_trouble: str = ""


def find_sides(project: Project, asked: Question) -> GateSides:
    """Find what a question is about. Raises GateError."""
    question = _checked(asked)
    at_product = _at_product(project, question.product)
    subject, rows = _subject(project, at_product, question)
    products = {product for product, *_ in rows}
    if len(products) > 1:
        names = sorted(Product.objects.filter(pk__in=products).values_list("name", flat=True))
        raise GateError("product", f"{subject.name} was measured of {len(names)} products: say which", names)
    if not products:
        return GateSides(None, subject, is_measured=False, asked_product=question.product)
    product = Product.objects.get(pk=products.pop())
    found = GateSides(product, subject, is_measured=True)
    places = VersionPlace.objects.filter(project=project, product=product)
    number = number_in(subject.branch)
    into = _into(product, number)
    if question.base:
        return replace(found, base=_base(places, question.base, subject, into))
    if number is None:
        return found
    if not into:
        trouble = (
            f"nobody said where pull request {number} is to be merged: send base_branch, or ask with base"
        )
        return replace(found, base_trouble=trouble)
    if not places.filter(branch=into).exists():
        return replace(found, base_trouble=f"nothing was measured on {into}, where it is to be merged")
    return replace(found, base=GateSide(branch=into))


def _checked(question: Question) -> Question:
    """Join what says the branch. Raises GateError where parts of a question contradict each other."""
    question = replace(question, branch=question.branch and branch_called(question.branch))
    if question.version and question.commit:
        raise GateError("version", "ask about a commit or about a version, not about both")
    if question.version and (question.branch or question.pull_request is not None):
        raise GateError("version", "a release is on no branch; ask about a commit of the branch")
    if question.pull_request is not None:
        of_request = branch_of(question.pull_request)
        if question.branch and question.branch != of_request:
            raise GateError("branch", f"the runs of pull request {question.pull_request} are on {of_request}")
        question = replace(question, branch=of_request)
    if question.version:
        return replace(question, branch="")
    if not (question.commit or question.branch):
        raise GateError("commit", "ask about a commit, a version, a branch or a pull request")
    return question


def _at_product(project: Project, product: str) -> QuerySet[VersionPlace]:
    places = VersionPlace.objects.filter(project=project).order_by()
    return places.filter(product__in=ids_called(Product, [product], project)) if product else places


_Found = Iterable[tuple[int, str, str]]
"""Ids of products, with commits and branches."""


def _subject(
    project: Project, places: QuerySet[VersionPlace], question: Question
) -> tuple[GateSide, Collection[tuple[int, str, str]]]:
    """Return what is asked about, and where it was measured."""
    if question.version:
        return _released(places, question.version)
    branch = question.branch
    of_branch = places if branch is None else places.filter(branch=branch)
    if branch and not question.commit:
        commit = _newest_commit(project, of_branch, branch)
        rows = _rows(of_branch.filter(commit=commit) if commit else of_branch)
        if rows and not commit:
            raise GateError("branch", f"the runs on {branch!r} say no commit, so there is none to ask about")
        return GateSide(branch=branch, commit=commit), rows
    rows = _rows(of_branch.filter(commit__startswith=question.commit))
    commit = _one_commit(question.commit, rows, field="commit")
    branches = sorted({found for _, _, found in rows})
    branches = [one for one in branches if not is_of_pull_request(one)] or branches
    if len(branches) > 1:
        raise GateError(
            "branch",
            f"{commit[:_SHOWN_DIGITS]} was measured on {len(branches)} branches: say which",
            branches,
        )
    branch = branches[0] if branches else branch or ""
    return GateSide(branch=branch, commit=commit), [row for row in rows if row[2] == branch]


def _rows(places: QuerySet[VersionPlace]) -> list[tuple[int, str, str]]:
    return list(places.values_list("product", "commit", "branch").distinct())


def _released(places: QuerySet[VersionPlace], text: str) -> tuple[GateSide, Collection[tuple[int, str, str]]]:
    rows = list(
        places.filter(branch="", version__version__in={text, parse_version(text).version})
        .values_list("product", "commit", "branch", "version__version")
        .distinct()
    )
    versions = {version for *_, version in rows}
    version = text if text in versions or not versions else min(versions)
    return GateSide(version=version), [row[:3] for row in rows if row[3] == version]


def _one_commit(beginning: str, rows: _Found, *, field: str) -> str:
    """Complete the beginning of a commit. Raises GateError where several begin so."""
    commits = sorted({commit for _, commit, _ in rows})
    if len(commits) > 1:
        raise GateError(field, f"{len(commits)} commits begin with {beginning!r}", commits)
    return commits[0] if commits else beginning


def _newest_commit(project: Project, places: QuerySet[VersionPlace], branch: str) -> str:
    """Return the newest commit of a branch with runs that count; empty where there is none."""
    included = Run.objects.filter(
        project=project, version=OuterRef("version"), branch=branch, excluded_at=None
    ).order_by("started_at")
    newest = places.exclude(commit="").order_by("-committed_at", "-version")
    rows = newest.annotate(first=Subquery(included.values("started_at")[:1])).values_list(
        "commit", "version__committed_at", "first"
    )[:_MAX_NEWEST]
    found = [(committed_at or first, commit) for commit, committed_at, first in rows if first]
    return max(found, default=(None, ""))[1]


def _into(product: Product, number: int | None) -> str:
    """Return the branch where a pull request is to be merged; empty where nobody said it."""
    if number is None:
        return ""
    request = PullRequest.objects.filter(product=product, number=number).first()
    return request.base_branch if request else ""


def _base(places: QuerySet[VersionPlace], asked: str, subject: GateSide, into: str) -> GateSide:
    """Find what a base means. Raises GateError where that is nothing, or more than one thing."""
    kind, _, text = asked.partition(":")
    if kind not in _KINDS or not text:
        kind, text = "", asked
    found: dict[str, GateSide] = {}
    rows = places.filter(_means(text)).values_list("commit", "branch", "version__version").distinct()
    commits, versions, branches = set(), set(), set()
    beginning = text.lower() if COMMIT.fullmatch(text.lower()) else None
    for commit, branch, version in rows:
        if beginning and commit.startswith(beginning):
            commits.add((0, commit, branch))
        if not branch and version in _texts(text):
            versions.add(version)
        if branch == branch_called(text):
            branches.add(branch)
    if commits and kind in ("", "commit") and beginning:
        found["commit"] = _base_commit(beginning, commits, subject, into)
    if versions and kind in ("", "version"):
        found["version"] = GateSide(version=text if text in versions else min(versions))
    if branches and kind in ("", "branch") and text:
        found["branch"] = GateSide(branch=branch_called(text))
    if not found:
        raise GateError(
            "base", f"there is no run of {text[:100]!r}, neither as a commit nor as a release nor as a branch"
        )
    if len(found) > 1:
        candidates = [f"{one}:{text}" for one in found]
        raise GateError("base", f"{text!r} is a {' and a '.join(found)}: say which is meant", candidates)
    [base] = found.values()
    if base == subject:
        raise GateError("base", f"{base.name} is not held against itself")
    return base


def _texts(text: str) -> set[str]:
    return {text, parse_version(text).version}


def _means(text: str) -> Q:
    meant = Q(branch=branch_called(text)) | Q(branch="", version__version__in=_texts(text))
    return meant | Q(commit__startswith=text.lower()) if COMMIT.fullmatch(text.lower()) else meant


def _base_commit(
    beginning: str, rows: Collection[tuple[int, str, str]], subject: GateSide, into: str
) -> GateSide:
    """Find the commit on the branch itself, or else where it is to be merged, or else on the only other."""
    commit = _one_commit(beginning, rows, field="base")
    branches = sorted({branch for _, _, branch in rows})
    others = [one for one in branches if not is_of_pull_request(one)] or branches
    for branch in (subject.branch, into):
        if branch in branches and GateSide(branch, commit) != subject:
            others = [branch]
            break
    if len(others) > 1:
        raise GateError(
            "base", f"{commit[:_SHOWN_DIGITS]} was measured on several branches: {', '.join(others)}"
        )
    return GateSide(others[0], commit)
