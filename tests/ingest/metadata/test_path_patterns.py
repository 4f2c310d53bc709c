"""Path patterns, as they stand in requests and commands."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.metadata.path_patterns import PathMap, PathPattern, PathRules, PatternError

PATTERN = "x.{version}_{build}.{config}.pk1/sb.o.{workload}.range{range}.pk1.dop{threads}"


def names_of(pattern, path):
    return PathPattern.parse(pattern).match(path)


def test_parts_of_a_path_are_as_short_as_can_be():
    found = names_of(PATTERN, "x.my8044_rel_o2nofp.z12a_c8r32.pk1/sb.o.point-query.pre.range100.pk1.dop40")
    assert found == {
        "version": "my8044",
        "build": "rel_o2nofp",
        "config": "z12a_c8r32",
        "workload": "point-query.pre",
        "range": "100",
        "threads": "40",
    }


def test_a_mapping_says_what_a_part_means_and_other_parts_belong_to_the_workload():
    path_map = PathMap.parse(
        '{"version": {"ma101114": {"product": "MariaDB", "version": "10.11.14"}},'
        ' "fields": {"hardware": "m1"}}'
    )
    fields = path_map.read({"version": "ma101114", "config": "z12a", "workload": "points", "range": "100"})
    assert fields == {
        "product": "MariaDB",
        "version": "10.11.14",
        "configuration": "z12a",
        "workload": "points range=100",
        "hardware": "m1",
    }


def test_stars_stand_for_any_part_of_a_name_and_any_folders():
    assert names_of("**/t{threads}.t*t", "a/b/t08.text") == {"threads": "08"}
    assert names_of("**/t{threads}.t*t", "t08.txt") == {"threads": "08"}
    assert names_of("**/t{threads}.t*t", "a/x.txt") is None
    assert names_of("a/**/{workload}.txt", "a/reads.txt") == {"workload": "reads"}
    assert names_of("a/**/{workload}.txt", "b/reads.txt") is None


def test_a_name_at_the_end_takes_all_that_is_left():
    assert names_of("{workload}.txt", "reads.txt.txt") == {"workload": "reads.txt"}
    assert names_of("sb.o.{workload}", "sb.o.reads") == {"workload": "reads"}


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("{version", "stray brace"),
        ("a}b", "stray brace"),
        ("{Version}", "stray brace"),
        ("{a}-{a}", "'{a}' stands twice"),
        ("{a}{b}", "'{a}' and '{b}' stand side by side"),
        ("{a}*", "'{a}' and '*' stand side by side"),
        ("a**/b", "'**/' stands for whole folders"),
        ("**/a/**/b/**/c", "'**/' may stand 2 times"),
        ("x" * 501, "has 501 characters"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_refused(pattern, reason):
    with pytest.raises(PatternError, match=re.escape(reason)):
        PathPattern.parse(pattern)


@pytest.mark.parametrize("text", ["[]", '{"version": 1}', '{"version": {"a": 1}}', "{", "[" * 100_000])
def test_a_mapping_that_cannot_be_meant_is_refused(text):
    with pytest.raises(PatternError):
        PathMap.parse(text)


def test_a_companion_pattern_knows_the_names_of_the_results_only():
    with pytest.raises(PatternError, match=r"'\{range\}' of a companion pattern"):
        PathRules.parse("sb.o.{workload}", companions=["sb.vm.{range}"])


parts = st.sampled_from(["a", "-", "/", ".", "{x}", "{y}", "*", "**/"])


@given(st.lists(parts, max_size=8).map("".join), st.text("ab-./", max_size=12))
@example("***/", "")
def test_a_pattern_finds_what_a_slow_search_finds(text, path):
    try:
        pattern = PathPattern.parse(text)
    except PatternError:
        return
    # Of three stars and more, none stand for folders.
    slow = re.sub(r"(?<!\*)\*\*/", "\0", text).replace(".", r"\.")
    slow = re.sub(r"\*+", "*", slow)
    slow = re.sub(r"\{(\w)\}", r"(?P<\1>[^/]+?)", slow).replace("*", "[^/]*?").replace("\0", "(?:.*/)?")
    found = re.fullmatch(slow, path)
    assert pattern.match(path) == (found.groupdict() if found else None)


def test_a_path_made_to_be_searched_forever_is_not():
    pattern = "-".join(f"{{{name}}}" for name in "abcdefghijklmnopqrst") + "/x"
    assert names_of(pattern, "-" * 500) is None
    assert names_of("**/a/**/b", "a/" * 250) is None
