"""What each request may take at most: one line for each, to be lowered whenever it takes less.

Counts and bytes do not depend on the machine. Bytes are of an answer as it is, and packed as it is sent to
who accepts gzip; both depend a little on what is drawn, and have a tenth more than was measured.
"""

from typing import Final, NamedTuple


class Limit(NamedTuple):
    statements: int
    kilobytes: float
    packed_kilobytes: float


LIMITS: Final = {
    "small JSON: the products": Limit(3, 0.3, 0.3),
    "history of 730 nights": Limit(5, 75.8, 33.1),
    "history of 1,000 points": Limit(5, 103.9, 44.3),
    "history of 5,000 points": Limit(5, 517, 216),
    "history of 5,000 points, values alone": Limit(5, 60.5, 23.5),
    "compare 60 workloads x 40 versions": Limit(12, 481, 131),
    "compare one workload, two versions": Limit(11, 1.5, 0.8),
    "difference of two versions, 48 rows x 4 metrics": Limit(12, 77.8, 9.5),
    "nights: 48 rows x 20": Limit(16, 207, 56.1),
    "curves of a workload, two versions": Limit(11, 3.2, 1.3),
    "sweep of a setting, 8 rows x 5 values": Limit(16, 7.6, 1.7),
    "latency of a workload, two versions": Limit(10, 15.8, 5.3),
    "gate of a commit, 48 rows": Limit(15, 26.9, 5.2),
    "overview": Limit(18, 114, 5.3),
    "series of a workload": Limit(4, 0.5, 0.5),
    "newest runs of a workload": Limit(4, 28.1, 1.9),
    "a run": Limit(4, 1.2, 0.8),
    "intervals of a run": Limit(4, 4.9, 2.4),
    "incidents": Limit(5, 63.3, 3.2),
    "an incident": Limit(9, 1.8, 0.9),
    "projects": Limit(3, 0.7, 0.5),
    "versions": Limit(3, 10.5, 1.4),
    "hardware": Limit(3, 0.4, 0.4),
    "configurations": Limit(3, 0.6, 0.6),
    "workloads": Limit(3, 4.6, 0.8),
    "uploads": Limit(3, 27.7, 3.9),
    "an upload": Limit(10, 8.8, 1.3),
    "articles": Limit(3, 5.4, 0.9),
    "subscriptions": Limit(3, 9.3, 1.0),
    "audit log": Limit(3, 10.0, 1.1),
    "page: home": Limit(11, 7.5, 2.6),
    "page: overview": Limit(27, 186, 15.1),
    "page: side by side, 48 rows x 4 metrics": Limit(13, 350, 39.1),
    "page: matrix, 60 workloads x 12 versions": Limit(15, 281, 19.3),
    "page: matrix, 48 rows x 8 nights": Limit(19, 46.2, 7.3),
    "page: matrix of a workload, its row open": Limit(20, 110, 16),
    "page: matrix of a workload, its percentiles": Limit(22, 115, 18),
    "page: one setting varied": Limit(19, 152, 19.2),
    "page: one setting varied, one workload": Limit(19, 55.6, 10.0),
    "page: articles": Limit(5, 12.4, 2.7),
    "page: an article": Limit(28, 48.8, 10.3),
    "page: history of 730 nights": Limit(12, 283, 46),
    "page: history of 5,000 points": Limit(12, 578, 125),
    "page: history, nothing chosen": Limit(14, 132, 20),
    "page: incidents": Limit(24, 86, 6.1),
    "page: an incident": Limit(15, 23, 5.9),
    "page: uploads": Limit(9, 70, 4.5),
    "page: an upload": Limit(19, 29.6, 3.8),
    "page: add an upload": Limit(13, 26.4, 6.4),
    "page: runs": Limit(7, 94, 7.0),
    "page: a run": Limit(14, 10.9, 3.7),
    "page: a run with intervals": Limit(15, 74.7, 18.9),
    "page: versions": Limit(8, 114, 9.5),
    "page: hardware": Limit(6, 7.2, 2.6),
    "page: configurations": Limit(7, 17.6, 3.4),
    "page: workloads": Limit(7, 60, 3.6),
    "page: groups of workloads": Limit(5, 13.8, 3.8),
    "page: how changes are found": Limit(10, 20, 6),
    "page: search": Limit(9, 5.8, 2.1),
    "page: notifications": Limit(20, 145, 14),
    "page: audit log": Limit(8, 35.4, 3.9),
    "page: tokens": Limit(5, 15.5, 4.6),
    "page: project settings": Limit(4, 15, 4.2),
    "page: documentation of the API": Limit(2, 6.0, 2.5),
    "1,000 readings in one POST": Limit(18, 21.3, 1.8),
    "100 readings in one POST": Limit(18, 2.6, 0.7),
    "one sysbench file": Limit(19, 0.6, 0.6),
}

# Large tables that requests still read whole because no index serves; an entry goes with its reason.
READ_WHOLE: Final = {
    # Which places have a histogram: all entries of an index that has nothing else.
    "page: matrix of a workload, its percentiles": {"results_intervalsamples"},
}

# kB of pages that weigh more than they should; the goals are in test_requests.
HEAVIER: Final = {
    "page: side by side, 48 rows x 4 metrics": 480,
    "page: history of 730 nights": 480,
    "page: history of 5,000 points": 555,
    # Swagger UI is 370 of it.
    "page: documentation of the API": 450,
}
