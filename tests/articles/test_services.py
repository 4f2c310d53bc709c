"""Writing articles: addresses that stay, views in order, and what can be put back."""

import pytest

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import AuditEntry
from benchdash.articles.addresses import AddressError
from benchdash.articles.models import Article
from benchdash.articles.queries import articles_of, blocks_of, runs_since
from benchdash.articles.services import (
    MAX_BLOCKS,
    ArticleError,
    NewBlock,
    add_block,
    change_article,
    confirm_block,
    create_article,
    delete_article,
    move_block,
    remove_block,
    replace_blocks,
    restore_article,
    restore_block,
)
from benchdash.regressions.comparison.columns import id_at
from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db

VIEW = NewBlock("history", "series=1", "one")


@pytest.fixture
def article():
    return create_article(make_project(), title="Why 10.6 is slower", blocks=[VIEW], by=NOBODY)


def headings(article):
    return [block.heading for block in blocks_of(article)]


def test_the_address_stays_when_the_title_changes(article):
    change_article(article, {"title": "It was the kernel"}, by=NOBODY)
    assert (Article.objects.get().title, article.slug) == ("It was the kernel", "why-106-is-slower")


def test_an_address_is_given_once(article):
    project = article.project
    delete_article(article, by=NOBODY)
    again = create_article(project, title=article.title, by=NOBODY)
    third = create_article(project, title=article.title, by=NOBODY)
    assert [again.slug, third.slug] == ["why-106-is-slower-2", "why-106-is-slower-3"]


def test_titles_that_make_no_address_get_one():
    project = make_project()
    assert create_article(project, title="日本", by=NOBODY).slug == "article"
    assert create_article(project, title="Add", by=NOBODY).slug == "add-2"


def test_every_change_is_in_the_audit_log(article):
    add_block(article, VIEW, by=NOBODY)
    remove_block(blocks_of(article)[0], by=NOBODY)
    delete_article(article, by=NOBODY)
    restore_article(article, by=NOBODY)
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == [
        "article created",
        "article changed",
        "article changed",
        "article deleted",
        "article put back",
    ]


def test_what_changes_nothing_is_not_in_the_audit_log(article):
    change_article(article, {"title": article.title, "prose": ""}, by=NOBODY)
    assert AuditEntry.objects.count() == 1


def test_views_change_places(article):
    for heading in ("two", "three"):
        add_block(article, NewBlock("history", "series=1", heading), by=NOBODY)
    one, _, three = blocks_of(article)
    move_block(three, up=True, by=NOBODY)
    assert headings(article) == ["one", "three", "two"]
    move_block(one, up=True, by=NOBODY)
    assert headings(article) == ["one", "three", "two"]
    move_block(one, up=False, by=NOBODY)
    assert headings(article) == ["three", "one", "two"]


def test_a_removed_view_comes_back_at_its_place(article):
    add_block(article, NewBlock("history", "series=1", "two"), by=NOBODY)
    one, _ = blocks_of(article)
    remove_block(one, by=NOBODY)
    assert headings(article) == ["two"]
    restore_block(one, by=NOBODY)
    assert headings(article) == ["one", "two"]


def test_an_article_holds_so_many_views_and_no_more(article):
    one = blocks_of(article)[0]
    remove_block(one, by=NOBODY)
    replace_blocks(article, [VIEW] * MAX_BLOCKS, by=NOBODY)
    with pytest.raises(ArticleError, match="at most 12 views"):
        add_block(article, VIEW, by=NOBODY)
    with pytest.raises(ArticleError, match="at most 12 views"):
        restore_block(one, by=NOBODY)


def test_a_view_that_cannot_be_saved_leaves_no_article_behind():
    project = make_project()
    with pytest.raises(AddressError, match="must say what it compares"):
        create_article(project, title="Empty", blocks=[VIEW, NewBlock("compare", "")], by=NOBODY)
    assert not articles_of(project)
    assert not AuditEntry.objects.exists()


def test_runs_that_come_later_are_counted_for_the_versions_of_a_view():
    project = make_project()
    first = make_run(project=project, version="10.6.1")
    article = create_article(
        project,
        title="One",
        blocks=[NewBlock("compare", f"v={id_at(first.version_id, first)}&metric=tps")],
        by=NOBODY,
    )
    [block] = blocks_of(article)
    assert runs_since(project, block) == 0
    make_run(project=project, version="10.6.1")
    make_run(project=project, version="10.6.2")
    make_run(project=project, version="10.6.1", hardware="another box")
    assert runs_since(project, block) == 1
    confirm_block(block, by=NOBODY)
    assert runs_since(project, block) == 0
