"""Articles: saving views, reading them, and writing around them."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Role
from benchdash.articles.models import Article
from benchdash.articles.services import create_article
from tests.builders import make_project, make_record, make_runs, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

PAGES = ("matrix", "pair", "history")


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
    shown = bob.get(f"/p/bench/{name}/" if name == "history" else f"/p/bench/compare/{name}/")
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


def test_newer_versions_do_not_come_into_an_article(bob, project):
    saved(bob, "matrix")
    make_runs([make_record(5.0, version="10.6.3", threads=threads) for threads in (1, 4)], project=project)
    text = text_of(bob.get("/p/bench/articles/two-versions/"))
    assert "10.6.3" not in text
    assert "since then" not in text
    assert "10.6.3" in text_of(bob.get("/p/bench/compare/matrix/"))


def test_runs_that_came_later_are_named(bob, project):
    saved(bob, "pair")
    make_runs([make_record(150.0, version="10.6.2", threads=1, repetition=3)], project=project)
    assert "and 1 run since then" in text_of(bob.get("/p/bench/articles/two-versions/"))
    block = Article.objects.get().blocks.get()
    bob.post(f"/p/bench/articles/two-versions/views/{block.pk}/", {"do": "confirm"})
    assert "since then" not in text_of(bob.get("/p/bench/articles/two-versions/"))


def test_a_view_takes_a_constant_number_of_statements(bob, project):
    for name in PAGES:
        saved(bob, name)
    counts = {}
    for article in Article.objects.all():
        counts[article.blocks.get().page] = statements(bob, article)
    records = [
        make_record(100.0 + number, version=f"10.6.{number}", workload=f"w{number}", threads=threads)
        for number in range(3, 9)
        for threads in (1, 2, 4, 8)
    ]
    make_runs(records, project=project)
    for article in Article.objects.all():
        assert statements(bob, article) == counts[article.blocks.get().page]


def statements(client, article):
    with CaptureQueriesContext(connection) as queries:
        assert client.get(f"/p/bench/articles/{article.slug}/").status_code == 200
    return len(queries)


def test_who_is_no_member_reads_and_does_not_write(bob, client, project):
    saved(bob, "matrix")
    client.logout()
    text = text_of(client.get("/p/bench/articles/two-versions/"))
    assert "Edit" not in text
    assert "Two versions" in text_of(client.get("/p/bench/articles/"))
    assert "Add to an article" not in text_of(client.get("/p/bench/compare/matrix/"))
    assert client.post("/p/bench/articles/two-versions/delete/").status_code == 302
    client.force_login(make_user("rita", member_of=project, role=Role.READER))
    assert client.post("/p/bench/articles/two-versions/delete/").status_code == 403
    assert Article.objects.get().deleted_at is None


def test_an_article_of_a_private_project_does_not_exist_for_others(client):
    project = make_project("secret")
    create_article(project, title="Secret", by=Viewer())
    for address in ("articles/", "articles/secret/", "articles/secret/edit/"):
        assert client.get(f"/p/secret/{address}").status_code == 404


def test_writing_moving_removing_and_putting_back(bob, project):
    saved(bob, "matrix", heading="First")
    saved(bob, "pair", heading="Second", article="two-versions")
    article = Article.objects.get()
    first, second = article.blocks.all()

    def do(block, **sent):
        answer = bob.post(f"/p/bench/articles/two-versions/views/{block.pk}/", sent, follow=True)
        return text_of(answer)

    def order():
        text = text_of(bob.get("/p/bench/articles/two-versions/"))
        return [text.find(one) for one in ("First", "Second")]

    assert order() == sorted(order())
    assert "moved up" in do(second, do="up")
    assert order() != sorted(order())
    assert "Renamed is saved" in do(first, do="save", heading="Renamed", text="why")
    assert "Renamed is removed" in do(first, do="remove")
    assert "Renamed" not in text_of(bob.get("/p/bench/articles/two-versions/"))
    assert "Renamed is back" in do(first, do="restore")
    assert (
        bob.post(
            f"/p/bench/articles/two-versions/views/{first.pk}/", {"do": "save", "heading": "x" * 201}
        ).status_code
        == 422
    )
    bob.post("/p/bench/articles/two-versions/edit/", {"title": "Two servers", "prose": "One.\n\nTwo."})
    page = bob.get("/p/bench/articles/two-versions/").content.decode()
    assert "<p>One.</p>" in page
    assert "Two servers" in page
    assert bob.post("/p/bench/articles/two-versions/delete/").status_code == 302
    assert bob.get("/p/bench/articles/two-versions/").status_code == 404
    assert "Deleted articles" in text_of(bob.get("/p/bench/articles/"))
    bob.post("/p/bench/articles/two-versions/restore/")
    assert bob.get("/p/bench/articles/two-versions/").status_code == 200
    assert AuditEntry.objects.filter(project=project).count() == 9


def test_an_address_that_names_nothing_is_refused_with_a_reason(bob):
    sent = {"page": "matrix", "query": "v=nothing", "title": "Nothing"}
    answer = bob.post("/p/bench/articles/add/", sent)
    assert answer.status_code == 422
    assert "Nothing was saved" in text_of(answer)
    assert not Article.objects.exists()


def test_without_articles_the_list_says_how_to_make_one(bob, client):
    assert "press Add to an article" in text_of(bob.get("/p/bench/articles/"))
    client.logout()
    assert "No article yet" in text_of(client.get("/p/bench/articles/"))
    assert client.get("/p/bench/articles/add/").status_code == 302
