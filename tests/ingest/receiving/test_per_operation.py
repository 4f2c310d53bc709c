import re
from itertools import pairwise
from pathlib import Path

import pytest

from benchdash.accounts.access import NOBODY
from benchdash.results.models import Run
from benchdash.results.readings import reading
from ingest.formats import parse
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.source import Source
from ingest.metadata.upload_metadata import read_metadata
from ingest.models import Companion
from ingest.receiving.arrivals import Arrival, CompanionFile
from ingest.receiving.per_operation import cpus_in, per_operation
from ingest.receiving.reception import receive_one
from ingest.storage.raw_bytes import RawData
from tests.builders import make_project

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/data/third_party/small_datum/postgres_2025_02"
# The operations of scans were published as rows that were read.
PAIRS = sorted(path for path in PUBLISHED.glob("*/sb.vm.*") if ".scan." not in path.name)


def readings(**values):
    return [reading(metric, value) for metric, value in values.items()]


def costs(cpus=None, **values):
    return {one.metric: one.value for one in per_operation(readings(**values), cpus=cpus)}


def test_what_a_machine_did_is_divided_by_the_throughput():
    found = costs(
        cpus=4,
        qps=1000.0,
        cpu_user=40.0,
        cpu_system=10.0,
        context_switches_per_s=5000.0,
        read_mb_per_s=1.0,
        write_mb_per_s=2.5,
    )
    # Half of four CPUs, which are 2,000,000 µs a second, for 1000 operations.
    assert found == {
        "cpu_per_op": pytest.approx(2000),
        "cs_per_op": 5.0,
        "read_kb_per_op": 1.024,
        "write_kb_per_op": 2.56,
    }


def test_queries_count_before_transactions_and_these_before_events():
    assert costs(context_switches_per_s=600.0, tps=10.0, qps=200.0, events_per_s=10.0) == {"cs_per_op": 3.0}
    assert costs(context_switches_per_s=600.0, tps=10.0, events_per_s=20.0) == {"cs_per_op": 60.0}
    assert costs(context_switches_per_s=600.0, events_per_s=20.0) == {"cs_per_op": 30.0}
    assert costs(context_switches_per_s=600.0, ops_per_s=6.0) == {"cs_per_op": 100.0}


def test_without_a_throughput_or_at_none_there_is_no_cost():
    assert costs(cpus=4, context_switches_per_s=600.0, latency_p95=1.0) == {}
    assert costs(cpus=4, context_switches_per_s=600.0, tps=0.0) == {}


def test_without_the_number_of_cpus_their_cost_stays_open():
    assert costs(qps=100.0, cpu_user=50.0, cpu_system=10.0) == {}


def test_a_cost_that_the_file_itself_brings_counts():
    assert costs(qps=100.0, context_switches_per_s=600.0, cs_per_op=5.5) == {}


def test_cpus_are_said_or_follow_from_the_cores():
    assert cpus_in({"cpus": 48, "cores": 24}) == 48
    assert cpus_in({"cores": 24, "threads_per_core": 2}) == 48
    assert cpus_in({"cores": 2}) == 2
    assert cpus_in({"cores": "many", "cpus": True}) is None
    assert cpus_in({}) is None


@pytest.mark.skipif(not PAIRS, reason="the published results are not here")
def test_costs_are_those_that_were_published_with_the_same_samples():
    """Published is a mean that counts the repeated headings of vmstat as samples of nothing.

    That is less by rows / (rows + headings), to which ours are brought here. What is left is the rounding of
    the published figures, and of the CPU that its mean has the line since the start of the machine in it:
    at most 100 % of one in 350 samples.
    """
    for path in PAIRS:
        text = path.read_text()
        _, result = parse(Source(path.with_name(path.name.replace("sb.vm.", "sb.o.")).read_bytes()))
        (run,) = result.runs
        report = COMPANION_FORMATS["vmstat"].parse(Source(text.encode()))
        share = share_of_samples(text)
        found = {
            one.metric: one.value * share for one in per_operation([*run.readings, *report.means], cpus=48)
        }
        published = published_beside(path)
        (qps,) = (one.value for one in run.readings if one.metric == "qps")
        assert qps == pytest.approx(published["o/s"], abs=0.02)
        assert found["cs_per_op"] == pytest.approx(published["cs/o"], abs=0.0006)
        # Published in per cent of the machine, with six decimals.
        cpu = found["cpu_per_op"] / 1_000_000 / 48 * 100
        assert cpu == pytest.approx(published["cpu/o"], abs=0.0000006 + 100 / 350 / qps), path.name


@pytest.mark.django_db
@pytest.mark.skipif(not PAIRS, reason="the published results are not here")
def test_a_published_result_with_its_vmstat_beside_it_has_the_published_cost():
    """It says itself how many CPUs the machine has; the mean that was published is as told above."""
    path = PAIRS[0]
    result = path.with_name(path.name.replace("sb.vm.", "sb.o."))
    metadata, _ = read_metadata(
        {"product": "PostgreSQL", "version": "10.23", "hardware": "box", "workload": "point-query"}
    )
    beside = CompanionFile(Companion.Kind.OTHER, path.name, RawData(path.read_bytes()))
    arrival = Arrival(result.name, RawData(result.read_bytes()), metadata, [beside])
    receive_one(make_project(), by=NOBODY, arrival=arrival)
    run = Run.objects.get()
    values = {one.series.metric: one.value for one in run.measurements.select_related("series")}
    published = published_beside(path)
    share = share_of_samples(path.read_text())
    cpu = values["cpu_per_op"] * share / 1_000_000 / 48 * 100
    assert cpu == pytest.approx(published["cpu/o"], abs=0.0000006 + 100 / 350 / values["qps"])
    assert values["cs_per_op"] * share == pytest.approx(published["cs/o"], abs=0.0006)


def share_of_samples(text):
    """The samples of a vmstat by these and its headings, without the line since the start of the machine."""
    rows = len(COMPANION_FORMATS["vmstat"].parse(Source(text.encode())).samples[0].rows)
    return rows / (rows + text.count("procs"))


def published_beside(path):
    """The figures of an ``sb.met`` file by the heads above them."""
    lines = path.with_name(path.name.replace("sb.vm.", "sb.met.")).read_text().splitlines()
    figures = {}
    for heads, values in pairwise(lines):
        if heads.startswith("samp") and re.match(r"[0-9]", values):
            figures |= dict(zip(heads.split(), map(float, values.split()), strict=True))
    return figures
