import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from playwright.sync_api import expect

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Project, Role, Scope, Token, Trust
from benchdash.accounts.services import create_token, find_token, revoke_token
from benchdash.alerts.models import Alert
from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.triage import triage
from benchdash.results.models import Run
from ingest.models import Removal
from ingest.removal import carry_on
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_run, make_user
from tests.dashboard.page_text import said_after, text_of

pytestmark = pytest.mark.django_db

MEMBERS_PAGES = ("notifications",)
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


def test_the_settings_have_a_tab_for_each_page_that_is_for_the_reader(client, project):
    client.force_login(make_user("reader", member_of=project, role=Role.READER))
    assert "/p/nightly/audit/" not in client.get("/p/nightly/share/").content.decode()
    client.force_login(make_user("member", member_of=project))
    assert "/p/nightly/audit/" in client.get("/p/nightly/share/").content.decode()


@pytest.mark.parametrize("page", ALL_PAGES)
def test_those_of_a_private_project_do_not_exist_for_outsiders(client, page):
    make_project("secret")
    client.force_login(make_user("outsider"))
    assert client.get(f"/p/secret/{page}/").status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        "tokens/1/revoke/",
        "trusts/",
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


def test_a_token_says_until_when_it_holds_and_for_which_machine(client, project, admin):
    sent = {"name": "ci", "scopes": ["upload"], "expires": "30", "hardware": "bench-03"}
    assert client.post("/p/nightly/tokens/", sent).status_code == 201
    token = Token.objects.get()
    assert (token.hardware, round((token.expires_at - token.created_at) / timedelta(days=1))) == (
        *("bench-03", 30),
    )
    assert "for bench-03 alone" in shown(client, "tokens")
    for days, text in ((3.01, "in 3 days"), (-3.01, "expired 3 days ago")):
        Token.objects.update(expires_at=timezone.now() + timedelta(days=days))
        assert text in shown(client, "tokens")
    sent = {"name": "ci", "scopes": ["upload", "admin"], "hardware": "bench-03"}
    assert "uploads and reads, and does nothing else" in text_of(client.post("/p/nightly/tokens/", sent))


def test_the_jobs_of_a_repository_are_trusted_on_the_page(client, project, admin):
    sent = {
        "issuer": "https://token.actions.githubusercontent.com",
        "repository": "org/name",
        "branch": "main",
        "scopes": ["upload"],
        "expires": "",
    }
    text = said_after(client, client.post("/p/nightly/trusts/", sent))
    assert "The jobs of org/name act as GitHub org/name" in text
    assert "org/name, branch main" in text
    again = client.post("/p/nightly/trusts/", sent)
    assert (again.status_code, Trust.objects.count()) == (422, 1)
    assert "The project trusts these jobs already" in text_of(again)
    entry = AuditEntry.objects.get(action="repository trusted")
    assert (entry.detail["branch"], entry.detail["expires"]) == ("main", "never")
    client.post(f"/p/nightly/tokens/{Token.objects.get().pk}/revoke/")
    assert client.post("/p/nightly/trusts/", sent).status_code == 302


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
        {"compare_template": "https://git.example.org/{from}"},
        {"bug_template": "javascript:{bug}"},
    ],
)
def test_settings_that_cannot_be_are_refused(client, project, admin, sent):
    answer = client.post("/p/nightly/settings/", {**SETTINGS, **sent})
    assert answer.status_code == 422
    project.refresh_from_db()
    assert (project.name, project.is_public) == ("nightly", True)


def test_a_project_says_where_its_commits_and_bugs_are(client, project, admin):
    sent = {
        "compare_template": " https://git.example.org/compare/{from}...{to}",
        "bug_template": "https://bugs.example.org/{bug}",
    }
    said_after(client, client.post("/p/nightly/settings/", {**SETTINGS, **sent}))
    project.refresh_from_db()
    assert project.options == {name: template.strip() for name, template in sent.items()}
    said_after(client, client.post("/p/nightly/settings/", SETTINGS))
    project.refresh_from_db()
    assert project.options == {}


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
