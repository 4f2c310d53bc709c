"""Webhooks of a project: the list, adding, trying and removing one."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.cache import never_cache

from benchdash.accounts.models import Scope
from benchdash.alerts.models import Subscription
from benchdash.alerts.webhooks import add_webhook, remove_webhook, try_webhook, webhooks
from benchdash.dashboard.pages.webhooks.forms import WebhookForm
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    found_or_hidden,
    project_action,
    project_form,
)


@never_cache
@project_form
def webhook_list(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """List the webhooks; the secret of a new one is in the answer to its form, and nowhere else."""
    page.require(Scope.TRIAGE)
    form = WebhookForm(page.project, request.POST or None)
    made, status = None, 422 if request.method == "POST" else 200
    if form.is_valid():
        try:
            found, is_new = add_webhook(page.project, **form.cleaned_data, by=page.viewer)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            if not is_new:
                return page.done(request, "This webhook was there already.", "webhooks")
            made, form, status = found, WebhookForm(page.project), 201
    context = {
        "form": form,
        "made": made,
        "webhooks": webhooks().filter(project=page.project).select_related("product", "hardware"),
    }
    return page.render(request, "dashboard/webhooks.html", context, status=status)


@project_action
def webhook_test(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    found = _webhook(page, pk)
    is_delivered, answer = try_webhook(found)
    if is_delivered:
        messages.success(request, f"The test was delivered; the answer was {answer}.")
    else:
        messages.error(request, f"The test was not delivered: {answer}.")
    return redirect("dashboard:webhooks", page.project.slug)


@project_action
def webhook_remove(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    remove_webhook(_webhook(page, pk), by=page.viewer)
    return page.done(request, "The webhook is removed.", "webhooks")


def _webhook(page: ProjectPage, pk: int) -> Subscription:
    """Return a webhook, for who triages. Raises NotAllowed or NotVisible."""
    page.require(Scope.TRIAGE)
    return found_or_hidden(webhooks().filter(project=page.project, pk=pk), f"there is no webhook {pk}")


urlpatterns = [
    path("webhooks/", webhook_list, name="webhooks"),
    path("webhooks/<int:pk>/test/", webhook_test, name="webhook_test"),
    path("webhooks/<int:pk>/remove/", webhook_remove, name="webhook_remove"),
]
