"""``python -m tests.fuzz --seconds 600 [FORMAT ...]``: fuzz the formats on both cores, say what was found.

The fixtures are the corpus, and their words the dictionary. A file that makes a format fail is kept in
``var/fuzz``; put into ``tests/fuzz/crashes``, it is tried by every test run from then on.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ingest.formats import FORMATS
from ingest.formats.companions import COMPANION_FORMATS
from tests.ingest.formats.real_files import fixtures, format_of

ROOT = Path(__file__).parents[2]
FOUND = ROOT / "var" / "fuzz"
JOBS = 2
# Longer files hold nothing that their beginnings do not.
LONGEST_INPUT = 16 * 1024
MOST_WORDS = 2_000
HOSTILE_WORDS = [
    "NaN",
    "Infinity",
    "-1",
    "1e999",
    "9" * 60,
    "\u0663",
    "\\x00",
    "\x1b[1m",
    "±",
    "≈",
    "⁻⁶",
    "n/a",
]


def main():
    arguments = _arguments()
    if importlib.util.find_spec("atheris") is None:
        print("atheris has no wheel for this Python or machine; the properties of the tests remain")
        return 0
    FOUND.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        shares = [arguments.formats[number::JOBS] for number in range(JOBS)]
        fuzzers = [
            _start(Path(temporary) / str(number), share, arguments.seconds)
            for number, share in enumerate(shares)
            if share
        ]
        for fuzzer in fuzzers:
            fuzzer.wait()
        for fuzzer in fuzzers:
            output = Path(str(fuzzer.args[-1])).with_name("output").read_text(errors="replace")
            executed = re.search(r"number_of_executed_units: (\d+)", output)
            print(output if fuzzer.returncode else f"{executed[1] if executed else 0} files were tried")
    found = sorted(path for path in FOUND.iterdir() if path.is_file())
    for path in found:
        print(
            f"a crash is kept in {path.relative_to(ROOT)}; when it is mended, move it to tests/fuzz/crashes"
        )
    return 1 if any(fuzzer.returncode for fuzzer in fuzzers) else 0


def _arguments():
    formats = [*FORMATS, *COMPANION_FORMATS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("formats", nargs="*", metavar="FORMAT")
    arguments = parser.parse_args()
    if unknown := set(arguments.formats) - set(formats):
        parser.error(f"no format is called {' or '.join(sorted(unknown))}; known are {', '.join(formats)}")
    arguments.formats = arguments.formats or formats
    return arguments


def _start(folder, formats, seconds):
    """A process that fuzzes these formats, beginning with their fixtures."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    words = set(HOSTILE_WORDS)
    for path in fixtures():
        if format_of(path) in formats:
            data = path.read_bytes()[:LONGEST_INPUT]
            (corpus / f"{path.parent.name}-{path.name}").write_bytes(data)
            words.update(re.findall(r"[A-Za-z][\w ./%()-]{2,40}", data.decode("utf-8", "replace")))
    (folder / "words").write_text("".join(map(_entry, sorted(words)[:MOST_WORDS])), encoding="utf-8")
    options = {
        "max_total_time": seconds,
        "max_len": LONGEST_INPUT,
        "dict": folder / "words",
        "artifact_prefix": f"{FOUND}/",
        "timeout": 60,
        "rss_limit_mb": 1500,
        "verbosity": 0,
        "print_final_stats": 1,
    }
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.target",
        *(f"-{name}={value}" for name, value in options.items()),
    ]
    environment = os.environ | {"FUZZED_FORMATS": " ".join(formats)}
    with (folder / "output").open("w") as output:
        return subprocess.Popen(
            [*command, str(corpus)], cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )


def _entry(word):
    """A line of a dictionary of libFuzzer, which knows bytes alone."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in word.encode()) + '"\n'


if __name__ == "__main__":
    sys.exit(main())
