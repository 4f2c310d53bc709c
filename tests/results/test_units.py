import pytest

from benchdash.results.models import Series
from benchdash.results.units import conversion
from benchdash.results.used_units import UsedUnit, used_unit, used_units


@pytest.mark.parametrize(
    ("unit", "other", "factor"),
    [
        ("ns/op", "us/op", 0.001),
        ("us/op", "ns/op", 1000),
        ("ops/s", "ops/ms", 0.001),
        ("ms", "s", 0.001),
        ("ms", "µs", 1000),
        ("MB", "GB", 0.001),
        ("KiB", "B", 1024),
        ("mb", "MB", 1),
        ("MB/s", "kB/min", 60_000),
        ("pages", "pages", 1),
        ("", "", 1),
    ],
)
def test_units_of_one_kind_are_turned_into_each_other(unit, other, factor):
    assert conversion(unit, other) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("unit", "other"),
    [("MB", "pages"), ("ms", "MB"), ("ns/op", "ops/s"), ("ns/op", "ns"), ("", "MB"), ("1/s", "1/op")],
)
def test_units_of_two_kinds_are_not(unit, other):
    assert conversion(unit, other) is None


def series(unit, printed_unit=""):
    return Series(unit=unit, printed_unit=printed_unit)


def test_the_unit_that_people_use_is_the_printed_one_where_figures_can_be_turned_into_it():
    assert used_unit(series("ns/op", "us/op")) == UsedUnit("us/op", 0.001)
    assert used_unit(series("ns/op")) == UsedUnit("ns/op")
    # Its unit was said anew since.
    assert used_unit(series("pages", "GB")) == UsedUnit("pages")


def test_several_series_are_shown_in_one_unit_for_each_that_is_stored():
    several = [series("ns/op", "us/op"), series("ns/op", "ms/op"), series("ns/op", "us/op"), series("ops/s")]
    assert used_units(several) == {"ns/op": UsedUnit("us/op", 0.001), "ops/s": UsedUnit("ops/s")}
