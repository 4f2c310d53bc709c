"""Who is told of what in a project."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from benchdash.accounts.models import Scope
from benchdash.alerts import subscriptions as subscribing
from benchdash.alerts.mail_files import mails_are_files
from benchdash.alerts.models import Subscription
from benchdash.alerts.refusals import is_stopped
from benchdash.dashboard.pages.subscriptions import forms
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    found_or_hidden,
    project_action,
    project_form,
)


@project_form
def subscriptions(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require_member()
    form = forms.SubscriptionForm(page, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            address = form.cleaned_data["address"]
            subscription, is_new = subscribing.subscribe(
                page.project, address, by=page.viewer, **form.wishes()
            )
        except ValidationError as error:
            _add_errors(form, error)
        else:
            messages.success(request, _said_of(subscription, is_new=is_new))
            return redirect("dashboard:subscriptions", page.project.slug)
    found = _known(page).select_related("product", "hardware", "user")
    if not page.may(Scope.TRIAGE):
        found = found.filter(address=page.viewer.address)
    context = {
        "form": form,
        "subscriptions": [(one, is_stopped(one)) for one in found.order_by("address", "created_at")],
        "may_change_all": page.may(Scope.TRIAGE),
        "confirm_within_days": Subscription.CONFIRM_WITHIN.days,
        "mails_are_files": mails_are_files(),
        "command": f".venv/bin/python manage.py subscribe --project {page.project.slug} you@example.org",
    }
    status = 422 if form.is_bound else 200
    return page.render(request, "dashboard/subscriptions.html", context, status=status)


def _said_of(subscription: Subscription, *, is_new: bool) -> str:
    address = subscription.address
    if not is_new:
        return f"{address} was subscribed to this already."
    if subscription.confirmed_at:
        return f"{address} is subscribed."
    return f"{address} gets a mail with a link. It is told nothing before it has confirmed."


def _known(page: ProjectPage) -> QuerySet[Subscription]:
    return Subscription.objects.filter(subscribing.OF_MAIL, project=page.project)


def _own_or_triaged(page: ProjectPage, pk: int) -> Subscription:
    """Return a subscription to its own person and to who triages. Raises NotAllowed and NotVisible."""
    page.require_member()
    known = _known(page).select_related("project", "product", "hardware", "user")
    found = found_or_hidden(known.filter(pk=pk), f"there is no subscription {pk}")
    if found.address != page.viewer.address:
        page.require(Scope.TRIAGE)
    return found


def _add_errors(form: forms.SubscriptionForm, error: ValidationError) -> None:
    """Say what is wrong at its field, where the form has it."""
    if hasattr(error, "error_dict") and set(error.error_dict) <= set(form.fields):
        form.add_error(None, error)
    else:
        form.add_error(None, error.messages)


@project_form
def subscription_change(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    found = _own_or_triaged(page, pk)
    form = forms.SubscriptionForm(page, request.POST or None, changes=found)
    if request.method == "POST" and form.is_valid():
        try:
            subscribing.change(found, by=page.viewer, **form.wishes())
        except ValidationError as error:
            _add_errors(form, error)
        else:
            return page.done(request, f"The subscription of {found.address} is changed.", "subscriptions")
    context = {"form": form, "subscription": found}
    status = 422 if form.is_bound else 200
    return page.render(request, "dashboard/subscription.html", context, status=status)


@project_action
def subscription_ask_again(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    """Send the link that confirms once more."""
    page.require(Scope.TRIAGE)
    waiting = _known(page).filter(pk=pk, confirmed_at=None)
    found = found_or_hidden(waiting, f"no subscription {pk} waits for confirmation")
    try:
        subscribing.ask_to_confirm(found)
    except ValidationError as error:
        messages.error(request, f"Nothing was sent: {' '.join(error.messages)}.")
    else:
        messages.success(request, f"{found.address} gets another mail with the link.")
    return redirect("dashboard:subscriptions", page.project.slug)


@project_action
def subscription_end(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    found = _own_or_triaged(page, pk)
    subscribing.unsubscribe(found, by=page.viewer)
    return page.done(request, f"The subscription of {found.address} has ended.", "subscriptions")


@project_action
def subscription_try_again(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    """Send to an address again that was refused."""
    found = _own_or_triaged(page, pk)
    subscribing.try_again(found, by=page.viewer)
    return page.done(request, f"What {found.address} is owed is sent within 10 seconds.", "subscriptions")


urlpatterns = [
    path("subscriptions/", subscriptions, name="subscriptions"),
    path("subscriptions/<int:pk>/change/", subscription_change, name="subscription_change"),
    path("subscriptions/<int:pk>/end/", subscription_end, name="subscription_end"),
    path("subscriptions/<int:pk>/try-again/", subscription_try_again, name="subscription_try_again"),
    path("subscriptions/<int:pk>/ask-again/", subscription_ask_again, name="subscription_ask_again"),
]
