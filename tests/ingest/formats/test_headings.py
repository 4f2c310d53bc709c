import pytest

from ingest.formats.headings import Said, product_and_version, said_by, said_by_all, thread_count


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ("Point Select test results", Said(workload="Point Select")),
        ("4.1 OLTP Read-Write:", Said(workload="OLTP Read-Write")),
        ("点查询性能 (oltp_point_select)", Said(workload="oltp_point_select", rest="点查询性能")),
        ("MySQL 8.0.36, 64 threads", Said(product="MySQL", version="8.0.36", threads=64)),
        ("PG15: 8 Cores 32G", Said(product="PG", version="15", rest="8 Cores 32G")),
        ("V4.2 [Zone1]", Said(version="4.2", rest="Zone1")),
        ("tidb_ddl_reorg_batch_size = 32", Said(settings={"tidb_ddl_reorg_batch_size": "32"})),
        ("64线程性能对比", Said(threads=64)),
        ("Benchmark results", Said()),
        ("Ubuntu 22.04", Said(rest="Ubuntu 22.04")),
        ("Intel Xeon 2.40GHz", Said(rest="Intel Xeon 2.40GHz")),
        ("With the patch", Said(rest="patch")),
    ],
)
def test_a_heading_says_what_was_measured(heading, said):
    assert said_by(heading) == said


def test_the_innermost_of_several_headings_wins():
    said = said_by_all(["Read only", "MariaDB 10.6.23", "Write only on MySQL 8.0"])
    assert said == Said(product="MariaDB", version="10.6.23", workload="Read only")


def test_the_version_of_another_product_is_not_taken():
    assert said_by_all(["PostgreSQL", "MySQL 8.0"]) == Said(product="PostgreSQL")


@pytest.mark.parametrize(
    ("head", "count"),
    [
        ("64", 64),
        ("64 threads", 64),
        ("threads=64", 64),
        ("1线程", 1),
        ("1,024 clients", 1024),
        ("8 cores", None),
    ],
)
def test_a_head_may_be_a_thread_count(head, count):
    assert thread_count(head) == count


def test_a_version_may_have_a_v():
    assert product_and_version("v5.3.0") == (None, "5.3.0")
    assert product_and_version("10.6.23") == (None, "10.6.23")
    assert product_and_version("v5") == ("v5", None)


@pytest.mark.parametrize(
    "title", ["MariaDB 10.11 vs 11.4 on bench-3", "QPS of MariaDB 10.11 and MariaDB 11.4", "10.11, 11.4"]
)
def test_a_title_that_compares_versions_names_none(title):
    assert said_by(title).version is None
    assert said_by("MariaDB 10.11 with 2 disks").version == "10.11"
