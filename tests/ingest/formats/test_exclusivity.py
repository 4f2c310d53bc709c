"""Each real file is recognised by exactly one format; what is no result, by none."""

import re

import pytest

from ingest.formats import FORMATS
from ingest.formats.companions import COMPANION_FORMATS
from tests.ingest.formats.real_files import (
    BESIDE,
    FIXTURES,
    SHARED,
    each_of,
    fixtures,
    format_of,
    recognised_by,
)

# What the files beside the checkout are, by their paths. The first pattern that fits counts; "" is no result.
SHARED_FILES = [
    (r".*\.meta\.json|.*/(truth|summary)\.json|.*\.(md|cnf|diff)", ""),
    (r"sysbench/special/verbosity-0\.txt", ""),
    (r"sysbench/.*\.vmstat\.txt|third_party/.*/sb\.vm\..*", "vmstat"),
    (r"(sysbench|nightly|threadpool|settings-sweep)/.*\.txt|third_party/.*/sb\.o\..*", "sysbench"),
    (r"jmh/.*\.json", "jmh_json"),
    (r"jmh/.*\.s?csv", "jmh_csv"),
    (r"jmh/.*\.txt|articles/jmh-drivers/.*\.txt", "jmh_text"),
    (r"qps/.*\.jsonl?", "qps_json"),
    (r"qps/.*\.(txt|csv)|articles/.*\.(txt|csv)|third_party/.*/qps\..*", "qps_table"),
    (r"third_party/.*/(sb\.met\..*|o\.met\.all)", "per_operation"),
    (r"pgbench/.*\.txt", "pgbench"),
    (r"mysqlslap/.*\.(txt|csv)", "mysqlslap"),
    (r"labelled/.*\.jsonl", "run_lines"),
]


def expected_format(path):
    return next(name for pattern, name in SHARED_FILES if re.fullmatch(pattern, path))


@each_of(fixtures())
def test_a_fixture_is_recognised_by_its_own_format_alone(path):
    assert recognised_by(path.read_bytes()) == [format_of(path)]


def test_what_is_expected_of_a_fixture_is_no_result():
    expectations = [*FIXTURES.rglob("*.expected.json"), *BESIDE.rglob("*.expected.json")]
    recognised = {path.name: recognised_by(path.read_bytes()) for path in expectations}
    assert {name: formats for name, formats in recognised.items() if formats} == {}


def test_no_format_of_results_is_called_like_one_of_companions():
    assert not FORMATS.keys() & COMPANION_FORMATS.keys()


@pytest.mark.parametrize(
    "folder", sorted(SHARED.glob("*/")) or ["none"], ids=lambda folder: getattr(folder, "name", folder)
)
@pytest.mark.parametrize("most", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_real_files_are_recognised_by_the_one_format_that_is_theirs(folder, most):
    if not SHARED.is_dir():
        pytest.skip("../shared/data is not here")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files[:: len(files) // most + 1]:
        expected = expected_format(str(path.relative_to(SHARED)))
        assert recognised_by(path.read_bytes()) == ([expected] if expected else []), path
