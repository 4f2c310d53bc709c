"""What one file may cost."""

from dataclasses import dataclass

from ingest.formats.report import FormatError


@dataclass(frozen=True, slots=True)
class Limits:
    """Ingest takes them from its settings, whose names the refusals say."""

    file_bytes: int = 200 * 1024 * 1024
    line_bytes: int = 1024 * 1024
    json_bytes: int = 50 * 1024 * 1024
    json_values: int = 1_000_000
    lines: int = 400_000
    cells: int = 100_000
    samples: int = 100_000
    runs: int = 10_000

    def check_file(self, size: int) -> None:
        if size > self.file_bytes:
            raise FormatError(
                f"the file has {size} bytes, more than {self.file_bytes} (RESULT_FILE_MAX_BYTES); "
                "send what is in it as several files"
            )

    def check_line(self, size: int, line: int) -> None:
        if size > self.line_bytes:
            raise FormatError(
                f"a line of {size} bytes, more than {self.line_bytes} (RESULT_LINE_MAX_BYTES): "
                "a tool does not print such lines",
                line,
            )

    def check_lines(self, lines: int) -> None:
        if lines > self.lines:
            raise FormatError(
                f"the file has {lines} lines, more than {self.lines} (RESULT_MAX_LINES); "
                "send what is in it as several files"
            )

    def check_cells(self, cells: int) -> None:
        if cells > self.cells:
            raise FormatError(
                f"a table of up to {cells} cells, more than {self.cells} (RESULT_TABLE_MAX_CELLS); "
                "send what is in it as several files"
            )

    def check_json(self, size: int, values: int) -> None:
        if size > self.json_bytes:
            raise FormatError(
                f"JSON of {size} bytes, more than {self.json_bytes} (RESULT_JSON_MAX_BYTES); "
                "send what is in it as several files"
            )
        if values > self.json_values:
            raise FormatError(
                f"JSON of up to {values} values, more than {self.json_values} (RESULT_JSON_MAX_VALUES); "
                "send what is in it as several files"
            )

    def samples_beyond(self, missing: int) -> str:
        """A warning of the interval samples that a report leaves out."""
        return f"{missing} interval samples beyond {self.samples} (RESULT_MAX_SAMPLES) are not kept"

    def check_runs(self, runs: int, line: int | None = None) -> None:
        if runs > self.runs:
            raise FormatError(
                f"more than {self.runs} runs (RESULT_MAX_RUNS); send them as several files", line
            )


DEFAULT_LIMITS = Limits()
