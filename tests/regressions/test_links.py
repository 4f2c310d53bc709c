import pytest
from django.core.exceptions import ValidationError

from benchdash.regressions.links import (
    IN_BUG_TEMPLATE,
    IN_COMPARE_TEMPLATE,
    bug_url,
    check_bug,
    check_template,
    compare_url,
)
from benchdash.regressions.models import Incident
from benchdash.regressions.options import BUG_TEMPLATE, COMPARE_TEMPLATE
from benchdash.results.models import ServerVersion
from tests.builders import make_project

GITHUB = "https://github.com/org/repo/compare/{from}...{to}"


def make_ends(since, until):
    """An incident between two versions, each given as (version, commit)."""
    ends = [ServerVersion(version=version, commit=commit) for version, commit in (since, until)]
    return Incident(since=ends[0], until=ends[1])


def with_option(name, template):
    project = make_project()
    project.options = {name: template}
    return project


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("javascript:alert('{bug}')", "no address"),
        ("ftp://bugs.example.org/{bug}", "no address"),
        ("https:///{bug}", "no address"),
        ("https://{bug}.example.org/", "no address"),
        ("https://bugs.example.org/a b/{bug}", "no address"),
        ("https://bugs.example.org/{number}", "no {number} here, only {bug}"),
        ("https://bugs.example.org/", "needs {bug}"),
    ],
)
def test_a_template_that_leads_nowhere_is_refused(template, complaint):
    with pytest.raises(ValidationError, match=complaint):
        check_template(template, IN_BUG_TEMPLATE)


def test_a_template_may_be_left_out():
    assert check_template(" ", IN_BUG_TEMPLATE) == ""
    assert check_template(f" {GITHUB} ", IN_COMPARE_TEMPLATE) == GITHUB


@pytest.mark.django_db
def test_commits_are_compared_and_versions_where_no_commits_are_known():
    project = with_option(COMPARE_TEMPLATE, GITHUB)
    commits = make_ends(("10.11", "a" * 40), ("10.11", "b" * 40))
    assert compare_url(commits, project).endswith(f"compare/{'a' * 40}...{'b' * 40}")
    versions = make_ends(("10.11.18", None), ("10.11.19", "b" * 40))
    assert compare_url(versions, project).endswith("compare/10.11.18...10.11.19")


@pytest.mark.django_db
def test_what_cannot_be_compared_has_no_address():
    project = with_option(COMPARE_TEMPLATE, GITHUB)
    for ends in (
        make_ends(("10.11.18", None), ("10.11.18", None)),
        make_ends(("unknown", None), ("10.11.18", None)),
        Incident(),
    ):
        assert compare_url(ends, project) == ""
    assert compare_url(make_ends(("1", None), ("2", None)), make_project()) == ""


@pytest.mark.django_db
def test_a_value_cannot_leave_its_place_in_an_address():
    project = with_option(COMPARE_TEMPLATE, GITHUB)
    assert compare_url(make_ends(("1/../..?x", None), ("2#y z", None)), project).endswith(
        "compare/1%2F..%2F..%3Fx...2%23y%20z"
    )


@pytest.mark.django_db
def test_a_bug_is_a_number_or_an_address():
    project = with_option(BUG_TEMPLATE, "https://bugs.example.org/{bug}")
    assert bug_url(Incident(bug="MDEV-1"), project) == "https://bugs.example.org/MDEV-1"
    assert bug_url(Incident(bug="https://other.example.org/7"), project) == "https://other.example.org/7"
    assert bug_url(Incident(bug="MDEV-1"), make_project()) == ""
    assert bug_url(Incident(), project) == ""


@pytest.mark.parametrize("bug", ["javascript://x", "ftp://x.example.org/", "x" * 501, "a\0b"])
def test_a_bug_that_is_neither_is_refused(bug):
    with pytest.raises(ValidationError):
        check_bug(bug)
