"""A file that is cut anywhere is understood in full, refused, or imported with a warning."""

import json

from tests.ingest.formats.cuts import troubles
from tests.ingest.formats.real_files import accepted, each_of, format_of, read, understood

# Long files are cut at fewer places, so that all of them together take seconds; ``make cuts`` cuts at all.
BYTES_PER_FILE = 100_000
FEWEST_CUTS, MOST_CUTS = 6, 24
# Some are cut already. Of two recordings of dstat, the first was all that there was once, and in the first
# interval of mpstat nothing tells which tables follow. Of one report of Bexhoma nothing tells that another
# follows, from which it is told apart; nor of a whole run, table or distribution that others do.
LEFT_OUT = {
    *("cut.txt", "started-twice.csv", "with-interrupts.txt", "two-reports.md", "ratios-beside-rates.txt"),
    *("by-hand-loop-with-stopped-and-aborted.txt", "printed-twice.txt", "two-without-a-key.txt"),
    "two-rates.md",
}
ACCEPTED = [
    path
    for path in accepted()
    if path.read_bytes().endswith((b"\n", b"]", b"}")) and path.name not in LEFT_OUT
]


def most_cuts(data):
    return min(max(BYTES_PER_FILE // len(data), FEWEST_CUTS), MOST_CUTS)


@each_of(ACCEPTED)
def test_a_file_that_is_cut_is_never_taken_for_a_whole_one(path):
    data = path.read_bytes()
    assert troubles(format_of(path), data, most=most_cuts(data)) == []


def ends_with_its_last_line(path):
    """Whether it is text of lines; JSON says itself where it ends."""
    data = path.read_bytes()
    try:
        json.loads(data)
    except ValueError:
        return data.endswith(b"\n")
    return False


@each_of(filter(ends_with_its_last_line, ACCEPTED))
def test_a_last_line_of_text_without_its_end_never_goes_without_a_warning(path):
    data = path.read_bytes()
    cut = understood(format_of(path), data.rstrip(b"\r\n"))
    assert cut is None or cut.warnings - read(format_of(path), data).warnings
