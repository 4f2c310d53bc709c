"""docs/formats.md and docs/companions.md say what the formats do."""

import json
import re
import types
from fnmatch import fnmatch
from pathlib import Path

import pytest

from ingest import formats
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.source import Source
from tests.ingest.formats.test_fixtures import EXPECTATIONS, check_runs

ROOT = Path(__file__).parents[3]
PAGE, COMPANIONS = ((ROOT / "docs" / name).read_text() for name in ("formats.md", "companions.md"))
ABOUT_FORMATS, ABOUT_ADDING = PAGE.split("\n## Add a format\n")
FIXTURES = Path(__file__).parents[1] / "fixtures"
MAX_WORDS = 3000


def rows(page):
    """The rows of tables whose first cell is one name, by it."""
    lines = [line.strip("|").split(" | ") for line in page.splitlines() if re.match(r"\| `\w+` \| ", line)]
    return {cells[0].strip(" `"): [cell.strip() for cell in cells[1:]] for cells in lines}


def section(title):
    return next(part for part in PAGE.split("\n## ") if part.startswith(f"{title}\n"))


def metrics_of(name):
    """The metrics of a format in its fixtures."""
    expected = [json.loads(path.read_text()) for path in EXPECTATIONS if path.parent.name == name]
    return {
        metric for report in expected for run in report.get("runs", []) for metric in run.get("readings", {})
    }


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", ABOUT_ADDING, re.MULTILINE | re.DOTALL)
    return found


def test_the_page_is_short():
    assert len(PAGE.split()) <= MAX_WORDS


def test_the_tables_have_a_row_for_every_format_and_for_no_other():
    assert set(formats.FORMATS) == set(rows(section("What is read")))
    assert {*COMPANION_FORMATS, "configuration"} <= set(rows(COMPANIONS))


@pytest.mark.parametrize("name", formats.FORMATS)
def test_the_metrics_that_the_table_names_are_read_from_fixtures(name):
    read = rows(PAGE)[name][1]
    named = re.findall(r"`([\w.*]+)`", read.partition(" with ")[0].partition("`state`")[0])
    metrics = metrics_of(name)
    assert [metric for metric in named if not any(fnmatch(known, metric) for known in metrics)] == []


@pytest.mark.parametrize(
    "name", [name for name, found in formats.FORMATS.items() if hasattr(found, "required")]
)
def test_the_table_names_the_metrics_that_a_run_of_a_tool_must_have(name):
    read = re.findall(r"`([\w.*]+)`", rows(PAGE)[name][1])
    required = set(formats.FORMATS[name].required) - {"threads"}
    assert required <= set(read)


def test_every_example_stands_in_a_fixture():
    files = [path.read_text(errors="replace") for path in FIXTURES.rglob("*.*") if path.is_file()]
    for example in re.findall(r"^```text\n(.*?)^```$", ABOUT_FORMATS, re.MULTILINE | re.DOTALL):
        for line in example.splitlines():
            assert any(line in text for text in files), line


def test_the_format_that_is_added_as_an_example_works():
    module = types.ModuleType("timeit")
    exec(block("python"), vars(module))
    source, expected = Source(block("text").encode()), json.loads(block("json"))
    assert module.FORMAT.recognise(source.head)
    assert [name for name, other in formats.FORMATS.items() if other.recognise(source.head)] == []
    report = module.FORMAT.parse(source)
    check_runs(report.runs, expected["runs"])
    assert report.facts == expected["facts"]
