"""Articles: saving views, reading them, and writing around them."""

import re

import pytest

from benchdash.articles.models import Article
from tests.builders import make_project, make_record, make_runs, make_user
from tests.dashboard.pages import text_of

pytestmark = pytest.mark.django_db

PAGES = ("compare", "pair", "matrix", "curves", "history")


@pytest.fixture
def project():
    project = make_project("bench", public=True)
    records = [
        make_record(
            100.0 * threads * (1 + number) + repetition,
            version=version,
            threads=threads,
            repetition=repetition,
        )
        for number, version in enumerate(("10.6.1", "10.6.2"))
        for threads in (1, 4, 16)
        for repetition in range(2)
    ]
    make_runs(records, project=project)
    return project


@pytest.fixture
def bob(project, client):
    client.force_login(make_user("bob", member_of=project))
    return client


def add_url(page):
    return re.search(r'href="([^"]+/articles/add/[^"]*)"', page)[1].replace("&amp;", "&")


def saved(bob, name, **fields):
    """The article after the view that stands on this page was saved as a member does it."""
    shown = bob.get(
        f"/p/bench/compare/{name}/" if name not in ("compare", "history") else f"/p/bench/{name}/"
    )
    form = bob.get(add_url(shown.content.decode())).context["form"]
    sent = {"page": form["page"].value(), "query": form["query"].value(), "title": "Two versions", **fields}
    answer = bob.post("/p/bench/articles/add/", sent)
    assert answer.status_code == 302, text_of(answer)
    return bob.get(answer["Location"])


@pytest.mark.parametrize("name", PAGES)
def test_a_view_is_saved_from_its_page_and_drawn_in_the_article(bob, name):
    answer = saved(bob, name, heading="What happened", text="See https://example.org/why & <b>more</b>")
    text = text_of(answer)
    assert "What happened" in text
    assert "10.6.2" in text
    page = answer.content.decode()
    assert '<a href="https://example.org/why" rel="nofollow">' in page
    assert "&lt;b&gt;more&lt;/b&gt;" in page


@pytest.mark.parametrize("name", PAGES)
def test_no_id_is_on_a_page_twice(bob, name):
    saved(bob, name)
    article = Article.objects.get()
    answer = saved(bob, name, article=article.slug)
    ids = re.findall(r'\sid="([^"]+)"', answer.content.decode())
    assert len(article.blocks.all()) == 2
    assert sorted(ids) == sorted(set(ids))
