"""Accounts in Django's admin. Tokens are made elsewhere, because their secrets are shown once.

The type arguments that are ignored exist for mypy alone, not at run time.
"""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.forms import BaseUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.http import HttpRequest

from benchdash.accounts.models import AuditEntry, Membership, Project, Token, User

admin.site.site_header = "benchdash"
admin.site.site_title = "benchdash"
admin.site.unregister(Group)  # what people may do is said by their memberships


class _NewUserForm(BaseUserCreationForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("email", "name")

    def clean_email(self) -> str:
        # Addresses are compared in lower case everywhere.
        return str(self.cleaned_data["email"]).lower()


class _UserForm(UserChangeForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = "__all__"
        field_classes: ClassVar[dict[str, type[forms.Field]]] = {}

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


class _MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    extra = 0
    raw_id_fields = ("user", "project")


@admin.register(User)
class UserAdmin(BaseUserAdmin):  # type: ignore[type-arg]
    form = _UserForm
    add_form = _NewUserForm
    fieldsets = (
        (None, {"fields": ("email", "name", "password")}),
        ("What they may do", {"fields": ("is_active", "is_staff", "is_superuser")}),
        ("Times", {"fields": ("joined_at", "last_login")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "name", "password1", "password2")}),)
    readonly_fields = ("joined_at", "last_login")
    list_display = ("email", "name", "is_active", "is_staff", "joined_at", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("email", "name")
    ordering = ("email",)
    filter_horizontal = ()
    inlines = (_MembershipInline,)

    def get_inlines(self, request: HttpRequest, obj: User | None) -> Any:
        # A new user has an address and a password first.
        return super().get_inlines(request, obj) if obj else ()


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("slug", "name", "visibility", "is_sample", "created_at")
    list_filter = ("visibility", "is_sample")
    search_fields = ("slug", "name")
    readonly_fields = ("created_at",)
    inlines = (_MembershipInline,)

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        # Its settings do it, by a job: here a large one would be deleted while the browser waits.
        return False


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("user", "project", "role")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    search_fields = ("user__email", "project__slug")
    raw_id_fields = ("user", "project")


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that are looked at here and written elsewhere."""

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    list_display = (
        *("name", "prefix", "project", "scopes", "hardware"),
        *("created_at", "last_used_at", "expires_at", "revoked_at"),
    )
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("name", "prefix", "project__slug")
    exclude = ("digest",)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "project", "user", "token", "action", "subject", "reason")
    list_filter = ("project", "action")
    list_select_related = ("project", "user", "token")
    search_fields = ("subject", "reason", "user__email")
    date_hierarchy = "at"
