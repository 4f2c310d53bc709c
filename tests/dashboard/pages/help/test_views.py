"""The page that explains the words of verdicts."""

import re
from pathlib import Path

import pytest

from benchdash.dashboard.shell.chapters import EXPLAINED_AT
from benchdash.dashboard.templatetags.shell import statistics_url
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parents[4]
PAGE = "/help/statistics/"


@pytest.fixture
def page(client):
    answer = client.get(PAGE)
    assert answer.status_code == 200
    return answer.content.decode()


def ids(page):
    return re.findall(r'\bid="([^"]+)"', page)


def test_whoever_is_not_signed_in_can_read_it(client):
    text = text_of(client.get(PAGE))
    assert "What the verdicts mean" in text
    assert "Likely slower (one session)" in text


def test_every_word_that_pages_explain_has_its_paragraph(page):
    assert set(EXPLAINED_AT.values()) <= set(ids(page))
    assert statistics_url("likely_worse") == "/help/statistics/#likely"


def test_an_anchor_stands_once_and_every_link_within_the_page_leads_to_one(page):
    assert len(ids(page)) == len(set(ids(page)))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids(page))


def test_links_of_templates_lead_to_paragraphs(page):
    links = {
        anchor
        for template in (ROOT / "templates").rglob("*.*")
        for anchor in re.findall(r"""{% url ["']statistics["'] %}#([\w-]+)""", template.read_text())
    }
    assert links <= set(ids(page))


def test_tables_can_be_scrolled(page):
    assert page.count('<div class="table-box"><table class="data dense">') == page.count("</table></div>") > 1
    assert "text-align" not in page


def test_its_pictures_come_from_this_installation(client, page):
    pictures = re.findall(r'(?:src|srcset)="([^"]+[.]png)"', page)
    assert pictures
    assert all(address.startswith("/static/docs/") for address in pictures)


def test_it_leads_to_no_file_that_an_installation_lacks(page):
    assert not re.findall(r'href="[^"]*[.]md', page)


def test_the_image_carries_the_chapter_and_its_pictures():
    carried = (ROOT / ".dockerignore").read_text().splitlines()
    assert {"!docs/statistics.md", "!docs/images"} <= set(carried)
