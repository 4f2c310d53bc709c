"""What the fuzzer calls for each input; ``tests.fuzz`` starts it with the options of libFuzzer."""

import os
import sys

import atheris

with atheris.instrument_imports(include=["ingest.formats"]):
    from tests.ingest.formats.soundness import check_read, recognised

from ingest.formats.source import Source

FORMATS = os.environ["FUZZED_FORMATS"].split()


def read(data):
    """Read the input by the formats that recognise it, and by one that need not."""
    if not data:
        return
    source = Source(data)
    names = {name for name in FORMATS if recognised(source, name)}
    for name in sorted(names | {FORMATS[len(data) % len(FORMATS)]}):
        check_read(name, data)


if __name__ == "__main__":
    atheris.Setup(sys.argv, read)
    atheris.Fuzz()
