"""The examples of the schema are what the API answers."""

import json
import os

import pytest
from jsonschema import Draft202012Validator

from tests.api.examples import FILE, SITE, ask_everything, sample_project, written
from tests.schema_check import resolved, schema


@pytest.mark.django_db(transaction=True, reset_sequences=True)
def test_the_examples_are_what_the_api_answers(no_way_out, settings):
    settings.SITE_URL = SITE
    with sample_project() as (project, admin):
        examples = ask_everything(project, admin)
    if os.environ.get("WRITE_EXAMPLES"):
        FILE.write_text(written(examples))
    assert json.loads(FILE.read_text()) == examples, "run make examples"


def test_every_operation_has_examples_that_fit_the_schema():
    examples = json.loads(FILE.read_text())
    without, wrong = [], []
    for path, methods in schema()["paths"].items():
        for method, operation in methods.items():
            example = examples.get(operation["operationId"], {"parameters": {}, "answers": {}})
            for status, response in operation["responses"].items():
                for media_type, described in resolved(response).get("content", {}).items():
                    answers = example["answers"].get(status, {})
                    is_bytes = media_type == "application/octet-stream"
                    if status.startswith("2") and media_type not in answers and not is_bytes:
                        without.append((method, path, status, media_type))
                    if status.startswith("2") and media_type in answers:
                        wrong += errors(described["schema"], answers[media_type])
            for media_type, body in example.get("body", {}).items():
                wrong += errors(operation["requestBody"]["content"][media_type]["schema"], body)
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in example["parameters"]:
                    wrong += errors(parameter["schema"], example["parameters"][parameter["name"]])
                elif parameter.get("required"):
                    without.append((method, path, parameter["name"]))
    assert without == []
    assert wrong == []


def errors(described, value):
    validator = Draft202012Validator({**described, "components": schema()["components"]})
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(value)]
