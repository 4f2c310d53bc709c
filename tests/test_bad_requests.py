"""Whatever is asked or sent, it is never a mistake of ours: no address answers with 500."""

from pathlib import Path

import pytest
from django.test import Client

from tests.addresses import addresses, make_world
from tests.builders import PASSWORD, make_user

pytestmark = pytest.mark.django_db

# All that any address looks for in its query; those by themselves keep the others from being looked at.
_ALONE = ("series", "upload", "cursor", "run")
_TOGETHER = (
    *(
        "page",
        "limit",
        "since",
        "max_points",
        "q",
        "find",
        "v",
        "base",
        "against",
        "metric",
        "workload",
        "threads",
    ),
    *(
        "hardware",
        "configuration",
        "counterpart",
        "branch",
        "build",
        "line",
        "product",
        "version",
        "version_id",
    ),
    *(
        "commit",
        "tag",
        "excluded",
        "included",
        "historical",
        "state",
        "status",
        "kind",
        "by",
        "from",
        "to",
        "open",
    ),
    *(
        "show",
        "over",
        "rows",
        "sort",
        "changed",
        "colours",
        "relative_to",
        "x",
        "scale",
        "relative",
        "axis",
        "values",
        "user",
        "token",
        "action",
        "name",
        "preview",
        "reason",
        "setting",
        "with",
        "subject",
        "query",
        "until",
        "last",
        "margin",
        "operation",
        "fit",
        "source",
    ),
)
_NUL, _HUGE, _NOT_UTF_8 = "%00", "9" * 30, "%ff%ED%A0%80%27%22%3Cb%3E%7B%25"


@pytest.fixture
def world():
    return make_world("quartz")


@pytest.fixture
def alice(world):
    """She may do everything in the project, so that nothing keeps her from the end of a view."""
    client = Client(raise_request_exception=False)
    client.force_login(world.admin)
    return client


def asked(world):
    return [address.of("quartz", **address.examples(world)) for address in addresses()]


@pytest.mark.parametrize("value", [_NUL, _HUGE, _NOT_UTF_8, "-1"])
def test_no_query_is_too_strange(world, alice, value):
    # Together a number beyond all ids would be refused before the others are looked at.
    alone = _ALONE if value == _HUGE else ()
    queries = [
        "&".join(f"{name}={value}" for name in names) for names in (_TOGETHER, *([one] for one in alone))
    ]
    broken = []
    for address in asked(world):
        for query in queries:
            whole = f"{address}{'&' if '?' in address else '?'}{query}"
            if alice.get(whole).status_code >= 500:
                broken.append(whole)
    assert broken == []


def test_no_query_is_too_long(world, alice):
    query = "&".join(f"name-{number}=x" for number in range(10_000))
    answers = {
        address: alice.get(f"{address}{'&' if '?' in address else '?'}{query}") for address in asked(world)
    }
    # Who does not look at the query does not mind.
    assert {answer.status_code for answer in answers.values()} <= {200, 301, 400, 405}


def test_no_id_is_too_large(world, alice):
    wanted = [(one, one.examples(world)) for one in addresses() if one.wants - {"slug"}]
    wanted = [(one, examples) for one, examples in wanted if any(map(_is_id, examples.values()))]
    answers = {}
    for address, examples in wanted:
        huge = {name: 10**18 - 1 if _is_id(value) else value for name, value in examples.items()}
        for method in (alice.get, alice.post):
            answers[method.__name__, address.name] = method(address.of("quartz", **huge)).status_code
    assert set(answers.values()) <= {404, 405}


def _is_id(value):
    return isinstance(value, int)


_FIELDS = (
    *(
        "reason",
        "text",
        "name",
        "notes",
        "address",
        "branch",
        "product",
        "hardware",
        "scopes",
        "role",
        "slug",
    ),
    *(
        "state",
        "assignee",
        "notice",
        "visibility",
        "historical_after_days",
        "equivalence_margin",
        "smallest_change",
        "min_confidence",
        "silent_metrics",
        "release_line_order",
        "lines_not_compared",
        "branch_origins",
        "stall_below",
        "stall_min_s",
        "stall_warmup_s",
        "metadata",
        "workload",
        "version",
    ),
    *("title", "prose", "heading", "article", "query", "page", "do"),
    *("threads", "started_at", "options", "map", "meta", "tags", "format", "step", "confirmed", "project"),
    *(f"rename-{name}" for name in ("name", "reason")),
    *(f"merge-{name}" for name in ("into", "reason")),
    *(f"build-{name}" for name in ("commit", "committed_at", "released_at", "order", "reason")),
)


@pytest.mark.parametrize(
    "value", ["\0", "\x1b\u202e\ud800".encode("utf-8", "surrogatepass"), "9" * 30, "x" * 30_000]
)
def test_no_form_is_too_strange(world, alice, value):
    broken = []
    for address in asked(world):
        for correction in ("rename", "merge", "build"):
            said = {**dict.fromkeys(_FIELDS, value), "correction": correction}
            if alice.post(address, said).status_code >= 500:
                broken.append((address, correction))
            if "/correct/" not in address:
                break
    assert broken == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data; name"),
        ("multipart/form-data", b"no boundary"),
        (
            "application/json",
            b'{"reason": "\\ud800", "text": "\\ud800", "excluded": true, "hardware": "\\ud800"}',
        ),
        ("application/json; charset=none", b"{}"),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % number for number in range(10_000))),
    ],
)
def test_no_body_is_too_strange(world, alice, kind, body):
    answers = {
        (method, address): alice.generic(method, address, body, kind).status_code
        for address in asked(world)
        for method in (("POST", "PATCH", "DELETE") if address.startswith("/api/") else ("POST",))
    }
    assert {key: status for key, status in answers.items() if status >= 500} == {}


def test_without_redis_everything_can_be_read_and_sent(world, settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1"}}
    bob = Client(raise_request_exception=False)
    make_user("bob", password=PASSWORD, member_of=world.project)
    bob.post("/sign-in/", {"username": "bob@example.org", "password": PASSWORD})
    assert [one for one in asked(world) if bob.get(one).status_code >= 500] == []
    with (Path(__file__).parent / "ingest/fixtures/sysbench/oltp_read_only-histogram.txt").open("rb") as file:
        said = {"product": "MariaDB", "version": "10.6.23", "hardware": "box", "workload": "ro"}
        answer = bob.post("/api/v1/uploads/", {"project": "quartz", "file": file, **said})
    assert answer.status_code == 201
