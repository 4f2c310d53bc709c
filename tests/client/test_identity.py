"""A job without a stored secret asks its CI for a token, and uploads with it."""

import pytest

from benchdash.accounts.identities import key_sets
from benchdash.accounts.identities.services import Conditions, trust_repository
from benchdash.oidc_issuers import issuers_of
from ingest.models import Upload
from tests.client.test_upload import SAID, SYSBENCH
from tests.issuer_server import SECRET_OF_JOB, IssuerServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def issuer(live_server, settings, monkeypatch):
    server = IssuerServer()
    settings.OIDC_ISSUERS = issuers_of(server.settings())
    settings.OIDC_AUDIENCE = live_server.url
    monkeypatch.setattr(key_sets, "_known", {})
    yield server
    server.stop()


def test_a_job_of_github_is_asked_for_no_secret_and_one_of_gitlab_has_its_token_in_a_variable(
    benchdash, issuer
):
    trust_repository(benchdash.project, Conditions(issuer.url, "org/name"), scopes=["upload"])
    benchdash.environment |= {
        "BENCHDASH_TOKEN": "",
        "BENCHDASH_URL": f"{benchdash.environment['BENCHDASH_URL']}/",
    }
    request = {
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{issuer.url}/token?api-version=2.0",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": SECRET_OF_JOB,
    }
    ended = benchdash("upload", SYSBENCH, *SAID, **request)
    assert ended.returncode == 0, ended.stderr
    assert str(Upload.objects.get().token) == "GitHub org/name"
    own = issuer.token(aud=benchdash.environment["BENCHDASH_URL"])
    assert benchdash("upload", SYSBENCH, *SAID, BENCHDASH_ID_TOKEN=own).returncode == 0

    refused = benchdash("upload", SYSBENCH, *SAID, **{**request, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x"})
    assert refused.returncode == 3
    assert "has it 'permissions: id-token: write'?" in refused.stderr
    without = benchdash("upload", SYSBENCH, *SAID)
    assert "set BENCHDASH_TOKEN or give --token" in without.stderr
