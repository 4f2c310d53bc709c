"""Groups of workloads."""

import pytest

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry
from benchdash.results.workload_groups import (
    AUTOMATIC,
    MAX_GROUPS,
    Grouping,
    GroupingError,
    PatternGroup,
    grouping_of,
    set_groups,
)
from tests.builders import make_project, make_user

POINTS = PatternGroup("points", ("point*", "*-points*"))
ALL = PatternGroup("all", ("*",))


@pytest.mark.parametrize(
    ("workload", "group"),
    [
        ("point-query range=100", "point queries"),
        ("hot-points range=100", "point queries"),
        ("oltp_point_select", "point queries"),
        ("points-covered-si.warm range=100", "point queries"),
        ("range-notcovered-pk range=100", "range queries"),
        ("scan.warm range=100", "range queries"),
        ("select_random_ranges", "range queries"),
        ("read-only-distinct range=1000", "range queries with aggregation"),
        ("oltp_read_only", "range queries with aggregation"),
        ("read-write range=10", "writes"),
        ("update-zipf range=100", "writes"),
        ("insert range=100", "writes"),
        ("oltp_write_only", "writes"),
        ("tpcb-like", "writes"),
        ("SELECT 1", None),
    ],
)
def test_known_names_have_a_group_by_themselves(workload, group):
    assert AUTOMATIC.of(workload) == group


def test_the_first_group_that_fits_has_the_workload_whatever_its_case():
    grouping = Grouping((POINTS, ALL))
    assert [grouping.of(name) for name in ("Point-Query", "hot-points", "scan")] == [
        "points",
        "points",
        "all",
    ]


@pytest.mark.django_db
def test_a_project_has_the_automatic_groups_until_somebody_says_others_and_again_without_any():
    project = make_project()
    alice = Viewer(user=make_user(member_of=project))
    assert grouping_of(project) == AUTOMATIC
    set_groups(project, [ALL, POINTS], by=alice, reason="as in the report")
    assert grouping_of(project) == Grouping((ALL, POINTS))
    set_groups(project, [POINTS], by=alice)
    assert grouping_of(project).names == ["points"]
    set_groups(project, [], by=alice)
    assert grouping_of(project) == AUTOMATIC


@pytest.mark.django_db
def test_a_change_of_groups_is_in_the_audit_log_and_none_is_not():
    project = make_project()
    alice = Viewer(user=make_user(member_of=project))
    set_groups(project, [], by=alice)
    assert not AuditEntry.objects.filter(project=project).exists()
    set_groups(project, [POINTS], by=alice, reason="as in the report")
    entry = AuditEntry.objects.get(project=project)
    assert (entry.action, entry.reason) == ("workload groups changed", "as in the report")
    assert entry.detail == {"before": "automatic", "after": "points: point*, *-points*"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([POINTS, POINTS], "two groups are called 'points'"),
        ([PatternGroup("", ("*",))], "a group has a name"),
        ([PatternGroup("x" * 101, ("*",))], "a group has a name"),
        ([PatternGroup("points", ())], "needs a pattern"),
        ([PatternGroup("points", ("x" * 301,))], "longer than 300"),
        ([PatternGroup(str(number), ("*",)) for number in range(MAX_GROUPS + 1)], "at most 30 groups"),
    ],
)
def test_groups_that_cannot_be_are_refused_with_a_sentence(groups, said):
    project = make_project()
    with pytest.raises(GroupingError, match=said):
        set_groups(project, groups, by=Viewer())
    assert grouping_of(project) == AUTOMATIC
