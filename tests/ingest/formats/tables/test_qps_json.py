import json
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.formats.tables import qps_table
from ingest.formats.tables.qps_json import parse, recognise
from tests.ingest.formats import real_files

DATA = real_files.SHARED
FIXTURES = real_files.FIXTURES / "qps_json"
FILES = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
MEASUREMENT = {"client": "A-1", "query": "DO 1", "qps": 5}

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


def read(value):
    return parse(Source(json.dumps(value, indent=1).encode()))


def error_of(text):
    with pytest.raises(FormatError) as caught:
        parse(Source(text.encode()))
    return caught.value.line, caught.value.message


def values(report):
    return {run.key: run.readings[0].value for run in report.runs}


def test_the_server_of_the_file_is_the_counterpart_of_its_measurements():
    report = read({"server": {"product": "MariaDB", "version": "10.6"}, "measurements": [MEASUREMENT]})
    assert report.runs[0].counterpart == "MariaDB-10.6"


def test_a_measurement_that_names_its_server_knows_better():
    report = read({"server": "MariaDB-10.6", "measurements": [{**MEASUREMENT, "server": "MySQL-8.0"}]})
    assert report.runs[0].counterpart == "MySQL-8.0"


def test_the_unit_of_the_file_names_the_metric_of_bare_values():
    report = read(
        {"unit": "queries/second", "measurements": [{"client": "A-1", "query": "DO 1", "value": 5}]}
    )
    assert [(reading.metric, reading.value) for reading in report.runs[0].readings] == [("qps", 5)]


def test_a_unit_that_contradicts_the_metric_is_refused():
    with pytest.raises(FormatError, match="'ms' is not a unit of qps"):
        read({"unit": "ms", "measurements": [MEASUREMENT]})


def test_what_else_the_file_says_is_a_fact_of_all_runs():
    report = read({"version": 1, "host": "a", "notes": ["x"], "measurements": [MEASUREMENT]})
    assert report.facts == {"version": 1, "host": "a"}
    assert report.runs[0].version == "1"


@pytest.mark.parametrize("separator", [",\n", ",", ", "])
def test_a_bare_list_is_read_as_well(separator):
    text = "[" + separator.join(json.dumps({**MEASUREMENT, "threads": threads}) for threads in (1, 2)) + "]"
    assert recognise(text.encode())
    assert values(parse(Source(text.encode()))) == {"DO 1/A-1/threads=1": 5, "DO 1/A-1/threads=2": 5}


def test_a_single_line_may_be_a_whole_file():
    for value in (MEASUREMENT, {"measurements": [MEASUREMENT]}, [MEASUREMENT]):
        data = json.dumps(value).encode()
        assert recognise(data)
        assert values(parse(Source(data))) == {"DO 1/A-1": 5}


# --- a field for each version -------------------------------------------------------------------------------

ROW = {"A-1": 50, "B-2": None}


@pytest.mark.parametrize(
    "value",
    [
        {"unit": "queries/second", "DO 1": ROW},
        {"metric": "qps", "unit": "1/s", "host": {"cpus": 2}, "results": {"DO 1": ROW}},
        [{"query": "DO 1", **ROW}],
        [{"query": "DO 1", "A-1": 50, "B-2": "n/a"}],
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_each_version_may_have_a_field(value, indent):
    data = json.dumps(value, indent=indent).encode()
    assert recognise(data)
    report = parse(Source(data))
    assert values(report) == {"DO 1/A-1": 50}
    assert len(report.warnings) == 1


def test_rows_may_lack_a_version_and_the_file_may_say_the_thread_count():
    report = read({"unit": "queries/second", "threads": 4, "DO 1": {"A-1": 50}, "DO 2": {"B-2": 60}})
    assert values(report) == {"DO 1/A-1": 50, "DO 2/B-2": 60}
    assert [run.threads for run in report.runs] == [4, 4]
    assert report.facts == {"unit": "queries/second", "threads": 4}


def test_times_are_read_in_their_unit():
    report = read({"metric": "latency_p95", "unit": "us", "DO 1": {"A-1": 2500}})
    assert values(report) == {"DO 1/A-1": 2.5}


@pytest.mark.parametrize(
    "value",
    [
        {"DO 1": ROW},
        {"unit": "queries/second", "DO 1": {"a": 5}},
        {"metric": "tps", "latency": {"avg": 5, "p95": 6}},
        {"unit": "queries/second", "server": {"product": "MariaDB", "version-2": "10.6"}},
        {"unit": "furlongs", "DO 1": ROW},
        [{"name": "DO 1", **ROW}],
        [{"query": "DO 1", "A-1": {"qps": 5}}],
        [{"query": "DO 1", "a": 5}],
    ],
)
def test_where_it_is_not_sure_what_fields_are_a_file_is_not_recognised(value):
    assert not recognise(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"unit": "qps",\n"a": {"A-1": 5},\n"b": {"A-1": true}}', 3, "'A-1' holds no number"),
        (
            '[{"query": "a", "A-1": 5},\n{"query": "b", "A-1": "5"}]',
            2,
            "'A-1' holds a text, where a number is meant",
        ),
        ('[{"query": "a", "A-1": 5},\n{"A-1": 6}]', 2, "a row must be an object with a text as 'query'"),
        (
            '[{"query": "a", "A-1": 5},\n{"query": "b", "A-1": -6}]',
            2,
            "-6 is negative, which no rate and no time can be",
        ),
        (
            '{"unit": "qps",\n"threads": 0,\n"a": {"A-1": 5}}',
            2,
            "threads is 0, not a whole number from 1 to 1000000000",
        ),
        ('{"unit": "qps",\n"threads": [],\n"a": {"A-1": 5}}', 2, "'threads' must be a number"),
        ('{"metric": "tps",\n"unit": "ms",\n"a": {"A-1": 5}}', 2, "'ms' is not a unit of tps"),
        (
            '{"unit": "qps",\n"a": {"A-1": 5},\n"a": {"A-1": 6}}',
            3,
            "the key 'a' is given twice in one object",
        ),
        (
            '{"unit": "qps",\n"a": {"A-1": null}}',
            2,
            "no row holds a value; line 2: no value for a and A-1; left out",
        ),
        ('{"unit": "qps",\n"a": {"A-1": 5}', 2, "the JSON breaks off in the middle; is the file complete?"),
    ],
)
def test_a_field_of_a_version_that_cannot_be_understood_is_refused_with_its_line(text, line, message):
    assert error_of(text) == (line, message)


# --- what cannot be understood ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('[\n{"query": "DO 1", "qps": true}]', 2, "'qps' holds true or false, where a number is meant"),
        ('[\n{"query": "DO 1", "qps": "5"}]', 2, "'qps' holds a text, where a number is meant"),
        (
            '[\n{"query": "DO 1", "version": 10.6, "qps": 5}]',
            2,
            "'version' holds a number, where a text is meant",
        ),
        ('[\n{"query": ["DO 1"], "qps": 5}]', 2, "'query' holds a list, where a text or a number is meant"),
        (
            '[\n{"query": "DO 1", "qps": 5},\n7]',
            3,
            "a measurement must be an object with fields, not a number",
        ),
        ('[\n{"query": "DO 1", "qps": -5}]', 2, "-5 is negative, which no rate and no time can be"),
        ('[\n{"query": "DO 1", "qps": NaN}]', 2, "NaN is not a number that can be compared"),
        ('[\n{"query": "DO 1", "qps": 1e999}]', 2, "the number 1e999 is too large"),
        (
            '[\n{"query": "DO 1", "qps": 5, "threads": 0}]',
            2,
            "threads is 0, not a whole number from 1 to 1000000000",
        ),
        ('[\n{"query": "DO 1", "qps": null}]', 2, "no row holds a value; line 2: no value; left out"),
        (
            '{"query": "DO 1", "qps": 5}\n{"query": "DO 2", "qps": 5\n',
            2,
            "the JSON breaks off in the middle; is the file complete?",
        ),
        (
            '{"query": "DO 1", "qps": 5}\n{"query": "DO 1", "qps": 5}\n',
            2,
            "the same as line 1; a copy is not a second measurement",
        ),
        ('{"measurements": []}', 1, "there is no list of measurements, or it is empty"),
        ('{"measurements": 5}', 1, "there is no list of measurements, or it is empty"),
        ("[]", 1, "there is no list of measurements, or it is empty"),
        ('[{"client": "A-1"}]', 1, "the columns name no metric, or nothing that it was measured on"),
        ("[" * 100_000, 1, "the JSON is nested too deeply for a result file"),
        ("DO 1", 1, "not valid JSON: Expecting value, column 1"),
        ("\x85", None, "the file is empty"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_line(text, line, message):
    assert error_of(text) == (line, message)


@needs_data
@pytest.mark.parametrize(
    "name", ["jdbc-all-drivers-mariadb-10.2.11-rep1", "python-clients-mariadb-10.11.19-rep2"]
)
def test_json_and_csv_of_one_measurement_give_the_same_runs(name):
    as_json = parse(Source((DATA / "qps" / f"{name}.json").read_bytes()))
    as_csv = qps_table.parse(Source((DATA / "qps" / f"{name}.long.csv").read_bytes()))
    assert as_json.runs == as_csv.runs


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_cut_or_spoilt_file_gives_runs_with_unique_keys_or_a_format_error(path):
    data = path.read_bytes()
    randomness = random.Random(5)
    for _ in range(80):
        check_that_only_format_errors_escape(data[: randomness.randrange(len(data))])
        spoilt = bytearray(data)
        spoilt[randomness.randrange(len(spoilt))] = randomness.choice(b'0,.{}[]":\n-xe\\\xff')
        check_that_only_format_errors_escape(bytes(spoilt))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_cut_within_a_measurement_is_refused(path):
    data = path.read_bytes().rstrip()
    for length in range(len(data) - 30, len(data)):
        with pytest.raises(FormatError):
            parse(Source(data[:length]))


def check_that_only_format_errors_escape(data):
    recognise(Source(data).head)
    try:
        report = parse(Source(data))
    except FormatError:
        return
    assert report.runs
    assert set(Counter(run.key for run in report.runs).values()) == {1}


names = st.sampled_from(["query", "client", "version", "qps", "value", "unit", "metric", "threads", "x", ""])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.sampled_from(["A-1", "tps"]),
)
measurements = st.lists(st.dictionaries(names, scalars, max_size=6), max_size=4)


@settings(max_examples=300, deadline=None)
@given(measurements, st.sampled_from(["list", "document", "lines"]))
def test_any_measurements_give_runs_with_unique_keys_or_a_format_error(items, layout):
    match layout:
        case "list":
            text = json.dumps(items)
        case "document":
            text = json.dumps({"unit": "queries/second", "measurements": items})
        case _:
            text = "\n".join(map(json.dumps, items))
    check_that_only_format_errors_escape(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        '[{"jmhVersion": "1.37", "benchmark": "a.B", "mode": "avgt", "primaryMetric": {"score": 2}}]',
        '{"product": "MariaDB", "version": "10.6", "workload": "oltp_read_only", "threads": 4}',
        '{"index": 0, "time": "2026-11-20T15:30:30Z", "state": "base", "tps": 730.96, "qps": 11695.41}\n',
        '[{"time": 1, "threads": 4, "tps": 730.96, "qps": 11695.41}]',
        '{"series": [{"tps": 5}]}',
        "[1, 2]",
        '["query", "qps"]',
        "{",
        "query,A-1\nDO 1,5\n",
        "[mysqld]\nport=3306\n",
        "",
    ],
)
def test_other_files_are_left_to_others(text):
    assert not recognise(text.encode())


@needs_data
def test_of_the_real_files_only_the_measurements_are_recognised():
    taken = {
        path.relative_to(DATA)
        for path in DATA.rglob("*")
        if path.is_file() and recognise(Source(path.read_bytes()).head)
    }
    expected = {
        path.relative_to(DATA)
        for path in (DATA / "qps").iterdir()
        if path.suffix in {".json", ".jsonl"} and not path.name.endswith(".meta.json")
    }
    assert taken == expected
