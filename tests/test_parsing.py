"""JSON that is too deep to be read is refused by every view, and never a fault of ours."""

import pytest
from django.test import Client

from tests.addresses import addresses, make_world
from tests.builders import make_token

pytestmark = pytest.mark.django_db

DEEP = b"[" * 100_000
METHODS = ("POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def world():
    return make_world("quartz")


def signed_in(world):
    # The mark against forged forms is looked for in the body.
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    client.force_login(world.admin)
    return client


def with_token(world):
    secret = make_token(world.project, "upload", "admin", name="all")
    return Client(raise_request_exception=False, headers={"authorization": f"Bearer {secret}"})


def nobody(world):
    return Client(raise_request_exception=False, enforce_csrf_checks=True)


@pytest.mark.parametrize("who", [signed_in, with_token, nobody])
def test_json_that_is_nested_too_deeply_is_no_fault_of_ours_anywhere(world, who):
    client = who(world)
    asked = [address.of("quartz", **address.examples(world)) for address in addresses()]
    asked += [
        "/api/schema/",
        "/api/docs/",
        "/api/v1/nothing/",
        "/sign-in/",
        "/healthz",
        "/readyz",
        "/metrics",
    ]
    broken = {
        (method, address): answer.status_code
        for address in asked
        for method in METHODS
        if (answer := client.generic(method, address, DEEP, "application/json")).status_code >= 500
    }
    assert broken == {}


@pytest.mark.parametrize("field", ["meta", "map", "options"])
def test_fields_of_a_form_that_hold_json_are_guarded_too(world, field):
    answer = with_token(world).post("/api/v1/uploads/", {field: DEEP.decode()})
    assert answer.status_code == 400
