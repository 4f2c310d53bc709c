"""Is a share c of the changes true that are told with confidence c? On seeds that it was not fitted to."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from benchdash.regressions.detection.shifts import find_shifts

PROGRAM = Path(__file__).parents[4] / "shared/detect"


@pytest.fixture(scope="module")
def told():
    """Confidence and truth of every confirmed shift in 480 synthetic series and in a part of each."""
    if not (PROGRAM / "series.py").exists():
        pytest.skip(f"the generator of labelled series is not in {PROGRAM}")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROGRAM))
        series, metrics = (importlib.import_module(name) for name in ("series", "metrics"))
    parameters = series.load_params() | {"seed": 7170, "series": 480}
    return np.array(
        [
            (shift.confidence, shift.index in true)
            for one in series.synthetic(parameters)
            for part in (1, 3)
            for found in [confirmed(one["values"][: len(one["values"]) // part])]
            for true in [{hit for _, hit in metrics.match(one["truth"][0], [s.index for s in found])}]
            for shift in found
        ]
    )


def confirmed(values):
    return [shift for shift in find_shifts(values) if shift.state == "confirmed"]


@pytest.mark.parametrize(("least", "most"), [(0.5, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.99), (0.99, 1.01)])
def test_of_the_changes_told_with_a_confidence_that_share_is_true(told, least, most):
    """Within three standard errors of a share and two hundredths, which the fit itself may be off."""
    confidence, is_true = told[(told[:, 0] >= least) & (told[:, 0] < most)].T
    error = np.sqrt(confidence.mean() * (1 - confidence.mean()) / len(confidence))
    assert len(confidence) >= 40
    assert is_true.mean() == pytest.approx(confidence.mean(), abs=3 * error + 0.02)
