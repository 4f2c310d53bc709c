"""Subscriptions, alerts, tokens, settings and the audit log of a project."""

from copy import copy
from typing import Final

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import F, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from benchdash.accounts import services as accounts
from benchdash.accounts.access import NotAllowed, viewer_of
from benchdash.accounts.models import AuditEntry, Membership, Scope, Token
from benchdash.alerts import services as mailing
from benchdash.alerts import subscriptions as subscribing
from benchdash.alerts.mail_files import kept_mails, mails_are_files
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.webhooks import IS_WEBHOOK
from benchdash.dashboard.pages.people import forms
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.facts import in_words
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    alerts_shown_to,
    found_or_hidden,
    project_action,
    project_form,
    project_page,
)
from benchdash.regressions.models import Incident
from ingest.removal import begin_removal

_PAGE: Final = 50
_MAX_MAILS: Final = 20


def _require_member(page: ProjectPage) -> None:
    """Raise NotAllowed unless the viewer is a member."""
    if not page.is_member:
        raise NotAllowed(f"this is for members of the project '{page.project.slug}'")


@project_form
def subscriptions(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    _require_member(page)
    form = forms.SubscriptionForm(page, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            subscription, is_new = subscribing.subscribe(page.project, **form.cleaned_data, by=page.viewer)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, _said_of(subscription, is_new=is_new))
            return redirect("dashboard:subscriptions", page.project.slug)
    mailed = Subscription.objects.filter(project=page.project).exclude(IS_WEBHOOK)
    found = mailed.select_related("product", "hardware", "user")
    if not page.may(Scope.TRIAGE):
        found = found.filter(address=page.viewer.address)
    context = {
        "form": form,
        "subscriptions": found.order_by("address", "created_at"),
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
    return f"{address} gets a mail with a link. It is told of regressions once it has confirmed."


@project_action
def subscription_ask_again(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    """Send the link that confirms once more."""
    page.require(Scope.TRIAGE)
    waiting = Subscription.objects.filter(project=page.project, pk=pk, confirmed_at=None)
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
    _require_member(page)
    known = Subscription.objects.filter(project=page.project, pk=pk)
    found = found_or_hidden(known, f"there is no subscription {pk}")
    if found.address != page.viewer.address:
        page.require(Scope.TRIAGE)
    subscribing.unsubscribe(found, by=page.viewer)
    return page.done(request, f"The subscription of {found.address} has ended.", "subscriptions")


def _subscription(key: str) -> Subscription:
    known = Subscription.objects.select_related("project", "product", "hardware")
    return get_object_or_404(known, key=key)


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe_by_mail(request: HttpRequest, key: str) -> HttpResponse:
    """Answer the link of a mail; a mail program may end the subscription by itself (RFC 8058)."""
    if request.method == "POST" and request.POST.get("List-Unsubscribe") == "One-Click":
        if found := Subscription.objects.filter(key=key).first():
            subscribing.unsubscribe(found, by=viewer_of(request))
        return HttpResponse("unsubscribed\n", content_type="text/plain")
    return _unsubscribe_page(request, key)


@csrf_protect
def _unsubscribe_page(request: HttpRequest, key: str) -> HttpResponse:
    found = _subscription(key)
    is_ended = request.method == "POST"
    if is_ended:
        subscribing.unsubscribe(found, by=viewer_of(request))
    return render(request, "dashboard/unsubscribe.html", {"subscription": found, "is_ended": is_ended})


@require_http_methods(["GET", "HEAD", "POST"])
def confirm_subscription(request: HttpRequest, key: str) -> HttpResponse:
    """Answer the link of a mail to an address that somebody else subscribed; GET changes nothing."""
    found = _subscription(key)
    if request.method == "POST":
        subscribing.confirm(found, by=viewer_of(request))
    return render(request, "dashboard/confirm_subscription.html", {"subscription": found})


_ALERT_STATES: Final = {
    "sent": ("sent", Q(sent_at__isnull=False)),
    "owed": ("owed", Q(sent_at=None, error="")),
    "failing": ("failing", Q(sent_at=None) & ~Q(error="")),
}


@project_page
def alerts(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    _require_member(page)
    labels = [(name, label) for name, (label, _) in _ALERT_STATES.items()]
    chip = filters.one_of("state", "State", labels, request.GET.get("state"))
    found = alerts_shown_to(page).select_related("incident__product", "incident__until", "incident__since")
    for choice in chip.chosen:
        found = found.filter(_ALERT_STATES[choice.value][1])
    found = found.order_by(F("sent_at").desc(nulls_first=True), "-owed_at", "-pk")
    pages, may_retry = Paginator(found, _PAGE).get_page(request.GET.get("page")), page.may(Scope.TRIAGE)
    context = {
        "filters": [chip],
        "reset_url": request.path if chip.chosen else "",
        "pages": pages,
        "rows": [(alert, mailing.is_old_news(alert)) for alert in pages],
        "mails_are_files": mails_are_files(),
        "mail_is_held": settings.HOLD_MAIL,
        "held_for_days": settings.HISTORICAL_AFTER.days,
        "may_retry": may_retry,
    }
    # Each mail holds the link that ends its subscription.
    if mails_are_files() and may_retry:
        of_project = set(Incident.objects.filter(project=page.project).values_list("pk", flat=True))
        context["mails"] = kept_mails(of_project, most=_MAX_MAILS)
    return page.render(request, "dashboard/alerts.html", context)


@project_action
def alert_retry(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    page.require(Scope.TRIAGE)
    alert = found_or_hidden(Alert.objects.filter(project=page.project, pk=pk), f"there is no alert {pk}")
    mailing.retry(alert)
    return page.done(request, f"The mail to {alert.address} is tried again within 10 seconds.", "alerts")


@never_cache
@project_form
def tokens(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """List the tokens; a new one's secret is in the answer to its form, and nowhere else."""
    page.require(Scope.ADMIN)
    form = forms.TokenForm(request.POST or None)
    made, secret, status = None, "", 422 if request.method == "POST" else 200
    if form.is_valid():
        wanted = form.cleaned_data
        made, secret = accounts.create_token(page.project, wanted["name"], wanted["scopes"], by=page.viewer)
        form, status = forms.TokenForm(), 201
    known = Token.objects.filter(project=page.project).select_related("created_by")
    context = {
        "form": form,
        "tokens": known.order_by(F("revoked_at").desc(nulls_first=True), "-created_at"),
        "made": made,
        "secret": secret,
        "command": upload_command(secret) if made and Scope.UPLOAD in made.scopes else "",
    }
    return page.render(request, "dashboard/tokens.html", context, status=status)


@project_action
def token_revoke(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    page.require(Scope.ADMIN)
    valid = Token.objects.filter(project=page.project, pk=pk, revoked_at=None)
    token = found_or_hidden(valid, f"there is no token {pk} that could be revoked")
    accounts.revoke_token(token, by=page.viewer)
    return page.done(request, f"The token {token} is revoked.", "tokens")


@project_form
def project_settings(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require(Scope.ADMIN)
    form = forms.ProjectForm(request.POST or None, instance=copy(page.project))
    if request.method == "POST" and form.is_valid():
        try:
            accounts.change_project(page.project, form.changes(), by=page.viewer)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return page.done(request, "The settings are saved.", "project_settings")
    return _settings_page(request, page, form=form)


@project_action
def member_add(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require(Scope.ADMIN)
    form = forms.MemberForm(request.POST)
    if form.is_valid():
        user = form.cleaned_data["address"]
        try:
            accounts.set_role(page.project, user, form.cleaned_data["role"], by=page.viewer)
        except accounts.LastAdminError as error:
            form.add_error("role", f"{error}.")
        else:
            return page.done(request, f"{user.email} is {form.cleaned_data['role']} now.", "project_settings")
    return _settings_page(request, page, member_form=form)


@project_action
def member_role(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    member = _member(page, pk)
    form = forms.RoleForm(request.POST)
    if form.is_valid():
        try:
            accounts.set_role(page.project, member.user, form.cleaned_data["role"], by=page.viewer)
        except accounts.LastAdminError as error:
            messages.error(request, f"Nothing was changed: {error}.")
        else:
            messages.success(request, f"{member.user.email} is {form.cleaned_data['role']} now.")
    else:
        messages.error(request, "Nothing was changed: there is no such role.")
    return _back_to_settings(request, page)


@project_action
def member_remove(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    member = _member(page, pk)
    try:
        accounts.remove_member(member, by=page.viewer)
    except accounts.LastAdminError as error:
        messages.error(request, f"Nothing was changed: {error}.")
    else:
        messages.success(request, f"{member.user.email} is no member any more.")
    return _back_to_settings(request, page)


@project_action
def project_delete(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require(Scope.ADMIN)
    form = forms.DeleteProjectForm(page.project, request.POST)
    if not form.is_valid():
        return _settings_page(request, page, delete_form=form)
    begin_removal(page.project, by=page.viewer)
    return redirect("dashboard:removals")


def _member(page: ProjectPage, pk: int) -> Membership:
    """Return a member, for who administers the project. Raise NotAllowed or NotVisible."""
    page.require(Scope.ADMIN)
    known = Membership.objects.filter(project=page.project, pk=pk).select_related("user", "project")
    return found_or_hidden(known, f"there is no member {pk}")


def _back_to_settings(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    # Who took the role from themselves may not see the settings any more.
    if viewer_of(request).may(Scope.ADMIN, page.project):
        return redirect("dashboard:project_settings", page.project.slug)
    return redirect("dashboard:home")


def _settings_page(
    request: HttpRequest,
    page: ProjectPage,
    *,
    form: forms.ProjectForm | None = None,
    member_form: forms.MemberForm | None = None,
    delete_form: forms.DeleteProjectForm | None = None,
) -> HttpResponse:
    sent = [one for one in (form, member_form, delete_form) if one is not None and one.is_bound]
    members = Membership.objects.filter(project=page.project).select_related("user")
    context = {
        "form": form or forms.ProjectForm(instance=copy(page.project)),
        "member_form": member_form or forms.MemberForm(),
        "delete_form": delete_form or forms.DeleteProjectForm(page.project),
        "members": [
            (member, forms.RoleForm(initial={"role": member.role}, auto_id=f"role_{member.pk}_%s"))
            for member in members.order_by("user__name", "user__email")
        ],
    }
    return page.render(request, "dashboard/project_settings.html", context, status=422 if sent else 200)


@project_page
def audit(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require(Scope.TRIAGE)
    entries = AuditEntry.objects.filter(project=page.project)
    chips = []
    for (name, field), label in zip(_AUDIT_FIELDS.items(), ("Action", "Person", "Token"), strict=True):
        known = entries.exclude(**{field: None}).order_by(field).values_list(field, flat=True).distinct()
        chips.append(filters.some_of_names(name, label, known, request.GET.getlist(name)))
    entries = filters.filtered(entries, chips, _AUDIT_FIELDS)
    pages = Paginator(entries.select_related("user", "token"), _PAGE).get_page(request.GET.get("page"))
    context = {
        "filters": chips,
        "reset_url": request.path if any(chip.chosen for chip in chips) else "",
        "pages": pages,
        "rows": [(entry, in_words(entry.detail)) for entry in pages],
    }
    return page.render(request, "dashboard/audit.html", context)


_AUDIT_FIELDS: Final = {"action": "action", "user": "user__email", "token": "token__name"}


urlpatterns = [
    path("subscriptions/", subscriptions, name="subscriptions"),
    path("subscriptions/<int:pk>/end/", subscription_end, name="subscription_end"),
    path("subscriptions/<int:pk>/ask-again/", subscription_ask_again, name="subscription_ask_again"),
    path("alerts/", alerts, name="alerts"),
    path("alerts/<int:pk>/retry/", alert_retry, name="alert_retry"),
    path("tokens/", tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", token_revoke, name="token_revoke"),
    path("settings/", project_settings, name="project_settings"),
    path("settings/members/", member_add, name="member_add"),
    path("settings/members/<int:pk>/role/", member_role, name="member_role"),
    path("settings/members/<int:pk>/remove/", member_remove, name="member_remove"),
    path("settings/delete/", project_delete, name="project_delete"),
    path("audit/", audit, name="audit"),
]
# These belong to no project's pages: who follows them need not be anybody.
public_urlpatterns = [
    path("confirm/<slug:key>/", confirm_subscription, name="confirm_subscription"),
    path("unsubscribe/<slug:key>/", unsubscribe_by_mail, name="unsubscribe"),
]
