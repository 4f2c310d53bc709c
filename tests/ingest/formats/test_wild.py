"""The files that people published: none is wrong without a word, and none is refused without a reason."""

from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from tests.ingest.formats.wild import PARTLY, REFUSED, WRONG, counted, number_of, outcomes

ROOT = Path(__file__).parents[3]
WILD = ROOT.parent / "shared" / "wild"

# What is refused, and what its refusal says: the reason, which its author would accept.
REFUSED_WITH_REASON = {
    # relative figures
    "*.rel.*": "relative figures",
    "*_rel.*": "relative figures",
    "*_sum.abs0.byrx.csv": "relative figures",
    "*iobuf_csum.iobuf.gcc.csv": "relative figures",
    # nothing says what the numbers are
    "*qps.abs.in.csv": "no line names the columns",
    "*_qps.abs.pgo.*.csv": "no line names the columns",
    "*.tprocc.*.csv": "no line names the columns",
    "*iobound_o.qps.abs": "no line names the columns",
    "*_sum.abs1.iobuf.csv": "nothing says what the numbers are",
    "dolthub_*": "nothing says what the numbers under 'MySQL', 'Dolt', 'Multiple' are",
    # broken, cut off, or failed
    "simonklee_*results.csv": "732 cells, where the first line has 12",
    "Percona-Lab-results_201808-*": "sysbench was stopped, or the file is cut off",
    "cosminsaracil_*mongodb_initial_load.txt": "ops_per_s is 0: 10 insert_failed",
    "cosminsaracil_*mongodb_url_test*": "was the clock of the machine set back?",
    # no result: pictures, links, commands, the log of a server; queries without a rate
    "fabienrenaud_*__README.md": "no score of a benchmark; did JMH finish?",
    "fabienrenaud_*archive_all-runs.md": "no score of a benchmark; did JMH finish?",
    "centminmod*": "no report of sysbench behind its banner, only",
    "*fbmy56_o.ini.cx6a": "not a result file",
    "oceanbase_*alter-tenant.md": "not a result file",
    "*tpch_testcase_mysql_ramdisk.log": "no table under 'Execution' has a rate",
    # other tools, and JSON of one's own
    "LucasGiori_*": "k6",
    "*rocksdb_c6i*": "write the units behind their names",
    "The-DevOps-Daily_*": "JSON of a shape that benchdash does not read",
    "danielhlarkin_*": "JSON of a shape that benchdash does not read",
    "tmosley032000_*.json": "its output stands within JSON",
}


@cache
def found():
    if not (WILD / "index.json").is_file():
        pytest.skip("../shared/wild is not here")
    return tuple(outcomes(WILD))


def told(verdict):
    return [f"{one.file}: {one.sentence}" for one in found() if one.verdict == verdict]


def is_refused_with_reason(one):
    return any(
        fnmatch(one.file, pattern) and words in one.sentence for pattern, words in REFUSED_WITH_REASON.items()
    )


def test_nothing_that_people_published_is_wrong_without_a_word():
    assert told(WRONG) == []


def test_what_people_published_is_refused_with_a_reason_alone():
    refused = [one for one in found() if one.verdict == REFUSED]
    assert [one for one in refused if not is_refused_with_reason(one)] == []


def test_the_page_on_formats_tells_the_counts():
    page = (ROOT / "docs/formats.md").read_text()
    assert counted(found()) in page


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
