import io

import pytest
from django.core.management import CommandError, call_command

from benchdash.accounts.models import Project
from benchdash.accounts.services import find_token

pytestmark = pytest.mark.django_db


def output_of(*command):
    output = io.StringIO()
    call_command(*command, stdout=output)
    return output.getvalue()


def test_a_project_is_private_unless_it_is_called_public():
    output_of("create_project", "nightly")
    output_of("create_project", "releases", "--name", "Releases of MariaDB", "--public")
    assert not Project.objects.get(slug="nightly").is_public
    assert Project.objects.get(slug="releases").is_public
    assert Project.objects.get(slug="releases").name == "Releases of MariaDB"


def test_a_slug_that_is_taken_is_refused_with_a_sentence():
    output_of("create_project", "nightly")
    with pytest.raises(CommandError, match="'nightly' is taken by another project"):
        output_of("create_project", "nightly")


def test_a_malformed_slug_is_refused_with_a_sentence():
    with pytest.raises(CommandError, match="valid “slug”"):
        output_of("create_project", "ünfug !")


def test_the_token_stands_alone_on_the_last_line():
    output_of("create_project", "nightly")
    secret = output_of(
        "create_token", "--project", "nightly", "--scope", "upload", "--scope", "read", "ci"
    ).splitlines()[-1]
    token = find_token(secret)
    assert (token.project.slug, token.name, token.scopes) == ("nightly", "ci", ["read", "upload"])


def test_a_token_of_an_unknown_project_is_refused_with_a_sentence():
    with pytest.raises(CommandError, match="no project is called 'nowhere'"):
        output_of("create_token", "--project", "nowhere", "--scope", "upload", "ci")


def test_a_token_needs_a_scope_that_exists():
    output_of("create_project", "nightly")
    with pytest.raises(CommandError, match="invalid choice: 'everything'"):
        output_of("create_token", "--project", "nightly", "--scope", "everything", "ci")


def test_a_token_needs_a_name():
    output_of("create_project", "nightly")
    with pytest.raises(CommandError, match="cannot be blank"):
        output_of("create_token", "--project", "nightly", "--scope", "upload", "")
