"""What the summary and the output of BenchBase share: the rates, and how they are checked."""

from collections.abc import Iterator

from benchdash.results.readings import Reading, reading
from ingest.formats.report import FormatError

# Rates are computed from what was counted, in whole requests and nanoseconds.
_TOLERANCE = 0.001
_MAX_GOODPUT = 1.05


def rate_readings(
    throughput: float,
    goodput: float | None,
    *,
    requests: int | None,
    seconds: float | None,
    line: int | None,
) -> Iterator[Reading]:
    """Yield the rates of a run and what they were computed from.

    ``throughput`` counts every request, ``goodput`` those that were completed, which is what others call
    transactions; it may be a little higher, for it also counts what ended just outside of the measured time.
    Raise FormatError where no request was made, and where the numbers do not fit together.
    """
    if not throughput:
        raise FormatError("0 requests/second: nothing was measured", line)
    if goodput is not None and goodput > throughput * _MAX_GOODPUT:
        raise FormatError(f"the goodput, {goodput:g}, is above the throughput, {throughput:g}", line)
    if requests is not None and seconds:
        computed = requests / seconds
        if abs(computed - throughput) > _TOLERANCE * throughput:
            raise FormatError(
                f"the throughput is {throughput:g}, "
                f"but {requests} requests in {seconds:g} s are {computed:g}",
                line,
            )
    yield reading("ops_per_s", throughput)
    if goodput is not None:
        yield reading("tps", goodput)
    if seconds:
        yield reading("total_time", seconds)
    if requests is not None:
        yield reading("total_events", requests)
