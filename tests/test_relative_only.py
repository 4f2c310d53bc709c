"""A project that publishes relative figures only: no page and no answer shows others an absolute one."""

import re

import pytest
from django.db.models import F
from django.test import Client

from benchdash.accounts.models import Project, Role, Scope
from benchdash.results.models import Measurement
from tests.addresses import addresses, make_world, without_random_words
from tests.builders import make_project, make_series, make_token, make_user

pytestmark = pytest.mark.django_db

SLUG = "quartz"
# What make_world measures, and what it becomes: figures that are found again, rounded or in thousands.
MEASURED, SCALE = (100, 101, 80), 618_033.989
NUMBERS = (
    re.compile(r"(?<![0-9.])[0-9]+(?:\.[0-9]+)?"),
    re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:[,\u202f\u00a0' ][0-9]{3})+(?:\.[0-9]+)?"),
)
# Of all addresses, these answer: what they show of the project are names and ratios.
SHOWN = {
    "api:article-detail",
    "api:article-list",
    "api:compare",
    "api:configuration-detail",
    "api:configuration-list",
    "api:hardware-detail",
    "api:hardware-list",
    "api:matrix",
    "api:product-detail",
    "api:product-list",
    "api:project-detail",
    "api:project-list",
    "api:version-detail",
    "api:version-list",
    "api:workload-detail",
    "api:workload-list",
    "dashboard:article",
    "dashboard:articles",
    "dashboard:home",
    "dashboard:matrix",
    "dashboard:sweep",
}


@pytest.fixture
def world():
    world = make_world(SLUG)
    Measurement.objects.update(value=F("value") * SCALE, low=F("low") * SCALE, high=F("high") * SCALE)
    Project.objects.filter(slug=SLUG).update(
        visibility=Project.Visibility.PUBLIC, is_relative_only=True, raw_files_are_public=True
    )
    return world


@pytest.fixture(params=["nobody", "somebody else", "a token of another project"])
def stranger(request, world):
    if request.param == "nobody":
        return Client()
    own = make_project("own")
    if request.param.startswith("a token"):
        return Client(headers={"authorization": f"Bearer {make_token(own, *Scope.values)}"})
    client = Client()
    client.force_login(make_user("charlie", member_of=own, role=Role.ADMIN))
    return client


def figures_in(text):
    """The numbers of a text that are one of those measured: whole, rounded, in thousands or in millions."""
    found = []
    for match in (match for pattern in NUMBERS for match in pattern.finditer(text)):
        number = float(re.sub(r"[,\u202f\u00a0' ]", "", match[0]))
        scales = (1, 1e3) + ((1e6,) if re.match(r"\.?[0-9]*\s*M", text[match.end() :]) else ())
        if any(abs(number * scale / (one * SCALE) - 1) < 0.006 for one in MEASURED for scale in scales):
            found.append(text[max(match.start() - 30, 0) : match.end() + 10])
    return found


def fine_numbers_in(body):
    """Numbers with more than two decimals, and per cents with any, of an answer in JSON, CSV or HTML."""
    shown = re.sub(r"<(script|style|svg)\b.*?</\1>|<[^>]*>", " ", body, flags=re.DOTALL)
    return re.findall(r"(?<![\w.])\d+\.(?:\d{3,}(?![\w.:+])|\d+[ \u00a0]%)", shown)


def of_compare(world):
    return f"project={SLUG}&metric=tps&base={world.run.version_id}"


def answers(world, client):
    """The name of each address that answers the caller, in the forms that it has, and what it says."""
    for address in addresses():
        asked = address.of(SLUG, **address.examples(world))
        if address.name == "api:compare":
            asked = f"{asked.partition('?')[0]}?{of_compare(world)}"
        for form in (asked, f"{asked}{'&' if '?' in asked else '?'}format=csv"):
            answer = client.get(form)
            yield (
                address.name,
                answer.status_code,
                without_random_words(b"".join(answer).decode(errors="replace")),
            )


@pytest.mark.parametrize(
    "query",
    [
        "values=absolute",
        "values=both&relative_to=previous",
        "over=nights&values=both",
        "format=csv&over=nights",
    ],
)
def test_no_form_of_the_matrix_has_an_absolute_figure(world, query):
    address = f"/p/{SLUG}/compare/matrix/?{query}"
    answer = Client().get(address)
    assert answer.status_code == 200
    assert figures_in(answer.content.decode()) == []
    member = Client()
    member.force_login(world.admin)
    assert figures_in(member.get(address).content.decode())


@pytest.mark.parametrize("query", ["open=each", "open=all", "open=each&charts=percentiles&drawn=relative"])
def test_open_rows_have_ratios_alone(world, query):
    for threads, value in ((64, 100), (128, 101)):
        series = make_series([value * SCALE, value * SCALE * 2], project=world.project, threads=threads)
    versions = series.measurements.values_list("run__version", flat=True)
    address = f"/p/{SLUG}/compare/matrix/?{'&'.join(f'v={pk}' for pk in versions)}&"
    body = Client().get(f"{address}{query}").content.decode()
    assert "publishes relative figures only" in body
    assert "chart-plot" in body
    assert figures_in(body) == []
    member = Client()
    member.force_login(world.admin)
    assert figures_in(member.get(address).content.decode())


def tells_of_project(body):
    """Whether a text has a name of the project, besides repeating the address."""
    return SLUG in re.sub(rf"/p/{SLUG}|project={SLUG}|/projects/{SLUG}", "", body)


def test_a_stranger_finds_no_absolute_figure_at_any_address(world, stranger):
    told = list(answers(world, stranger))
    assert [(name, figures) for name, _, body in told if (figures := figures_in(body))] == []
    assert [(name, fine) for name, _, body in told if (fine := fine_numbers_in(body))] == []
    assert {name for name, status, body in told if status == 200 and tells_of_project(body)} == SHOWN


def test_the_same_addresses_have_figures_where_all_are_published(world):
    Project.objects.filter(slug=SLUG).update(is_relative_only=False)
    told = list(answers(world, Client()))
    found = {name for name, _, body in told if figures_in(body)}
    assert "api:compare" in {name for name, _, body in told if fine_numbers_in(body)}
    assert {
        "dashboard:history",
        "dashboard:run",
        "api:run-detail",
        "api:compare",
        "api:matrix",
        "dashboard:matrix",
    } <= found


def test_a_member_sees_the_figures(world):
    client = Client()
    client.force_login(world.admin)
    assert figures_in(client.get(f"/p/{SLUG}/history/?series={world.series.pk}").content.decode())
    assert figures_in(client.get(f"/api/v1/runs/{world.run.pk}/").content.decode())
    assert figures_in(client.get(f"/api/v1/compare/?{of_compare(world)}").content.decode())


def test_a_stranger_sees_ratios(world, stranger):
    answer = stranger.get(f"/api/v1/compare/?{of_compare(world)}").json()
    (row,) = [row for row in answer["rows"] if row["base"]]
    assert (answer["unit"], row["base"]["value"]) == ("ratio", 1)
    assert row["cells"][0]["ratio"] == row["cells"][0]["value"] == pytest.approx(100 / 80, rel=0.3)
    matrix = stranger.get(f"/api/v1/matrix/?project={SLUG}&metric=tps").json()
    assert (matrix["unit"], {row["base"]["value"] for row in matrix["rows"] if row["base"]}) == ("ratio", {1})
    page = stranger.get(f"/p/{SLUG}/compare/matrix/")
    assert page.status_code == 200
    assert "This project publishes relative figures only" in page.content.decode()


def test_what_cannot_be_relative_says_so(world, stranger):
    for address in (
        f"/p/{SLUG}/history/",
        f"/p/{SLUG}/runs/{world.run.pk}/",
        f"/p/{SLUG}/uploads/{world.upload.pk}/",
    ):
        answer = stranger.get(address)
        assert answer.status_code == 403
        assert "This project publishes relative figures only" in answer.content.decode()
    answer = stranger.get(f"/api/v1/series/?project={SLUG}")
    assert answer.status_code == 403
    assert "relative figures only" in answer.json()["detail"]
    assert stranger.get(f"/p/{SLUG}/").headers["location"] == f"/p/{SLUG}/compare/matrix/"


def test_a_token_that_uploads_follows_its_own_upload(world):
    token = make_token(world.project, Scope.UPLOAD, name="sender")
    world.upload.token = world.project.tokens.get(name="sender")
    world.upload.save()
    client = Client(headers={"authorization": f"Bearer {token}"})
    assert client.get(f"/api/v1/uploads/{world.upload.pk}/").status_code == 200
    assert client.get(f"/api/v1/series/{world.series.pk}/").status_code == 404


def test_the_settings_page_has_it(world):
    client = Client()
    client.force_login(world.admin)
    assert "Publish relative figures only" in client.get(f"/p/{SLUG}/settings/").content.decode()
