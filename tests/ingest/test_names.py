"""Names that identify are never masked; one that holds a token is refused."""

import json

import pytest

from benchdash.results.models import Run, Workload
from ingest.models import Upload
from tests.ingest import sending
from tests.ingest.sending import SYSBENCH

pytestmark = pytest.mark.django_db

SAID = {"product": "MariaDB Connector/J", "hardware": "box"}
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


def send(api, data, name="result.json", **said):
    data = data.encode() if isinstance(data, str) else data
    return sending.send(api, data, name, **{**SAID, **said})


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
