"""JSON as clients get it."""

import json
from datetime import UTC, datetime

import numpy as np
from rest_framework.renderers import JSONRenderer

from benchdash.rendering import FastJSONRenderer


def test_it_says_what_the_renderer_of_the_framework_says():
    data = {"at": datetime(2026, 1, 2, 3, 4, 5, 678901, UTC), 3: [1, 2.5, None, "ü"], "rows": ((1, "a"),)}
    assert json.loads(FastJSONRenderer().render(data)) == json.loads(JSONRenderer().render(data))


def test_what_is_no_number_is_null():
    assert FastJSONRenderer().render([float("nan"), float("inf"), np.float64(1.5)]) == b"[null,null,1.5]"


def test_nothing_is_an_empty_body():
    assert FastJSONRenderer().render(None) == b""
