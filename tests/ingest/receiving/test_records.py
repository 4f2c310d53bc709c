from datetime import UTC, datetime, timedelta

import pytest

from benchdash.results.readings import reading
from ingest.errors import FieldsError
from ingest.formats.configuration import read_content
from ingest.formats.report import FormatError, Intervals, ParsedReport, ParsedRun
from ingest.metadata.upload_metadata import read_metadata
from ingest.receiving.companions import NOTHING, CompanionFacts
from ingest.receiving.records import decide

RECEIVED = datetime(2026, 11, 20, 16, tzinfo=UTC)
STARTED = datetime(2026, 11, 19, 3, tzinfo=UTC)
SAID = {"product": "MariaDB", "version": "10.6.23", "hardware": "box", "workload": "oltp_read_only"}


def a_run(*readings, **fields):
    return ParsedRun(readings=readings or (reading("tps", 100.0),), **fields)


def decided(runs, *, beside=NOTHING, facts=None, intervals=(), **metadata):
    report = ParsedReport(tuple(runs), tuple(intervals), facts or {})
    return decide(report, read_metadata(metadata)[0], received_at=RECEIVED, beside=beside)


def record_of(run, **metadata):
    (record,) = decided([run], **metadata).records
    return record


def missing(runs, **metadata):
    with pytest.raises(FieldsError) as refusal:
        decided(runs, **metadata)
    return {error.field: error.message for error in refusal.value.errors}


# --- who wins -----------------------------------------------------------------------------------------------


def test_an_explicit_field_wins_over_meta_and_meta_over_the_file():
    run = a_run(product="file", version="1", workload="file", build="file", counterpart="file", repetition=1)
    meta = {"product": "meta", "version": "2", "build": "meta", "repetition": 2, "hardware": "meta"}
    record = record_of(run, meta=meta, product="field", hardware="field")
    assert (record.product, record.hardware) == ("field", "field")
    assert (record.version, record.build, record.repetition) == ("2", "meta", 2)
    assert (record.workload, record.counterpart) == ("file", "file")


def test_a_server_of_a_column_and_one_of_meta_are_one_counterpart():
    in_file = record_of(a_run(counterpart="MariaDB-10.11.19"), **SAID)
    in_meta = record_of(a_run(), **SAID, meta={"server": {"product": "MariaDB", "version": "10.11.19"}})
    assert in_file.counterpart == in_meta.counterpart == "MariaDB 10.11.19"


def test_the_thread_count_that_the_tool_printed_wins_and_a_contradiction_is_a_warning():
    result = decided([a_run(threads=8)], **SAID, threads=4, meta={"threads": 2})
    assert result.records[0].threads == 8
    assert result.warnings == ("the file says 8 threads and its sender 4: what the tool printed counts",)
    assert result.records[0].warnings == result.warnings


def test_the_senders_thread_count_fills_what_the_file_does_not_say():
    assert record_of(a_run(), **SAID, threads=4, meta={"threads": 2}).threads == 4
    assert record_of(a_run(), **SAID, meta={"threads": 2}).threads == 2
    assert record_of(a_run(), **SAID).threads is None


def test_many_contradicting_thread_counts_are_one_warning():
    result = decided([a_run(key=str(n), threads=n) for n in (1, 2, 4)], **SAID, threads=2)
    assert result.warnings == ("the file says 1, 4 threads and its sender 2: what the tool printed counts",)


# --- files with several columns -----------------------------------------------------------------------------

DRIVERS = [
    a_run(key="1", column="ConnectorJ-5.1", product="ConnectorJ", version="5.1", workload="DO 1"),
    a_run(key="2", column="JDBC-1.1", product="JDBC", version="1.1", workload="DO 1"),
    a_run(key="3", column="C library", product="C library", workload="DO 1"),
]


def identities(result):
    return [(record.product, record.version, record.workload) for record in result.records]


def test_columns_are_products_and_one_without_a_version_is_unknown():
    result = decided(DRIVERS, hardware="box")
    assert identities(result) == [
        ("ConnectorJ", "5.1", "DO 1"),
        ("JDBC", "1.1", "DO 1"),
        ("C library", "unknown", "DO 1"),
    ]
    assert result.warnings == ("no version is known of 'C library', taken as 'unknown'",)


def test_a_map_wins_for_the_columns_that_it_names():
    result = decided(
        DRIVERS,
        hardware="box",
        product="explicit",
        map={
            "*": {"build": "any"},
            "JDBC-*": {"product": "MariaDB Connector/J", "workload": "do"},
            "C library": {"product": "C", "version": "3.3", "configuration": "pipe"},
        },
    )
    assert identities(result) == [
        ("explicit", "5.1", "DO 1"),
        ("MariaDB Connector/J", "1.1", "do"),
        ("C", "3.3", "DO 1"),
    ]
    assert [record.build for record in result.records] == ["any", "", ""]
    assert [record.configuration for record in result.records] == ["default", "default", "pipe"]


def test_a_pattern_that_names_nothing_is_a_warning():
    result = decided(DRIVERS, hardware="box", map={"Drizzle-*": {"build": "x"}})
    assert result.warnings[0] == "'Drizzle-*' in map names no column, benchmark or heading of the file"


def test_a_pattern_may_name_a_benchmark():
    run = a_run(key="x", column="BenchmarkSelect1.drizzle", workload="BenchmarkSelect1.drizzle")
    record = record_of(
        run, hardware="box", map={"*.drizzle": {"product": "Drizzle", "version": "1.3", "workload": "s"}}
    )
    assert (record.product, record.version, record.workload) == ("Drizzle", "1.3", "s")


MACHINES = [
    a_run(key=f"{machine}/DO 1", workload="DO 1", headings=("Results", machine), heading=machine)
    for machine in ("AMD EPYC", "Intel Xeon")
]
CONNECTOR = {"product": "JDBC", "version": "1.1"}


def places_of(result):
    return [(record.hardware, record.configuration) for record in result.records]


def test_a_heading_that_tells_runs_apart_is_their_configuration():
    result = decided(MACHINES, **CONNECTOR, hardware="box")
    assert places_of(result) == [("box", "AMD EPYC"), ("box", "Intel Xeon")]
    one = decided(MACHINES, **CONNECTOR, hardware="box", configuration="tuned")
    assert places_of(one) == [("box", "tuned"), ("box", "tuned")]
    assert "gives one configuration to runs for which the file names 2" in one.warnings[0]


@pytest.mark.parametrize(
    ("patterns", "places"),
    [
        (
            {"AMD*": {"hardware": "epyc"}, "Intel Xeon": {"hardware": "xeon"}},
            [("epyc", "default"), ("xeon", "default")],
        ),
        ({"AMD*": {"hardware": "epyc"}}, [("epyc", "default"), ("box", "Intel Xeon")]),
        ({"Results": {"hardware": "lab"}}, [("lab", "AMD EPYC"), ("lab", "Intel Xeon")]),
        (
            {"DO 1": {"hardware": "lab"}, "AMD*": {"configuration": "one"}},
            [("lab", "one"), ("lab", "Intel Xeon")],
        ),
    ],
    ids=["each is a machine", "one of them is", "a heading that they share", "a benchmark and a heading"],
)
def test_a_map_says_what_headings_are(patterns, places):
    assert places_of(decided(MACHINES, **CONNECTOR, hardware="box", map=patterns)) == places


def test_no_other_machine_is_needed_where_the_map_names_all():
    patterns = {"AMD*": {"hardware": "epyc"}, "Intel*": {"hardware": "xeon"}}
    assert len(decided(MACHINES, **CONNECTOR, map=patterns).records) == 2
    assert "hardware" in missing(MACHINES, **CONNECTOR, map={"AMD*": {"hardware": "epyc"}})


def test_facts_of_the_machine_are_not_those_of_another_one():
    meta = {"hardware": {"cpu_model": "EPYC"}}
    records = decided(
        MACHINES, **CONNECTOR, hardware="epyc", meta=meta, map={"Intel*": {"hardware": "xeon"}}
    ).records
    assert [bool(record.hardware_facts) for record in records] == [True, False]


def test_meta_does_not_make_one_of_what_the_file_tells_apart():
    result = decided(
        DRIVERS, meta={"product": "MariaDB", "version": "10.6", "hardware": "box", "build": "debug"}
    )
    assert [record.product for record in result.records] == ["ConnectorJ", "JDBC", "C library"]
    assert [record.version for record in result.records] == ["5.1", "1.1", "unknown"]
    assert [record.build for record in result.records] == ["debug"] * 3
    assert result.warnings == (
        "the file tells its runs apart by product, so 'MariaDB' in meta was not used",
        "the file tells its runs apart by version, so '10.6' in meta was not used",
        "no version is known of 'C library', taken as 'unknown'",
    )


def test_an_explicit_field_makes_one_of_them_and_a_warning_says_so():
    result = decided(DRIVERS, hardware="box", product="MariaDB", version="10.6")
    assert identities(result) == [("MariaDB", "10.6", "DO 1")] * 3
    assert result.warnings == (
        "the field 'product' gives one product to runs for which the file names 3, now their configurations",
        "the field 'version' gives one version to runs for which the file names 3, now their configurations",
    )
    assert len(set(places_of(result))) == 3


def test_what_a_field_makes_alike_stays_apart_with_the_configuration_of_the_file():
    runs = [
        a_run(key=f"{name} {engine}", product=name, configuration=engine, workload="w")
        for name in ("before", "after")
        for engine in ("innodb", "rocksdb")
    ]
    assert places_of(decided(runs, hardware="box", product="MariaDB", version="1")) == [
        ("box", "innodb, before"),
        ("box", "rocksdb, before"),
        ("box", "innodb, after"),
        ("box", "rocksdb, after"),
    ]


def test_a_field_that_says_what_the_file_says_is_no_contradiction():
    runs = [a_run(key=name, product=name, version="5.5", workload="w") for name in ("MariaDB", "MySQL")]
    assert decided(runs, hardware="box", version="5.5").warnings == ()
    assert decided(runs, meta={"hardware": "box", "version": "5.5"}).warnings == ()


def test_one_version_serves_columns_that_name_products_alone():
    runs = [a_run(key="1", product="MariaDB", workload="w"), a_run(key="2", product="MySQL", workload="w")]
    assert identities(decided(runs, hardware="box", version="5.5")) == [
        ("MariaDB", "5.5", "w"),
        ("MySQL", "5.5", "w"),
    ]
    assert identities(decided(runs, hardware="box", meta={"version": "5.5"})) == [
        ("MariaDB", "5.5", "w"),
        ("MySQL", "5.5", "w"),
    ]


def test_products_side_by_side_need_no_version():
    runs = [a_run(key=name, column=name, product=name, workload="w") for name in ("MariaDB", "MySQL")]
    result = decided(runs, hardware="box")
    assert [record.version for record in result.records] == ["unknown", "unknown"]
    assert result.warnings == ("no version is known of 'MariaDB', 'MySQL', taken as 'unknown'",)
    assert missing(runs[:1], hardware="box") == {"version": "is required: the file does not say it"}


# --- what is required ---------------------------------------------------------------------------------------


def test_what_neither_sender_nor_file_says_is_named_field_by_field():
    assert missing([a_run(threads=4)]) == {
        "product": "is required: the file does not say it",
        "version": "is required: the file does not say it",
        "hardware": "is required: a file does not say on which machine it was measured",
        "workload": "is required: the file does not say it",
    }


def test_columns_that_lack_something_are_named():
    runs = [a_run(key="1", column="A-1", product="A", version="1", workload="w"), a_run(key="2", column="B")]
    assert missing(runs, hardware="box", workload="w") == {
        "product": "is required: the file does not say it of 'B'",
        "version": "is required: the file does not say it of 'B'",
    }


def test_a_machine_without_a_name_is_called_after_its_facts():
    facts = {"cpu_model": "AMD EPYC", "cores": 2, "ram_kib": 24684096}
    result = decided([a_run(workload="w")], product="P", version="1", meta={"hardware": facts})
    assert result.records[0].hardware == "AMD EPYC, 2 cores, 24 GiB"
    assert result.records[0].hardware_facts == facts
    assert result.warnings == (
        "the machine has no name and is called 'AMD EPYC, 2 cores, 24 GiB' after its facts",
    )
    named = decided([a_run(workload="w")], product="P", version="1", hardware="box", meta={"hardware": facts})
    assert named.records[0].hardware == "box"
    assert named.warnings == ()


# --- times --------------------------------------------------------------------------------------------------


def test_a_run_without_a_start_began_when_it_was_received_and_is_marked():
    record = record_of(a_run(), **SAID)
    assert (record.started_at, record.started_at_is_assumed) == (RECEIVED, True)
    record = record_of(a_run(started_at=STARTED), **SAID)
    assert (record.started_at, record.started_at_is_assumed) == (STARTED, False)


def test_a_time_of_the_file_without_an_offset_is_utc_and_a_warning_says_so():
    result = decided([a_run(started_at=STARTED.replace(tzinfo=None))], **SAID)
    assert result.records[0].started_at == STARTED
    assert result.warnings == ("the times in the file have no offset and are taken as UTC",)


def test_a_file_that_says_that_its_run_is_yet_to_come_is_refused():
    later = RECEIVED + timedelta(minutes=11)
    with pytest.raises(
        FormatError, match=r"to come: 2026-11-20 16:11 UTC is in the future: it is 2026-11-20"
    ):
        decided([a_run(started_at=later)], **SAID)
    assert record_of(a_run(started_at=RECEIVED + timedelta(minutes=9)), **SAID)


def test_the_sender_corrects_a_start_to_come():
    later = RECEIVED + timedelta(days=365)
    assert record_of(a_run(started_at=later), **SAID, started_at=STARTED).started_at == STARTED
    assert record_of(a_run(started_at=later), **SAID, meta={"started_at": STARTED}).started_at == STARTED


def test_a_local_time_without_an_offset_may_be_ahead_by_a_zone():
    ahead = RECEIVED.replace(tzinfo=None) + timedelta(hours=13)
    assert record_of(a_run(started_at=ahead), **SAID)
    with pytest.raises(FormatError, match="is in the future"):
        decided([a_run(started_at=ahead + timedelta(hours=2))], **SAID)


def test_a_start_before_1995_is_a_warning():
    result = decided([a_run(started_at=datetime(1970, 1, 1, tzinfo=UTC))], **SAID)
    assert result.warnings == (
        "the run started on 1970-01-01, before 1995: is the clock of its machine right?",
    )
    assert decided([a_run()], **SAID, started_at="1994-12-31T00:00:00Z").warnings
    assert not decided([a_run()], **SAID, started_at="1995-01-01T00:00:00Z").warnings


# --- facts, options, settings -------------------------------------------------------------------------------


def test_options_come_from_all_and_the_senders_win():
    run = a_run(options={"tables": 1, "rate": 2, "seconds": 2.004, "count": 24800})
    record = record_of(
        run, facts={"tool": "sysbench"}, **SAID, options={"tables": 4}, meta={"tables": 3, "skip": "on"}
    )
    assert record.options == {"tables": 4, "rate": 2, "skip": "on"}
    assert record.facts == {"tool": "sysbench", "seconds": 2.004, "count": 24800}


def test_settings_are_those_of_the_file_beside_and_of_what_was_switched():
    meta = {"server_config": "[mysqld]\nport=1\nlong_query_time=10\n", "state": "long_query_time=0"}
    record = record_of(a_run(), **SAID, configuration="slow log", meta=meta)
    assert record.configuration == "slow log"
    assert record.settings == {"port": "1", "long_query_time": "0"}
    assert record.configuration_text.endswith("# switched while the server ran\nlong_query_time = 0\n")


def test_a_configuration_file_wins_over_the_text_in_meta():
    content = read_content("[mysqld]\nlong_query_time=5\n")
    record = record_of(
        a_run(),
        **SAID,
        beside=CompanionFacts(content=content),
        meta={"server_config": "[mysqld]\nlong_query_time=10\n"},
    )
    assert record.settings == {"long_query_time": "5"}


def test_settings_that_a_file_switches_hold_for_their_run_alone():
    runs = [a_run(key="1"), a_run(key="2", settings={"ssl": "on"})]
    result = decided(runs, **SAID, beside=CompanionFacts(content=read_content("ssl = off\n")))
    assert [record.settings for record in result.records] == [{"ssl": "off"}, {"ssl": "on"}]


def test_without_a_name_a_configuration_is_the_default_and_without_a_text_unknown():
    record = record_of(a_run(), **SAID)
    assert (record.configuration, record.configuration_text, dict(record.settings)) == ("default", None, {})


def test_interval_samples_stay_with_their_run():
    tables = [Intervals("2", "sysbench", ("time_s", "tps"), ((1.0, 99.0),))]
    result = decided([a_run(key="1"), a_run(key="2")], intervals=tables, **SAID)
    assert [len(record.samples) for record in result.records] == [0, 1]
    assert result.records[1].samples[0].rows == ((1.0, 99.0),)


def test_secrets_of_the_file_are_masked():
    run = a_run(
        key="mysql://u:sb@h",
        workload="select mysql://u:sb@h",
        counterpart="mysql://u:sb@h",
        options={"mysql-password": "sb", "url": "jdbc:x?password=sb"},
        settings={"report_password": "sb"},
    )
    record = record_of(
        run, facts={"command": "sysbench --mysql-password=sb run"}, product="P", version="1", hardware="box"
    )
    assert "sb" not in repr(record).replace("sysbench", "")


def test_a_session_becomes_a_tag_and_that_of_the_sender_wins():
    meta = {"session": "monday", "tags": ["night"]}
    assert record_of(a_run(), **SAID, meta=meta).tags == ("session:monday", "night")
    record = record_of(a_run(), **SAID, meta=meta, session="tuesday", tags=["session:tuesday", "x"])
    assert record.tags == ("session:tuesday", "x")


def test_tags_and_notes_of_the_sender_win_over_those_in_meta():
    meta = {"tags": ["night"], "note": "from meta"}
    assert record_of(a_run(), **SAID, meta=meta).tags == ("night",)
    record = record_of(a_run(), **SAID, meta=meta, tags=["mine"], notes="mine")
    assert (record.tags, record.notes) == (("mine",), "mine")


def test_an_exit_code_that_is_not_zero_is_told_at_the_run():
    result = decided([a_run()], **SAID, meta={"exit_code": -11})
    assert result.warnings == result.records[0].warnings == ("the tool ended with exit code -11",)


# --- how steady a run was -----------------------------------------------------------------------------------


def in_intervals(values, run=""):
    rows = tuple((float(second), value) for second, value in enumerate(values, 1))
    return Intervals(run, "sysbench", ("time_s", "tps"), rows)


def test_stalls_and_the_worst_interval_are_readings_of_a_run_with_enough_intervals():
    values = [100.0] * 10 + [0.0, 100.0]
    (record,) = decided([a_run()], intervals=[in_intervals(values)], **SAID).records
    found = {one.metric: one.value for one in record.readings}
    assert (found["stalls_per_min"], found["tps_worst"]) == (5, 0)
    assert record.samples[0].rows[10] == (11.0, 0.0)
    (short,) = decided([a_run()], intervals=[in_intervals(values[:9])], **SAID).records
    assert "stalls_per_min" not in {one.metric for one in short.readings}


def test_the_warm_up_that_the_sender_says_is_left_out_of_them():
    values = [0.0, 0.0] + [100.0] * 10
    for fields in ({"options": {"warmup_s": 2}}, {"meta": {"warmup_s": 2}}):
        (record,) = decided([a_run()], intervals=[in_intervals(values)], **{**SAID, **fields}).records
        assert {one.metric: one.value for one in record.readings}["tps_worst"] == 100


def test_what_a_file_says_of_its_steadiness_counts():
    run = a_run(reading("tps", 90.0), reading("tps_worst", 7.0))
    (record,) = decided([run], intervals=[in_intervals([100.0] * 12)], **SAID).records
    assert [one.value for one in record.readings if one.metric == "tps_worst"] == [7]


def test_each_run_of_a_file_has_the_steadiness_of_its_own_intervals():
    tables = [in_intervals([100.0] * 12, "a"), in_intervals([100.0] * 11 + [40.0], "b")]
    result = decided([a_run(key="a", threads=1), a_run(key="b", threads=2)], intervals=tables, **SAID)
    worst = [{one.metric: one.value for one in record.readings}["tps_worst"] for record in result.records]
    assert worst == [100, 40]
