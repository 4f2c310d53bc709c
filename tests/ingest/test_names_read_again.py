import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db.models import Value
from django.db.models.functions import Replace
from rest_framework.test import APIClient

from benchdash.accounts.access import NOBODY
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results import corrections
from benchdash.results.models import (
    Alias,
    Merge,
    ParameterCount,
    Run,
    Series,
    SubjectCount,
    SurroundingsCount,
    VersionPlace,
    Workload,
)
from ingest.archives.services import import_by_job
from ingest.models import Upload
from tests.builders import make_project, make_token
from tests.ingest.packing import zip_of

pytestmark = pytest.mark.django_db

SYSBENCH = (Path(__file__).parent / "fixtures/sysbench/oltp_read_only-histogram.txt").read_bytes()
SAID = {"product": "MariaDB Connector/J", "hardware": "box"}
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
START = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)


@pytest.fixture
def project():
    return make_project("mine")


@pytest.fixture
def api(project):
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(project)}")
    return client


def send(api, data, name="result.json", **said):
    file = SimpleUploadedFile(name, data.encode() if isinstance(data, str) else data)
    return api.post("/api/v1/uploads/", {"file": file, **SAID, **said}, format="multipart")


def jmh(*scores, **params):
    """JMH's JSON of one benchmark: a result for each parameter set, which is numbered by ``name=1,2``."""
    names = [dict(zip(params, values, strict=True)) for values in zip(*params.values(), strict=True)]
    return json.dumps(
        [
            {
                "benchmark": "bench.Lookup.find",
                "mode": "thrpt",
                "threads": 1,
                "forks": 1,
                "params": {name: str(value) for name, value in named.items()},
                "primaryMetric": {"score": score, "scoreError": 0.1, "scoreUnit": "ops/s"},
            }
            for named, score in zip(names, scores, strict=True)
        ],
        indent=1,
    )


def workloads():
    return sorted(Workload.objects.values_list("name", flat=True))


def read_again(*arguments):
    out = StringIO()
    call_command("read_names_again", *arguments, stdout=out, stderr=out)
    return out.getvalue()


# --- new files ----------------------------------------------------------------------------------------------


def test_parameters_that_end_in_key_tell_workloads_of_a_file_apart(api):
    answer = send(api, jmh(10, 20, intKey=[5, 6], accessToken=["a", "b"]), version="3.5.1")
    assert answer.status_code == 201, answer.content
    names = [f"bench.Lookup.find intKey={key} accessToken={word} thrpt" for key, word in ((5, "a"), (6, "b"))]
    assert [run["workload"] for run in answer.json()["runs"]] == names
    assert workloads() == names


def test_no_field_that_identifies_is_masked_and_every_value_of_a_setting_is(api):
    said = {
        **{name: f"{name} intKey=5" for name in ("workload", "product", "version", "hardware", "build")},
        **{name: f"{name} intKey=5" for name in ("configuration", "counterpart", "branch", "session")},
    }
    meta = '{"server": {"product": "x sessionKey=1"}, "command": "mysql --password=geheim"}'
    values = {"notes": "api_key=geheim", "options": '{"api_key": "geheim"}', "meta": meta}
    answer = send(api, SYSBENCH, "result.txt", **said, **values)
    run = Run.objects.select_related("workload", "version__product", "hardware", "configuration").get()
    assert answer.status_code == 201, answer.content
    names = [run.workload.name, run.version.product.name, run.version.version, run.hardware.name]
    names += [run.version.build, run.configuration.name, run.counterpart, run.branch]
    assert all(name.endswith(" intKey=5") for name in names), names
    assert run.tags == ["session:session intKey=5"]
    stored = str(list(Upload.objects.values_list("metadata"))) + run.notes + str(run.options)
    assert "geheim" not in stored
    assert "***" in run.notes
    assert "x sessionKey=1" in stored


def test_who_signs_in_by_a_url_in_a_name_is_masked(api):
    answer = send(
        api, jmh(10, url=["jdbc:mysql://root:geheim@box/t?sslMode=on&password=geheim"]), version="1"
    )
    name = "bench.Lookup.find url=jdbc:mysql://***@box/t?sslMode=on&password=*** thrpt"
    assert [run["workload"] for run in answer.json()["runs"]] == [name]


@pytest.mark.parametrize(
    "name",
    [
        "product",
        "version",
        "hardware",
        "workload",
        "branch",
        "configuration",
        "counterpart",
        "session",
        "tags",
    ],
)
def test_a_field_that_identifies_and_holds_a_token_is_refused(api, name):
    answer = send(api, jmh(10, intKey=[5]), **{"version": "1", name: f"x {TOKEN}"})
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["field"] == name
    assert "holds 'ghp_…', which has the shape of a token" in error["message"]
    assert "say another name" in error["message"]
    assert TOKEN not in answer.content.decode()


def test_a_file_whose_workload_holds_a_token_is_refused_with_its_line_unless_it_is_mapped(api):
    file = jmh(10, intKey=[TOKEN])
    answer = send(api, file, version="1")
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert file.splitlines()[error["line"] - 1].strip() == f'"intKey": "{TOKEN}"'
    assert error["message"].startswith("the workload holds 'ghp_…', which has the shape of a token")
    assert TOKEN not in answer.content.decode()
    answer = send(api, file, version="1", map='{"bench.Lookup.*": {"workload": "find"}}')
    assert [run["workload"] for run in answer.json()["runs"]] == ["find"]
    assert TOKEN not in str(list(Run.objects.values_list("key", "options", "warnings")))


# --- what is stored -----------------------------------------------------------------------------------------


def as_masked_once(project):
    """As an older benchdash stored it: all workloads are one, and so are their series."""
    first, *others = Workload.objects.filter(project=project).order_by("pk")
    for other in others:
        corrections.merge(other, first, by=NOBODY)
    Merge.objects.all().delete()
    Alias.objects.all().delete()
    Workload.objects.update(name="bench.Lookup.find intKey=*** thrpt")
    for key in (5, 6):
        Run.objects.update(key=Replace("key", Value(f"intKey={key}"), Value("intKey=***")))


def nights(api, levels, *, key, first_day=0, hour=0):
    for day, level in enumerate(levels, first_day):
        started_at = (START + timedelta(days=day, hours=hour)).isoformat()
        said = {"version": "1", "branch": "main", "commit": f"{day + 1:07x}", "started_at": started_at}
        answer = send(api, jmh(level + day % 3, intKey=[key]), **said)
        assert answer.status_code == 201, answer.content


def test_a_masked_workload_becomes_those_it_was_with_runs_and_triage(api, project):
    nights(api, [*[1000] * 12, *[700] * 12], key=5)
    nights(api, [5000] * 4, key=6, hour=12)
    runs = dict(Run.objects.values_list("pk", "workload__name"))
    corrections.exclude_run(Run.objects.first(), by=NOBODY, reason="cold")
    analyse_touched()
    as_masked_once(project)
    incident = Incident.objects.get(kind="regression", status="confirmed")
    Incident.objects.update(state="investigating", bug="MDEV-1")
    series = ChangePoint.objects.get(incident=incident).series_id
    said = read_again("--dry-run")
    assert "bench.Lookup.find intKey=*** thrpt → bench.Lookup.find intKey=5 thrpt" in said
    assert workloads() == ["bench.Lookup.find intKey=*** thrpt"]
    assert "28 uploads read again, 28 runs have other names, 0 runs keep" in read_again()
    analyse_touched()
    assert dict(Run.objects.values_list("pk", "workload__name")) == runs
    assert Run.objects.exclude(excluded_at=None).get().excluded_reason == "cold"
    assert Series.objects.get(pk=series).workload.name == "bench.Lookup.find intKey=5 thrpt"
    after = Incident.objects.get(status="confirmed")
    assert (after.pk, after.state, after.bug) == (incident.pk, "investigating", "MDEV-1")
    assert after.change_points.get(state="confirmed").series_id == series
    assert "0 uploads read again" in read_again()
    again = send(api, jmh(1000, intKey=[5]), version="2").json()
    assert not [one for one in again["warnings"] if "new workload" in one]


def test_a_change_point_follows_its_run_into_the_series_of_the_smaller_half(api, project):
    nights(api, [5000] * 14, key=5, hour=12)
    nights(api, [*[1000] * 12, *[700] * 12], key=6)
    nights(api, [5000] * 12, key=5, first_day=14, hour=12)
    analyse_touched()
    point = ChangePoint.objects.get(state="confirmed", series__workload__name__endswith="intKey=6 thrpt")
    point.incident.state = "acknowledged"
    point.incident.save()
    mixed = Workload.objects.get(name__endswith="intKey=5 thrpt").series.get(metric="score")
    ChangePoint.objects.filter(pk=point.pk).update(series=mixed)
    as_masked_once(project)
    read_again()
    analyse_touched()
    point.refresh_from_db()
    assert point.series.workload.name == "bench.Lookup.find intKey=6 thrpt"
    assert (point.state, point.incident.state) == ("confirmed", "acknowledged")


def test_what_came_in_under_the_whole_name_meanwhile_is_joined(api, project):
    nights(api, [1000] * 3, key=5)
    as_masked_once(project)
    nights(api, [1000] * 2, key=5, first_day=3)
    assert len(workloads()) == 2
    read_again()
    assert workloads() == ["bench.Lookup.find intKey=5 thrpt"]
    assert Series.objects.get(metric="score").measurements.count() == 5


def test_files_that_were_refused_for_masked_keys_are_read(api, project):
    assert send(api, jmh(10, 20, intKey=[5, 6]), version="1").status_code == 201
    Run.objects.all().delete()
    Series.objects.all().delete()
    message = "two runs of this file have the same key 'intKey=***'"
    Upload.objects.update(state="refused", errors=[{"line": None, "message": message}])
    read_again()
    assert Upload.objects.get().state == "imported"
    assert Run.objects.count() == 2


def test_names_in_the_paths_of_an_archive_are_read_again(api, project):
    table = "query,1.0\nDO 1,{}\n"
    files = {f"int{key}/x.csv": table.format(1000 + key).encode() for key in (5, 6)}
    answer = send(api, zip_of(files), "x.zip", version="1", pattern="int{int_key}/*.csv")
    archive = Upload.objects.get(pk=answer.json()["id"])
    import_by_job(archive.pk)
    whole = workloads()
    assert len(whole) == 2, whole
    runs = dict(Run.objects.values_list("pk", "workload__name"))
    first, other = Workload.objects.order_by("pk")
    corrections.merge(other, first, by=NOBODY)
    Alias.objects.all().delete()
    Workload.objects.update(name="DO 1 int_key=***")
    for one in Upload.objects.filter(is_archive=False):
        said = {**one.metadata, "workload": one.metadata["workload"][:-1] + "***"}
        Upload.objects.filter(pk=one.pk).update(metadata=said, metadata_digest=str(one.pk))
    read_again()
    assert dict(Run.objects.values_list("pk", "workload__name")) == runs


def test_a_branch_that_was_called_as_git_does_goes_on_as_the_branch_it_is(api, project):
    nights(api, [*[1000] * 12, *[700] * 12], key=5)
    analyse_touched()
    incident = Incident.objects.get(kind="regression", status="confirmed")
    for model in (Run, Series, Incident, VersionPlace, SurroundingsCount, SubjectCount, ParameterCount):
        model.objects.filter(branch="main").update(branch="refs/heads/main")
    for upload in Upload.objects.all():
        Upload.objects.filter(pk=upload.pk).update(metadata={**upload.metadata, "branch": "refs/heads/main"})
    Incident.objects.update(state="investigating")
    nights(api, [700] * 2, key=5, first_day=24)
    read_again()
    analyse_touched()
    assert set(Run.objects.values_list("branch", flat=True)) == {"main"}
    assert Series.objects.get(metric="score").measurements.count() == 26
    after = Incident.objects.get(status="confirmed")
    assert (after.pk, after.branch, after.state) == (incident.pk, "main", "investigating")
