"""The check of all answers itself finds what does not fit."""

import json

import pytest

from tests.schema_check import Answer, errors_of

PRODUCT = {"id": 1, "project": "p", "name": "MariaDB", "aliases": []}
PROBLEM = {
    "type": "about:blank",
    "title": "Not Found",
    "status": 404,
    "code": "not_found",
    "detail": "",
    "errors": [],
}


def answer(content, *, path="/api/v1/products/1/", method="GET", status=200, media_type="application/json"):
    return Answer(method, path, status, media_type, json.dumps(content).encode())


def test_an_answer_as_the_schema_says_is_right():
    assert list(errors_of(answer(PRODUCT))) == []
    assert list(errors_of(answer({"results": [PRODUCT], "next": None}, path="/api/v1/products/"))) == []
    assert list(errors_of(answer(PROBLEM, status=404, media_type="application/problem+json"))) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {**PRODUCT, "name": None},
        {**PRODUCT, "colour": "red"},
        {"id": 1},
    ],
    ids=["null", "undeclared", "missing"],
)
def test_an_answer_of_another_shape_is_wrong(wrong):
    assert list(errors_of(answer(wrong)))


def test_an_error_that_is_no_problem_is_wrong():
    assert list(errors_of(answer({"detail": "no"}, status=404)))


def test_what_the_schema_does_not_declare_is_not_looked_at():
    assert list(errors_of(answer({}, method="PUT"))) == []
    assert list(errors_of(answer({}, path="/api/v1/nothing/"))) == []
