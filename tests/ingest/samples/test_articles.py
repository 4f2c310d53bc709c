"""Articles of a sample, whose versions and workloads are named in words."""

import json
from datetime import UTC, datetime

import pytest
from django.http import QueryDict

from benchdash.accounts.access import NOBODY
from benchdash.articles.services import delete_article
from benchdash.results.models import Workload
from ingest.samples.articles import write_articles
from ingest.samples.projects import SAMPLES
from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db

ONE, TWO = ({"product": "MariaDB", "version": f"10.6.{patch}"} for patch in (1, 2))


@pytest.fixture
def project():
    project = make_project()
    for place in (ONE, TWO):
        make_run(project=project, workload="reads", **place)
    return project


@pytest.fixture
def write(project, tmp_path):
    def write(page, *places, **query):
        view = {"page": page, "heading": "", "versions": places, "query": query}
        path = tmp_path / "articles.json"
        path.write_text(json.dumps([{"title": page, "prose": "why", "views": [view]}]))
        write_articles(project, path)
        return QueryDict(project.articles.get(title=page).blocks.get().query)

    return write


def test_names_become_ids_and_the_first_version_is_the_reference(write, project):
    query = write("compare", TWO, ONE, metric=["tps"], workload=["reads"])
    assert len(query.getlist("v")) == 2
    assert query["base"] == query.getlist("v")[0]
    assert query["workload"] == str(Workload.objects.get().pk)


def test_the_two_sides_and_the_version_of_a_sweep(write, project):
    pair = write("pair", ONE, TWO)
    assert pair["base"] != pair["against"]
    sweep = write("sweep", ONE, setting=["pool"], metric=["tps"], workload=["reads"])
    assert pair["base"].startswith(f"{sweep['v']}.")
    assert sweep["workload"] == "reads"


def test_what_was_written_or_deleted_is_not_written_again(write, project):
    write("compare", ONE, metric=["tps"])
    write("compare", ONE, metric=["tps"])
    delete_article(project.articles.get(), by=NOBODY)
    write("compare", ONE, metric=["tps"])
    assert project.articles.count() == 1


def test_each_value_of_a_setting_is_a_configuration_and_samples_go_with_their_run():
    files = list(SAMPLES[1].files(datetime(2026, 11, 20, 2, tzinfo=UTC)))
    swept = {file.metadata.configuration for file in files if "settings-sweep" in file.file_name}
    assert {"innodb_buffer_pool_size=8M", "innodb_flush_method=fsync"} <= swept
    assert len(swept) == 15
    beside = [one.name for file in files for one in file.companions]
    threads = [f"t{count}.vmstat.txt" for count in ("01", "08", "64")]
    assert sorted(set(beside)) == [*threads, "tpcb-like.vmstat.txt"]
    assert len(beside) == 20
    assert not [file.file_name for file in files if "vmstat" in file.file_name]
