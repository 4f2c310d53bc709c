"""Whether the history can hold what a format understood, or says why not."""

from contextlib import suppress
from datetime import UTC, datetime

from benchdash.results.checks import RecordError, check_records
from ingest.errors import FieldsError
from ingest.formats import FORMATS
from ingest.metadata.fields import Metadata
from ingest.receiving.records import decide
from tests.ingest.formats.soundness import check_read

SAID = Metadata(product="MariaDB", version="10.11.19", hardware="bench-01", workload="oltp_read_only")
RECEIVED = datetime(2027, 1, 1, tzinfo=UTC)


def check_imported(name, data):
    """As check_read; and what the history cannot hold is refused with a sentence, by no other error."""
    report = check_read(name, data)
    if report and name in FORMATS:
        with suppress(FieldsError, RecordError):
            check_records(decide(report, SAID, received_at=RECEIVED).records)
