import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from playwright.sync_api import expect

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Project, Role, Scope, Token
from benchdash.accounts.services import create_token, find_token, revoke_token
from benchdash.alerts.models import Alert, Confirmation, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import confirm, subscribe
from benchdash.regressions.triage import triage
from benchdash.results.models import Run
from ingest.models import Removal
from ingest.removal import carry_on
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_run, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

MEMBERS_PAGES = ("subscriptions", "alerts")
TRIAGE_PAGES = ("audit",)
ADMINS_PAGES = ("tokens", "settings")
ALL_PAGES = (*MEMBERS_PAGES, *TRIAGE_PAGES, *ADMINS_PAGES)


@pytest.fixture
def project():
    return make_project("nightly", public=True)


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


@pytest.fixture
def admin(client, project):
    user = make_user("root", member_of=project, role=Role.ADMIN)
    client.force_login(user)
    return user


def shown(client, page, **query):
    return text_of(client.get(f"/p/nightly/{page}/", query))


def said_after(client, answer):
    """What the page says to which a form leads."""
    assert answer.status_code == 302, text_of(answer)
    return text_of(client.get(answer["Location"]))


# --- who may see these pages ------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ALL_PAGES)
def test_these_pages_are_not_for_everybody(client, project, page):
    address = f"/p/nightly/{page}/"
    assert client.get(address)["Location"] == f"/sign-in/?next={address}"
    client.force_login(make_user("outsider"))
    assert client.get(address).status_code == 403
    client.force_login(make_user("reader", member_of=project, role=Role.READER))
    assert client.get(address).status_code == (200 if page in MEMBERS_PAGES else 403)
    client.force_login(make_user("member", member_of=project))
    assert client.get(address).status_code == (403 if page in ADMINS_PAGES else 200)
    client.force_login(make_user("admin", member_of=project, role=Role.ADMIN))
    assert client.get(address).status_code == 200


def test_the_bar_leads_readers_to_the_pages_that_are_for_them(client, project):
    client.force_login(make_user("reader", member_of=project, role=Role.READER))
    assert "/p/nightly/audit/" not in client.get("/p/nightly/runs/").content.decode()
    client.force_login(make_user("member", member_of=project))
    assert "/p/nightly/audit/" in client.get("/p/nightly/runs/").content.decode()


@pytest.mark.parametrize("page", ALL_PAGES)
def test_those_of_a_private_project_do_not_exist_for_outsiders(client, page):
    make_project("secret")
    client.force_login(make_user("outsider"))
    assert client.get(f"/p/secret/{page}/").status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        "tokens/1/revoke/",
        "settings/delete/",
        "settings/members/",
        "settings/members/1/role/",
        "settings/members/1/remove/",
    ],
)
def test_what_admins_do_is_refused_to_members(client, project, member, address):
    assert client.post(f"/p/nightly/{address}", {"slug": "nightly"}).status_code == 403
    assert Project.objects.filter(slug="nightly").exists()


@pytest.mark.parametrize("page", ALL_PAGES)
def test_a_page_takes_as_many_statements_for_one_row_as_for_many(client, project, admin, page):
    def statements():
        with CaptureQueriesContext(connection) as captured:
            shown(client, page)
        return len(captured)

    def add(name):
        user = make_user(name, member_of=project)
        subscribe(project, user.email, by=Viewer(user=user))
        create_token(project, name, [Scope.UPLOAD], by=Viewer(user=user))
        incident = make_incident(project, branch=name)
        Alert.objects.create(project=project, incident=incident, address=user.email)

    add("a")
    one = statements()
    for name in "bcdef":
        add(name)
    assert statements() == one


# --- subscriptions ----------------------------------------------------------------------------------------


def test_a_member_subscribes_an_address_with_filters(client, project, member):
    run = make_run(project=project, product="MariaDB", hardware="bench-03", branch="main")
    assert 'value="main"' in client.get("/p/nightly/subscriptions/").content.decode()
    sent = {
        "address": "List@Example.org",
        "product": run.version.product_id,
        "branch": "main",
        "hardware": run.hardware_id,
    }
    text = said_after(client, client.post("/p/nightly/subscriptions/", sent))
    assert "list@example.org gets a mail with a link." in text
    assert "list@example.org MariaDB main bench-03 waiting for confirmation" in text
    assert Subscription.objects.get().user is None
    text = said_after(client, client.post("/p/nightly/subscriptions/", sent))
    assert "list@example.org was subscribed to this already." in text


def test_one_s_own_subscription_ends_with_the_membership(client, project, member):
    client.post("/p/nightly/subscriptions/", {"address": "ALICE@example.org"})
    assert Subscription.objects.get().user == member


def test_what_is_no_address_is_said_at_its_field(client, project, member):
    answer = client.post("/p/nightly/subscriptions/", {"address": "alice"})
    assert answer.status_code == 422
    assert "Enter a valid email address." in text_of(answer)
    assert not Subscription.objects.exists()


def test_products_of_other_projects_cannot_be_chosen(client, project, member):
    other = make_run(project=make_project(), product="Secret product")
    assert "Secret product" not in shown(client, "subscriptions")
    sent = {"address": "a@example.org", "product": other.version.product_id}
    assert client.post("/p/nightly/subscriptions/", sent).status_code == 422


def test_a_reader_subscribes_themselves_and_nobody_else(client, project):
    client.force_login(make_user(member_of=project, role=Role.READER))
    client.post("/p/nightly/subscriptions/", {"address": "boss@example.org"})
    assert Subscription.objects.get().address == "alice@example.org"


def test_readers_see_their_own_subscriptions_and_alerts_and_no_other_address(client, project):
    incident = make_incident(project)
    for name in ("alice", "boss"):
        subscribe(project, f"{name}@example.org")
        Alert.objects.create(project=project, incident=incident, address=f"{name}@example.org")
    client.force_login(make_user(member_of=project, role=Role.READER))
    for page in ("subscriptions", "alerts", f"incidents/{incident.pk}"):
        text = shown(client, page)
        assert "alice@example.org" in text.partition("Sign out")[2]
        assert "boss@example.org" not in text


def test_who_was_asked_can_be_asked_again_within_limits(client, project, member):
    client.post("/p/nightly/subscriptions/", {"address": "list@example.org"})
    waiting = Subscription.objects.get()
    again = f"/p/nightly/subscriptions/{waiting.pk}/ask-again/"
    for _ in range(2):
        assert "list@example.org gets another mail with the link." in said_after(client, client.post(again))
    assert "was asked to confirm 3 times within a day" in said_after(client, client.post(again))
    assert Confirmation.objects.count() == 3
    confirm(waiting, by=Viewer())
    assert client.post(again).status_code == 404
    assert "Ask again" not in shown(client, "subscriptions")


def test_an_address_that_was_asked_too_often_is_told_at_its_field(client, project, member):
    for branch in ("a", "b", "c"):
        client.post("/p/nightly/subscriptions/", {"address": "list@example.org", "branch": branch})
    answer = client.post("/p/nightly/subscriptions/", {"address": "list@example.org", "branch": "d"})
    assert answer.status_code == 422
    assert "was asked to confirm 3 times within a day" in text_of(answer)


def test_readers_ask_nobody(client, project):
    waiting, _ = subscribe(project, "list@example.org", by=Viewer(user=make_user("bob")))
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.post(f"/p/nightly/subscriptions/{waiting.pk}/ask-again/").status_code == 403


def test_subscriptions_are_ended_by_their_own_or_by_who_triages(client, project):
    subscribe(project, "alice@example.org")
    subscribe(project, "bob@example.org")
    own, other = (Subscription.objects.get(address=f"{name}@example.org") for name in ("alice", "bob"))
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.post(f"/p/nightly/subscriptions/{other.pk}/end/").status_code == 403
    text = said_after(client, client.post(f"/p/nightly/subscriptions/{own.pk}/end/"))
    assert "The subscription of alice@example.org has ended." in text
    client.force_login(make_user("carol", member_of=project))
    client.post(f"/p/nightly/subscriptions/{other.pk}/end/")
    assert not Subscription.objects.exists()
    assert client.post(f"/p/nightly/subscriptions/{other.pk}/end/").status_code == 404


def test_a_subscription_of_another_project_cannot_be_ended_here(client, project, member):
    subscription, _ = subscribe(make_project(), "bob@example.org")
    assert client.post(f"/p/nightly/subscriptions/{subscription.pk}/end/").status_code == 404


# --- confirming by mail -----------------------------------------------------------------------------------


@pytest.fixture
def waiting(project):
    return subscribe(project, "list@example.org", branch="main", by=Viewer(user=make_user("bob")))[0]


def test_the_link_that_confirms_asks_and_changes_nothing(stranger, waiting):
    text = text_of(stranger.get(f"/confirm/{waiting.key}/"))
    assert "list@example.org will be told of confirmed regressions of nightly : every product, main" in text
    waiting.refresh_from_db()
    assert waiting.confirmed_at is None


def test_the_button_confirms(stranger, waiting):
    address = f"/confirm/{waiting.key}/"
    assert stranger.post(address).status_code == 403
    form = stranger.get(address).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)[1]
    assert "The subscription is confirmed" in text_of(stranger.post(address, {"csrfmiddlewaretoken": token}))
    waiting.refresh_from_db()
    assert waiting.confirmed_at is not None
    assert "The subscription is confirmed" in text_of(stranger.get(address))


@pytest.mark.parametrize("key", ["nonsense", "%00", "x" * 500])
def test_an_unknown_key_confirms_nothing(stranger, key):
    assert stranger.get(f"/confirm/{key}/").status_code == 404
    assert stranger.post(f"/confirm/{key}/").status_code in (403, 404)


# --- unsubscribing by mail --------------------------------------------------------------------------------


@pytest.fixture
def subscription(project):
    return subscribe(project, "alice@example.org", branch="main")[0]


@pytest.fixture
def stranger():
    """A browser that is nobody, and a server that wants the mark against forged forms."""
    return Client(enforce_csrf_checks=True)


def test_the_link_of_a_mail_asks_and_changes_nothing(stranger, subscription):
    answer = stranger.get(f"/unsubscribe/{subscription.key}/")
    assert "alice@example.org is told of confirmed regressions of nightly : every product, main" in text_of(
        answer
    )
    assert Subscription.objects.exists()


def test_the_button_ends_the_subscription(stranger, subscription):
    address = f"/unsubscribe/{subscription.key}/"
    assert stranger.post(address).status_code == 403
    form = stranger.get(address).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)[1]
    answer = stranger.post(address, {"csrfmiddlewaretoken": token})
    assert "The subscription has ended" in text_of(answer)
    assert not Subscription.objects.exists()
    assert AuditEntry.objects.get().action == "unsubscribed"
    assert stranger.get(address).status_code == 404


def test_a_mail_program_ends_it_with_one_click(stranger, subscription):
    address = f"/unsubscribe/{subscription.key}/"
    for _ in range(2):
        assert stranger.post(address, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert not Subscription.objects.exists()


@pytest.mark.parametrize("key", ["nonsense", "%00", "x" * 500])
def test_an_unknown_key_is_not_found(stranger, key):
    assert stranger.get(f"/unsubscribe/{key}/").status_code == 404


# --- alerts -----------------------------------------------------------------------------------------------


def test_alerts_are_listed_with_what_became_of_them(client, project, member):
    now = timezone.now()
    for address, fields in {
        "sent@example.org": {"sent_at": now},
        "owed@example.org": {},
        "failing@example.org": {"error": "no such mailbox", "attempts": 3, "retry_at": now},
    }.items():
        Alert.objects.create(project=project, incident=make_incident(project), address=address, **fields)
    text = shown(client, "alerts")
    assert "MariaDB main sent@example.org ✓ sent" in text
    assert "MariaDB main owed@example.org … owed" in text
    assert "MariaDB main failing@example.org × failing" in text
    assert "3 no such mailbox next try" in text
    for state in ("sent", "owed", "failing"):
        chosen = shown(client, "alerts", state=state)
        assert [name for name in ("sent", "owed", "failing") if f"{name}@example.org" in chosen] == [state]


def test_that_mail_is_held_stands_above_the_alerts(client, project, member, settings):
    Alert.objects.create(project=project, incident=make_incident(project), address="owed@example.org")
    assert "Mail is held" not in shown(client, "alerts")
    settings.HOLD_MAIL = True
    text = shown(client, "alerts")
    assert "Mail is held ( HOLD_MAIL=1 ): nothing is sent, and what is owed stays owed." in text
    assert "owed@example.org … owed" in text


def test_what_is_too_old_to_be_mailed_says_so(client, project, member, settings):
    incident = make_incident(project, confirmed_at=timezone.now() - settings.HISTORICAL_AFTER)
    Alert.objects.create(project=project, incident=incident, address="old@example.org", error="x")
    assert "old@example.org too old to mail" in shown(client, "alerts")


def test_one_that_fails_is_tried_at_once_when_asked(client, project, member):
    alert = Alert.objects.create(
        project=project,
        incident=make_incident(project),
        address="a@example.org",
        error="x",
        retry_at=timezone.now(),
    )
    text = said_after(client, client.post(f"/p/nightly/alerts/{alert.pk}/retry/"))
    assert "The mail to a@example.org is tried again" in text
    alert.refresh_from_db()
    assert alert.retry_at is None
    other = make_project("other", public=True)
    alert.project = other
    alert.save()
    assert client.post(f"/p/nightly/alerts/{alert.pk}/retry/").status_code == 404


def test_without_a_mail_server_its_mails_are_shown(client, project, member, settings, tmp_path):
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    for place, address in ((project, "alice@example.org"), (make_project(), "secret@example.org")):
        subscribe(place, address)
        Subscription.objects.update(confirmed_at="2026-01-01T00:00Z")
        make_incident(place)
    owe_alerts()
    send_owed_alerts()
    text = shown(client, "alerts")
    assert "This installation has no mail server" in text
    assert (
        "[nightly] MariaDB on main: oltp_read_only slower since 10.11.19, −20.0 % to alice@example.org"
        in text
    )
    assert "tps: 1,000 → 800 (−20.0 %)" in text
    assert "secret@example.org" not in text
    client.force_login(make_user("reader", member_of=project, role=Role.READER))
    assert "tps: 1,000" not in shown(client, "alerts")


def test_with_a_mail_server_nothing_is_said_of_files(client, project, member, smtp):
    assert "no mail server" not in shown(client, "alerts")


# --- tokens -----------------------------------------------------------------------------------------------


def test_a_new_token_is_shown_once_with_a_command_to_use_it(client, project, admin, settings):
    settings.SITE_URL = "https://bench.example.org"
    answer = client.post("/p/nightly/tokens/", {"name": "bench-03", "scopes": ["upload", "read"]})
    assert answer.status_code == 201
    assert "no-store" in answer["Cache-Control"]
    text = text_of(answer)
    secret = re.search(r"\bbd_[\w-]{20,}", text)[0]
    assert f"curl -H 'Authorization: Bearer {secret}'" in text
    assert "https://bench.example.org/api/v1/uploads/" in text
    token = find_token(secret)
    assert (token.name, token.scopes, token.created_by) == ("bench-03", ["read", "upload"], admin)
    again = shown(client, "tokens")
    assert secret not in again
    assert f"bench-03 {secret[:10]}… read, upload" in again


@pytest.mark.parametrize(
    "sent", [{"name": " ", "scopes": ["upload"]}, {"name": "x"}, {"name": "x", "scopes": ["root"]}]
)
def test_a_token_needs_a_name_and_scopes_that_exist(client, project, admin, sent):
    answer = client.post("/p/nightly/tokens/", sent)
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()
    assert not Token.objects.exists()


def test_a_revoked_token_is_refused_and_stays_listed(client, project, admin):
    token, secret = create_token(project, "bench-03", [Scope.UPLOAD])
    page = client.get("/p/nightly/tokens/").content.decode()
    assert f'data-confirm="Revoke the token {token}?' in page
    text = said_after(client, client.post(f"/p/nightly/tokens/{token.pk}/revoke/"))
    assert "is revoked." in text
    assert "× revoked" in text
    assert find_token(secret) is None
    assert client.post(f"/p/nightly/tokens/{token.pk}/revoke/").status_code == 404


def test_a_token_of_another_project_cannot_be_revoked_here(client, project, admin):
    token, secret = create_token(make_project(), "x", [Scope.UPLOAD])
    assert client.post(f"/p/nightly/tokens/{token.pk}/revoke/").status_code == 404
    assert find_token(secret)


# --- settings ---------------------------------------------------------------------------------------------

SETTINGS = {
    "name": "Nightly",
    "visibility": "public",
    "notice": "",
    "historical_after_days": "",
    "stall_below": "",
}


def test_settings_are_changed_and_noted(client, project, admin):
    sent = {
        **SETTINGS,
        "visibility": "private",
        "notice": "A noisy machine.",
        "raw_files_are_public": "on",
        "historical_after_days": "30",
        "stall_below": "7",
    }
    text = said_after(client, client.post("/p/nightly/settings/", sent))
    assert "The settings are saved." in text
    project.refresh_from_db()
    assert (project.name, project.is_public, project.notice) == ("Nightly", False, "A noisy machine.")
    assert (project.raw_files_are_public, project.options) == (
        True,
        {"historical_after_days": 30, "stall_below": 0.07},
    )
    detail = AuditEntry.objects.get().detail
    assert detail["visibility"] == "public → private"
    assert detail["options"] == "{} → {'historical_after_days': 30, 'stall_below': 0.07}"
    form = client.get("/p/nightly/settings/").content.decode()
    assert re.search(r'name="stall_below" value="7\.0"', form)
    client.post("/p/nightly/settings/", SETTINGS)
    project.refresh_from_db()
    assert project.options == {}


@pytest.mark.parametrize(
    "sent",
    [
        {"name": ""},
        {"visibility": "secret"},
        {"historical_after_days": "-1"},
        *({"stall_below": text} for text in ("-1", "101", "inf", "much")),
        {"stall_min_s": "-1"},
        {"stall_warmup_s": "nan"},
        {"lines_not_compared": "10.6"},
        {"lines_not_compared": "10.6 -> "},
        {"branch_origins": "main -> 11.8 -> 11.4"},
        {"release_line_order": "x" * 5001},
    ],
)
def test_settings_that_cannot_be_are_refused(client, project, admin, sent):
    answer = client.post("/p/nightly/settings/", {**SETTINGS, **sent})
    assert answer.status_code == 422
    project.refresh_from_db()
    assert (project.name, project.is_public) == ("nightly", True)


def test_a_project_says_how_its_release_lines_and_branches_follow_each_other(client, project, admin):
    sent = {
        "release_line_order": "10.6\r\n 11.4 \r\n\r\n10.11",
        "lines_not_compared": "10.6 -> 11.0",
        "branch_origins": "main -> 11.8\r\nfeature-* -> 10.11.8",
    }
    said_after(client, client.post("/p/nightly/settings/", {**SETTINGS, **sent}))
    project.refresh_from_db()
    assert project.options == {
        "release_line_order": ["10.6", "11.4", "10.11"],
        "lines_not_compared": [["10.6", "11.0"]],
        "branch_origins": [["main", "11.8"], ["feature-*", "10.11.8"]],
    }
    form = client.get("/p/nightly/settings/").content.decode()
    assert "10.6\n11.4\n10.11</textarea>" in form
    assert "main -&gt; 11.8\nfeature-* -&gt; 10.11.8</textarea>" in form


def test_a_project_says_what_its_stalls_are(client, project, admin):
    assert "50 unless said here. It holds for" in client.get("/p/nightly/settings/").content.decode()
    sent = {"stall_below": "30", "stall_min_s": "2.5", "stall_warmup_s": "60"}
    said_after(client, client.post("/p/nightly/settings/", {**SETTINGS, **sent}))
    project.refresh_from_db()
    assert project.options == {"stall_below": 0.3, "stall_min_s": 2.5, "stall_warmup_s": 60.0}
    form = client.get("/p/nightly/settings/").content.decode()
    assert re.search(r'name="stall_below" value="30\.0"', form)
    assert re.search(r'name="stall_min_s" value="2\.5"', form)


def test_members_come_change_and_go(client, project, admin):
    bob = make_user("bob")
    text = said_after(
        client, client.post("/p/nightly/settings/members/", {"address": "Bob@example.org", "role": "reader"})
    )
    assert "bob@example.org is reader now." in text
    membership = bob.memberships.get()
    client.post(f"/p/nightly/settings/members/{membership.pk}/role/", {"role": "admin"})
    assert bob.memberships.get().role == "admin"
    text = said_after(client, client.post(f"/p/nightly/settings/members/{membership.pk}/remove/"))
    assert "bob@example.org is no member any more." in text
    assert not bob.memberships.exists()


def test_who_has_no_account_cannot_be_a_member(client, project, admin):
    answer = client.post("/p/nightly/settings/members/", {"address": "who@example.org", "role": "reader"})
    assert answer.status_code == 422
    assert "No account has the address who@example.org." in text_of(answer)


def test_the_only_admin_can_neither_leave_nor_step_down(client, project, admin):
    membership = admin.memberships.get()
    for address, sent in (("role", {"role": "reader"}), ("remove", {})):
        text = said_after(
            client, client.post(f"/p/nightly/settings/members/{membership.pk}/{address}/", sent)
        )
        assert "Nothing was changed: root@example.org is the only admin" in text
    assert admin.memberships.get().role == "admin"


def test_an_admin_who_leaves_is_led_to_what_they_may_still_see(client, project, admin):
    make_user("bob", member_of=project, role=Role.ADMIN)
    answer = client.post(f"/p/nightly/settings/members/{admin.memberships.get().pk}/remove/")
    assert answer["Location"] == "/"
    assert "root@example.org is no member any more." in said_after(client, answer)


def test_a_member_of_another_project_is_out_of_reach(client, project, admin):
    other = make_user("bob", member_of=make_project())
    address = f"/p/nightly/settings/members/{other.memberships.get().pk}/remove/"
    assert client.post(address).status_code == 404


def test_a_project_is_deleted_once_its_name_was_typed(client, project, admin):
    make_run(project=project)
    answer = client.post("/p/nightly/settings/delete/", {"slug": "nigthly"})
    assert answer.status_code == 422
    assert "That is not nightly; nothing was deleted." in text_of(answer)
    assert Run.objects.exists()
    answer = client.post("/p/nightly/settings/delete/", {"slug": "nightly"})
    assert answer["Location"] == "/deleted-projects/"
    [removal] = Removal.objects.all()
    assert removal.asked_by == admin
    assert client.get("/p/nightly/settings/")["Location"] == "/deleted-projects/"
    carry_on(removal)
    assert not Project.objects.exists()
    assert client.get("/p/nightly/settings/").status_code == 404


# --- the audit log ----------------------------------------------------------------------------------------


def test_the_audit_log_says_who_did_what_why(client, project, member):
    triage(make_incident(project), by=Viewer(user=member), state="expected", reason="the new default")
    token, _ = create_token(project, "bench-03", [Scope.UPLOAD, Scope.READ], by=Viewer(user=member))
    revoke_token(token, by=Viewer(token=token))
    text = shown(client, "audit")
    assert "Alice incident triaged incident" in text
    assert "state new → expected the new default" in text
    assert "Alice token created bench-03" in text
    assert "scopes read, upload" in text
    assert "token bench-03" in text
    chosen = shown(client, "audit", action="incident triaged")
    assert "incident triaged incident" in chosen
    assert "Alice token created" not in chosen
    assert "Alice" not in shown(client, "audit", token="bench-03").split("Reason")[1]
    assert "token revoked" not in shown(client, "audit", user="alice@example.org").split("Reason")[1]


def test_an_empty_audit_log_says_what_will_be_there(client, project, member):
    assert "Nothing was changed yet" in shown(client, "audit")


# --- in the browser ---------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_token_is_made_and_revoked_in_the_browser(chromium_page, sign_in):
    project = make_project("nightly")
    sign_in(make_user(member_of=project, role=Role.ADMIN))
    page = chromium_page
    page.goto("/p/nightly/tokens/")
    page.get_by_label("Name").fill("bench-03")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_role("status")).to_contain_text("Copy its secret now")
    assert find_token(page.locator(".command code").first.text_content())
    page.get_by_role("button", name="Revoke").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("Revoke the token bench-03")
    question.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_contain_text("is revoked")
    assert Token.objects.get().revoked_at is not None
