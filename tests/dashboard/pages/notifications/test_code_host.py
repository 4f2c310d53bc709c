"""The page that connects a project with the code host of its pull requests."""

import pytest

from benchdash.accounts.models import Role
from benchdash.alerts.models import CodeHost
from tests.alerts.conftest import project, server  # noqa: F401 - fixtures
from tests.builders import make_user
from tests.code_host_server import REPOSITORY, SECRET
from tests.dashboard.page_text import said_after, text_of

pytestmark = pytest.mark.django_db
ADDRESS = "/p/quartz/notifications/"


@pytest.fixture
def admin(client, project):  # noqa: F811 - the fixture
    client.force_login(make_user("admin", member_of=project, role=Role.ADMIN))
    return client


def test_an_admin_connects_tries_and_disconnects_and_never_sees_the_token(admin, server):  # noqa: F811
    said = {
        "add": "code-host",
        "kind": "gitlab",
        "repository": f"/{REPOSITORY}/",
        "secret": SECRET,
        "api_url": server.url,
    }
    text = said_after(admin, admin.post(ADDRESS, said))
    assert f"Pull requests of GitLab {REPOSITORY} are answered from now on." in text
    assert "No pull request was measured since." in text
    assert SECRET not in admin.get(ADDRESS).content.decode()
    assert "the token may read it" in said_after(admin, admin.post(f"{ADDRESS}pull-requests/test/"))
    server.down = True
    assert "was not reached: it answered 503" in said_after(
        admin, admin.post(f"{ADDRESS}pull-requests/test/")
    )
    assert "not answered any more" in said_after(admin, admin.post(f"{ADDRESS}pull-requests/remove/"))
    assert not CodeHost.objects.exists()


def test_what_is_wrong_is_said_beside_the_form_and_the_address_may_be_left_out(admin, server):  # noqa: F811
    said = {"add": "code-host", "kind": "github", "repository": "no repository", "secret": "x"}
    answer = admin.post(ADDRESS, said)
    assert answer.status_code == 422
    assert "This is no repository" in text_of(answer)
    server.down = True
    answer = admin.post(ADDRESS, {**said, "repository": REPOSITORY, "api_url": server.url})
    assert "was not reached: it answered 503" in text_of(answer)


def test_it_is_for_admins(client, project):  # noqa: F811 - the fixture
    client.force_login(make_user("member", member_of=project))
    assert "On pull requests" not in text_of(client.get(ADDRESS))
    assert client.post(ADDRESS, {"add": "code-host"}).status_code == 403
    assert client.post(f"{ADDRESS}pull-requests/test/").status_code == 403
