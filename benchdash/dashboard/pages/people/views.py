"""Tokens, settings and the audit log of a project."""

from copy import copy
from typing import Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.cache import never_cache

from benchdash.accounts import services as accounts
from benchdash.accounts.access import viewer_of
from benchdash.accounts.identities.services import trust_repository
from benchdash.accounts.models import AuditEntry, Membership, Scope, Token
from benchdash.dashboard.pages.people import forms
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.facts import in_words
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    found_or_hidden,
    project_action,
    project_form,
    project_page,
)
from benchdash.results.models import Hardware
from ingest.removal import begin_removal

_PAGE: Final = 50
_MAX_MACHINES: Final = 200


@never_cache
@project_form
def tokens(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """List the tokens; a new one's secret is in the answer to its form, and nowhere else."""
    page.require(Scope.ADMIN)
    form = forms.TokenForm(request.POST or None)
    if form.is_valid():
        try:
            made, secret = accounts.create_token(page.project, by=page.viewer, **form.rights())
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _tokens_page(request, page, made=made, secret=secret)
    return _tokens_page(request, page, form=form)


@project_action
def trust_add(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Trust the jobs of a repository, which then need no secret."""
    page.require(Scope.ADMIN)
    form = forms.TrustForm(request.POST)
    if form.is_valid():
        try:
            trust = trust_repository(page.project, form.conditions(), by=page.viewer, **form.rights())
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return page.done(request, f"The jobs of {trust.repository} act as {trust.token}.", "tokens")
    return _tokens_page(request, page, trust_form=form)


def _tokens_page(
    request: HttpRequest,
    page: ProjectPage,
    *,
    form: forms.TokenForm | None = None,
    trust_form: forms.TrustForm | None = None,
    made: Token | None = None,
    secret: str = "",
) -> HttpResponse:
    machines = Hardware.objects.filter(project=page.project).order_by("name")
    known = Token.objects.filter(project=page.project).select_related("created_by", "trust")
    context = {
        "form": form or forms.TokenForm(),
        "trust_form": trust_form or forms.TrustForm(),
        "machines": machines.values_list("name", flat=True)[:_MAX_MACHINES],
        "tokens": known.order_by(F("revoked_at").desc(nulls_first=True), "-created_at"),
        "made": made,
        "secret": secret,
        "command": upload_command(secret) if made and Scope.UPLOAD in made.scopes else "",
    }
    status = 201 if made else 422 if request.method == "POST" else 200
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
    path("tokens/", tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", token_revoke, name="token_revoke"),
    path("trusts/", trust_add, name="trust_add"),
    path("settings/", project_settings, name="project_settings"),
    path("settings/members/", member_add, name="member_add"),
    path("settings/members/<int:pk>/role/", member_role, name="member_role"),
    path("settings/members/<int:pk>/remove/", member_remove, name="member_remove"),
    path("settings/delete/", project_delete, name="project_delete"),
    path("audit/", audit, name="audit"),
]
