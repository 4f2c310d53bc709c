"""The Celery application; its settings are Django's, with the prefix CELERY_."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")

app = Celery("benchdash")
# Else a thread of the web server would send its jobs through an app that knows no broker.
app.set_default()
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
