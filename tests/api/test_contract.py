"""A live server keeps to its schema, whatever is asked: schemathesis with all its checks.

The project is that of the examples. All operations are asked

- in three roles by their examples;
- each example of what needs a token also without one, and with a wrong one (``ignored_auth``).

``FOLLOWED`` operations are asked one after the other as well: what was made must be there
(``ensure_resource_availability``), and what was deleted must be gone (``use_after_free``). Which of them are
met depends on the rows of requests that are generated.

``make schemathesis`` asks all operations by one case of each kind of boundary and mistake that schemathesis
knows, such as a number above its maximum, a missing parameter, or a method that the operation lacks
(``unsupported_method``); then by every one of them, and by generated requests, and follows all, in all roles.
``missing_required_header`` looks at nothing in either: no operation requires a header but that of the token.
"""

import json
import os
from collections import Counter
from dataclasses import dataclass, field

import pytest
import schemathesis
from schemathesis import engine
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events
from schemathesis.generation.meta import CoverageScenario, coverage_scenario

from benchdash.accounts.models import Scope
from tests.api.examples import ask_everything, sample_project
from tests.builders import make_token
from tests.schema_check import schema as schema_of_the_api

# Of what can be made and deleted again.
FOLLOWED = "^/api/v1/(annotations|articles|webhooks)/({id}/)?$"
_ANY_NUMBER = 1_000_000
# Fields that a request which fits the schema may still be refused for: they name what must exist, or must fit
# other fields or what is stored. Each problem must be about these alone. "" is the whole request.
_COLUMN = {"product", "version", "build", "commit", "branch", "hardware", "configuration", "counterpart"}
_VERSIONS = frozenset({"metric", "base", "against", "workload", "threads", *_COLUMN})
_TRIAGE = frozenset({"assignee", "state", "reason", "bug", "snoozed_until", "snoozed_until_version", "ids"})
_WISHES = frozenset({"address", "time_zone", "smallest_change", "kinds", "workload_group", "metric", ""})
_METRIC = frozenset(
    {"name", "unit", "direction", "smallest_change", "smallest_change_absolute", "aggregation", "kind", ""}
)
REFUSED_BY_DESIGN = {
    "GET /api/v1/compare/": _VERSIONS,
    "GET /api/v1/curves/": _VERSIONS | {"from", "to"},
    "GET /api/v1/difference/": _VERSIONS | {"run"},
    "GET /api/v1/latency/": _VERSIONS,
    "GET /api/v1/matrix/": _VERSIONS | {"v", "project"},
    "GET /api/v1/nights/": _VERSIONS | {"until"},
    "GET /api/v1/sweep/": _VERSIONS | {"setting", "lines", "subject", "with"},
    "GET /api/v1/gate/": _VERSIONS | {"pull_request"},
    "GET /api/v1/series/{id}/points/": frozenset({"columns", "since"}),
    "GET /api/v1/runs/{id}/intervals/": frozenset({"source"}),
    "GET /api/v1/overview/": frozenset({"since"}),
    # The content of files, and the JSON in fields of a form.
    "POST /api/v1/uploads/": frozenset({"file", "meta", "map", "metrics", "options", "companion", *_COLUMN}),
    "PATCH /api/v1/uploads/{id}/": frozenset({"", "workload", *_COLUMN}),
    "DELETE /api/v1/uploads/{id}/": frozenset({""}),
    "PATCH /api/v1/versions/{id}/": frozenset({"version", "commit", "committed_at"}),
    "PATCH /api/v1/runs/{id}/": frozenset({"reason"}),
    "POST /api/v1/exclusions/": frozenset({"reason", "runs"}),
    "POST /api/v1/annotations/": frozenset({"hardware", "product", "until", "at"}),
    "PATCH /api/v1/incidents/{id}/": _TRIAGE,
    "POST /api/v1/incidents/triage/": _TRIAGE,
    "POST /api/v1/articles/": frozenset({"blocks", "title"}),
    "PATCH /api/v1/articles/{id}/": frozenset({"blocks", "title"}),
    "POST /api/v1/metrics/": _METRIC,
    "PATCH /api/v1/metrics/": _METRIC,
    "PATCH /api/v1/metrics/{id}/": _METRIC,
    "POST /api/v1/subscriptions/": _WISHES,
    "PATCH /api/v1/subscriptions/{id}/": _WISHES,
    "DELETE /api/v1/subscriptions/": frozenset({"address"}),
    "POST /api/v1/baselines/": frozenset({"version", *_COLUMN, ""}),
    "PATCH /api/v1/baselines/{id}/": frozenset({"version", "commit", ""}),
    "DELETE /api/v1/baselines/{id}/": frozenset({""}),
    "POST /api/v1/webhooks/": frozenset({"url", "secret", "kinds"}),
}
REFUSED_BY_DESIGN_EVERYWHERE = {"/merge/": frozenset({"into"})} | {
    f"/{kind}/{{id}}/": frozenset({"name"})
    for kind in ("products", "hardware", "configurations", "workloads")
}


@dataclass(frozen=True)
class Failure:
    check: str
    operation: str
    about: str
    request: str
    status: int
    answer: str

    @property
    def fields(self):
        """What a problem is about: the names of fields, without what is in them."""
        try:
            errors = json.loads(self.answer)["errors"]
        except (ValueError, KeyError, TypeError):
            return frozenset()
        return frozenset(error.get("field", "").partition(".")[0] for error in errors)

    def __str__(self):
        answer = f"{self.status} {self.answer[:500]}"
        return f"{self.check}, {self.operation}: {self.about}\n  {self.request}\n  {answer}"


@dataclass
class Asked:
    """What was asked, and what came of it.

    ``met`` are the kinds of boundaries and mistakes.
    """

    failures: list = field(default_factory=list)
    operations: set = field(default_factory=set)
    met: set = field(default_factory=set)
    requests: int = 0

    def add(self, recorder):
        self.failures += [failure for failure in failures_of(recorder) if not is_by_design(failure)]
        self.requests += len(recorder.interactions)
        cases = [node.value for node in recorder.cases.values()]
        self.operations |= {case.operation.label for case in cases}
        self.met |= {kind for case in cases if (kind := coverage_scenario(case))}


@pytest.fixture
def secrets(no_way_out, live_server, settings, monkeypatch):
    """Of who asks, by role; nobody has none."""
    settings.SITE_URL = live_server.url
    for limit in ("anonymous", "token", "uploads"):
        monkeypatch.setitem(settings.THROTTLE_RATES, limit, f"{_ANY_NUMBER}/min")
    with sample_project() as (project, admin):
        ask_everything(project, admin)
    return {
        "everything": make_token(project, *Scope.values),
        "uploads": make_token(project, Scope.UPLOAD),
        "nobody": "",
    }


@pytest.mark.slow
@pytest.mark.django_db(transaction=True, reset_sequences=True)
def test_a_live_server_keeps_to_its_schema(secrets, live_server):
    url = live_server.url
    # The addresses in answers to the examples are what is followed.
    followed = asked(
        url, secrets["everything"], phases=("examples", "stateful"), examples=20, path_regex=FOLLOWED
    )
    failures = followed.failures
    for secret in secrets.values():
        of_examples = asked(url, secret, phases=("examples",))
        assert len(of_examples.operations) > 0.9 * len(all_operations())
        failures += of_examples.failures
    assert failures == [], explained(failures)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True, reset_sequences=True)
def test_a_live_server_keeps_to_its_schema_at_its_boundaries(secrets, live_server):
    boundaries = asked(live_server.url, secrets["everything"], phases=("coverage",), one_of_each_kind=True)
    assert boundaries.operations == all_operations()
    assert CoverageScenario.UNSPECIFIED_HTTP_METHOD in boundaries.met
    assert boundaries.failures == [], explained(boundaries.failures)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True, reset_sequences=True)
@pytest.mark.parametrize("role", ["everything", "uploads", "nobody"])
def test_a_live_server_keeps_to_its_schema_however_long_it_is_asked(secrets, live_server, role):
    phases = ("examples", "coverage", "fuzzing", "stateful")
    number = int(os.environ.get("EXAMPLES", "15"))
    failures = asked(live_server.url, secrets[role], phases=phases, examples=number).failures
    assert failures == [], explained(failures)


def all_operations():
    paths = schema_of_the_api()["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def asked(url, secret, *, phases, examples=1, path_regex="", one_of_each_kind=False):
    """Let schemathesis ask. Its failures are those that are none by design."""
    config = SchemathesisConfig.from_dict(
        {
            "continue-on-failure": True,
            "generation": {
                "deterministic": True,
                "max-examples": examples,
                "no-shrink": True,
                "database": "none",
                # Neither can be sent in a header or stored in a text; tests/test_bad_requests.py sends them.
                "allow-x00": False,
                "codec": "utf-8",
            },
            "phases": {
                name: {"enabled": name in phases} for name in ("examples", "coverage", "fuzzing", "stateful")
            },
            "headers": {"Authorization": f"Bearer {secret}"} if secret else {},
            "cache": {"enabled": False},
        }
    )
    schema = schemathesis.openapi.from_url(f"{url}/api/schema/", config=config)
    schema.config.update(base_url=url)
    if path_regex:
        schema = schema.include(path_regex=path_regex)
        schema.hook(map_query)
    if one_of_each_kind:
        schema.hook(first_of_each_kind())
    told = Asked()
    for event in engine.from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            told.add(event.recorder)
        elif isinstance(event, events.NonFatalError | events.FatalError):
            error = event.info if isinstance(event, events.NonFatalError) else event.exception
            told.failures.append(Failure("error", str(getattr(event, "label", "")), str(error), "", 0, ""))
    return told


def map_query(context, query):
    """Leave out names and cursors, which made up are refused before anything is looked for."""
    return {name: value for name, value in (query or {}).items() if name not in {"fields", "cursor"}}


def first_of_each_kind():
    """Return a hook that keeps of each operation one case of each kind of boundary or mistake."""
    known = Counter()

    def filter_case(context, case):
        key = (case.operation.label, coverage_scenario(case))
        known[key] += 1
        return known[key] == 1

    return filter_case


def failures_of(recorder):
    for number, checks in recorder.checks.items():
        interaction = recorder.interactions.get(number)
        answer = interaction.response if interaction else None
        for check in checks:
            if check.failure_info is None:
                continue
            case = recorder.cases[number].value
            yield Failure(
                check.name,
                case.operation.label,
                f"{check.failure_info.failure.title}: {check.failure_info.failure.message}",
                case.as_curl_command()[:1000],
                answer.status_code if answer is not None else 0,
                answer.content.decode(errors="replace") if answer is not None else "",
            )


def is_by_design(failure):
    """Say whether a request was refused for what no schema can say of it, and for nothing else."""
    if failure.check != "positive_data_acceptance" or failure.status not in {400, 422}:
        return False
    method, _, path = failure.operation.partition(" ")
    known = REFUSED_BY_DESIGN.get(failure.operation, frozenset())
    if method == "GET":
        # Left out it is the project of the token; the others are names and cursors that must be known.
        known |= {"project", "fields", "cursor"}
    for ending, fields in REFUSED_BY_DESIGN_EVERYWHERE.items():
        known |= fields if path.endswith(ending) and method != "GET" else frozenset()
    return bool(failure.fields) and failure.fields <= known


def explained(failures):
    """Say each kind of failure once."""
    kinds = {}
    for failure in failures:
        kinds.setdefault((failure.check, failure.operation, *sorted(failure.fields)), []).append(failure)
    return "\n".join(f"{len(some)} times {some[0]}" for _, some in sorted(kinds.items()))
