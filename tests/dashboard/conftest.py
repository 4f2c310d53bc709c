"""Pages in tests name static files as they lie: nothing was collected."""

import pytest


@pytest.fixture(autouse=True)
def static_files_as_they_lie(settings):
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
