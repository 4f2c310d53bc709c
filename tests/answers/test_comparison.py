"""Cells of comparisons, which no serializer writes."""

from types import SimpleNamespace

from benchdash.answers.comparison import CellSerializer, CellsField
from benchdash.regressions.detection.compare import Comparison

CELL = SimpleNamespace(value=110.0, n=3, sessions=("a", "a", "b"))


def cells(comparison):
    return CellsField().to_representation(SimpleNamespace(cells=(CELL, None), comparisons=(comparison, None)))


def test_a_cell_is_as_its_serializer_would_write_it():
    compared = Comparison(1.1, 1.05, 1.15, 0.01, "better", None, "runs")
    written = CellSerializer({"value": 110.0, "n": 3, "sessions": 2, **compared._asdict()}).data
    [cell, nothing] = cells(compared)
    assert list(cell.items()) == list(written.items())
    assert nothing is None


def test_without_a_base_there_is_no_verdict():
    [cell, _] = cells(None)
    assert (cell["value"], cell["ratio"], cell["verdict"], cell["basis"]) == (110.0, None, "unknown", "none")
