"""What lines and branches go on from."""

import pytest

from benchdash.regressions.analysis.origins import line_before, origins_beside
from benchdash.results.models import Series
from benchdash.results.place import Place
from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def origins(project):
    """Names of lines and branches, with what they go on from."""
    place = Place.of(Series.objects.filter(project=project).first())
    return {one.branch or one.line: origin.name for one, origin in origins_beside(place).items()}


def test_lines_go_on_from_the_line_before_by_version(project):
    for version in ("10.6.1", "10.11.3", "11.4.2"):
        make_run(project=project, version=version)
    assert origins(project) == {"10.11": "10.6", "11.4": "10.11"}


def test_lines_of_another_machine_or_build_are_none_before(project):
    make_run(project=project, version="10.6.1", hardware="other")
    make_run(project=project, version="10.6.1", build="debug")
    make_run(project=project, version="10.11.3")
    assert origins(project) == {}


def test_a_project_may_give_the_order_of_its_lines(project):
    project.options = {"release_line_order": ["10.6", "11.4", "10.11"]}
    lines = ("10.5", "10.6", "10.11", "11.4", "11.8")
    before = {line: line_before(line, lines, project) for line in lines}
    assert before == {"10.5": "", "10.6": "10.5", "11.4": "10.6", "10.11": "11.4", "11.8": "11.4"}


def test_a_pair_that_is_not_compared_is_not_replaced_by_an_older_line(project):
    project.options = {"lines_not_compared": [["10.6", "10.11"]]}
    assert line_before("10.11", ("10.5", "10.6", "10.11"), project) == ""


def test_a_branch_goes_on_from_the_line_that_its_name_or_first_version_begins_with(project):
    make_run(project=project, version="10.11.3")
    make_run(project=project, version="11.4.2")
    for commit, branch, version in (
        ("a" * 40, "10.11-feature", "unknown"),
        ("b" * 40, "main", "11.4.3"),
        ("c" * 40, "main", "11.8.0"),
        ("d" * 40, "12.0-new", "12.0.0"),
        ("e" * 40, "feature", "unknown"),
    ):
        make_run(project=project, branch=branch, version=version, commit=commit)
    assert origins(project) == {"10.11-feature": "10.11", "main": "11.4", "11.4": "10.11"}


def test_a_project_may_say_what_its_branches_started_from(project):
    project.options = {
        "branch_origins": [["main", "none"], ["feature-*", "10.11.3"], ["*", "10.11"]],
    }
    project.save()
    make_run(project=project, version="10.11.3")
    for commit, branch in (("a" * 40, "main"), ("b" * 40, "feature-x"), ("c" * 40, "other")):
        make_run(project=project, branch=branch, version="10.11.4", commit=commit)
    assert origins(project) == {"feature-x": "10.11.3", "other": "10.11"}


def test_controls_go_on_from_nothing(project):
    for version in ("10.6.1", "10.11.3"):
        make_run(project=project, version=version, build="control")
    assert origins(project) == {}
