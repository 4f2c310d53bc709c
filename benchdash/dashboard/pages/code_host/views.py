"""The code host of a project's pull requests: connecting it, trying it, and what was told last."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.cache import never_cache

from benchdash.accounts.models import Scope
from benchdash.alerts import pull_requests
from benchdash.dashboard.pages.code_host.forms import CodeHostForm
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_form


@never_cache
@project_form
def code_host(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require(Scope.ADMIN)
    form = CodeHostForm(request.POST or None)
    if form.is_valid():
        try:
            made = pull_requests.connect(page.project, **form.cleaned_data, by=page.viewer)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return page.done(request, f"Pull requests of {made} are answered from now on.", "code_host")
    host = pull_requests.code_host_of(page.project)
    context = {
        "form": form,
        "host": host,
        "answers": pull_requests.last_answers(host) if host else [],
    }
    status = 422 if request.method == "POST" else 200
    return page.render(request, "dashboard/code_host.html", context, status=status)


@project_action
def code_host_test(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require(Scope.ADMIN)
    if host := pull_requests.code_host_of(page.project):
        trouble = pull_requests.try_code_host(host)
        if trouble:
            messages.error(request, f"{host} was not reached: {trouble}.")
        else:
            pull_requests.ask_again(host)
            messages.success(request, f"{host} is there, and the token may read it.")
    return redirect("dashboard:code_host", page.project.slug)


@project_action
def code_host_remove(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require(Scope.ADMIN)
    if host := pull_requests.code_host_of(page.project):
        pull_requests.disconnect(host, by=page.viewer)
    return page.done(request, "Pull requests are not answered any more.", "code_host")


urlpatterns = [
    path("settings/pull-requests/", code_host, name="code_host"),
    path("settings/pull-requests/test/", code_host_test, name="code_host_test"),
    path("settings/pull-requests/remove/", code_host_remove, name="code_host_remove"),
]
