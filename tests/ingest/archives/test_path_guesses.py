"""What the names of files are taken to say, in layouts that people publish."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.archives.path_guesses import OwnWords, propose
from ingest.archives.path_words import RULES, words_in
from ingest.metadata.fields import FIELDS
from ingest.metadata.path_patterns import ANY_FILE, PathMap, PathPattern
from tests.ingest.formats.real_files import SHARED

THREADS = (1, 2, 4, 8, 16, 32, 64)
OLTP = {"ro": "oltp_read_only", "rw": "oltp_read_write"}


def read(proposal, path):
    """The fields that a path has if the proposal is taken as it is."""
    parts = PathPattern.parse(proposal.pattern or ANY_FILE).match(path)
    return PathMap(proposal.parts, proposal.fields).read(parts, path)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("sysbench_8.0.35_64thr.log", {"version": "8.0.35", "threads": 64}),
        ("mysql-v8.0.35-oltp_rw-16threads-run2", {"product": "MySQL", "threads": 16, "repetition": 2}),
        ("mysql/8.0.45/Tier12G_RW_16th.sysbench.txt", {"configuration": "Tier12G", "workload": OLTP["rw"]}),
        ("x.my8406v2_rel.c8r32.pk1/sb.o.x.dop40", {"version": "8.4.6", "build": "v2", "hardware": "c8r32"}),
        ("ma101114/t04.txt", {"product": "MariaDB", "version": "10.11.14", "threads": 4}),
        ("pg17/th_64.log", {"product": "PostgreSQL", "version": "17", "threads": 64}),
        ("ps-8.0.35/ps.c16.txt", {"product": "Percona Server", "workload": "oltp_point_select"}),
        ("m5.4xlarge/mariadb-11.4.5.log", {"hardware": "m5.4xlarge", "version": "11.4.5"}),
        ("bench-03/ma101114/ro.16.txt", {"hardware": "bench-03", "version": "10.11.14"}),
        ("c2-standard-60/t8.log", {"hardware": "c2-standard-60", "threads": 8}),
        ("mariadb-java-client-1.5.3/a.json", {"product": "mariadb-java-client", "version": "1.5.3"}),
        ("percona-server-8.0.36-28/ro.64", {"product": "Percona Server", "version": "8.0.36-28"}),
        ("pg17rc1, 64 threads.txt", {"product": "PostgreSQL", "version": "17rc1", "threads": 64}),
        ("mysql-8/t4/r2.out", {"product": "MySQL", "version": "8", "threads": 4, "repetition": 2}),
        ("10.0.0.12/202104221531/x", {"hardware": "10.0.0.12", "started_at": "2021-04-22T1531"}),
        ("db1.example.com/15.03.2024/x", {"hardware": "db1.example.com", "started_at": "2024-03-15"}),
        ("Mysql8.0-16Core128GB-1Node/x", {"version": "8.0", "hardware": "16Core128GB"}),
        ("main/3f9a2c1/4th_run.log", {"commit": "3f9a2c1", "repetition": 4}),
        ("pg-17/r3", {"product": "PostgreSQL", "version": "17", "repetition": 3}),
        # These are parts of a UUID, a system, a compiler, a share, a date and a block size.
        ("550e8400-e29b-41d4-a716-44665544abcd/ubuntu-22.04/gcc-13.2/zipf-0.99/15.03.24/64k.txt", {}),
        # The version of the tool is none of the server, and a date is no version.
        ("sysbench-1.0.20/2026.11.20.txt", {"started_at": "2026-11-20"}),
    ],
)
def test_words_in_a_path_say_what_they_mostly_mean(path, fields):
    found = {name: value for word in words_in(path) for name, value in word.values.items()}
    assert found.items() >= fields.items() if fields else found == {}


def test_names_that_a_project_has_are_found_and_written_as_it_writes_them():
    known = {"hardware": ["Lab-7"], "product": ["mysql"]}
    found = [(word.field, word.values) for word in words_in("lab-7/mysql/8.0.35.log", known)]
    assert found[:2] == [("hardware", {"hardware": "Lab-7"}), ("product", {"product": "mysql"})]


@pytest.mark.parametrize(
    ("paths", "pattern", "fields"),
    [
        (
            [f"sysbench_8.0.35_{n}thr.log" for n in THREADS],
            "sysbench_8.0.35_{threads}thr.log",
            {"version": "8.0.35"},
        ),
        (
            [f"series26/res0{r}/sysbench.ro.{n}.res" for n in THREADS for r in (1, 2, 3)],
            "series26/res{repetition}/sysbench.ro.{threads}.res",
            {"workload": "oltp_read_only"},
        ),
        (
            [
                f"mysql/8.0.{v}/Tier{t}G_{w}_{n}th.sysbench.txt"
                for v in (45, 46)
                for t in (2, 12)
                for w in ("RW", "RO")
                for n in (1, 16)
            ],
            "mysql/{version}/{configuration}_{workload}_{threads}th.sysbench.txt",
            {"product": "MySQL"},
        ),
        (
            # What is counted from 1 is a repetition; what has a unit behind it is none.
            [f"ro_{n}_{k}tables_{r}.txt" for n in THREADS for k in (1, 2) for r in (1, 2)],
            "ro_{threads}_{tables}tables_{repetition}.txt",
            {"workload": "oltp_read_only"},
        ),
        (
            [f"kernel-6.{k}/2024-03-1{d}/ro.{n}.log" for n in THREADS for k in (1, 8) for d in (5, 6)],
            "{configuration}/{started_at}/ro.{threads}.log",
            {"workload": "oltp_read_only"},
        ),
        (
            [
                f"res.{p}57.{c}/res.thr{n}.ro.txt"
                for p, c in (("mysql", "AHI0"), ("ps", "AHI0.tp96"))
                for n in THREADS
            ],
            "res.{version}.{configuration}/res.thr{threads}.ro.txt",
            {"workload": "oltp_read_only"},
        ),
        (
            [f"pgbench_{v}_{w}_20250815_13{m}00.log" for v in (13, 18) for w in "ab" for m in (10, 20)],
            "pgbench_{version}_{workload}_{started_at}.log",
            {},
        ),
        (
            [
                f"{night:03}/{w}.{role}.{n}.txt"
                for night in range(5)
                for w in OLTP
                for role in ("control", "test")
                for n in (1, 2, 3, 5)
            ],
            "{session}/{workload}.{role}.{repetition}.txt",
            {},
        ),
    ],
)
def test_what_varies_between_names_is_a_field_and_what_they_share_stays(paths, pattern, fields):
    proposal = propose(paths)
    assert (proposal.pattern, proposal.fields) == (pattern, fields)
    assert all(PathPattern.parse(pattern).match(path) for path in paths)


def test_at_most_fifteen_rules_guess():
    others = ("names of the project", "numbers that vary", "controls")
    assert len(RULES) + len(others) <= 15


@pytest.mark.parametrize(
    ("paths", "reasons"),
    [
        (
            [f"mysql/8.0.{v}/Tier2G_{w}_{n}th.txt" for v in (45, 46) for w in ("RW", "RO") for n in (1, 16)],
            {
                "product": "'mysql' stands before a version, as products do",
                "version": "'8.0.45' is written like a version",
                "configuration": "'Tier2G' names an amount of memory",
                "workload": "'RO' is a usual name of a workload",
                "threads": "'16th' is a number of threads, clients or connections",
            },
        ),
        (
            [f"ma101114/{w}.run{n}.log" for w in ("reads", "writes") for n in (1, 2)],
            {
                "product": "'ma101114' is a product with its version",
                "version": "'ma101114' is a product with its version",
                "workload": "parts like 'reads' vary, and no rule knows them",
                "repetition": "'run1' is the number of a repetition",
            },
        ),
        (
            [f"{night:03}/{role}.{n}.log" for night in (0, 1) for role in ("control", "new") for n in (4, 8)],
            {
                "control": "'control' is the usual name of a control",
                "repetition": "numbers like '000' count from 0 or 1, as a repetition does",
                "threads": "numbers like '4' in the names of files are usually threads",
            },
        ),
    ],
)
def test_each_field_that_is_proposed_has_its_reason(paths, reasons):
    given = propose(paths).reasons
    assert {name: reason for name, reason in given.items() if name in FIELDS} == reasons


def test_abbreviations_get_a_mapping():
    paths = [f"{b}/sysbench.{w}.{n}.res" for b in ("my8044", "ma101114") for w in OLTP for n in THREADS]
    assert read(propose(paths), "ma101114/sysbench.rw.8.res") == {
        "product": "MariaDB",
        "version": "10.11.14",
        "workload": "oltp_read_write",
        "threads": "8",
    }


def test_threads_that_files_printed_settle_which_number_they_are():
    paths = [f"results_{a}_{b}.txt" for a in (10, 20, 40) for b in (64, 128)]
    printed = {path: OwnWords(threads=int(path.split("_")[1])) for path in paths}
    assert read(propose(paths, printed), "results_20_64.txt").items() >= {"threads": "20"}.items()
    # A name that says other threads than the file is not taken.
    paths = [f"t{n}.txt" for n in THREADS]
    assert propose(paths, {path: OwnWords(threads=3) for path in paths}).pattern == "t{t}.txt"


def test_what_files_say_themselves_is_not_taken_from_their_names():
    paths = [f"mariadb-{v}/{w}.json" for v in ("10.6.1", "10.11.2") for w in ("avgt", "thrpt")]
    own = {path: OwnWords(fields=("product", "version", "workload")) for path in paths}
    assert (propose(paths, own).pattern, propose(paths, own).fields) == ("", {})
    # Beside a file that says the rest, a name tells of the repetition alone.
    own = {
        path: OwnWords(fields=("product", "version", "workload"))
        for path in (f"pg17/run{r}/c8.txt" for r in (1, 2))
    }
    assert propose(own, own).pattern == "pg17/run{repetition}/c8.txt"
    own = {path: OwnWords(fields=("version",), workload=None) for path in paths}
    assert propose(paths, own).pattern == "mariadb-*/{workload}.json"


def test_the_forms_of_one_run_have_one_name():
    proposal = propose([f"t{n}.{suffix}" for n in THREADS for suffix in ("json", "txt")])
    assert (proposal.pattern, proposal.fields) == ("t{threads}.*", {})


def test_parts_that_nobody_knows_never_run_together():
    """Files that differ in something must not become repeats of each other."""
    paths = [f"{s}/{v}/t{n}.txt" for s in ("pool size", "flush") for v in ("12M", "none") for n in (1, 4)]
    proposal = propose(paths, {path: OwnWords(likely_workloads=("oltp_read_only",)) for path in paths})
    assert len({str(sorted(read(proposal, path).items())) for path in paths}) == len(paths)


def test_where_no_pattern_fits_all_each_path_has_an_entry():
    paths = ["my8044/rw/t4.txt", "my8044/rw/t8.txt", "old/10.6.1-16thr.txt", "notes/x/y/mariadb-10.6.2.txt"]
    proposal = propose(paths)
    assert proposal.pattern == ANY_FILE
    assert read(proposal, paths[0]) == {
        "product": "MySQL",
        "version": "8.0.44",
        "workload": "oltp_read_write",
        "threads": 4,
    }
    assert read(proposal, paths[2]) == {"version": "10.6.1", "threads": 16}
    assert read(proposal, paths[3]) == {"product": "MariaDB", "version": "10.6.2"}


def test_a_version_before_a_number_is_read_right_though_a_dot_stands_between():
    paths = [f"mysql.8.0.{v}.t{n}.log" for v in (35, 36) for n in THREADS]
    proposal = propose(paths)
    assert {(read(proposal, path)["version"], int(read(proposal, path)["threads"])) for path in paths} == {
        (f"8.0.{v}", n) for v in (35, 36) for n in THREADS
    }


@pytest.mark.skipif(not SHARED.exists(), reason="the published files are not on this machine")
def test_the_pattern_of_a_published_folder_is_found():
    root = SHARED / "third_party/small_datum/mysql_2025_11"
    paths = [str(path.relative_to(root)) for path in root.glob("x.*/sb.o.*")]
    proposal = propose(paths, {path: OwnWords(("workload",), 1, "one of several") for path in paths})
    assert proposal.pattern == "x.{version}_rel_o2nofp.z12a_c8r32.pk1/sb.o.{workload}.range{range}.pk1.dop1"
    path = "x.my8406v2_rel_o2nofp.z12a_c8r32.pk1/sb.o.hot-points.range100.pk1.dop1"
    assert read(proposal, path) == {
        "product": "MySQL",
        "version": "8.4.6",
        "build": "v2",
        "hardware": "c8r32",
        "workload": "hot-points range=100",
    }


WORDS = "mysql 8.0.35 my8044 ro oltp_read_write t04 64 res01 64thr a x-y { * session2"
PART = st.sampled_from(WORDS.split())
NAME = st.lists(PART, min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from("._-").map(lambda separator: separator.join(parts))
)
PATHS = st.lists(st.lists(NAME, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8, unique=True)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PATHS)
def test_whatever_the_names_are_each_is_read_and_what_must_be_a_number_is_one(paths):
    proposal = propose(paths)
    for path in paths:
        assert PathPattern.parse(proposal.pattern or ANY_FILE).match(path) is not None
        for name in ("threads", "repetition"):
            value = read(proposal, path).get(name)
            assert value is None or str(value).isdecimal(), (path, proposal)
