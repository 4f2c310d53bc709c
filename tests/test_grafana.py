"""The dashboard for Grafana: what its queries ask for is there."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template

import pytest
from django.utils import timezone

from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_series

pytestmark = pytest.mark.django_db

DASHBOARD = json.loads((Path(__file__).parents[1] / "docs/grafana/dashboard.json").read_text())
STEP = [1000.0, 1010.0, 990.0, 1005.0] * 5 + [800.0, 810.0, 795.0, 805.0] * 3
TYPES = {
    "timestamp": datetime.fromisoformat,
    "timestamp_epoch_s": lambda text: datetime.fromtimestamp(float(text), UTC),
    "number": float,
    "string": str,
}


def targets():
    for panel in DASHBOARD["panels"]:
        yield from ((panel["title"], target) for target in panel["targets"])
    for annotation in DASHBOARD["annotations"]["list"]:
        yield annotation["name"], annotation["target"]


def rows_of(answer, target):
    if target["type"] == "csv":
        return list(csv.DictReader(io.StringIO(answer.content.decode())))
    return answer.json()[target["root_selector"]]


def test_every_query_of_the_dashboard_finds_its_columns(client):
    project = make_project("default", public=True)
    start = timezone.now() - timedelta(days=len(STEP), hours=1)
    series = make_series(STEP, project=project, branch="main", start=start)
    analyse_touched()
    variables = {one["name"]: one["query"] for one in DASHBOARD["templating"]["list"]}
    assert variables["project"] == project.slug
    chosen = {**variables, "address": "", "series": series.pk}
    found = {}
    for title, target in targets():
        answer = client.get(Template(target["url"]).substitute(chosen))
        assert answer.status_code == 200, title
        rows = rows_of(answer, target)
        found[title] = [
            [
                None if row[column["selector"]] is None else TYPES[column["type"]](row[column["selector"]])
                for column in target["columns"]
            ]
            for row in rows
        ]
    points = found["Series ${series}"]
    assert [value for _, value in points] == STEP
    assert timezone.now() - points[-1][0] < timedelta(days=3)
    [[began, kind, product]] = found["Incidents"]
    assert (kind, product) == ("regression", "MariaDB")
    assert began == points[20][0]
    assert found["Series to choose"][0][0] == series.pk
