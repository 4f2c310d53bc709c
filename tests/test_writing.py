"""Nothing is written but on purpose, and by who may: asked of every address."""

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from benchdash.accounts.models import Role, Scope
from tests.addresses import OF_NOBODY, addresses, make_world
from tests.builders import make_token, make_user

pytestmark = pytest.mark.django_db

# Signing in, and the stamp of when a token was last used.
_NOT_OF_A_PROJECT = {"sessions", "accounts"}


@pytest.fixture
def world():
    return make_world("quartz")


def content():
    """By table: how many rows, and a sum over all that is in them."""
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_models():
            if model._meta.app_label in _NOT_OF_A_PROJECT:
                continue
            table = model._meta.db_table
            cursor.execute(f'SELECT count(*), sum(hashtextextended(t::text, 0)) FROM "{table}" t')
            found[table] = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM accounts_auditentry")
        found["audit log"] = cursor.fetchone()
    return found


def signed_in(user, **options):
    client = Client(**options)
    client.force_login(user)
    return client


def writes(client, world, *, except_for=()):
    """By method and name of every address: the status of the answer to a write that says nothing."""
    answers = {}
    for address in addresses():
        where = address.of("quartz", **address.examples(world))
        if address.name in except_for:
            continue
        for method in ("POST",) if address.is_page else ("POST", "PATCH", "PUT", "DELETE"):
            if method == "POST" and (address.is_page or address.name == "ingest:upload-list"):
                answer = client.post(where, {"project": "quartz"})
            else:
                whole = where + (OF_NOBODY.get(address.name, "") if method == "DELETE" else "")
                answer = client.generic(method, whole, b'{"project": "quartz"}', "application/json")
            answers[method, address.name] = answer.status_code
    return answers


def test_reading_changes_nothing(world):
    before, client = content(), signed_in(world.admin)
    for address in addresses():
        client.get(address.of("quartz", **address.examples(world)))
    assert content() == before


def test_a_form_of_another_site_changes_nothing(world):
    before = content()
    answers = writes(signed_in(world.admin, enforce_csrf_checks=True), world)
    assert {key: status for key, status in answers.items() if status not in (403, 405)} == {}
    assert content() == before


def test_a_reader_changes_nothing(world):
    before = content()
    rita = make_user("rita", member_of=world.project, role=Role.READER)
    # She may follow it and subscribe herself; subscriptions of others and webhooks do not exist for her.
    own = {"dashboard:notifications", "dashboard:mail_test", "dashboard:following", "api:subscription-list"}
    answers = writes(signed_in(rita), world, except_for=own)
    hidden = [("DELETE", f"api:{name}-detail") for name in ("subscription", "webhook")]
    hidden += [("POST", "api:webhook-test"), ("PATCH", "api:subscription-detail")]
    assert [answers.pop(one) for one in hidden] == [404, 404, 404, 404]
    assert {key: status for key, status in answers.items() if status not in (403, 405)} == {}
    assert content() == before


@pytest.mark.parametrize("scope", [Scope.READ, Scope.UPLOAD])
def test_a_token_changes_nothing_beyond_its_scope(world, scope):
    before = content()
    client = Client(headers={"authorization": f"Bearer {make_token(world.project, scope)}"})
    # Of uploads, one that the token did not send does not exist for it.
    not_asked = {one.name for one in addresses() if one.is_page or one.name == "ingest:upload-list"}
    answers = writes(client, world, except_for={*not_asked, "api:subscription-list"})
    assert {key: status for key, status in answers.items() if status not in (403, 404, 405)} == {}
    assert content() == before
