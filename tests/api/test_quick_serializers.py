"""What is read quickly says the same as what Django REST framework reads."""

import pytest
from rest_framework.serializers import ModelSerializer

from benchdash.accounts.access import NOBODY
from benchdash.api.quick_serializers import QuickSerializer
from benchdash.api.serializers import (
    IncidentDetailSerializer,
    IncidentSerializer,
    ProductSerializer,
    RunDetailSerializer,
    RunSerializer,
    SeriesSerializer,
    VersionSerializer,
)
from benchdash.api.views.base import View
from benchdash.results.corrections import exclude_run, rename
from benchdash.results.models import Product, ServerVersion
from tests.api.conftest import make_incident
from tests.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def context():
    view = View()
    view.viewer = NOBODY
    return {"view": view}


@pytest.mark.parametrize(
    "serializer",
    [
        RunSerializer,
        RunDetailSerializer,
        SeriesSerializer,
        IncidentSerializer,
        IncidentDetailSerializer,
        ProductSerializer,
        VersionSerializer,
    ],
)
def test_a_row_is_told_as_the_framework_tells_it(serializer, context):
    run = make_run(branch="main", commit="abcdef1" + 33 * "0", threads=None)
    series = run.measurements.get().series
    series.points = 1
    incident = make_incident(series, run)
    exclude_run(run, by=NOBODY, reason="a noisy neighbour")
    product = Product.objects.get()
    rename(product, "Renamed", by=NOBODY, reason="")
    version = ServerVersion.objects.get()
    rows = {type(row): row for row in (run, series, incident, product, version)}
    row = rows[serializer.Meta.model]
    quick = serializer(row, context=context)
    assert issubclass(serializer, QuickSerializer)
    assert dict(quick.data) == dict(ModelSerializer.to_representation(quick, row))
