from datetime import UTC, datetime

import pytest

from benchdash.regressions.analysis.spans import span
from benchdash.regressions.models import Incident
from benchdash.results.models import ServerVersion

NIGHT = datetime(2026, 11, 11, 4, 0, tzinfo=UTC)


def version(text, *, pk=1, commit=None, build=""):
    return ServerVersion(pk=pk, version=text, commit=commit, build=build)


@pytest.mark.parametrize(
    ("since", "until", "last_good_at", "words"),
    [
        (version("10.11.18"), version("10.11.19", pk=2), None, "10.11.18 → 10.11.19"),
        (version("8.0", build="debug"), version("8.0", pk=2), None, "8.0 debug → 8.0"),
        (
            version("unknown", commit="1f3c9a0b2d4e5f60"),
            version("unknown", pk=2, commit="2b4d6f8a0c1e3f50"),
            None,
            "1f3c9a0b2d → 2b4d6f8a0c",
        ),
        (
            version("10.11.19"),
            version("10.11.19"),
            datetime(2026, 11, 9, 4, 0, tzinfo=UTC),
            "10.11.19, 9 Nov 2026 → 11 Nov 2026",
        ),
        (
            version("10.11.19"),
            version("10.11.19"),
            datetime(2026, 11, 11, 2, 30, tzinfo=UTC),
            "10.11.19, 11 Nov 2026, 02:30 UTC → 11 Nov 2026, 04:00 UTC",
        ),
        (
            version("unknown"),
            version("unknown"),
            datetime(2026, 11, 9, tzinfo=UTC),
            "9 Nov 2026 → 11 Nov 2026",
        ),
        (None, version("10.11.19"), None, "? → 10.11.19"),
        (None, None, None, "? → 11 Nov 2026"),
    ],
)
def test_a_span_is_two_versions_two_commits_or_two_days(since, until, last_good_at, words):
    incident = Incident(since=since, until=until, started_at=NIGHT)
    assert str(span(incident, last_good_at=last_good_at)) == words
