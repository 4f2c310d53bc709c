"""What a fuzzer found once is understood or refused by every format from then on."""

from pathlib import Path

import pytest

from ingest.formats import FORMATS
from ingest.formats.companions import COMPANION_FORMATS
from tests.ingest.formats.storing import check_imported

CRASHES = sorted((Path(__file__).parent / "crashes").iterdir())


@pytest.mark.parametrize("path", CRASHES, ids=lambda path: path.name)
def test_a_file_that_was_found_by_fuzzing_does_no_harm(path):
    for name in (*FORMATS, *COMPANION_FORMATS):
        check_imported(name, path.read_bytes())
