from importlib import import_module

import pytest
from django.db import connection

from benchdash.results.models import Run
from benchdash.results.probes import probe_of
from tests.builders import make_record, make_runs


def test_a_rate_goes_before_what_repeats_from_run_to_run():
    figures = [("index_size", 4096.0, "B"), ("latency_p95", 1.5, "ms"), ("tps", 812.25, "1/s")]
    assert probe_of(figures) == probe_of(reversed(figures)) == (812.25, "1/s")
    assert probe_of(figures[:1]) == (4096.0, "B")


def test_a_run_in_which_all_is_zero_has_none():
    assert probe_of([("errors_per_s", 0.0, "1/s")]) is None


def test_prints_that_are_the_same_are_the_same_number():
    assert probe_of([("score", 0.1 * 3, "ms")]) == probe_of([("score", 0.3, "ms")])


@pytest.mark.django_db
def test_the_migration_gives_stored_runs_the_probe_that_new_ones_have():
    make_runs([make_record(key=f"{at}", readings={"latency_p95": 1.5, "tps": 800.5 + at}) for at in range(3)])
    probes = dict(Run.objects.values_list("pk", "probe"))
    assert sorted(probes.values()) == [800.5, 801.5, 802.5]
    Run.objects.update(probe=None)
    migration = import_module("benchdash.results.migrations.0005_run_probe")
    migration.fill_probes(None, connection.schema_editor())
    assert dict(Run.objects.values_list("pk", "probe")) == probes
