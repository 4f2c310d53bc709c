import re
from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Role
from benchdash.alerts.models import Alert, Confirmation, Subscription
from benchdash.alerts.subscriptions import confirm, subscribe
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_run, make_user
from tests.dashboard.page_text import said_after, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("nightly", public=True)


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


# What the form says where nothing is changed in it.
USUAL = {"kinds": ["regression", "drift"], "rhythm": "immediately"}


def shown(client, page, **query):
    return text_of(client.get(f"/p/nightly/{page}/", query))


def test_a_member_subscribes_an_address_with_filters(client, project, member):
    run = make_run(project=project, product="MariaDB", hardware="bench-03", branch="main")
    assert 'value="main"' in client.get("/p/nightly/notifications/").content.decode()
    sent = {
        **USUAL,
        "address": "List@Example.org",
        "product": run.version.product_id,
        "branch": "main",
        "hardware": run.hardware_id,
    }
    text = said_after(client, client.post("/p/nightly/notifications/", sent))
    assert "list@example.org gets a mail with a link." in text
    assert "list@example.org confirmed regressions and confirmed drifts MariaDB, main, bench-03" in text
    assert "at once waiting for confirmation" in text
    assert Subscription.objects.get().user is None
    text = said_after(client, client.post("/p/nightly/notifications/", sent))
    assert "list@example.org was subscribed to this already." in text


def test_one_s_own_subscription_ends_with_the_membership(client, project, member):
    client.post("/p/nightly/notifications/", {**USUAL, "address": "ALICE@example.org"})
    assert Subscription.objects.get().user == member


def test_what_is_no_address_is_said_at_its_field(client, project, member):
    answer = client.post("/p/nightly/notifications/", {"address": "alice"})
    assert answer.status_code == 422
    assert "Enter a valid email address." in text_of(answer)
    assert not Subscription.objects.exists()


def test_products_of_other_projects_cannot_be_chosen(client, project, member):
    other = make_run(project=make_project(), product="Secret product")
    assert "Secret product" not in shown(client, "notifications")
    sent = {**USUAL, "address": "a@example.org", "product": other.version.product_id}
    assert client.post("/p/nightly/notifications/", sent).status_code == 422


def test_a_reader_subscribes_themselves_and_nobody_else(client, project):
    client.force_login(make_user(member_of=project, role=Role.READER))
    client.post("/p/nightly/notifications/", {**USUAL, "address": "boss@example.org"})
    assert Subscription.objects.get().address == "alice@example.org"


def test_readers_see_their_own_subscriptions_and_alerts_and_no_other_address(client, project):
    incident = make_incident(project)
    for name in ("alice", "boss"):
        subscribe(project, f"{name}@example.org")
        Alert.objects.create(project=project, incident=incident, address=f"{name}@example.org")
    client.force_login(make_user(member_of=project, role=Role.READER))
    for page in ("notifications", f"incidents/{incident.pk}"):
        text = shown(client, page)
        assert "alice@example.org" in text.partition("Sign out")[2]
        assert "boss@example.org" not in text


def test_who_was_asked_can_be_asked_again_within_limits(client, project, member):
    client.post("/p/nightly/notifications/", {**USUAL, "address": "list@example.org"})
    waiting = Subscription.objects.get()
    again = f"/p/nightly/notifications/subscriptions/{waiting.pk}/ask-again/"
    for _ in range(2):
        assert "list@example.org gets another mail with the link." in said_after(client, client.post(again))
    assert "was asked to confirm 3 times within a day" in said_after(client, client.post(again))
    assert Confirmation.objects.count() == 3
    confirm(waiting, by=Viewer())
    assert client.post(again).status_code == 404
    assert "Ask again" not in shown(client, "notifications")


def test_an_address_that_was_asked_too_often_is_told_at_its_field(client, project, member):
    for branch in ("a", "b", "c"):
        client.post("/p/nightly/notifications/", {**USUAL, "address": "list@example.org", "branch": branch})
    answer = client.post("/p/nightly/notifications/", {**USUAL, "address": "list@example.org", "branch": "d"})
    assert answer.status_code == 422
    assert "was asked to confirm 3 times within a day" in text_of(answer)


def test_readers_ask_nobody(client, project):
    waiting, _ = subscribe(project, "list@example.org", by=Viewer(user=make_user("bob")))
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.post(f"/p/nightly/notifications/subscriptions/{waiting.pk}/ask-again/").status_code == 403


def test_subscriptions_are_ended_by_their_own_or_by_who_triages(client, project):
    subscribe(project, "alice@example.org")
    subscribe(project, "bob@example.org")
    own, other = (Subscription.objects.get(address=f"{name}@example.org") for name in ("alice", "bob"))
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.post(f"/p/nightly/notifications/subscriptions/{other.pk}/end/").status_code == 403
    text = said_after(client, client.post(f"/p/nightly/notifications/subscriptions/{own.pk}/end/"))
    assert "The subscription of alice@example.org has ended." in text
    client.force_login(make_user("carol", member_of=project))
    client.post(f"/p/nightly/notifications/subscriptions/{other.pk}/end/")
    assert not Subscription.objects.exists()
    assert client.post(f"/p/nightly/notifications/subscriptions/{other.pk}/end/").status_code == 404


def test_a_subscription_of_another_project_cannot_be_ended_here(client, project, member):
    subscription, _ = subscribe(make_project(), "bob@example.org")
    assert client.post(f"/p/nightly/notifications/subscriptions/{subscription.pk}/end/").status_code == 404


# --- wishes -----------------------------------------------------------------------------------------------


def test_a_digest_is_subscribed_to_by_the_form(client, project, member):
    sent = {
        "address": "alice@example.org",
        "kinds": ["regression", "silence"],
        "rhythm": "weekly",
        "workload_group": "writes",
        "smallest_change": "5",
        "hour": "7",
        "weekday": "4",
        "time_zone": "Europe/Berlin",
        "all_quiet": "on",
    }
    text = said_after(client, client.post("/p/nightly/notifications/", sent))
    assert "confirmed regressions and silences every product" in text
    assert "workloads of writes, changes from 5 % on" in text
    assert "on Fridays at 07:00 (Europe/Berlin), also when all is quiet" in text
    assert Subscription.objects.get().smallest_change == 0.05


def test_at_first_the_form_asks_for_little(client, project, member):
    form = client.get("/p/nightly/notifications/").content.decode()
    folded = form.partition('<details class="more-fields" >')
    assert 'name="rhythm"' in folded[0]
    assert 'name="time_zone"' in folded[2]


def test_a_subscription_is_changed_on_its_own_page(client, project, member):
    subscription, _ = subscribe(project, "bob@example.org", branch="main", hour=6, smallest_change=0.07)
    address = f"/p/nightly/notifications/subscriptions/{subscription.pk}/change/"
    form = client.get(address).content.decode()
    assert 'name="address"' not in form
    assert '<details class="more-fields" open>' in form
    assert re.search(r'name="smallest_change" value="7\.0"', form)
    sent = {**USUAL, "rhythm": "daily", "branch": "main", "hour": "6", "smallest_change": "7"}
    text = said_after(client, client.post(address, sent))
    assert "The subscription of bob@example.org is changed." in text
    assert "once a day at 06:00 (UTC)" in text
    subscription.refresh_from_db()
    assert (subscription.rhythm, subscription.branch, subscription.smallest_change) == ("daily", "main", 0.07)


def test_what_cannot_be_is_said_at_its_field(client, project, member):
    subscription, _ = subscribe(project, "alice@example.org")
    subscribe(project, "alice@example.org", branch="main")
    for sent, sentence in (
        ({"rhythm": "daily"}, "This field is required."),
        ({**USUAL, "smallest_change": "500"}, "less than or equal to 100"),
        ({**USUAL, "branch": "main"}, "has such a subscription already"),
    ):
        answer = client.post(f"/p/nightly/notifications/subscriptions/{subscription.pk}/change/", sent)
        assert answer.status_code == 422
        assert sentence in text_of(answer)


def test_readers_change_their_own_subscriptions_and_no_other(client, project):
    own, _ = subscribe(project, "alice@example.org")
    other, _ = subscribe(project, "bob@example.org")
    client.force_login(make_user(member_of=project, role=Role.READER))
    sent = {**USUAL, "rhythm": "daily"}
    assert client.post(f"/p/nightly/notifications/subscriptions/{other.pk}/change/", sent).status_code == 403
    assert client.post(f"/p/nightly/notifications/subscriptions/{own.pk}/change/", sent).status_code == 302
    rhythms = dict(Subscription.objects.values_list("address", "rhythm"))
    assert rhythms == {"alice@example.org": "daily", "bob@example.org": "immediately"}


def test_a_webhook_is_no_subscription_of_mail(client, project, member):
    hook = Subscription.objects.create(project=project, address="https://chat.example.org/secret")
    assert client.post(f"/p/nightly/notifications/subscriptions/{hook.pk}/end/").status_code == 404


# --- refused addresses ------------------------------------------------------------------------------------


def test_a_refused_address_is_shown_and_tried_again(client, project, member):
    subscription, _ = subscribe(project, "gone@example.org")
    now = timezone.now()
    Subscription.objects.update(refused_at=now, refused_since=now, refusals=1, refusal="550 no such mailbox")
    alert = Alert.objects.create(
        project=project,
        incident=make_incident(project),
        address=subscription.address,
        subscription=subscription,
        retry_at=now + timedelta(hours=5),
    )
    text = shown(client, "notifications")
    assert "gone@example.org × refused just now : 550 no such mailbox. It is tried again." in text
    Subscription.objects.update(refused_since=now - timedelta(days=5), refusals=9)
    assert "Nothing is sent to it any more." in shown(client, "notifications")
    again = client.post(f"/p/nightly/notifications/subscriptions/{subscription.pk}/try-again/")
    assert "What gone@example.org is owed is sent within 10 seconds." in said_after(client, again)
    subscription.refresh_from_db()
    alert.refresh_from_db()
    assert (subscription.refused_at, subscription.refusals, alert.retry_at) == (None, 0, None)
    assert "refused" not in shown(client, "notifications")
