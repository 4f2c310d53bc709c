from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry
from benchdash.results.corrections import CorrectionError, Effect, merge, rename, unmerge
from benchdash.results.merges import later_runs, merges_of
from benchdash.results.models import (
    Alias,
    Configuration,
    Hardware,
    Measurement,
    Merge,
    MergedRun,
    Product,
    Run,
    Series,
    ServerVersion,
    TouchedSeries,
    Workload,
)
from benchdash.results.services import record_runs
from tests.builders import make_project, make_record, make_run, make_runs, make_series, make_upload, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("nightly")


@pytest.fixture
def alice(project):
    return Viewer(user=make_user(member_of=project))


def history():
    """All that a merge changes, by names and not by ids."""
    runs = Run.objects.order_by("pk").values_list(
        "pk",
        "version__product__name",
        "version__version",
        "version__build",
        "version__commit",
        "hardware__name",
        "hardware__facts",
        "configuration__name",
        "workload__name",
        "workload__options",
    )
    measured = Measurement.objects.order_by("run", "series__metric").values_list(
        "run", "value", "series__metric", *(f"series__{name}__name" for name in ("product", "hardware")),
        "series__configuration__name", "series__workload__name", "series__line",
    )  # fmt: skip
    aliases = Alias.objects.order_by("name").values_list("name", *(f"{kind}__name" for kind in NAMED))
    return list(runs), list(measured), list(aliases), Series.objects.count()


NAMED = ("product", "hardware", "configuration", "workload")


def the_merge(project):
    return merges_of(project).get()


@pytest.mark.parametrize(
    ("kind", "model"),
    [("hardware", Hardware), ("configuration", Configuration), ("workload", Workload), ("product", Product)],
)
def test_a_merge_that_is_taken_apart_leaves_everything_as_it_was(project, alice, kind, model):
    facts = {"hardware_facts": {"cpus": 8}, "options": {"tables": 4}}
    for name, values in (("one", [100.0, 200.0]), ("two", [110.0, 210.0, 310.0])):
        make_series(values, project=project, **{kind: name}, **facts)
    make_run(project=project, version="10.5.1", **{kind: "two"})
    one, two = (model.objects.get(name=name) for name in ("one", "two"))
    rename(two, "second", by=alice)
    before = history()
    merge(two, one, by=alice)
    assert history() != before
    TouchedSeries.objects.all().delete()
    effect = unmerge(the_merge(project), by=alice, reason="two after all")
    assert history() == before
    assert (effect.runs, effect.uploads, effect.merged) == (4, 2, 0)
    # Both sides are looked at again, and nobody is mailed for it.
    assert set(TouchedSeries.objects.values_list("series", "quiet")) == {
        (series, True) for series in Series.objects.values_list("pk", flat=True)
    }
    assert not MergedRun.objects.exists()
    entry = AuditEntry.objects.first()
    assert (entry.action, entry.subject, entry.reason) == (
        f"{kind} taken out of a merge",
        "one → second",
        "two after all",
    )
    with pytest.raises(CorrectionError, match="this is gone"):
        unmerge(Merge(pk=1, project=project), by=alice)


def test_merged_versions_are_taken_apart_with_their_commits(project, alice):
    source = make_run(project=project, branch="main", version="unknown", commit="abcdef0").version
    target = make_run(project=project, branch="main", version="unknown", commit="abcdef1").version
    before = history()
    merge(source, target, by=alice)
    assert unmerge(the_merge(project), by=alice) == Effect(runs=1, uploads=1, series=1)
    assert history() == before


def test_runs_that_came_in_later_stay_unless_they_are_asked_for(project, alice):
    old = make_run(project=project, hardware="bxo")
    make_run(project=project, hardware="box")
    merge(old.hardware, Hardware.objects.get(name="box"), by=alice)
    later = make_run(project=project, hardware="bxo")
    make_run(project=project, hardware="box")
    assert [run.pk for run in later_runs(the_merge(project))] == [later.pk]
    machine = unmerge_and_look(project, alice, later)
    assert machine == "box"


def test_runs_that_came_in_later_go_along_where_they_are_asked_for(project, alice):
    old = make_run(project=project, hardware="bxo")
    make_run(project=project, hardware="box")
    merge(old.hardware, Hardware.objects.get(name="box"), by=alice)
    later = make_run(project=project, hardware="bxo")
    assert unmerge_and_look(project, alice, later, with_later=True) == "bxo"
    assert make_run(project=project, hardware="bxo").hardware == Hardware.objects.get(name="bxo")


def unmerge_and_look(project, alice, run, **asked):
    unmerge(the_merge(project), by=alice, **asked)
    return Run.objects.get(pk=run.pk).hardware.name


def test_later_runs_of_a_product_go_along_with_their_versions(project, alice):
    old = make_run(project=project, product="Maria").version.product
    target = make_run(project=project, product="MariaDB").version.product
    merge(old, target, by=alice)
    later = make_run(project=project, product="Maria", version="10.6.24")
    known = make_run(project=project, product="Maria", version="10.6.23")
    unmerge(the_merge(project), by=alice, with_later=True)
    for run in (later, known):
        assert Run.objects.get(pk=run.pk).version.product.name == "Maria"
    assert ServerVersion.objects.filter(product__name="Maria").count() == 2


def test_a_merge_of_a_merge_is_taken_apart_in_any_order(project, alice):
    for first in ("a", "b"):
        for name in ("a", "b", "c"):
            make_run(project=project, hardware=name)
        before = history()
        a, b, c = Hardware.objects.filter(project=project).order_by("name")
        merge(a, b, by=alice)
        merge(b, c, by=alice)
        unmerge(merges_of(project).get(name=first), by=alice)
        unmerge(merges_of(project).get(), by=alice)
        assert history() == before


def test_a_name_that_something_else_has_now_is_not_taken_from_it(project, alice):
    gone = make_run(project=project, configuration="default").configuration
    target = make_run(project=project, configuration="tuned").configuration
    merge(gone, target, by=alice)
    make_run(project=project)
    with pytest.raises(CorrectionError, match="there is a configuration 'default' again; rename that one"):
        unmerge(the_merge(project), by=alice)
    rename(Configuration.objects.get(name="default"), "plain", by=alice)
    unmerge(the_merge(project), by=alice)
    assert Configuration.objects.filter(name="default").exists()


def test_runs_that_were_removed_since_are_not_missed(project, alice):
    gone, stays = (make_run(project=project, hardware="bxo") for _ in range(2))
    target = make_run(project=project, hardware="box").hardware
    merge(gone.hardware, target, by=alice)
    Run.objects.get(pk=gone.pk).delete()
    assert unmerge(the_merge(project), by=alice).runs == 1
    assert Run.objects.get(pk=stays.pk).hardware.name == "bxo"


def statements_of(project, alice, number):
    records = [make_record(hardware="bxo", workload=f"w{n}") for n in range(number)]
    make_runs(records, project=project)
    box, bxo = (
        make_run(project=project, hardware="box").hardware,
        Hardware.objects.get(project=project, name="bxo"),
    )
    merge(bxo, box, by=alice)
    with CaptureQueriesContext(connection) as captured:
        unmerge(the_merge(project), by=alice)
    return len(captured)


def test_many_runs_take_as_many_statements_as_few(alice):
    assert statements_of(make_project(), alice, 40) == statements_of(make_project(), alice, 2)


# --- the names that uploads use -----------------------------------------------------------------------------


def record(project, *records):
    return record_runs(project, upload_id=make_upload(project).pk, records=records)


def test_who_follows_an_old_name_is_told_since_when(project, alice):
    run = make_run(project=project)
    merge(make_run(project=project, hardware="bxo").hardware, run.hardware, by=alice)
    rename(run.version, "10.6.24", by=alice)
    day = f"{Alias.objects.first().since:%Y-%m-%d}"
    recorded = record(project, make_record(hardware="bxo"), make_record(hardware="bxo", key="2"))
    assert recorded.warnings == [
        f"hardware 'bxo' is known as 'box' since {day}",
        f"version '10.6.23' is known as '10.6.24' since {day}",
    ]
    assert record(project, make_record(version="10.6.24")).warnings == []
    Alias.objects.update(since=None)
    assert record(project, make_record(hardware="bxo", version="10.6.24")).warnings == [
        "hardware 'bxo' is known as 'box'"
    ]


# --- the command --------------------------------------------------------------------------------------------


def command(*arguments):
    out = StringIO()
    call_command("unmerge", "--project", "nightly", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_lists_merges_previews_one_and_takes_it_apart(project, alice):
    assert command() == "no merge can be taken apart\n"
    merge(
        make_run(project=project, hardware="bxo").hardware,
        make_run(project=project, hardware="box").hardware,
        by=alice,
    )
    later = make_run(project=project, hardware="bxo")
    one = the_merge(project)
    assert command() == f"{one.pk}: hardware 'bxo' → 'box', {one.at:%Y-%m-%d}\n"
    would = command(str(one.pk), "--dry-run")
    assert "1 run came in under the name 'bxo' since, and stay with 'box':" in would
    assert f"run {later.pk} of upload {later.upload_id}" in would
    assert "hardware 'bxo' → 'box': would be taken apart, 1 run of 1 upload and 1 series" in would
    assert not Hardware.objects.filter(name="bxo").exists()
    assert "taken apart, 2 runs of 2 uploads" in command(str(one.pk), "--with-later", "--reason", "two")
    assert Hardware.objects.filter(name="bxo").exists()
    with pytest.raises(CommandError, match=f"there is no merge {one.pk} in 'nightly'"):
        command(str(one.pk))


def test_the_command_knows_its_project():
    with pytest.raises(CommandError, match="no project is called 'none'"):
        call_command("unmerge", "--project", "none")
