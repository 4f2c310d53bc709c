"""docs/formats.md says what the formats do."""

import ast
import json
import re
import types
from pathlib import Path

import pytest

from ingest import formats
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.source import Source
from tests.ingest.formats.test_fixtures import check_runs

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "formats.md").read_text()
ABOUT_FORMATS, ABOUT_ADDING = PAGE.split("\n## Add a format\n")
FIXTURES = Path(__file__).parents[1] / "fixtures"


def refusals():
    """The sentences of the tables of refusals; three dots stand for what differs."""
    rows = re.findall(r"^\| (`.*?`) \|", ABOUT_FORMATS, re.MULTILINE)
    sentences = [sentence for row in rows for sentence in re.findall(r"`([^`]+)`", row)]
    return [sentence for sentence in sentences if " " in sentence]


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", ABOUT_ADDING, re.MULTILINE | re.DOTALL)
    return found


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_format_has_a_heading(name):
    assert f"\n## {name}\n" in PAGE


@pytest.mark.parametrize("name", [*COMPANION_FORMATS, "configuration"])
def test_every_companion_format_has_a_heading(name):
    assert f"\n### {name}\n" in PAGE.partition("\n## Companions\n")[2]


def test_every_example_stands_in_a_fixture():
    files = [path.read_text(errors="replace") for path in FIXTURES.rglob("*.*")]
    for example in re.findall(r"^```text\n(.*?)^```$", ABOUT_FORMATS, re.MULTILINE | re.DOTALL):
        for line in example.splitlines():
            assert any(line in text for text in files), line


def test_every_refusal_that_is_told_of_is_said_somewhere():
    modules = [ast.parse(path.read_text()) for path in Path(formats.__file__).parent.rglob("*.py")]
    nodes = [node for module in modules for node in ast.walk(module) if isinstance(node, ast.Constant)]
    said = [node.value for node in nodes if isinstance(node.value, str)]
    assert len(refusals()) > 60
    for sentence in refusals():
        for part in sentence.split("..."):
            assert any(part.strip() in text for text in said), sentence


def test_the_format_that_is_added_as_an_example_works():
    module = types.ModuleType("timeit")
    exec(block("python"), vars(module))
    source, expected = Source(block("text").encode()), json.loads(block("json"))
    assert module.recognise(source.head)
    assert [name for name, other in formats.FORMATS.items() if other.recognise(source.head)] == []
    report = module.parse(source)
    check_runs(report.runs, expected["runs"])
    assert report.facts == expected["facts"]
