"""What the documentation tells people to type works as it stands.

Blocks marked ``console`` are run: lines that begin with ``$ `` are commands (a backslash at the end continues
one), the lines after a command are what it must print, where ``...`` stands for anything. The commands of one
page share a shell, in a copy of the checkout, against a live server that stands where the page says
``http://127.0.0.1:8000``; ``TOKEN`` is the token that ``make run`` prints. An answer of the API that tells of
an error fails, unless the page shows it. Blocks marked otherwise are not run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from benchdash.launcher.first_access import make_access

ROOT = Path(__file__).parents[1]
DOCUMENTED = "http://127.0.0.1:8000"
NOT_COPIED = (".*", "node_modules", "var", "__pycache__")
WITHIN_S = 300
# How every error of the API begins.
PROBLEM = '{"type":"about:blank"'


@dataclass(frozen=True)
class Command:
    line: int
    text: str
    expected: str


def blocks(text):
    """The blocks marked ``console``: the number of their first line, and their lines."""
    for found in re.finditer(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start(1)) + 1, found[1].splitlines()


def commands(text):
    for first, lines in blocks(text):
        number = 0
        while number < len(lines):
            assert lines[number].startswith("$ "), f"line {first + number} is no command: {lines[number]}"
            start, words = number, [lines[number].removeprefix("$ ")]
            while words[-1].endswith("\\"):
                number += 1
                words.append(lines[number])
            number += 1
            expected = []
            while number < len(lines) and not lines[number].startswith("$ "):
                expected.append(lines[number])
                number += 1
            yield Command(first + start, "\n".join(words), "\n".join(expected).strip())


def fits(expected, printed):
    pattern = ".*".join(re.escape(part.strip("\n")) for part in expected.split("..."))
    return re.search(pattern, printed, re.DOTALL) is not None


def _page(name):
    return ROOT / name if name == "README.md" else ROOT / "docs" / name


# Read one after the other by somebody who begins, and the last one again another day.
READ_TOGETHER = [
    page
    for page in map(_page, ("README.md", "uploading.md", "client.md", "api.md", "api.md"))
    if page.exists() and any(commands(page.read_text()))
]
READ_ALONE = [
    [page]
    for page in sorted((ROOT / "docs").glob("*.md"))
    if page not in READ_TOGETHER and any(commands(page.read_text()))
]


@pytest.fixture
def checkout(tmp_path):
    """A copy of the checkout in which commands may leave files."""
    copy = tmp_path / "benchdash"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (copy / ".venv").symlink_to(sys.prefix)
    return copy


@pytest.fixture
def installation(checkout, live_server, settings):
    """What ``make run`` has made: a server, an admin, an empty project and a token, named in run.json."""
    settings.SITE_URL = live_server.url
    run = {"url": live_server.url, **make_access(None).as_json()}
    (checkout / "var").mkdir()
    (checkout / "var/run.json").write_text(json.dumps(run))
    return run


def environment(run):
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    return {
        **os.environ,
        "DATABASE_URL": database.geturl(),
        "BENCHDASH_VAR": str(settings.VAR_DIR),
        "SITE_URL": run["url"],
        "TOKEN": run["token"],
    }


@pytest.mark.skipif(shutil.which("curl") is None, reason="the pages use curl: apt-get install curl")
@pytest.mark.parametrize("pages", [READ_TOGETHER, *READ_ALONE], ids=lambda pages: pages[-1].name)
def test_what_pages_tell_to_type_works(pages, checkout, installation):
    for number, page in enumerate(pages):
        _follow(page, checkout, installation, checkout / f"results-{number}")


def _follow(page, checkout, installation, results):
    """Type what a page says, in a new shell. Fails where something else is printed."""
    found = [*commands(page.read_text())]
    script = checkout / "script.sh"
    results.mkdir()
    steps = (_step(number, command, installation, results) for number, command in enumerate(found))
    script.write_text("".join(steps))
    subprocess.run(
        ["bash", str(script)], cwd=checkout, env=environment(installation), timeout=WITHIN_S, check=False
    )
    for number, command in enumerate(found):
        printed, status = (_read(results / f"{number}.{kind}") for kind in ("out", "status"))
        place = f"{page.name}, line {command.line}\n$ {command.text}\n{printed}"
        assert status == "0", f"{place}\nended with {status or 'nothing'}"
        assert PROBLEM not in printed or PROBLEM in command.expected, f"{place}\nwas refused"
        assert fits(command.expected, printed.replace(installation["url"], DOCUMENTED)), (
            f"{place}\nis not what the page says:\n{command.expected}"
        )


def _step(number, command, run, results):
    """The command in the one shell of its page; what it prints and how it ends lie in files."""
    text = command.text.replace(DOCUMENTED, run["url"])
    return (
        f"{{\n{text}\n}} >{results}/{number}.out 2>&1 </dev/null\n"
        f"status=$?; echo $status >{results}/{number}.status; [ $status = 0 ] || exit 1\n"
    )


def _read(file):
    return file.read_text(errors="replace").strip() if file.exists() else ""


# --- the rules of the blocks --------------------------------------------------------------------------------

A_PAGE = """
Run it:

```console
$ echo a \\
    b
a b
$ true
```

```sh
rm -rf var
```
"""


def test_only_console_blocks_are_run_and_a_backslash_continues_a_command():
    assert [*commands(A_PAGE)] == [
        Command(5, "echo a \\\n    b", "a b"),
        Command(8, "true", ""),
    ]


@pytest.mark.parametrize(
    ("expected", "printed", "is_fit"),
    [
        ("", "anything", True),
        ("one", "zero\none\ntwo", True),
        ('{"id": ..., "state": "imported"', '{"id": 12, "state": "imported", "runs": []}', True),
        ("one\n...\nthree", "one\ntwo\nthree", True),
        ("a.c", "abc", False),
    ],
)
def test_three_dots_stand_for_anything(expected, printed, is_fit):
    assert fits(expected, printed) is is_fit
