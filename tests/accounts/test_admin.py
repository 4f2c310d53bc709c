import pytest
from django.contrib import admin
from django.urls import reverse

from benchdash.accounts.models import Token, User
from benchdash.results.models import Alias
from tests.builders import PASSWORD, make_project, make_series, make_token, make_user

pytestmark = pytest.mark.django_db

MODELS = [
    model
    for model in sorted(admin.site._registry, key=lambda model: model._meta.label)
    if model._meta.app_label in {"accounts", "results"}
]


@pytest.fixture
def root(client):
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def history():
    project = make_project()
    make_user("alice", member_of=project)
    series = make_series([1.0, 2.0], project=project, settings={"a": "1"}, environment={"kernel": "6.1"})
    Alias.objects.create(project=project, name="bxo", hardware=series.hardware)
    return project, make_token(project)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_model_has_a_list_that_can_be_searched_and_pages_to_look_at(root, history, model):
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    for query in ({}, {"q": "oltp"}):
        assert root.get(reverse(f"{name}_changelist"), query).status_code == 200
    row = model.objects.first()
    if row:
        page = root.get(reverse(f"{name}_change", args=[row.pk]))
        assert page.status_code == 200
        assert Token.objects.get().digest not in page.text


def test_the_history_is_not_edited_here(root, history):
    series = history[0].series.first()
    address = reverse("admin:results_series_change", args=[series.pk])
    assert root.post(address, {"metric": "qps"}).status_code == 403
    assert root.get(reverse("admin:results_run_add")).status_code == 403


def test_a_user_is_added_by_address(root):
    form = {"email": "Alice@Example.org", "name": "Alice", "password1": PASSWORD, "password2": PASSWORD}
    added = root.post(reverse("admin:accounts_user_add"), form)
    assert added.status_code == 302
    alice = User.objects.get(email="alice@example.org")
    assert alice.check_password(PASSWORD)


def test_only_staff_get_in(client):
    client.force_login(make_user("alice"))
    assert client.get(reverse("admin:index")).status_code == 302
