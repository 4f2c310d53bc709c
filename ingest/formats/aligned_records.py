"""Tables of words and blanks with a row for each run, or thread count, and a column for each metric:

User Threads  Txns/sec  User  System  Idle
           1       523     6       1    93
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ingest.formats.cells import is_cell
from ingest.formats.grids import counted, counts_threads, refuse_relative, title_fact
from ingest.formats.records import MOST_COLUMNS, Record, meaning_of, read_records, understand
from ingest.formats.report import FormatError, ParsedReport

Split = Callable[[str], list[str]]

_MOST_WORDS_OF_A_HEAD = 3


@dataclass(frozen=True, slots=True)
class AlignedRecords:
    """A table in the lines of a file: the index of its first line, its columns, how its rows are split."""

    lines: Sequence[str]
    index: int
    names: tuple[str, ...]
    split: Split

    def read(self) -> ParsedReport:
        """A run for each row; raises FormatError where one cannot be understood."""
        titles = [(number, text.strip()) for number, text in enumerate(self.lines[: self.index], start=1)]
        titles = [(number, text) for number, text in titles if text]
        records: list[Record] = []
        after_blank = below_table = False
        for number, text in enumerate(self.lines[self.index + 1 :], start=self.index + 2):
            cells = self.split(text)
            if not cells:
                after_blank = True
            elif tuple(cells) == self.names or (below_table and len(cells) == len(self.names)):
                raise FormatError("a second table begins; send each table as a file of its own", number)
            elif len(cells) == len(self.names):
                records.append(Record(number, dict(zip(self.names, cells, strict=True))))
            elif (after_blank or below_table) and sum(map(is_cell, text.split())) < 2:
                titles.append((number, text.strip()))
                below_table = True
            else:
                raise FormatError(
                    f"{counted(len(cells), 'cell')} under {counted(len(self.names), 'column')}", number
                )
        refuse_relative(titles)
        report = read_records(understand(self.names), records, self.index + 1)
        return replace(report, facts=title_fact(titles))


def find_aligned_records(lines: Sequence[str], most: int) -> AlignedRecords | None:
    """The table whose names stand on one of the first ``most`` lines, or None."""
    for index, line in enumerate(lines[:most]):
        if len(line.split(maxsplit=1)) < 2:
            continue
        first_row = next((row for row in islice(lines, index + 1, None) if row.strip()), "")
        for names, split in ((_wide(line), _wide), (_wide(line), str.split), (_words(line), str.split)):
            fits = 1 < len(names) <= MOST_COLUMNS and len(split(first_row)) == len(names)
            if fits and understand(names).tell_runs and _numbers_under_metrics(names, split(first_row)):
                return AlignedRecords(lines, index, tuple(names), split)
    return None


def _numbers_under_metrics(names: Sequence[str], cells: Sequence[str]) -> bool:
    metrics = understand(names).metrics
    return all(
        is_cell(cell)
        for name, cell in zip(names, cells, strict=True)
        if name in metrics or meaning_of(name) == "threads"
    )


def _wide(line: str) -> list[str]:
    """What two blanks or more separate."""
    return [part for part in re.split(r"\s{2,}|\t", line.strip()) if part]


def _words(line: str) -> list[str]:
    """The words, with those before a word such as ``Threads`` put together: ``User Threads``."""
    words = line.split()
    for count in range(2, _MOST_WORDS_OF_A_HEAD + 1):
        head = " ".join(words[:count])
        if counts_threads(head) and meaning_of(head):
            return [head, *words[count:]]
    return words
