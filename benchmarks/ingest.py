"""How many result files a second are stored: ``python -m benchmarks.ingest``.

A folder of sysbench files, each with content of its own, goes the way of import_folder: in batches, with
everything stored in a PostgreSQL that syncs to the disk, analysed later. Beside it stands what the same
machine needs in the same minute to read the files and to write their bytes into one bare table.
"""

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.database import empty_database

_FILE = Path("tests/ingest/fixtures/sysbench/oltp_read_write-nightly.txt")
_MAX = re.compile(rb"( max: +)[\d.]+")
_BATCH = 100
_VERSIONS = 20
_THREADS = 8


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1000)
    number = parser.parse_args().files
    texts = _texts(number)
    with empty_database():
        bare = _seconds(_write_bare, texts)
        stored = _seconds(_import, texts)
    size = len(texts[0])
    sys.stdout.write(
        f"| {number} sysbench files of {size:,} bytes | seconds | files/s | to the bare table |\n"
        "|---|---:|---:|---:|\n"
        f"| bytes into a bare table, a commit a batch | {bare:.2f} | {number / bare:,.0f} | 1 |\n"
        f"| imported, everything stored | {stored:.2f} | {number / stored:,.0f} | {stored / bare:.0f} |\n"
    )


def _texts(number: int) -> list[bytes]:
    """Return files of as many runs: a figure of each is its own, or it would be a copy of another."""
    text = _FILE.read_bytes()
    return [_MAX.sub(rb"\g<1>%d.25" % (100 + position), text) for position in range(number)]


def _seconds(action: Callable[[Sequence[bytes]], None], texts: Sequence[bytes]) -> float:
    start = time.perf_counter()
    action(texts)
    return time.perf_counter() - start


def _write_bare(texts: Sequence[bytes]) -> None:
    from django.db import connection, transaction  # noqa: PLC0415 - Django is set up by now

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bare (content bytea)")
        rows = iter(texts)
        while batch := list(islice(rows, _BATCH)):
            with transaction.atomic():
                cursor.executemany("INSERT INTO bare VALUES (%s)", [(text,) for text in batch])


def _import(texts: Sequence[bytes]) -> None:
    from benchdash.accounts.access import NOBODY  # noqa: PLC0415 - Django is set up by now
    from benchdash.accounts.services import create_project  # noqa: PLC0415
    from ingest.metadata.upload_metadata import read_metadata  # noqa: PLC0415
    from ingest.receiving.arrivals import Arrival  # noqa: PLC0415
    from ingest.receiving.reception import receive  # noqa: PLC0415
    from ingest.storage.raw_bytes import RawData  # noqa: PLC0415

    project = create_project("bench", public=False)
    arrivals = (
        Arrival(f"{position}.txt", RawData(text), read_metadata(_fields(position))[0])
        for position, text in enumerate(texts)
    )
    while batch := list(islice(arrivals, _BATCH)):
        receive(project, by=NOBODY, arrivals=batch)


def _fields(position: int) -> dict[str, str]:
    """60 or so workloads on some versions, as a folder of a release's results holds them."""
    return {
        "product": "MariaDB",
        "version": f"10.11.{position % _VERSIONS}",
        "hardware": "bench-01",
        "workload": f"workload-{position // (_VERSIONS * _THREADS)}",
    }


if __name__ == "__main__":
    main()
