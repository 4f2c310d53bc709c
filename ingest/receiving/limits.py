"""The limits of one file, as the settings say."""

from django.conf import settings

from ingest.formats.limits import Limits


def result_limits() -> Limits:
    """Return what one result file may cost, as the settings say."""
    return Limits(
        file_bytes=settings.RESULT_FILE_MAX_BYTES,
        line_bytes=settings.RESULT_LINE_MAX_BYTES,
        json_bytes=settings.RESULT_JSON_MAX_BYTES,
        json_values=settings.RESULT_JSON_MAX_VALUES,
        lines=settings.RESULT_MAX_LINES,
        cells=settings.RESULT_TABLE_MAX_CELLS,
        samples=settings.RESULT_MAX_SAMPLES,
        runs=settings.RESULT_MAX_RUNS,
        cpu_seconds=settings.RESULT_MAX_CPU_SECONDS,
    )
