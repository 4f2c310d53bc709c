"""One declaration of the fields, and everything that shows them."""

import pytest

from benchdash.client import benchdash as client
from benchdash.dashboard.pages.uploads.forms import ChangeForm
from ingest.masking import IDENTITIES
from ingest.metadata.fields import ALL_FIELDS, FIELD_OF, FieldKind
from ingest.serializers import UploadRequestSerializer


def test_the_schema_and_the_form_show_every_field_with_its_limits():
    schema = UploadRequestSerializer().get_fields()
    assert {*ALL_FIELDS} <= schema.keys()
    assert (schema["threads"].min_value, schema["threads"].max_value) == (1, 1_000_000)
    form = ChangeForm(is_archive=True)
    assert {*ALL_FIELDS} - form.fields.keys() == {"defaults"}
    assert form["base_branch"].field.widget.attrs["list"] == "known-branch"


def test_the_client_sends_no_field_that_is_not_declared():
    assert {*client.TEXT_FIELDS, *client.JSON_FIELDS} - {"project"} <= {*ALL_FIELDS}
    assert all(FIELD_OF[name].kind is FieldKind.OBJECT for name in client.JSON_FIELDS)


@pytest.mark.parametrize("name", [name for name in ALL_FIELDS if FIELD_OF[name].kind is FieldKind.NAME])
def test_names_are_never_masked(name):
    assert name in IDENTITIES
