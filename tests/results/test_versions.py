from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchdash.results.versions import order_kind, parse_version, release_line
from benchdash.results.versions import sort_key as key_of

IN_ORDER = [
    ["", "10.0.1", "10.0.3", "10.2.9", "10.2.44", "10.11.7"],
    ["unknown", "8.0.44", "9.5.0"],
    ["5.5.28", "5.5.28a", "5.5.28b", "5.5.29"],
    ["1.3-SNAPSHOT", "1.3", "1.3.1", "1.10"],
    ["19devel", "19beta1", "19beta2", "19beta10", "19rc1", "19", "19.0", "19.1"],
    ["18beta1", "18rc1", "18.0"],
    ["8.0.0-dmr", "8.0.0", "8.0.0-debug", "8.0.1-dmr"],
    ["8.0.35", "8.0.35-27", "8.0.35-28", "8.0.36-1"],
    ["2.0a1", "2.0a2", "2.0-M1", "2.0b1", "2.0rc1", "2.0", "2.0a", "2.0.1"],
    ["1.2.3-rc1", "v1.2.3"],
    ["2025-12-31", "2026-01-02", "2026-11-01"],
    ["9", "14", "PostgreSQL 17.2"],
    ["10.11.4-MariaDB-log", "mariadb-10.11.5"],
]
CLEANED = {
    "10.6.23-MariaDB-1:10.6.23+maria~ubu2204": "10.6.23",
    "10.11.19-MariaDB-0+deb12u1": "10.11.19",
    "10.11.19-MariaDB-0+deb12u1-log": "10.11.19",
    "5.5.5-10.6.23-MariaDB": "10.6.23",
    "10.6.23+maria~ubu2204": "10.6.23",
    "10.5.12-MariaDB-1": "10.5.12",
    "10.6.17-13-MariaDB-enterprise-log": "10.6.17-13-enterprise",
    "10.6.23-MariaDB-debug-log": "10.6.23-debug",
    "mysql  Ver 15.1 Distrib 10.6.23-MariaDB, for debian-linux-gnu (x86_64)": "10.6.23",
    "mysqld  Ver 8.0.44-0ubuntu0.22.04.1 for Linux on x86_64 ((Ubuntu))": "8.0.44",
    "8.0.44-0ubuntu0.22.04.1": "8.0.44",
    "8.0.44-1.el9": "8.0.44",
    "8.0.35-27": "8.0.35-27",
    "8.0.35-27-1.jammy": "8.0.35-27",
    "5.7.44-debug-log": "5.7.44-debug",
    "mysql-8.0.44-linux-glibc2.28-x86_64": "8.0.44",
    "PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit": "16.4",
    "postgres (PostgreSQL) 16.4 (Debian 16.4-1.pgdg120+1)": "16.4",
    "16.4 (Debian 16.4-1.pgdg120+1)": "16.4",
    "18beta1": "18beta1",
    "1.3-SNAPSHOT": "1.3-SNAPSHOT",
    " 10.6.23\n": "10.6.23",
    "v2.7.9": "2.7.9",
    "-log": "-log",
    "main": "main",
    "Unknown": "unknown",
    "\0": "unknown",
}


def sort_key(text):
    return parse_version(text).sort_key.encode()


@pytest.mark.parametrize("versions", IN_ORDER, ids=lambda versions: versions[-1])
def test_versions_sort_as_they_were_released(versions):
    keys = [sort_key(version) for version in versions]
    assert keys == sorted(set(keys))


@pytest.mark.parametrize("text", CLEANED)
def test_packaging_is_dropped_and_what_distinguishes_builds_is_kept(text):
    assert parse_version(text).version == CLEANED[text]


@pytest.mark.parametrize("text", CLEANED)
def test_a_cleaned_version_is_clean(text):
    assert parse_version(CLEANED[text]).version == CLEANED[text]


@given(st.lists(st.lists(st.integers(0, 10**6), min_size=3, max_size=3), min_size=2))
def test_versions_made_of_numbers_sort_as_their_numbers(versions):
    texts = [".".join(map(str, numbers)) for numbers in versions]
    assert sorted(texts, key=sort_key) == [".".join(map(str, numbers)) for numbers in sorted(versions)]


WITHOUT_ORDER = [
    *("x.pg180", "x.pg1222", "x.ma101119_deb.c2r24.pk1", "main-build-a", "nightly", "foo", "PG14", "-1.2"),
    # Commits.
    *("12ab34f", "1222abc", "12ea123", "1222abc-dirty"),
]


@pytest.mark.parametrize("text", WITHOUT_ORDER)
def test_a_text_that_does_not_begin_with_numbers_has_no_order(text):
    assert order_kind(parse_version(text).sort_key) == ""


versions = st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,6}){0,3}(-(rc|beta)[0-9])?", fullmatch=True)


@given(versions, st.sampled_from(["DuckDB", "MariaDB Connector/J", "C++ driver", "x.pg"]), st.data())
def test_a_name_in_front_of_a_version_changes_nothing_of_its_order(version, product, data):
    written = product.replace("/", data.draw(st.sampled_from("/-_ ")))
    name = data.draw(st.sampled_from(["", f"{written} ", f"{written.lower()}-", f"{written}_"]))
    v = data.draw(st.sampled_from(["", "v", "version "]))
    text = parse_version(f"{name}{v}{version}").version
    assert key_of(text, product=product) == key_of(version, product=product) != ""


@given(versions, st.integers(0, 9))
def test_a_pre_release_comes_before_its_release_and_after_the_one_before_that(version, number):
    release = version.split("-")[0]
    earlier, later = (sort_key(f"{release}.{number + more}") for more in (0, 1))
    assert earlier < sort_key(f"{release}.{number + 1}-rc{number}") < later


def test_the_hand_comes_before_numbers_and_numbers_before_dates():
    date = datetime(2026, 11, 1, tzinfo=UTC)
    assert key_of("x.pg180", order="v18.0") == key_of("18.0") == key_of("18.0", known_at=date)
    dated, earlier = key_of("x.pg180", known_at=date), key_of("x.pg1222", known_at=date - timedelta(days=1))
    assert order_kind(dated) == "date"
    assert earlier < dated < key_of("0.1")
    measured = key_of("x.pg180", measured_at=date)
    assert order_kind(measured) == ""
    assert measured < earlier


def test_a_version_that_is_its_own_commit_is_no_number():
    assert order_kind(key_of("1234567", commit="1234567" + "0" * 33)) == ""
    assert key_of("12", commit="1234567" + "0" * 33) == key_of("12")


@given(st.text(max_size=100) | st.text("019.-+~: abrcMariaDBlog", max_size=100))
def test_any_text_has_a_version_and_a_key_that_fit_their_columns(text):
    parsed = parse_version(text)
    assert 0 < len(parsed.version) <= 100
    assert parsed.version.isprintable()
    assert len(parsed.sort_key) <= 300
    assert parsed.sort_key.encode() >= sort_key("unknown")


@pytest.mark.parametrize(
    ("product", "version", "line"),
    [
        ("MariaDB", "10.6.23", "10.6"),
        ("MariaDB Server", "11.8.1", "11.8"),
        ("mariadb", "12", ""),
        ("mysql", "8.0.44", "8.0"),
        ("MySQL Community Server", "9.5.0", "9.5"),
        ("Percona Server for MySQL", "8.0.35-27", "8.0"),
        ("PostgreSQL", "16.4", "16"),
        ("PostgreSQL", "18beta1", "18"),
        ("postgres", "9.6.24", "9.6"),
        ("PostgreSQL", "unknown", ""),
        ("PostgreSQL", "12ab34f", ""),
        ("MariaDB", "unknown", ""),
        ("MariaDB", "main", ""),
        ("MariaDB", "10.9999999999999", ""),
        ("MariaDB Connector/J", "3.5.6", ""),
        ("mariadb-java-client", "2.7.9", ""),
        ("MariaDB-JDBC", "1.1.2", ""),
        ("ConnectorJ", "5.1", ""),
        ("mysql-connector-j", "8.0.33", ""),
        ("Drizzle", "7.1", ""),
    ],
)
def test_a_release_line_is_by_the_rule_of_the_product(product, version, line):
    assert release_line(product, version) == line
