import numpy as np
import pytest
from scipy.optimize import curve_fit

from benchdash.regressions.detection.usl import fit_scalability

THREADS = [1, 2, 4, 8, 16, 32, 64]


def law(n, rate, contention, coherency):
    n = np.asarray(n, dtype=float)
    return rate * n / (1 + contention * (n - 1) + coherency * n * (n - 1))


def noise(size, *, seed=1, sd=0.02):
    return np.exp(sd * np.random.default_rng(seed).normal(size=size))


def test_an_exact_curve_gives_its_coefficients_and_its_peak():
    """sigma 0.19, kappa 0.0009: the peak is at sqrt(0.81 / 0.0009) = 30 clients."""
    fit = fit_scalability(THREADS, law(THREADS, 100, 0.19, 0.0009))
    assert fit.rate.value == pytest.approx(100)
    assert fit.contention.value == pytest.approx(0.19)
    assert fit.coherency.value == pytest.approx(0.0009)
    assert fit.peak.value == pytest.approx(30)
    assert fit.throughput(30) == pytest.approx(law(30, 100, 0.19, 0.0009))
    assert fit.r_squared == pytest.approx(1)
    assert fit.coherency.low > 0
    assert not fit.does_not_fit


def test_it_agrees_with_scipys_fit_of_logs():
    n = THREADS * 3
    x = law(n, 500, 0.04, 0.0006) * noise(len(n))
    expected, _ = curve_fit(lambda n, *c: np.log(law(n, *c)), n, np.log(x), p0=(x[0], 0.1, 0.001))
    fit = fit_scalability(n, x)
    found = [fit.rate, fit.contention, fit.coherency]
    for one, value in zip(found, expected, strict=True):
        assert one.low < value < one.high
        assert one.value == pytest.approx(value, rel=0.05)


def test_without_a_fall_no_peak_is_predicted():
    fit = fit_scalability(THREADS, law(THREADS, 100, 0.05, 0))
    assert fit.coherency.value == pytest.approx(0, abs=1e-9)
    assert fit.coherency.low == 0
    assert fit.peak is None


def test_no_peak_is_predicted_beyond_twice_of_what_was_measured():
    """sqrt(0.96 / 0.0001) = 98 clients."""
    assert fit_scalability([1, 2, 8, 16, 32, 48], law([1, 2, 8, 16, 32, 48], 10, 0.04, 0.0001)).peak is None
    wide = [1, 2, 8, 16, 32, 50]
    assert fit_scalability(wide, law(wide, 10, 0.04, 0.0001)).peak.value == pytest.approx(98, abs=0.1)


@pytest.mark.parametrize(
    ("threads", "values"),
    [
        ([1, 2, 4, 8], [1, 2, 3, 4]),
        ([1, 1, 2, 2, 4, 4, 8, 8], [1, 1, 2, 2, 3, 3, 4, 4]),
        ([1, 2, 4, 8, 16], [1, 2, 0, 4, 5]),
        ([0, 1, 2, 4, 8], [1, 2, 3, 4, 5]),
        ([1, 2, 4, 8, 16], [1, 2, float("nan"), 4, 5]),
        ([], []),
    ],
)
def test_too_little_or_nothing_to_divide_by_is_not_fitted(threads, values):
    assert fit_scalability(threads, values) is None


def test_points_without_a_value_each_are_an_error():
    with pytest.raises(ValueError, match="one length"):
        fit_scalability([1, 2, 4, 8, 16], [1, 2, 3, 4])


def test_one_failed_run_does_not_bend_the_curve():
    n = THREADS * 3
    x = law(n, 500, 0.05, 0.001) * noise(len(n))
    x[5] /= 2
    fit = fit_scalability(n, x)
    assert fit.contention.value == pytest.approx(0.05, abs=0.01)
    assert fit.coherency.value == pytest.approx(0.001, rel=0.15)


def test_a_slow_session_does_not_bend_the_curve_but_widens_its_level():
    n, sessions = THREADS * 3, [name for name in "abc" for _ in THREADS]
    factors = np.repeat([1.1, 1.0, 0.9], len(THREADS))
    x = law(n, 500, 0.05, 0.001) * noise(len(n), sd=0.002) * factors
    known = fit_scalability(n, x, sessions=sessions)
    unknown = fit_scalability(n, x)
    assert known.contention.high - known.contention.low < 0.01
    assert unknown.contention.high - unknown.contention.low > 0.03
    assert known.rate.low < 400 < 625 < known.rate.high


def test_a_cliff_is_not_the_law():
    """Throughput that halves between 16 and 32 clients and stays there."""
    n = THREADS * 3
    x = np.where(np.array(n) > 16, 700, law(n, 100, 0.02, 0)) * noise(len(n))
    fit = fit_scalability(n, x)
    assert fit.does_not_fit
    assert fit.peak is None


def test_without_repeats_only_a_great_misfit_is_called_one():
    assert not fit_scalability(THREADS, law(THREADS, 100, 0.05, 0.001) * noise(7, sd=0.04)).does_not_fit
    assert fit_scalability(THREADS, [100, 200, 390, 780, 1500, 300, 900]).does_not_fit


def test_the_same_points_give_the_same_intervals():
    x = law(THREADS, 100, 0.05, 0.001) * noise(7)
    assert fit_scalability(THREADS, x) == fit_scalability(THREADS, x)
