import pytest

from benchdash.accounts.models import Project
from benchdash.alerts.mail_files import kept_mails, mails_are_files
from benchdash.alerts.models import Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import subscribe
from tests.alerts.incidents import make_incident
from tests.builders import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")
    return tmp_path / "mail"


def tell(project, *addresses):
    for address in addresses:
        subscribe(project, address)
    Subscription.objects.update(confirmed_at="2026-01-01T00:00Z")
    incident = make_incident(project)
    owe_alerts()
    send_owed_alerts()
    return incident


def test_mails_in_files_are_read_as_a_person_would():
    project = make_project("nightly")
    tell(project, "alice@example.org")
    [mail] = kept_mails(project, most=5)
    assert mail.address == "alice@example.org"
    assert mail.subject == "[benchdash] MariaDB main 10.11.19: -20.0 % in 1 of 12 series (oltp_read_only)"
    assert "tps: 1,000 → 800 (−20.0 %)" in mail.text
    assert mail.project_id == project.pk


def test_mails_of_other_projects_are_left_out():
    mine = tell(make_project(), "alice@example.org")
    tell(make_project(), "bob@example.org")
    assert [mail.address for mail in kept_mails(mine.project, most=5)] == ["alice@example.org"]


def test_only_so_many_are_read():
    incident = tell(make_project(), *[f"{name}@example.org" for name in "abcd"])
    assert len(kept_mails(incident.project, most=3)) == 3


def test_where_nothing_was_written_nothing_is_read(folder):
    assert kept_mails(Project(pk=1), most=5) == []
    folder.mkdir()
    (folder / "20261120-165803-1.log").write_bytes(b"\xff\x00 not a mail\n")
    assert kept_mails(Project(pk=1), most=5) == []


def test_with_a_mail_server_nothing_is_in_files(smtp):
    assert not mails_are_files()
