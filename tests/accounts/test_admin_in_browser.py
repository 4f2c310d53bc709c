"""Django's admin under our policy for scripts; a complaint of the browser fails the test."""

import pytest
from django.contrib import admin
from django.urls import reverse

from benchdash.accounts.admin import ReadOnlyAdmin
from benchdash.accounts.models import Membership
from tests.builders import PASSWORD, make_project, make_series, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def root(chromium_page):
    make_user("root", password=PASSWORD, is_staff=True, is_superuser=True)
    chromium_page.goto(reverse("admin:index"))
    chromium_page.get_by_label("Email").fill("root@example.org")
    chromium_page.get_by_label("Password").fill(PASSWORD)
    chromium_page.get_by_role("button", name="Sign in").click()
    return chromium_page


def test_every_list_and_every_form_works(root):
    make_series([1.0, 2.0], project=make_project())
    for model, options in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert root.goto(reverse(f"{name}_changelist")).status == 200
        if row := model._default_manager.first():
            assert root.goto(reverse(f"{name}_change", args=[row.pk])).status == 200
        if not isinstance(options, ReadOnlyAdmin):
            assert root.goto(reverse(f"{name}_add")).status == 200


def test_a_member_is_added_in_the_table_of_a_project(root):
    project, alice = make_project("nightly"), make_user("alice")
    root.goto(reverse("admin:accounts_project_change", args=[project.pk]))
    # The row appears by a script.
    root.get_by_text("Add another Membership").click()
    root.locator("#id_memberships-0-user").fill(str(alice.pk))
    root.get_by_role("button", name="Save", exact=True).click()
    root.get_by_text("was changed successfully").wait_for()
    assert Membership.objects.get(project=project).user == alice


def test_rows_are_chosen_and_deleted_by_an_action(root):
    project = make_project()
    make_user("one", member_of=project), make_user("two", member_of=project)
    root.goto(reverse("admin:accounts_membership_changelist"))
    root.locator("#action-toggle").check()
    root.get_by_text("2 of 2 selected").wait_for()
    root.get_by_label("Action:").select_option("delete_selected")
    root.get_by_role("button", name="Go").click()
    root.get_by_role("button", name="Yes, I’m sure").click()
    root.get_by_text("Successfully deleted 2 memberships").wait_for()
    assert not Membership.objects.exists()


def test_a_project_is_not_deleted_here_but_in_its_settings(root):
    project = make_project()
    root.goto(reverse("admin:accounts_project_change", args=[project.pk]))
    root.get_by_role("button", name="Save", exact=True).wait_for()
    assert not root.get_by_role("link", name="Delete").count()
