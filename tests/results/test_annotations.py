from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry
from benchdash.results import annotations
from benchdash.results.annotations import annotate, annotations_of, remove_annotation
from benchdash.results.models import Annotation
from tests.builders import START, make_project, make_series, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def alice():
    return Viewer(user=make_user())


def test_it_is_kept_with_who_wrote_it_and_stands_in_the_audit_log(project, alice):
    made = annotate(project, at=START, text=" a new\ndisk ", by=alice)
    assert (made.text, made.by) == ("a new disk", alice.user)
    remove_annotation(made, by=alice)
    entries = AuditEntry.objects.order_by("pk").values_list("action", "subject")
    assert list(entries) == [("annotated", "a new disk"), ("annotation removed", "a new disk")]
    assert not Annotation.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"text": " "}, "text"), ({"text": "x" * 501}, "text"), ({"until": START - timedelta(1)}, "until")],
)
def test_what_says_nothing_or_ends_before_it_begins_is_refused(project, alice, fields, field):
    with pytest.raises(ValidationError) as raised:
        annotate(project, **{"at": START, "text": "a disk", "by": alice, **fields})
    assert field in raised.value.message_dict


def test_a_project_has_so_many_at_most(project, alice, monkeypatch):
    monkeypatch.setattr(annotations, "MAX_ANNOTATIONS", 1)
    annotate(project, at=START, text="one", by=alice)
    with pytest.raises(ValidationError, match="at most 1 annotations"):
        annotate(project, at=START, text="two", by=alice)


def test_it_belongs_on_charts_of_its_machine_or_product_or_on_all(project, alice):
    series = make_series([100], project=project, hardware="here")
    other = make_series([100], project=project, hardware="there")
    elsewhere = make_series([100], project=make_project())
    annotate(project, at=START, text="all", by=alice)
    annotate(project, at=START, text="machine", hardware=other.hardware, by=alice)
    annotate(project, at=START, text="product", product=series.product, by=alice)
    assert {one.text for one in annotations_of([series])} == {"all", "product"}
    assert {one.text for one in annotations_of([series, other])} == {"all", "machine", "product"}
    assert list(annotations_of([elsewhere])) == []
