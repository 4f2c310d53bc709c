from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from benchdash.accounts.tasks import clear_sessions
from benchdash.celery import app

pytestmark = pytest.mark.django_db


def test_sessions_that_have_expired_go_and_others_stay(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("lea@example.org"))
    Session.objects.create(session_key="old", expire_date=timezone.now() - timedelta(seconds=1))
    clear_sessions()
    assert [session.session_key for session in Session.objects.all()] == [client.session.session_key]


def test_beat_clears_sessions_every_day():
    entry = settings.CELERY_BEAT_SCHEDULE["clear-sessions"]
    assert entry["task"] in app.tasks
    assert entry["schedule"].remaining_estimate(timezone.now()) < timedelta(days=1)
