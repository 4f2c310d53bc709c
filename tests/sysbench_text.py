"""What sysbench 1.0 prints, for tests that go through the public door."""

_REPORT = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: {threads}
Initializing random number generator from current time


Initializing worker threads...

Threads started!

{intervals}SQL statistics:
    queries performed:
        read:                            {events}
        write:                           0
        other:                           0
        total:                           {events}
    transactions:                        {events} ({tps:.2f} per sec.)
    queries:                             {events} ({tps:.2f} per sec.)
    ignored errors:                      {errors}      ({errors_per_s:.2f} per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          {seconds:.4f}s
    total number of events:              {events}

Latency (ms):
         min:                                    {least:.2f}
         avg:                                    {latency:.2f}
         max:                                    {most:.2f}
         95th percentile:                        {slow:.2f}
         sum:                                 {sum:.2f}

Threads fairness:
    events (avg/stddev):           {each:.4f}/10.00
    execution time (avg/stddev):   {seconds:.4f}/0.00
"""
_INTERVAL = (
    "[ {at}s ] thds: {threads} tps: {tps:.2f} qps: {tps:.2f} (r/w/o: {tps:.2f}/0.00/0.00)"
    " lat (ms,95%): {slow:.2f} err/s: 0.00 reconn/s: 0.00\n"
)


def sysbench_report(tps, *, threads=4, seconds=60, errors=0, stalled=None):
    """A report of so many transactions per second.

    With ``stalled``, a list of seconds in which nothing is done, there is a line for each second.
    """
    latency = 1000 * threads / tps
    common = {"threads": threads, "slow": 1.5 * latency}
    lines = [
        _INTERVAL.format(at=at, tps=0.0 if at in stalled else tps, **common)
        for at in (range(1, seconds + 1) if stalled is not None else ())
    ]
    events = round(tps * seconds)
    return _REPORT.format(
        intervals="".join(lines),
        events=events,
        tps=events / seconds,
        seconds=seconds,
        errors=errors,
        errors_per_s=errors / seconds,
        least=latency / 2,
        latency=latency,
        most=5 * latency,
        sum=latency * events,
        each=events / threads,
        **common,
    )
