"""README and docs lead where they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
# What a path in a page may begin with to be one of this checkout.
FOLDERS = {"benchdash", "ingest", "templates", "static", "tests", "docs"}


def anchors(page):
    text = page.read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    marks = set(re.findall(r'<a id="([\w-]+)"></a>', text))
    return marks | {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_links_lead_to_files_and_headings(page):
    for address in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if address.startswith(("http://", "https://")):
            continue
        path, _, anchor = address.partition("#")
        target = page.parent / path if path else page
        assert target.is_file(), address
        assert not anchor or anchor in anchors(target), address


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "docs" / "architecture.md"], ids=lambda page: page.name
)
def test_what_is_called_a_file_or_a_folder_is_one(page):
    named = [path for path in re.findall(r"`([\w./-]+)`", page.read_text()) if path.split("/")[0] in FOLDERS]
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_picture_is_shown_and_every_shown_picture_is_there():
    shown = {name for page in PAGES for name in re.findall(r"images/([\w-]+\.png)", page.read_text())}
    assert {picture.name for picture in (ROOT / "docs" / "images").glob("*.png")} == shown
