"""Files as tests send them: over the API, or as the door takes them from anybody."""

from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from benchdash.accounts.access import NOBODY
from ingest.metadata.upload_metadata import read_metadata
from ingest.receiving.arrivals import Arrival
from ingest.receiving.reception import receive_one
from ingest.storage.raw_bytes import RawData

URL = "/api/v1/uploads/"
FIXTURES = Path(__file__).parent / "fixtures"
NIGHTS = Path(__file__).parents[2] / "ingest/samples/watch/nightly/mariadb-10.11.19"
SYSBENCH = (FIXTURES / "sysbench/oltp_read_only-histogram.txt").read_bytes()
# A run of the same that was measured at another time.
ANOTHER = SYSBENCH.replace(b"48.55", b"58.55")
DRIVERS = (FIXTURES / "qps_table/three-drivers.txt").read_bytes()
SAID = {"product": "MariaDB", "version": "10.11.19", "hardware": "box", "workload": "oltp_read_only"}


def client_of(secret):
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def send(client, data=SYSBENCH, name="result.txt", **fields):
    """The answer to a file; a field that is None is not sent."""
    said = {field: value for field, value in fields.items() if value is not None}
    return client.post(URL, {"file": SimpleUploadedFile(name, data), **said}, format="multipart")


def arrival(data=SYSBENCH, *, name="t8.txt", companions=(), **said):
    """A file of a run of SAID, but for what is said here; None takes a field away."""
    metadata, warnings = read_metadata({**SAID, **said})
    return Arrival(name, RawData(data), metadata, companions, warnings)


def accept(project, *data, quiet=False, **said):
    """What became of a file at the door."""
    return receive_one(project, by=NOBODY, arrival=arrival(*data, **said), quiet=quiet)
