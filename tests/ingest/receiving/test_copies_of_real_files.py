"""The measured files that lie beside the checkout: each run of JMH there has four forms."""

import random
from collections import Counter

import pytest

from benchdash.accounts.access import NOBODY
from benchdash.results.models import Run
from benchmarks.copies import counted
from ingest.archives.files import FileSet, batches, take
from ingest.containers import of_folder
from ingest.metadata.path_patterns import PathMap, PathRules
from ingest.models import Upload
from ingest.receiving.reception import receive
from tests.builders import make_project
from tests.ingest.formats.real_files import SHARED

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the measured files are not here"),
]

JMH = SHARED / "jmh"
FORMS = ("json", "csv", "scsv", "txt")
RUNS = sorted(path.relative_to(JMH).as_posix().removesuffix(".csv") for path in JMH.glob("*/*.csv"))


def prepared(project):
    """The files of all runs, with what their metas say, by their paths."""
    rules = PathRules.parse("**/*.*", PathMap(fields={"hardware": "box"}))
    file_set = FileSet(of_folder(JMH), rules)
    return {one.path: one.arrival for batch in batches(file_set, file_set.plan.files) for one in batch}


def runs_by_format(project):
    formats = dict(Upload.objects.filter(project=project).values_list("pk", "format"))
    return Counter(formats[upload_id] for upload_id in Run.objects.values_list("upload_id", flat=True))


def number_of_benchmarks(arrivals):
    """How many runs the JSON files hold."""
    project = make_project()
    receive(project, by=NOBODY, arrivals=[arrivals[f"{run}.json"] for run in RUNS])
    number = Run.objects.filter(project=project).count()
    Run.objects.filter(project=project).delete()
    return number


def test_there_are_eighteen_runs_of_jmh_in_four_forms():
    assert len(RUNS) == 18
    assert all((JMH / f"{run}.{form}").is_file() for run in RUNS for form in FORMS)


def test_a_folder_with_four_forms_of_each_run_of_jmh_counts_each_once():
    project = make_project()
    rules = PathRules.parse("**/*.*", PathMap(fields={"hardware": "box"}))
    file_set = FileSet(of_folder(JMH), rules)
    for batch in batches(file_set, file_set.plan.files):
        assert {one.upload.state for one in take(project, batch, by=NOBODY)} == {"imported"}
    found = runs_by_format(project)
    assert set(found) == {"jmh_json"}
    assert Upload.objects.filter(project=project, copies__isnull=False).distinct().count() == 3 * len(RUNS)


@pytest.mark.slow
def test_the_order_in_which_the_forms_come_does_not_matter():
    project = make_project()
    arrivals = prepared(project)
    number = number_of_benchmarks(arrivals)
    order = [arrivals[f"{run}.{form}"] for run in RUNS for form in FORMS]
    random.Random(14).shuffle(order)
    for one in order:
        receive(project, by=NOBODY, arrivals=[one])
    assert runs_by_format(project) == {"jmh_json": number}


@pytest.mark.slow
def test_no_two_different_runs_are_taken_for_copies_and_no_form_is_missed():
    counts = counted(SHARED)
    assert counts.forms > 100
    assert counts.repeats > 10_000
    assert counts.forms_missed == []
    assert counts.repeats_taken == []
