import pytest

from benchdash.accounts.models import Role
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_user, make_webhook
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

ADDRESS = "/p/quartz/notifications/"
FORM = {
    "add": "webhook",
    "url": "https://1.1.1.1/hook",
    "payload": "slack",
    "kinds": ["regression", "silence"],
}


@pytest.fixture
def project():
    return make_project("quartz", name="Quartz")


@pytest.fixture
def member(client, project):
    client.force_login(make_user(member_of=project))
    return client


def test_a_webhook_is_added_and_its_secret_is_shown_in_that_answer_alone(member, project):
    answer = member.post(ADDRESS, FORM)
    hook = Subscription.objects.get()
    assert answer.status_code == 201
    assert hook.secret in answer.content.decode()
    assert (hook.payload, hook.kinds) == ("slack", ["regression", "silence"])
    text = member.get(ADDRESS).content.decode()
    assert "https://1.1.1.1/hook" in text
    assert hook.secret not in text


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "ftp://1.1.1.1/", "", "https://1.1.1.1:22/"])
def test_an_address_that_may_not_be_called_is_refused_beside_its_field(member, url):
    answer = member.post(ADDRESS, {**FORM, "url": url})
    assert answer.status_code == 422
    assert 'id="webhook_url_error"' in answer.content.decode()
    assert not Subscription.objects.exists()


def test_a_test_says_what_came_back(member, project, webhook_server):
    hook = make_webhook(project, webhook_server.url)
    text = text_of(member.post(f"{ADDRESS}webhooks/{hook.pk}/test/", follow=True))
    assert "The test was delivered; the answer was 204." in text
    webhook_server.status = 500
    text = text_of(member.post(f"{ADDRESS}webhooks/{hook.pk}/test/", follow=True))
    assert "The test was not delivered: it answered 500." in text


def test_the_list_shows_the_last_delivery_and_what_went_wrong(member, project, webhook_server):
    make_webhook(project, webhook_server.url)
    assert "none yet" in text_of(member.get(ADDRESS))
    make_incident(project)
    webhook_server.status = 500
    owe_alerts()
    send_owed_alerts()
    assert "1 it answered 500" in text_of(member.get(ADDRESS))


def test_a_webhook_is_removed_with_what_it_is_owed(member, project):
    hook = make_webhook(project, "https://1.1.1.1/")
    Alert.objects.create(
        project=project, incident=make_incident(project), address=hook.address, subscription=hook
    )
    text = text_of(member.post(f"{ADDRESS}webhooks/{hook.pk}/remove/", follow=True))
    assert "The webhook is removed." in text
    assert not Alert.objects.exists()


def test_readers_have_no_webhooks(client, project):
    client.force_login(make_user("rita", member_of=project, role=Role.READER))
    hook = make_webhook(project, "https://1.1.1.1/")
    assert "By webhook" not in text_of(client.get(ADDRESS))
    assert "1.1.1.1" not in text_of(client.get(ADDRESS))
    assert client.post(ADDRESS, FORM).status_code == 403
    assert client.post(f"{ADDRESS}webhooks/{hook.pk}/remove/").status_code == 403


@pytest.mark.parametrize("old", ["subscriptions", "alerts", "webhooks", "settings/pull-requests"])
def test_the_pages_that_it_was_lead_to_it(member, old):
    assert member.get(f"/p/quartz/{old}/").headers["Location"] == ADDRESS
