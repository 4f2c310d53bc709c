import io
import json
import stat

import pytest
from django.core.management import call_command
from django.urls import reverse

from benchdash.accounts import services
from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project, Token, User
from benchdash.launcher import run_file
from benchdash.launcher.first_access import ADMIN, Access, make_access, remembered
from tests.builders import make_project

pytestmark = pytest.mark.django_db


def test_an_empty_database_gets_an_admin_a_project_and_a_token():
    access = make_access(None)
    admin = User.objects.get()
    assert (access.user, admin.email, admin.is_superuser) == (ADMIN, ADMIN, True)
    assert admin.check_password(access.password)
    assert services.find_token(access.token).project == Project.objects.get(slug=access.project)


def test_what_is_known_stays():
    first = make_access(None)
    assert make_access(remembered(first.as_json())) == first


def test_without_its_file_nothing_is_reset_and_nothing_made():
    first = make_access(None)
    assert make_access(None) == Access(user=ADMIN, password=None, project=None, token=None)
    assert User.objects.get().check_password(first.password)
    assert services.find_token(first.token)
    assert Token.objects.count() == Project.objects.count() == 1


def test_a_database_of_other_people_gets_no_admin():
    make_project("theirs")
    assert make_access(None).password is None
    assert not User.objects.exists()
    assert not Token.objects.exists()


def test_a_password_that_was_changed_is_not_told_and_not_reset():
    first = make_access(None)
    admin = User.objects.get()
    admin.set_password("a better one of my own")
    admin.save()
    again = make_access(first)
    assert (again.password, again.token) == (None, first.token)
    assert User.objects.get().check_password("a better one of my own")


def test_a_token_that_was_revoked_is_not_told_and_not_replaced():
    first = make_access(None)
    services.revoke_token(Token.objects.get(), by=Viewer(user=User.objects.get()))
    again = make_access(first)
    assert (again.project, again.token, again.password) == (None, None, first.password)
    assert Token.objects.count() == 1


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"admin": null}'])
def test_a_damaged_file_tells_nothing(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    assert remembered(run_file.read(tmp_path)) is None


# --- manage.py reset_admin ----------------------------------------------------------------------------------


def reset(settings, var):
    settings.VAR_DIR = var
    output = io.StringIO()
    call_command("reset_admin", stdout=output)
    return output.getvalue().splitlines()[-1]


def test_a_new_password_is_printed_and_ends_the_sessions_of_the_old_one(client, settings, tmp_path):
    first = make_access(None)
    page = reverse("admin:index")
    client.force_login(User.objects.get())
    assert client.get(page).status_code == 200
    password = reset(settings, tmp_path)
    assert client.get(page).status_code == 302
    assert password != first.password
    assert client.login(username=ADMIN, password=password)
    assert client.get(page).status_code == 200


def test_an_admin_who_is_missing_is_made_and_one_who_was_locked_out_comes_in(settings, tmp_path):
    assert User.objects.count() == 0
    reset(settings, tmp_path)
    User.objects.update(is_active=False, is_staff=False, is_superuser=False)
    password = reset(settings, tmp_path)
    admin = User.objects.get()
    assert admin.check_password(password)
    assert admin.is_active
    assert admin.is_staff
    assert admin.is_superuser


def test_the_run_file_is_told_and_stays_private(settings, tmp_path):
    run_file.write(tmp_path, {"url": "http://127.0.0.1:8000", **make_access(None).as_json()})
    before = run_file.read(tmp_path)
    password = reset(settings, tmp_path)
    assert json.loads((tmp_path / "run.json").read_text()) == {
        **before,
        "admin": {"user": ADMIN, "password": password},
    }
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == 0o600


def test_where_there_is_no_run_file_none_is_made(settings, tmp_path):
    reset(settings, tmp_path)
    assert list(tmp_path.iterdir()) == []
