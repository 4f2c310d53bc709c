"""What all pages share: the bar, signing in, and the answers to those who may not."""

import re

import pytest
from django.contrib.auth.signals import user_login_failed
from django.test import override_settings
from django.utils import timezone

from benchdash.accounts.models import Role
from benchdash.articles.models import Article
from benchdash.dashboard.pages.home.views import TriesFromPlace, TriesOfAccount, TriesOfAccountFromPlace
from tests.alerts.incidents import make_incident
from tests.builders import PASSWORD, make_project, make_run, make_upload, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.dashboard.shell.guide")]


def text_of(answer):
    return answer.content.decode()


# --- who sees what ------------------------------------------------------------------------------------------


def test_a_page_is_painted_when_it_is_whole(client):
    page = client.get("/").content.decode()
    (awaited,) = re.findall(r'<link rel="expect" href="#([\w-]+)" blocking="render">', page)
    assert page.index("</main>") < page.index(f'id="{awaited}"')


def test_a_public_project_is_shown_to_anybody(client):
    project = make_project(public=True, name="Nightly")
    answer = client.get(f"/p/{project.slug}/guide/")
    assert answer.status_code == 200
    assert "<title>Guide · Nightly · benchdash</title>" in text_of(answer)


def test_a_private_project_does_not_exist_for_others(client):
    project = make_project()
    private, missing = client.get(f"/p/{project.slug}/guide/"), client.get("/p/missing-one/guide/")
    assert private.status_code == missing.status_code == 404
    assert text_of(private).replace(project.slug, "missing-one") == text_of(missing)


def test_a_member_sees_a_private_project(client):
    project = make_project()
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.get(f"/p/{project.slug}/guide/").status_code == 200


def test_who_may_not_is_told_so_and_what_to_do(client):
    project = make_project()
    client.force_login(make_user(member_of=project, role=Role.READER))
    answer = client.get(f"/p/{project.slug}/members-only/")
    assert answer.status_code == 403
    assert "this needs the scope &#x27;upload&#x27;" in text_of(answer)
    assert "You are signed in as alice@example.org" in text_of(answer)


def test_who_is_not_signed_in_is_asked_to_and_comes_back(client):
    project = make_project(public=True)
    address = f"/p/{project.slug}/members-only/"
    answer = client.get(address)
    assert answer["Location"] == f"/sign-in/?next={address}"
    make_user(member_of=project, password=PASSWORD)
    answer = client.post(answer["Location"], {"username": "alice@example.org", "password": PASSWORD})
    assert answer["Location"] == address
    assert text_of(client.get(address)) == "welcome"


def test_a_form_sent_by_nobody_comes_back_to_a_page_not_to_the_form(client):
    project = make_project(public=True)
    answer = client.post(f"/p/{project.slug}/members-only/")
    assert answer["Location"] == "/sign-in/?next=/"


def test_a_mistake_of_ours_is_a_page_without_details(client):
    client.raise_request_exception = False
    answer = client.get("/broken/")
    assert answer.status_code == 500
    assert "The mistake is ours" in text_of(answer)
    assert "ValueError" not in text_of(answer)


# --- what every page carries --------------------------------------------------------------------------------


def test_scripts_need_a_nonce_or_come_from_here(client):
    answer = client.get("/")
    policy = dict(part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";"))
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "'unsafe-eval'" not in policy["script-src"]
    assert " onclick=" not in text_of(answer)
    assert "<script>" not in text_of(answer)


def test_sample_data_is_named_with_its_notice_and_how_to_remove_it(client):
    project = make_project(public=True, is_sample=True, notice="A noisy machine measured this.")
    page = text_of(client.get(f"/p/{project.slug}/guide/"))
    assert "<strong>Sample data.</strong>" in page
    assert "manage.py remove_samples" in page
    # In the banner and under the chart.
    assert page.count("A noisy machine measured this.") == 2


def test_a_project_without_a_notice_has_no_banner(client):
    project = make_project(public=True)
    assert "notice-banner" not in text_of(client.get(f"/p/{project.slug}/guide/"))


def test_the_bar_offers_the_projects_that_the_viewer_may_see(client):
    public, private = make_project(public=True, name="Open one"), make_project(name="Secret one")
    address = f"/p/{public.slug}/guide/"
    assert "Secret one" not in text_of(client.get(address))
    client.force_login(make_user(member_of=private))
    assert "Secret one" in text_of(client.get(address))


def test_a_member_has_at_most_sixteen_destinations_in_the_bar_and_its_menus(client):
    project = make_project()
    client.force_login(make_user(member_of=project, role=Role.ADMIN))
    page = text_of(client.get(f"/p/{project.slug}/guide/"))
    bar = page[page.index('<header class="top-bar"') : page.index("</header>")]
    assert 10 < len(set(re.findall(r'href="([^"]+)"', bar))) <= 16


def test_names_are_escaped(client):
    project = make_project(public=True, name="<script>alert(1)</script>")
    assert "<script>alert" not in text_of(client.get(f"/p/{project.slug}/guide/"))


# --- the list of projects -----------------------------------------------------------------------------------


def test_the_list_of_projects_helps_who_sees_none(client):
    assert "No public project" in text_of(client.get("/"))
    user = make_user()
    client.force_login(user)
    assert "No project for you yet" in text_of(client.get("/"))
    user.is_superuser = True
    user.save()
    assert "Make the project" in text_of(client.get("/"))


def test_the_list_of_projects_counts_what_they_hold(client):
    make_run(project=make_project(public=True, name="Nightly"))
    page = text_of(client.get("/"))
    assert "Nightly" in page
    assert '<td class="number" data-label="Runs">1</td>' in page


def test_the_list_of_projects_takes_the_same_statements_however_many(client, django_assert_num_queries):
    for _ in range(3):
        make_project(public=True)
    with django_assert_num_queries(5):
        client.get("/")


# --- search -------------------------------------------------------------------------------------------------


def found(client, project, text):
    return text_of(client.get(f"/p/{project.slug}/search/", {"q": text}))


def test_all_words_of_a_search_must_be_in_one_name_in_any_case(client):
    project = make_project(public=True)
    make_run(project=project, workload="oltp_read_only")
    make_run(project=project, workload="oltp_read_write")
    make_run(project=project, workload="oltp_point_select")
    page = found(client, project, "READ oltp")
    assert ">oltp_read_only<" in page
    assert ">oltp_read_write<" in page
    assert ">oltp_point_select<" not in page


def test_a_search_finds_versions_by_their_commit(client):
    project = make_project(public=True)
    commit = "0123456789abcdef0123456789abcdef01234567"
    make_run(project=project, version="10.6.23", branch="main", commit=commit)
    assert "10.6.23" in found(client, project, "01234567")


def test_a_search_stays_within_its_project(client):
    project = make_project(public=True)
    make_run(project=make_project(), workload="secret_load")
    make_run(project=make_project(public=True), workload="secret_load_2")
    assert "Nothing has these words" in found(client, project, "secret_load")


def test_only_members_find_uploads(client):
    project = make_project(public=True)
    make_upload(project, name="nightly-42-a.txt")
    make_upload(project, name="nightly-42-b.txt")
    assert ">nightly-42-a.txt<" not in found(client, project, "nightly-42")
    client.force_login(make_user(member_of=project))
    assert ">nightly-42-a.txt<" in found(client, project, "nightly-42")


def test_words_are_found_in_any_part_of_a_version_but_not_across_two(client):
    project = make_project(public=True)
    make_run(project=project, product="MariaDB", version="10.6.23", build="debug", branch="main")
    assert ">10.6.23 debug<" in found(client, project, "debug mariadb 10.6")
    assert "Nothing has these words" in found(client, project, "23debug")


def test_a_branch_is_found_and_leads_to_its_history(client):
    project = make_project(public=True)
    make_run(project=project, branch="feature-x")
    assert f'href="/p/{project.slug}/history/?branch=feature-x">feature-x<' in found(
        client, project, "ture-X"
    )


def test_what_stands_for_any_letter_elsewhere_is_itself_in_a_search(client):
    project = make_project(public=True)
    make_run(project=project, workload="read_only")
    make_run(project=project, workload="read-write")
    page = found(client, project, "d_")
    assert ">read_only<" in page
    assert ">read-write<" not in page


def test_a_setting_is_found_and_so_is_the_incident_that_it_caused(client):
    project = make_project("bench", public=True)
    switched = {
        "good": {"settings": {"slow_query_log": "OFF"}},
        "slow": {"settings": {"slow_query_log": "ON"}},
    }
    caused = make_incident(project, **switched)
    make_incident(project, product="MySQL", status="withdrawn", **switched)
    page = found(client, project, "SLOW query")
    assert 'href="/p/bench/compare/settings/?setting=slow_query_log">slow_query_log<' in page
    assert re.findall(r"/incidents/(\d+)/", page) == [str(caused.pk)]


def test_metrics_and_articles_are_found_by_their_names(client):
    project = make_project("bench", public=True)
    make_run(project=project, readings={"latency_p95": 4.2})
    article = Article.objects.create(project=project, slug="cmt", title="Costs of hyper-threading")
    Article.objects.create(project=project, slug="old", title="Costs before", deleted_at=timezone.now())
    assert 'href="/p/bench/history/?metric=latency_p95">latency_p95<' in found(client, project, "p95")
    assert re.findall(r'/articles/([^/"]+)/', found(client, project, "costs")) == [article.slug]


def test_a_search_takes_the_same_few_statements(client, django_assert_num_queries):
    project = make_project(public=True)
    for version in ("10.6.23", "10.6.24"):
        make_run(project=project, version=version, settings={f"option_{version}": "1"})
        make_incident(project, product=f"MariaDB {version}")
    with django_assert_num_queries(6):
        found(client, project, "10.6")


@pytest.mark.parametrize("text", ["", "   ", "\x00", "%", "a" * 5000])
def test_any_text_may_be_searched_for(client, text):
    project = make_project(public=True)
    assert client.get(f"/p/{project.slug}/search/", {"q": text}).status_code == 200


# --- signing in and out -------------------------------------------------------------------------------------


def sign_in(client, password=PASSWORD, **headers):
    return client.post("/sign-in/", {"username": "Alice@example.org", "password": password}, **headers)


def test_signing_in_by_mail_address_in_any_case(client):
    make_user(password=PASSWORD)
    assert sign_in(client)["Location"] == "/"
    assert "Sign out" in text_of(client.get("/"))


def test_a_wrong_password_is_told_without_saying_which_was_wrong(client):
    make_user(password=PASSWORD)
    wrong = sign_in(client, password="something else")
    nobody = client.post("/sign-in/", {"username": "nobody@example.org", "password": PASSWORD})
    assert "No account has this e-mail address and password." in text_of(wrong)
    assert "No account has this e-mail address and password." in text_of(nobody)


def test_signing_in_leads_to_no_foreign_address(client):
    make_user(password=PASSWORD)
    answer = client.post(
        "/sign-in/?next=https://example.com/", {"username": "alice@example.org", "password": PASSWORD}
    )
    assert answer["Location"] == "/"


HERE, ELSEWHERE = {"REMOTE_ADDR": "192.0.2.6"}, {"REMOTE_ADDR": "192.0.2.7"}


@pytest.fixture
def limits(monkeypatch):
    """``limits(place=30)`` sets limits of a day, in which no minute ends."""

    def limits(*, of_account_from_place=1000, place=1000, of_account=1000):
        for throttle, most in (
            (TriesOfAccountFromPlace, of_account_from_place),
            (TriesFromPlace, place),
            (TriesOfAccount, of_account),
        ):
            monkeypatch.setattr(throttle, "get_rate", lambda self, most=most: f"{most}/day")

    return limits


@pytest.fixture
def tried():
    """The names of the accounts whose passwords were looked at."""
    tried = []

    def note(credentials, **_):
        tried.append(credentials["username"])

    user_login_failed.connect(note)
    yield tried
    user_login_failed.disconnect(note)


def test_ten_tries_a_minute_for_one_account_from_one_place_and_thirty_from_one_place(settings):
    rates = settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
    assert (rates["sign_in"], rates["sign_in_of_place"]) == ("10/min", "30/min")
    assert rates["sign_in_of_account"] == "100/min"


def test_a_try_too_many_is_refused_even_with_the_right_password(client, limits, tried):
    make_user(password=PASSWORD)
    limits(of_account_from_place=10)
    assert [sign_in(client, password="wrong", **HERE).status_code for _ in range(10)] == [200] * 10
    refused = sign_in(client, **HERE)
    assert refused.status_code == 429
    assert refused["Retry-After"] == "60"
    assert "Too many tries" in text_of(refused)
    assert len(tried) == 10
    assert sign_in(client, **ELSEWHERE).status_code == 302


def test_one_place_cannot_try_many_accounts(client, limits, tried):
    limits(place=5)
    for number in range(25):
        client.post("/sign-in/", {"username": f"user-{number}@example.org", "password": "x"}, **HERE)
    assert len(tried) == 5
    make_user(password=PASSWORD)
    assert sign_in(client, **HERE).status_code == 429
    assert sign_in(client, **ELSEWHERE).status_code == 302


def test_an_ipv6_network_is_one_place(client, limits, tried):
    limits(place=5)
    for number in range(9):
        sign_in(client, password="wrong", REMOTE_ADDR=f"2001:db8:0:1::{number}")
    assert len(tried) == 5
    sign_in(client, password="wrong", REMOTE_ADDR="2001:db8:0:2::1")
    assert len(tried) == 6


def test_many_places_cannot_try_one_account(client, limits, tried):
    make_user(password=PASSWORD)
    limits(of_account=5)
    answers = [
        sign_in(client, password="wrong", REMOTE_ADDR=f"192.0.2.{number}").status_code for number in range(7)
    ]
    assert answers == [200] * 5 + [429] * 2
    assert len(tried) == 5


def test_one_place_alone_locks_nobody_out_elsewhere(client, limits):
    make_user(password=PASSWORD)
    limits(of_account_from_place=3, of_account=6)
    for _ in range(20):
        sign_in(client, password="wrong", **HERE)
    assert sign_in(client, **ELSEWHERE).status_code == 302


def test_behind_a_proxy_a_place_is_the_address_that_the_proxy_appended(client, settings, limits):
    make_user(password=PASSWORD)
    settings.BEHIND_PROXY = True
    limits(of_account_from_place=10)
    # A client may write another address before it for each try.
    answers = [
        sign_in(client, password="wrong", HTTP_X_FORWARDED_FOR=f"198.51.100.{number}, 192.0.2.6").status_code
        for number in range(11)
    ]
    assert answers[-2:] == [200, 429]
    assert sign_in(client, HTTP_X_FORWARDED_FOR="192.0.2.6, 192.0.2.7").status_code == 302


def test_without_a_proxy_what_a_client_writes_of_its_address_counts_for_nothing(client, limits):
    make_user(password=PASSWORD)
    limits(of_account_from_place=10)
    answers = [
        sign_in(client, password="wrong", HTTP_X_FORWARDED_FOR=f"198.51.100.{number}").status_code
        for number in range(11)
    ]
    assert answers[-2:] == [200, 429]


@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "head", "options"])
def test_the_admin_s_own_sign_in_page_leads_to_ours(client, method, tried):
    said = {"username": "alice@example.org", "password": "x"} if method == "post" else None
    answer = getattr(client, method)("/admin/login/?next=/admin/accounts/user/", said)
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in/?next=/admin/accounts/user/"
    assert tried == []


def test_signing_in_for_the_admin_pages_leads_back_to_them(client):
    make_user(password=PASSWORD, is_staff=True)
    address = client.get("/admin/", follow=True).redirect_chain[-1][0]
    assert address == "/sign-in/?next=/admin/"
    answer = client.post(address, {"username": "alice@example.org", "password": PASSWORD}, follow=True)
    assert answer.status_code == 200
    assert answer.wsgi_request.path == "/admin/"


def test_who_is_signed_in_and_no_staff_is_told_so_and_not_sent_in_circles(client):
    client.force_login(make_user())
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 403
    assert "the admin pages are for staff" in text_of(answer)


def test_signing_in_works_while_redis_is_down(client, settings):
    make_user(password=PASSWORD)
    gone = {**settings.CACHES["default"], "LOCATION": "unix:///nowhere/redis.sock"}
    with override_settings(CACHES={"default": gone}):
        assert sign_in(client).status_code == 302


def test_signing_out_takes_a_form_not_a_link(client):
    client.force_login(make_user())
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/")["Location"] == "/"
    assert "Sign out" not in text_of(client.get("/"))
