"""Articles: saved comparisons with their prose."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse

from benchdash.accounts.models import Scope
from benchdash.articles import services
from benchdash.articles.addresses import PAGES, AddressError
from benchdash.articles.models import Article, Block
from benchdash.articles.queries import articles_of, blocks_of, deleted_articles, deleted_blocks
from benchdash.articles.services import ArticleError, NewBlock
from benchdash.dashboard.pages.articles.blocks import block_url, shown_block
from benchdash.dashboard.pages.articles.forms import AddForm, ArticleForm, BlockForm, asked_view
from benchdash.dashboard.shell.contents import fixed_query
from benchdash.dashboard.shell.navigation import page_label
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    found_or_hidden,
    project_action,
    project_form,
    project_page,
)

_MAX_LISTED: Final = 500


@partial(project_page, relative=True)
def articles(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    context = {
        "articles": articles_of(page.project)[:_MAX_LISTED],
        "deleted": deleted_articles(page.project)[:_MAX_LISTED] if page.may_write else [],
    }
    return page.render(request, "dashboard/articles.html", context)


@partial(project_page, relative=True)
def article(request: HttpRequest, page: ProjectPage, name: str) -> HttpResponse:
    found = _article(page, name)
    context = {
        "article": found,
        "blocks": [shown_block(request, page, block) for block in blocks_of(found)],
        "api_url": reverse("api:article-detail", args=[found.pk]),
    }
    return page.render(request, "dashboard/article.html", context)


def _article(page: ProjectPage, name: str, *, deleted: bool = False) -> Article:
    """Return an article. Raise NotVisible where there is none of this name."""
    found = Article.objects.filter(project=page.project, slug=name, deleted_at__isnull=not deleted)
    return found_or_hidden(found.select_related("project"), f"there is no article {name!r}")


@project_form
def article_add(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Save a view in an article, or in a new one. Without a view, a new article begins with none."""
    page.require(Scope.TRIAGE)
    shown, query = asked_view(request.GET)
    if request.method == "POST":
        form = AddForm(page.project, request.POST)
        if form.is_valid() and (saved := _saved(request, page, form)):
            return page.done(request, f"The view is saved in {saved}.", "article", saved.slug)
    else:
        form = AddForm(page.project, initial={"page": shown, "query": query})
    name = str(form["page"].value())
    context = {"form": form, "view": page_label(name) if name in PAGES else ""}
    return page.render(request, "dashboard/article_add.html", context, status=422 if form.is_bound else 200)


def _saved(request: HttpRequest, page: ProjectPage, form: AddForm) -> Article | None:
    """None where the form says what is wrong."""
    said = form.cleaned_data
    query = fixed_query(request, page, said["page"], said["query"])
    block = NewBlock(said["page"], query, said["heading"], said["text"])
    try:
        known: Article | None = said["article"]
        if known:
            services.add_block(known, block, by=page.viewer)
            return known
        return services.create_article(page.project, title=said["title"], blocks=[block], by=page.viewer)
    except (AddressError, ArticleError) as error:
        form.add_error(None, f"Nothing was saved: {error}.")
        return None


@project_form
def article_edit(request: HttpRequest, page: ProjectPage, name: str) -> HttpResponse:
    page.require(Scope.TRIAGE)
    found = _article(page, name)
    form = ArticleForm(request.POST or None, initial={"title": found.title, "prose": found.prose})
    if request.method == "POST" and form.is_valid():
        services.change_article(found, form.cleaned_data, by=page.viewer)
        return page.done(request, "The article is saved.", "article", found.slug)
    return _edit_page(request, page, found, form)


def _edit_page(
    request: HttpRequest,
    page: ProjectPage,
    found: Article,
    form: ArticleForm,
    bound: Mapping[int, BlockForm] | None = None,
) -> HttpResponse:
    """Show the forms of an article; ``bound`` are those of views that were sent and have errors."""
    sent, blocks = bound or {}, []
    for block in blocks_of(found):
        said = {"heading": block.heading, "text": block.text}
        own = sent.get(block.pk) or BlockForm(initial=said, auto_id=f"id_{block.pk}_%s")
        blocks.append((block, page_label(block.page), block_url(page, block), own))
    context = {"article": found, "form": form, "blocks": blocks, "removed": deleted_blocks(found)}
    status = 422 if form.is_bound or sent else 200
    return page.render(request, "dashboard/article_edit.html", context, status=status)


@project_action
def article_delete(request: HttpRequest, page: ProjectPage, name: str) -> HttpResponse:
    page.require(Scope.TRIAGE)
    found = _article(page, name)
    services.delete_article(found, by=page.viewer)
    return page.done(request, f"{found} is deleted; below it can be put back.", "articles")


@project_action
def article_restore(request: HttpRequest, page: ProjectPage, name: str) -> HttpResponse:
    page.require(Scope.TRIAGE)
    found = _article(page, name, deleted=True)
    services.restore_article(found, by=page.viewer)
    return page.done(request, f"{found} is back.", "article", found.slug)


@project_action
def article_block(request: HttpRequest, page: ProjectPage, name: str, pk: int) -> HttpResponse:
    """Do with a view of the article what the button ``do`` says."""
    page.require(Scope.TRIAGE)
    found = _article(page, name)
    block = found_or_hidden(found.blocks.filter(pk=pk), f"there is no view {pk}")
    # One row for both, so that what a service changes is what the page shows.
    block.article = found
    asked = request.POST.get("do", "")
    if asked == "save":
        form = BlockForm(request.POST, auto_id=f"id_{block.pk}_%s")
        if not form.is_valid():
            unbound = ArticleForm(initial={"title": found.title, "prose": found.prose})
            return _edit_page(request, page, found, unbound, {block.pk: form})
        services.change_block(block, **form.cleaned_data, by=page.viewer)
        messages.success(request, f"{block} is saved.")
    elif asked in _DEEDS:
        deed, said = _DEEDS[asked]
        try:
            deed(block, page)
        except ArticleError as error:
            messages.error(request, f"Nothing was changed: {error}.")
        else:
            messages.success(request, f"{block} {said}.")
    return redirect("dashboard:article_edit", page.project.slug, found.slug)


_DEEDS: Final[Mapping[str, tuple[Callable[[Block, ProjectPage], None], str]]] = {
    "up": (lambda block, page: services.move_block(block, up=True, by=page.viewer), "moved up"),
    "down": (lambda block, page: services.move_block(block, up=False, by=page.viewer), "moved down"),
    "confirm": (lambda block, page: services.confirm_block(block, by=page.viewer), "is of today"),
    "remove": (
        lambda block, page: services.remove_block(block, by=page.viewer),
        "is removed; below it can be put back",
    ),
    "restore": (lambda block, page: services.restore_block(block, by=page.viewer), "is back"),
}


urlpatterns = [
    path("articles/", articles, name="articles"),
    path("articles/add/", article_add, name="article_add"),
    path("articles/<slug:name>/", article, name="article"),
    path("articles/<slug:name>/edit/", article_edit, name="article_edit"),
    path("articles/<slug:name>/delete/", article_delete, name="article_delete"),
    path("articles/<slug:name>/restore/", article_restore, name="article_restore"),
    path("articles/<slug:name>/views/<int:pk>/", article_block, name="article_block"),
]
