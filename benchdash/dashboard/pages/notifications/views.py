"""Who is told of what in a project, by which way, and what was sent."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.cache import never_cache

from benchdash.accounts.access import NotVisible
from benchdash.accounts.following import follows
from benchdash.accounts.models import Scope
from benchdash.alerts import pull_requests, services, subscriptions
from benchdash.alerts.models import Alert, CodeHost, MailTest, Subscription
from benchdash.alerts.refusals import is_stopped
from benchdash.alerts.webhooks import remove_webhook, try_webhook, webhooks
from benchdash.dashboard.pages.notifications.forms import (
    CodeHostForm,
    NotificationForm,
    SubscriptionForm,
    WebhookForm,
)
from benchdash.dashboard.pages.notifications.sent import sent_context
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    found_or_hidden,
    project_action,
    project_form,
    project_page,
)

_FORMS: Final[Mapping[str, type[NotificationForm]]] = {
    form.name: form for form in (SubscriptionForm, WebhookForm, CodeHostForm)
}


@never_cache
@project_form
def notifications(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Show all of it; the secret of a new webhook is in the answer to its form, and nowhere else."""
    page.require_member()
    forms = {name: form(page) for name, form in _FORMS.items() if page.may(form.scope)}
    secret, status = "", 200
    if request.method == "POST":
        kind = _FORMS.get(request.POST.get("add", ""), SubscriptionForm)
        page.require(kind.scope)
        form, status = kind(page, request.POST), 422
        forms[kind.name] = form
        if form.is_valid():
            try:
                said, secret = form.add()
            except ValidationError as error:
                form.refuse(error)
            else:
                if not secret:
                    return page.done(request, said, "notifications")
                forms[kind.name], status = kind(page), 201
    context = {
        "subscription_form": forms["subscription"],
        "webhook_form": forms.get("webhook"),
        "code_host_form": forms.get("code-host"),
        "secret": secret,
        **_ways(page),
        **sent_context(request, page),
    }
    return page.render(request, "dashboard/notifications.html", context, status=status)


def _ways(page: ProjectPage) -> dict[str, Any]:
    """Return who is told by which way, as far as the viewer may see it."""
    by_mail = _by_mail(page).select_related("product", "hardware", "user")
    if not page.may(Scope.TRIAGE):
        by_mail = by_mail.filter(address=page.viewer.address)
    ways: dict[str, Any] = {
        "is_following": follows(page.viewer, page.project),
        "test": MailTest.objects.filter(project=page.project, address=page.viewer.address).first(),
        "subscriptions": [(one, is_stopped(one)) for one in by_mail.order_by("address", "created_at")],
        "may_triage": page.may(Scope.TRIAGE),
        "confirm_within_days": Subscription.CONFIRM_WITHIN.days,
    }
    if page.may(Scope.TRIAGE):
        ways["webhooks"] = webhooks().filter(project=page.project).select_related("product", "hardware")
    if page.is_admin and (host := pull_requests.code_host_of(page.project)):
        ways |= {"host": host, "answers": pull_requests.last_answers(host)}
    return ways


# --- one of them ------------------------------------------------------------------------------------------


@project_form
def subscription_change(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    found = _own_or_triaged(page, pk)
    form = SubscriptionForm(page, request.POST or None, changes=found)
    if request.method == "POST" and form.is_valid():
        try:
            subscriptions.change(found, by=page.viewer, **form.wishes())
        except ValidationError as error:
            form.refuse(error)
        else:
            return page.done(request, f"The subscription of {found.address} is changed.", "notifications")
    context = {"form": form, "subscription": found}
    status = 422 if form.is_bound else 200
    return page.render(request, "dashboard/subscription.html", context, status=status)


def _action(act: Callable[..., str]) -> Callable[..., HttpResponseBase]:
    """Return the view of a button: it does something and says it, or says why nothing was done."""

    @project_action
    def view(request: HttpRequest, page: ProjectPage, /, **names: int) -> HttpResponse:
        try:
            messages.success(request, act(page, **names))
        except ValidationError as error:
            messages.error(request, f"{' '.join(error.messages)}.")
        return redirect("dashboard:notifications", page.project.slug)

    return view


def _send_test(page: ProjectPage) -> str:
    page.require_member()
    try:
        test = subscriptions.ask_for_test(page.project, page.viewer.address)
    except ValidationError as error:
        raise ValidationError(f"No test was sent: {' '.join(error.messages).rstrip('.')}") from None
    return f"A test to {test.address} is on its way."


def _ask_again(page: ProjectPage, pk: int) -> str:
    """Send the link that confirms once more."""
    page.require(Scope.TRIAGE)
    waiting = _by_mail(page).filter(pk=pk, confirmed_at=None)
    found = found_or_hidden(waiting, f"no subscription {pk} waits for confirmation")
    try:
        subscriptions.ask_to_confirm(found)
    except ValidationError as error:
        raise ValidationError(f"Nothing was sent: {' '.join(error.messages)}") from None
    return f"{found.address} gets another mail with the link."


def _end(page: ProjectPage, pk: int) -> str:
    found = _own_or_triaged(page, pk)
    subscriptions.unsubscribe(found, by=page.viewer)
    return f"The subscription of {found.address} has ended."


def _try_again(page: ProjectPage, pk: int) -> str:
    """Send to an address again that was refused."""
    found = _own_or_triaged(page, pk)
    subscriptions.try_again(found, by=page.viewer)
    return f"What {found.address} is owed is sent within 10 seconds."


def _retry(page: ProjectPage, pk: int) -> str:
    page.require(Scope.TRIAGE)
    alert = found_or_hidden(Alert.objects.filter(project=page.project, pk=pk), f"there is no alert {pk}")
    services.retry(alert)
    return f"The mail to {alert.address} is tried again within 10 seconds."


def _test_webhook(page: ProjectPage, pk: int) -> str:
    is_delivered, answer = try_webhook(_webhook(page, pk))
    if not is_delivered:
        raise ValidationError(f"The test was not delivered: {answer}")
    return f"The test was delivered; the answer was {answer}."


def _remove_webhook(page: ProjectPage, pk: int) -> str:
    remove_webhook(_webhook(page, pk), by=page.viewer)
    return "The webhook is removed."


def _test_code_host(page: ProjectPage) -> str:
    host = _code_host(page)
    if trouble := pull_requests.try_code_host(host):
        raise ValidationError(f"{host} was not reached: {trouble}")
    pull_requests.ask_again(host)
    return f"{host} is there, and the token may read it."


def _remove_code_host(page: ProjectPage) -> str:
    pull_requests.disconnect(_code_host(page), by=page.viewer)
    return "Pull requests are not answered any more."


def _by_mail(page: ProjectPage) -> QuerySet[Subscription]:
    return Subscription.objects.filter(subscriptions.OF_MAIL, project=page.project)


def _own_or_triaged(page: ProjectPage, pk: int) -> Subscription:
    """Return a subscription to its own person and to who triages. Raises NotAllowed and NotVisible."""
    page.require_member()
    known = _by_mail(page).select_related("project", "product", "hardware")
    found = found_or_hidden(known.filter(pk=pk), f"there is no subscription {pk}")
    if found.address != page.viewer.address:
        page.require(Scope.TRIAGE)
    return found


def _webhook(page: ProjectPage, pk: int) -> Subscription:
    """Return a webhook, for who triages. Raises NotAllowed or NotVisible."""
    page.require(Scope.TRIAGE)
    return found_or_hidden(webhooks().filter(project=page.project, pk=pk), f"there is no webhook {pk}")


def _code_host(page: ProjectPage) -> CodeHost:
    """Return the code host, for admins. Raises NotAllowed or NotVisible."""
    page.require(Scope.ADMIN)
    host = pull_requests.code_host_of(page.project)
    if host is None:
        raise NotVisible("there is no code host")
    return host


_ACTIONS: Final[Mapping[str, tuple[str, Callable[..., str]]]] = {
    "mail_test": ("test/", _send_test),
    "subscription_end": ("subscriptions/<int:pk>/end/", _end),
    "subscription_try_again": ("subscriptions/<int:pk>/try-again/", _try_again),
    "subscription_ask_again": ("subscriptions/<int:pk>/ask-again/", _ask_again),
    "alert_retry": ("alerts/<int:pk>/retry/", _retry),
    "webhook_test": ("webhooks/<int:pk>/test/", _test_webhook),
    "webhook_remove": ("webhooks/<int:pk>/remove/", _remove_webhook),
    "code_host_test": ("pull-requests/test/", _test_code_host),
    "code_host_remove": ("pull-requests/remove/", _remove_code_host),
}
# Links in mails that were sent, and in people's notes, lead to the pages that this one was.
_MOVED: Final = {
    "moved_subscriptions": "subscriptions/",
    "moved_alerts": "alerts/",
    "moved_webhooks": "webhooks/",
    "moved_code_host": "settings/pull-requests/",
}


@project_page
def moved(request: HttpRequest, page: ProjectPage) -> HttpResponse:  # noqa: ARG001 - a view
    return redirect("dashboard:notifications", page.project.slug, permanent=True)


urlpatterns = [
    path("notifications/", notifications, name="notifications"),
    path("notifications/subscriptions/<int:pk>/change/", subscription_change, name="subscription_change"),
    *(path(f"notifications/{address}", _action(act), name=name) for name, (address, act) in _ACTIONS.items()),
    *(path(address, moved, name=name) for name, address in _MOVED.items()),
]
