from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.results.models import Alias, Run
from benchdash.results.queries import find_runs, find_series
from tests.builders import START, make_project, make_run, make_series

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def project():
    return make_project()


def exclude(run):
    Run.objects.filter(pk=run.pk).update(excluded_at=timezone.now())


# --- finding ----------------------------------------------------------------------------------------------


def test_series_are_found_by_product_and_branch(project):
    make_series([1.0], project=project, hardware="box")
    make_series([1.0], project=project, hardware="rack", branch="main")
    make_series([1.0], project=make_project(), hardware="box")
    assert find_series(project).count() == 2
    assert find_series(project, branch="").get().hardware.name == "box"
    assert find_series(project, product="MariaDB", branch="main").get().hardware.name == "rack"
    assert find_series(project, product="MySQL").count() == 0


def test_things_are_found_by_their_old_names_too(project):
    run = make_run(project=project)
    Alias.objects.create(project=project, name="old box", hardware=run.hardware)
    Alias.objects.create(project=project, name="Maria", product=run.version.product)
    assert find_series(project, product="Maria").count() == 1
    assert find_runs(project, hardware="old box").get() == run


def test_a_filter_that_does_not_exist_is_an_error(project):
    with pytest.raises(TypeError, match="there is no filter 'machine'"):
        find_runs(project, machine="box")


def test_runs_are_found_latest_first(project):
    first = make_run(project=project, version="10.6.1", tags=("nightly",), commit="abcdef0123")
    second = make_run(project=project, version="10.6.2", threads=8, started_at=START + DAY, branch="main")
    exclude(second)
    assert list(find_runs(project)) == [second, first]
    assert list(find_runs(project, version="10.6.1", product="MariaDB")) == [first]
    assert list(find_runs(project, tag="nightly", commit="abcdef0")) == [first]
    assert list(find_runs(project, threads=8, branch="main")) == [second]
    assert list(find_runs(project, excluded=False)) == [first]
    assert list(find_runs(project, upload=second.upload_id)) == [second]
