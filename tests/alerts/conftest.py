import pytest

from tests.builders import make_project
from tests.code_host_server import CodeHostServer


@pytest.fixture
def server(settings):
    """A code host; see CodeHostServer."""
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    server = CodeHostServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def project(db):
    return make_project("quartz")
