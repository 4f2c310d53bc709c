"""Articles over the API: written by members, read with the addresses of their numbers."""

import pytest

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Scope
from benchdash.articles.models import Article
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.results.corrections import merge
from benchdash.results.models import Hardware, Series, Workload
from tests.api.conftest import client_of
from tests.builders import make_project, make_record, make_runs, make_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project("bench")
    records = [
        make_record(
            100.0 * threads * number,
            version=f"10.6.{number}",
            threads=threads,
            settings={"pool": str(number)},
        )
        for number in (1, 2)
        for threads in (1, 4, 16)
    ]
    make_runs(records, project=project)
    return project


@pytest.fixture
def client(project):
    return client_of(make_token(project, Scope.READ, Scope.TRIAGE))


def views(project):
    one, two = map(short_id, columns_of(project, Selector()))
    versions = f"v={one}&v={two}&base={one}&metric=tps"
    workload = Workload.objects.get().pk
    return [
        {"page": "compare", "query": f"{versions}&workload={workload}&threads=4"},
        {"page": "matrix", "query": f"{versions}&relative_to=previous"},
        {"page": "curves", "query": f"{versions}&from=1&to=16"},
        {"page": "pair", "query": f"base={one}&against={two}"},
        {"page": "history", "query": f"series={Series.objects.filter(threads=4)[0].pk}"},
    ]


def test_an_article_is_written_read_changed_and_deleted(client, project):
    sent = {"title": "Two versions", "prose": "Why.", "blocks": views(project)[:1]}
    made = client.post("/api/v1/articles/", sent)
    assert made.status_code == 201, made.content
    article = made.json()
    assert (article["slug"], article["size"], article["blocks"][0]["runs_since"]) == ("two-versions", 1, 0)
    assert article["url"].endswith("/p/bench/articles/two-versions/")
    address = f"/api/v1/articles/{article['id']}/"
    changed = client.patch(address, {"title": "Two servers", "blocks": views(project)[1:3]}).json()
    assert (changed["title"], changed["slug"], changed["prose"]) == ("Two servers", "two-versions", "Why.")
    assert [block["page"] for block in changed["blocks"]] == ["matrix", "curves"]
    [listed] = client.get("/api/v1/articles/?project=bench").json()["results"]
    assert (listed["title"], listed["size"]) == ("Two servers", 2)
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404
    assert Article.objects.get().deleted_at


def test_each_view_leads_to_its_numbers(client, project):
    made = client.post("/api/v1/articles/", {"title": "All", "blocks": views(project)}).json()
    found = {}
    for block in made["blocks"]:
        [address] = block["answers"]
        answer = client.get(address.partition("://")[2].partition("/")[2].join(["/", ""]))
        assert answer.status_code == 200, (address, answer.content)
        found[block["page"]] = answer.json()
    [row] = found["compare"]["rows"]
    assert (row["threads"], row["base"]["value"], row["cells"][0]["ratio"]) == (4, 400.0, 2.0)
    assert found["matrix"]["rows"][0]["cells"][0]["ratio"] == 2.0
    assert found["curves"]["curves"][0]["scale_up"]["factor"] == 16.0
    assert found["pair"]["base"]["version"] == "10.6.1"
    assert [row[3] for row in found["history"]["rows"]] == [400.0, 800.0]


def test_no_view_leads_to_numbers_that_are_gone_with_a_merged_machine(client, project):
    made = client.post("/api/v1/articles/", {"title": "All", "blocks": views(project)}).json()
    make_runs([make_record(hardware="other", version="10.6.1")], project=project)
    box, other = Hardware.objects.order_by("pk")
    merge(box, other, by=Viewer())
    blocks = client.get(f"/api/v1/articles/{made['id']}/").json()["blocks"]
    for address in (one for block in blocks for one in block["answers"]):
        path = address.partition("://")[2].partition("/")[2]
        assert client.get(f"/{path}").status_code == 200, address


@pytest.mark.parametrize(
    "block",
    [
        {"page": "uploads", "query": "v=1"},
        {"page": "compare", "query": ""},
        {"page": "compare", "query": "v=1"},
        {"page": "compare", "query": "v=1&metric=tps", "heading": "x" * 201},
        {"page": "matrix", "query": "v=1&metric=tps&over=nights"},
    ],
)
def test_a_view_that_names_nothing_is_refused(client, block):
    answer = client.post("/api/v1/articles/", {"title": "Nothing", "blocks": [block]})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"].startswith("blocks")
    assert not Article.objects.exists()


def test_who_may_not_triage_does_not_write(project):
    reader = client_of(make_token(project, Scope.READ, Scope.UPLOAD))
    assert reader.post("/api/v1/articles/", {"title": "Mine"}).status_code == 403
    assert client_of().post("/api/v1/articles/", {"title": "Mine", "project": "bench"}).status_code == 401
