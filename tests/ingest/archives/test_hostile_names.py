"""Names of any length and in any script are stored, or refused with a sentence, never with a 500."""

import json
import random

import pytest

from tests.ingest import sending
from tests.ingest.sending import SAID

pytestmark = pytest.mark.django_db

NAMED = ("workload", "product", "version", "build", "configuration", "server", "metric", "unit")


def send(api, text, **fields):
    return sending.send(api, text.encode(), "result.csv", **{**SAID, "workload": "select", **fields})


def elephants(length):
    """Characters of four bytes that do not shrink when they are packed."""
    chosen = random.Random(length)
    return "".join(chr(chosen.randrange(0x20000, 0x2A000)) for _ in range(length))


def row_of(**values):
    cells = {"workload": "select", "product": "MariaDB-10.11.19", "metric": "tps", "value": "730.96"} | values
    return ",".join(cells) + "\n" + ",".join(cells.values()) + "\n"


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("length", [100, 301, 5000])
def test_a_long_name_in_a_file_is_stored_or_refused(api, name, length):
    answer = send(api, row_of(**{name: elephants(length)}))
    assert answer.status_code in (201, 400, 422), answer.content
    if answer.status_code != 201:
        assert answer.json()["errors"][0]["message"]


@pytest.mark.parametrize("length", [50, 100])
def test_long_names_together_are_stored_or_refused(api, length):
    names = {
        name: elephants(length)
        for name in ("workload", "product", "version", "build", "configuration", "server")
    }
    answer = send(
        api, row_of(**names), build=elephants(length), branch=elephants(200), counterpart=elephants(200)
    )
    assert answer.status_code in (201, 400, 422), answer.content


@pytest.mark.parametrize(
    "text", ["\x1b[31mred", "a\u202eb", "\ufeff", "\u200b", "a\x85b", "'; DROP TABLE", "<b>", "\\N", "{}"]
)
@pytest.mark.parametrize("name", ["workload", "version", "metric"])
def test_odd_characters_in_a_file_are_stored_or_refused(api, name, text):
    answer = send(api, row_of(**{name: text}))
    assert answer.status_code in (201, 400, 422), answer.content


def test_long_keys_and_values_in_json_are_stored_or_refused(api):
    for key, value in (
        ("x" * 5000, "y"),
        ("note", "y" * 500_000),
        ("note", elephants(50_000)),
        ("🐘" * 101, 5.0),
    ):
        line = {"time": "2026-11-20T15:31:13Z", "tps": 690.3, key: value}
        answer = send(api, json.dumps(line) + "\n", format="run_lines")
        assert answer.status_code in (201, 400, 422), answer.content
