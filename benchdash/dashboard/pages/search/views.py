"""Find a thing of a project by a part of its name."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.dashboard.pages.search.hits import find
from benchdash.dashboard.shell.project_page import ProjectPage, project_page

_MAX_TEXT_LENGTH = 200


@project_page
def search(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    text = request.GET.get("q", "").replace("\x00", "").strip()[:_MAX_TEXT_LENGTH]
    return page.render(request, "dashboard/search.html", {"text": text, "found": find(page, text)})


urlpatterns = [path("search/", search, name="search")]
