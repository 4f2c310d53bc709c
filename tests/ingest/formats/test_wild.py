"""The files that people published: none is wrong without a word, and none is refused without a reason."""

from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from tests.ingest.formats.wild import PARTLY, REFUSED, WRONG, number_of, outcomes

WILD = Path(__file__).parents[4] / "shared" / "wild"

# Refused with reason: what is no result, is cut off, has no names, is relative, or comes from a tool that
# benchdash does not read.
REFUSED_WITH_REASON = {
    "*.rel.*": "relative figures",
    "*_rel.*": "relative figures",
    "*.byrx.*": "relative figures",
    "*iobuf_csum.iobuf.gcc.csv": "relative figures",
    "*qps.abs.in.csv": "no line names the columns",
    "*_qps.abs.pgo.*.csv": "no line names the columns",
    "*.tprocc.*.csv": "no line names the columns",
    "*fbmy56_o.ini.cx6a": "the log of a server that starts",
    "Percona-Lab-results_201808-*": "cut off",
    "centminmod*": "commands and other tools' summaries; no report of sysbench",
    "cosminsaracil_*mongodb_initial_load.txt": "not one operation was completed",
    "cosminsaracil_*mongodb_url_test*": "the clock went back during the run",
    "fabienrenaud_*__README.md": "pictures and prose",
    "*tpch_testcase_mysql_ramdisk.log": "a benchmark of single queries, no rate",
    "The-DevOps-Daily_*": "a JSON of its own making",
    "danielhlarkin_*": "a JSON of its own making",
    "LucasGiori_*": "k6",
    "oceanbase_*alter-tenant.md": "fio",
    "*rocksdb_c6i*": "db_bench",
    "tmosley032000_*.json": "sysbench's report taken apart into JSON",
    "fabienrenaud_*archive_all-runs.md": "links to the results",
}
# What is still to be read.
NOT_YET = (
    *("dolthub_*", "cosminsaracil_*summary.csv", "simonklee_*results.csv"),
    *("*_sum.abs1.iobuf.csv", "*iobound_o.qps.abs"),
)


@cache
def found():
    if not (WILD / "index.json").is_file():
        pytest.skip("../shared/wild is not here")
    return tuple(outcomes(WILD))


def is_among(file, patterns):
    return any(fnmatch(file, pattern) for pattern in patterns)


def told(verdict, accepted):
    return [
        f"{one.file}: {one.sentence}"
        for one in found()
        if one.verdict == verdict and not is_among(one.file, accepted)
    ]


def test_nothing_that_people_published_is_wrong_without_a_word():
    assert told(WRONG, ()) == []


def test_what_people_published_is_refused_with_a_reason_alone():
    assert told(REFUSED, (*REFUSED_WITH_REASON, *NOT_YET)) == []


def test_nothing_is_left_out_of_what_tools_wrote_themselves():
    logs = ("hammerdb", "jmh_csv", "jmh_json", "pgbench", "sysbench", "ycsb")
    assert [one.file for one in found() if one.verdict == PARTLY and one.family in logs] == []


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("244.96", 244.96),
        ("**321,410 QPS**", 321410),
        ("26 978 437", 26978437),
        ("±29993.333", 29993.333),
        ("5.00 ms", 5),
        ("0,469", 0.469),
        ("10.0%", 10),
        ("db.m5.2xlarge", None),
        ("8.0.45", None),
        ("2026-11-20", None),
    ],
)
def test_the_independent_reader_knows_a_number_in_a_cell(cell, number):
    assert number_of(cell) == number
