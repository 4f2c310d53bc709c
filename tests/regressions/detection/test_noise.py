import numpy as np
import pytest
from scipy.ndimage import median_filter

from benchdash.regressions.detection import kernel
from benchdash.regressions.detection.noise import MIN_SD


def test_steps_hardly_matter_to_the_noise():
    x = np.repeat([0.0, 1.0, 0.0, 2.0], 50) + 0.02 * np.random.default_rng(1).normal(size=200)
    assert kernel.noise_of(x)[0] == pytest.approx(0.02, rel=0.25)


def test_correlation_of_neighbours_is_seen_in_a_long_series():
    rng = np.random.default_rng(2)
    independent, correlated = rng.normal(size=2000), np.zeros(2000)
    for i in range(1, 2000):
        correlated[i] = 0.6 * correlated[i - 1] + rng.normal()
    assert kernel.noise_of(independent)[1] < 0.1
    assert kernel.noise_of(correlated)[1] == pytest.approx(0.6, abs=0.1)


def test_a_short_series_gets_about_the_typical_correlation():
    assert kernel.noise_of(np.random.default_rng(3).normal(size=10))[1] == pytest.approx(0.3, abs=0.06)


def test_correlation_widens_means_as_the_sum_says():
    rho, n = 0.5, 5
    by_hand = 1 + 2 * sum((1 - k / n) * rho**k for k in range(1, n))
    assert [kernel.inflation(1.0, rho), kernel.inflation(float(n), rho)] == pytest.approx([1, by_hand])


def test_a_lonely_outlier_is_put_on_the_level_and_a_second_mode_is_not():
    x = 0.01 * np.random.default_rng(4).normal(size=50)
    with_outlier, with_mode = x.copy(), x.copy()
    with_outlier[20] = 1
    with_mode[::5] += 1
    assert abs(kernel.tame_outliers(with_outlier, MIN_SD)[20]) < 0.05
    assert (kernel.tame_outliers(with_mode, MIN_SD) == with_mode).all()


@pytest.mark.parametrize(
    ("values", "sd"),
    [
        ([100, 101, 99], 0.005),
        ([0.03, 0.04, 0.03], 1 / 6),
        ([1009.67, 1009.7], 0.000005),
        ([1 / 3, 1 / 7], 0),
    ],
)
def test_printed_digits_bound_the_noise_from_below(values, sd):
    assert kernel.rounding_sd(np.array(values, dtype=float)) == pytest.approx(sd, rel=0.01)


def test_the_compiled_running_median_is_that_of_scipy():
    x = np.random.default_rng(5).normal(size=40)
    x[[0, 3, 39]] += 50
    level = median_filter(x, size=7, mode="mirror")
    outlying = np.abs(x - level) > 20
    assert kernel.tame_outliers(x, MIN_SD).tolist() == np.where(outlying, level, x).tolist()
