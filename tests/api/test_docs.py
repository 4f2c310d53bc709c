"""The schema, and the page that is made from it."""

import os
import re
import subprocess
import sys
import time

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from benchdash.accounts.models import Scope
from benchdash.results.models import Annotation, Hardware
from tests.builders import make_project, make_token, make_user


def test_the_schema_is_valid_and_nothing_in_it_is_guessed(capsys):
    call_command("spectacular", "--validate", "--fail-on-warn")
    assert "/api/v1/uploads/" in capsys.readouterr().out


@pytest.mark.django_db
def test_every_address_and_every_parameter_is_described(client):
    schema = client.get("/api/schema/").json()
    operations = [
        (path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if not path.startswith("/api/v1/uploads/")
    ]
    assert len(operations) > 30
    for path, method, operation in operations:
        assert operation["summary"], (path, method)
        assert operation["description"], (path, method)
        assert "viewer" not in operation["description"], (path, method)


@pytest.mark.django_db
def test_every_tag_is_described_and_no_two_operations_share_a_name(client):
    schema = client.get("/api/schema/").json()
    operations = [one for methods in schema["paths"].values() for one in methods.values()]
    described = [tag["name"] for tag in schema["tags"] if tag["description"]]
    assert {tag for one in operations for tag in one["tags"]} == {*described}
    assert len({one["operationId"] for one in operations}) == len(operations)


@pytest.mark.django_db
def test_the_schema_is_made_once_and_not_sent_again(client):
    client.get("/api/schema/")
    began = time.monotonic()
    answer = client.get("/api/schema/")
    # Making it takes more than a second.
    assert time.monotonic() - began < 0.2
    again = client.get("/api/schema/", headers={"if-none-match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    yaml = client.get("/api/schema/", headers={"accept": "application/vnd.oai.openapi"})
    assert yaml.content.startswith(b"openapi:")
    assert yaml["ETag"] != answer["ETag"]


@pytest.mark.django_db
def test_the_schema_knows_the_parameters_of_the_contract(client):
    paths = client.get("/api/schema/").json()["paths"]

    def names(path):
        return {parameter["name"] for parameter in paths[path]["get"]["parameters"]}

    contract = {"project", "product", "version", "hardware", "workload", "threads", "branch", "limit"}
    assert contract <= names("/api/v1/runs/")
    contract = {"project", "product", "branch", "workload", "threads", "hardware", "configuration", "metric"}
    assert contract <= names("/api/v1/series/")
    assert {"project", "metric", "base", "against", "format"} <= names("/api/v1/compare/")
    assert {"project", "product", "branch", "commit", "base"} <= names("/api/v1/gate/")
    assert {"format", "since", "max_points"} <= names("/api/v1/series/{id}/points/")


@pytest.mark.django_db
def test_the_page_shows_every_operation_and_loads_nothing_from_elsewhere(chromium_page, client):
    chromium_page.goto("/api/docs/")
    shown = chromium_page.locator(".opblock-summary-path")
    shown.last.wait_for()
    schema = client.get("/api/schema/").json()
    operations = {*schema["paths"], *schema["webhooks"]}
    assert set(shown.evaluate_all("all => all.map(one => one.dataset.path)")) == operations
    for script in chromium_page.locator("script").all():
        assert script.get_attribute("src")


@pytest.mark.django_db
def test_a_click_opens_an_operation_with_the_fields_of_its_answer(chromium_page):
    chromium_page.goto("/api/docs/")
    operation = chromium_page.locator("#operations-series-series_points_retrieve")
    operation.locator(".opblock-summary-control").click()
    expect(operation).to_contain_text("change_points")


@pytest.mark.django_db
def test_the_page_is_dark_where_the_theme_is(chromium_page):
    chromium_page.emulate_media(color_scheme="dark")
    chromium_page.goto("/api/docs/")
    operation = chromium_page.locator("#operations-series-series_points_retrieve")
    operation.wait_for()
    ground = "getComputedStyle(document.querySelector('.swagger-ui')).backgroundColor"
    assert chromium_page.evaluate(ground) == "rgb(21, 27, 35)"
    chromium_page.evaluate("document.querySelector('[data-theme-toggle]').click()")
    expect(chromium_page.locator("html")).not_to_have_class(re.compile("dark-mode"))
    assert chromium_page.evaluate(ground) == "rgb(255, 255, 255)"


def try_out(page, operation):
    """Send an operation as its example says, and return the status that the page shows."""
    block = page.locator(f"#operations-{operation}")
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table .response-col_status").nth(1)


@pytest.mark.django_db(transaction=True)
def test_a_change_is_tried_out_with_the_session(chromium_page, sign_in):
    project = make_project("demo")
    Hardware.objects.create(project=project, name="bench-01")
    sign_in(make_user(member_of=project))
    chromium_page.goto("/api/docs/")
    expect(try_out(chromium_page, "annotations-annotations_create")).to_contain_text("201")
    assert Annotation.objects.get().text == "a new disk"


@pytest.mark.django_db(transaction=True)
def test_a_token_is_taken_by_authorize(chromium_page):
    secret = make_token(make_project("demo"), Scope.READ)
    chromium_page.goto("/api/docs/")
    chromium_page.get_by_role("button", name="Authorize").first.click()
    form = chromium_page.locator(".modal-ux form").filter(has_text="Bearer")
    form.get_by_label("auth-bearer-value").fill(secret)
    form.get_by_role("button", name="Apply credentials").click()
    form.get_by_role("button", name="Close").click()
    expect(try_out(chromium_page, "token-token_retrieve")).to_contain_text("200")


@pytest.mark.django_db
def test_an_address_where_nothing_is_answers_as_the_api_does(client):
    answer = client.get("/api/v1/nothing/")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert client.post("/api/v1/nothing/").status_code == 404


@pytest.mark.django_db
def test_a_forgotten_slash_is_added(client):
    answer = client.get("/api/v1/runs?threads=4")
    assert (answer.status_code, answer.headers["Location"]) == (301, "/api/v1/runs/?threads=4")


# In a process of its own, because the generator fails in the first moments of its life alone.
_FOUR_AT_ONCE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import django

django.setup()
from django.test import RequestFactory

from benchdash.api.views.docs import SchemaView

sys.setswitchinterval(1e-6)
together = Barrier(4)


def ask(_):
    together.wait()
    return SchemaView.as_view()(RequestFactory().get("/api/schema/")).status_code


with ThreadPoolExecutor(4) as pool:
    assert list(pool.map(ask, range(4))) == [200] * 4
"""


def test_the_first_to_ask_may_be_several_at_once(tmp_path):
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "benchdash.settings",
        "BENCHDASH_VAR": str(tmp_path),
    }
    subprocess.run([sys.executable, "-c", _FOUR_AT_ONCE], env=environment, check=True)
