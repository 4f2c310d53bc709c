"""The matrix of published results says what their author's table says."""

import csv
from io import StringIO

import pytest

from tests.dashboard.page_text import matrix
from tests.ingest.small_datum import SMALL_DATUM, import_small_datum, published_rows, published_versions


def ratio_in(text):
    """Of a cell, whose verdict may stand before it: the other releases of a place tell its noise."""
    return float(text.split()[-1])


@pytest.mark.skipif(not SMALL_DATUM.is_dir(), reason="the published results of small_datum are not here")
@pytest.mark.django_db
def test_the_table_of_its_author_is_the_first_sight_of_the_matrix(client, tmp_path):
    """Within 0.0101, as its author divides rounded figures and cuts; in the file and on the page."""
    import_small_datum(tmp_path, public=True)
    url = "/p/small-datum/compare/matrix/?metric=qps"
    answer = client.get(f"{url}&format=csv")
    rows = {row["workload"]: row for row in csv.DictReader(StringIO(answer.content.decode("utf-8-sig")))}
    versions = published_versions()
    published = list(published_rows())
    assert len(published) * len(versions) == 231
    shown = matrix(client.get(url))
    assert shown[0] == ["Workload", *reversed(versions), "5.6.51"]
    cells = {row[0]: row[-2:0:-1] for row in shown}
    for workload, ratios in published:
        exact = [float(rows[workload][f"{version} ratio"]) for version in versions]
        assert exact == pytest.approx(ratios, abs=0.0101), workload
        assert list(map(ratio_in, cells[workload])) == pytest.approx(ratios, abs=0.0151), workload
    heads = [row[0] for row in shown if row[0][-1].isdigit() and "=" not in row[0]]
    assert heads == ["Point queries 12", "Range queries 8", "Range queries with aggregation 8", "Writes 10"]
    # What the author concludes: the newest has lost about a third in each group.
    newest = [ratio_in(row[1]) for row in shown if row[0] in heads]
    assert newest == pytest.approx([0.72, 0.69, 0.79, 0.65], abs=0.02)
