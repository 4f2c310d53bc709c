"""Fixtures of the tests of what is sent."""

import pytest

from tests.builders import make_project, make_token
from tests.ingest.sending import client_of


@pytest.fixture
def project():
    return make_project("mine")


@pytest.fixture
def api(project):
    return client_of(make_token(project))
