"""One measurement in several forms is one run."""

import itertools

import pytest

from benchdash.accounts.access import NOBODY
from benchdash.results.models import Measurement, Run
from ingest.metadata.upload_metadata import read_metadata
from ingest.models import Copy
from ingest.receiving.arrivals import Arrival
from ingest.receiving.reception import receive_one
from ingest.storage.raw_bytes import RawData
from tests.builders import make_project

pytestmark = pytest.mark.django_db

JMH = {
    "json": b"""[{"benchmark": "bench.Select.one", "mode": "avgt", "threads": 1, "forks": 1,
        "warmupIterations": 1, "measurementIterations": 3,
        "primaryMetric": {"score": 58.49812345678, "scoreError": 7.45801234567, "scoreUnit": "us/op",
            "scoreConfidence": [51.04011111111, 65.95613580245],
            "rawData": [[58.0123456, 58.4123456, 59.0696791]]},
        "secondaryMetrics": {}}]""",
    "csv": b'"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"\n'
    b'"bench.Select.one","avgt",1,3,58.498123,7.458012,"us/op"\n',
    "scsv": b'"Benchmark";"Mode";"Threads";"Samples";"Score";"Score Error (99.9%)";"Unit"\n'
    b'"bench.Select.one";"avgt";1;3;58,498123;7,458012;"us/op"\n',
}
SAID = {"product": "MariaDB Connector/J", "version": "2.7.9", "hardware": "box"}


@pytest.fixture
def project():
    return make_project()


def arrival(form, **said):
    data = JMH[form] if isinstance(form, str) else form
    metadata, warnings = read_metadata({**SAID, **said})
    return Arrival(
        f"result.{form}" if isinstance(form, str) else "table.txt", RawData(data), metadata, (), warnings
    )


def send(project, form, **said):
    return receive_one(project, by=NOBODY, arrival=arrival(form, **said)).upload


def table(*rows):
    return "\n".join("\t".join(map(str, row)) for row in rows).encode()


QPS = table(("query", "MariaDB-JDBC-1.1.7"), ("DO 1", 12026), ("SELECT 1", 12774), ("SELECT 2", 30804))


@pytest.mark.parametrize("order", list(itertools.permutations(JMH)))
def test_forms_of_one_jmh_run_are_one_run_whichever_comes_first(project, order):
    uploads = {form: send(project, form) for form in order}
    run = Run.objects.get()
    assert run.upload_id == uploads["json"].pk
    assert Measurement.objects.get().value == pytest.approx(58498.12345678)
    assert run.interval_samples.count() == 1
    assert {copy.upload_id for copy in Copy.objects.filter(run=run)} == {
        uploads["csv"].pk,
        uploads["scsv"].pk,
    }
