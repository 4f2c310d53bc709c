"""The page that says how changes are found, with this project's own figures."""

import pytest

from benchdash.accounts.models import Role
from benchdash.regressions.services import analyse_touched
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_series, make_user
from tests.dashboard.page_text import text_of
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("nightly", public=True)


def shown(client):
    return text_of(client.get("/p/nightly/how-changes-are-found/"))


def test_the_page_says_how_old_historical_is_and_what_is_the_same_in_this_project(client, project):
    project.options = {"historical_after_days": 5, "equivalence_margin": 0.035}
    project.save()
    text = shown(client)
    assert "more than 5 days before its files came in" in text
    assert "lies within 3.5 % of 1" in text.replace("\N{NO-BREAK SPACE}", " ")


def test_incidents_and_history_lead_to_it(client, project):
    make_series([100.0] * 3, project=project)
    for page in ("incidents", "history"):
        assert b'href="/p/nightly/how-changes-are-found/"' in client.get(f"/p/nightly/{page}/").content


def test_it_leads_to_the_chapter_on_statistics(client, project):
    assert b'href="/help/statistics/"' in client.get("/p/nightly/how-changes-are-found/").content


# --- the rule -----------------------------------------------------------------------------------------------


@pytest.fixture
def admin(client, project):
    user = make_user("ada", member_of=project, role=Role.ADMIN)
    client.force_login(user)
    return user


RULE = "/p/nightly/how-changes-are-found/"


def test_who_may_not_change_the_rule_reads_it(client, project):
    project.options = {"smallest_change": 0.03, "min_confidence": 0.9, "silent_metrics": ["latency_p95"]}
    project.save()
    text = shown(client).replace("\N{NO-BREAK SPACE}", " ")
    assert "The smallest change is 3.0 % of speed." in text
    assert "A change needs a confidence of 90.0 % ." in text
    assert "make incidents, but for response time" in text
    assert "Save" not in text


def test_an_administrator_saves_a_rule(client, project, admin):
    make_incident(project)
    assert 'action="/p/nightly/how-changes-are-found/change/"' in client.get(RULE).content.decode()
    answer = client.post(f"{RULE}change/", {"smallest_change": "5", "silent_metrics": "tps"}, follow=True)
    assert "The rule is saved. Nobody is mailed about the past." in text_of(answer)
    project.refresh_from_db()
    assert project.options == {"smallest_change": 0.05, "silent_metrics": ["tps"]}


@pytest.mark.parametrize(
    "fields",
    [
        {"smallest_change": "0.4"},
        {"smallest_change": "91"},
        {"smallest_change": "nan"},
        {"min_confidence": "100"},
        {"equivalence_margin": "51"},
        {"silent_metrics": "no_such_metric"},
    ],
)
def test_a_rule_that_cannot_be_is_refused(client, project, admin, fields):
    make_series([100.0] * 3, project=project)
    answer = client.post(f"{RULE}change/", fields)
    assert answer.status_code == 422
    project.refresh_from_db()
    assert project.options == {}


def test_only_administrators_change_it(client, project):
    client.force_login(make_user("mel", member_of=project))
    assert client.post(f"{RULE}change/", {"smallest_change": "5"}).status_code in {403, 404}


def test_a_metric_that_is_not_looked_at_is_not_offered(client, project, admin):
    make_series([100.0] * 3, project=project)
    make_series([100.0] * 3, project=project, metric="latency_max")
    page = client.get(RULE).content.decode()
    assert 'value="tps"' in page
    assert 'value="latency_max"' not in page


def test_any_number_of_series_takes_the_same_statements(
    client, project, admin, django_assert_max_num_queries
):
    record_nights(project, [1.0] * 21, workloads=[f"w{number}" for number in range(8)])
    analyse_touched()
    with django_assert_max_num_queries(16):
        client.get(RULE)
