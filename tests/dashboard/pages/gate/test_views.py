"""The page of the gate, to which jobs of continuous integration link."""

import pytest

from tests.builders import make_project, make_series
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db
STEADY = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0]


@pytest.fixture
def project():
    return make_project("amber", public=True)


def test_a_first_measurement_has_no_base_and_a_page(client, project):
    make_series(STEADY, project=project, branch="main")
    make_series([250.0], project=project, branch="main", workload="oltp_insert")
    answer = client.get(f"/p/amber/gate/?branch=main&commit={1:040x}")
    assert answer.status_code == 200
    assert "oltp_insert 4 – no base transactions per second box – 250.0" in text_of(answer)


def test_a_beginning_of_several_commits_leads_to_each_of_them(client, project):
    make_series(STEADY[:2], project=project, branch="main")
    page = client.get("/p/amber/gate/?branch=main&commit=0000000&workload=x").content.decode()
    address = f"?branch=main&amp;commit={2:040x}&amp;workload=x"
    assert f'href="{address}"' in page
    assert "nothing was measured" not in page


def test_nothing_asked_says_how_to_ask(client, project):
    assert "?pull_request=12" in text_of(client.get("/p/amber/gate/"))
