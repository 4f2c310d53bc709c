"""The numbers that sysbench prints."""

from ingest.formats.outputs import Figure, measured


def number(text: str, line: int) -> float:
    """Return a plain decimal number. Raise FormatError for anything that was not measured.

    Where nothing was measured sysbench prints 18446744073709.55 ms.
    """
    return measured(text, line, "is not a number that sysbench measures")


def figure(text: str, line: int) -> Figure:
    return Figure.of(number(text, line), text, line)


def milliseconds(text: str, line: int) -> float:
    """Return a time in ms: ``12.34`` and ``12.34ms`` are milliseconds, ``0.0123s`` is seconds."""
    if text.endswith("s") and not text.endswith("ms"):
        return seconds_in_ms(text[:-1], line)
    return number(text.removesuffix("ms"), line)


def seconds_in_ms(text: str, line: int) -> float:
    number(text, line)
    # The decimal point is moved in the text: 0.0123 * 1000 is not 12.3.
    return float(f"{text}e3")
