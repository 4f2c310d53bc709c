"""A project that publishes relative figures only, attacked: its ratios must not give the figures back."""

import json
import re
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from django.test import Client

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project, Role, Scope
from benchdash.articles.services import NewBlock, create_article
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.results.models import ProjectMetric, Run, ServerVersion, Workload
from tests.assistants.conftest import Door
from tests.builders import make_project, make_record, make_runs, make_series, make_token, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

# Printed with two decimals; the first workload has versions of three digits, the last a base of two.
DIGITS = {"point": 317, "range": 1873, "write": 48_211, "small": 87}
VERSIONS = 12
EIGHT = 8


def changes(seed):
    """By how much each version differs from the first, as a fixed random walk."""
    random = Random(seed)
    return [1.0, *(round(random.uniform(0.82, 1.3), 3) for _ in range(VERSIONS - 1))]


def printed(workload):
    """The figures of a workload in units of their last digit."""
    return [round(DIGITS[workload] * change) for change in changes(workload)]


def make_measured(slug, figures, *, metric="latency_p95", scale=0.01):
    """A public project of relative figures, with a release for each figure of a workload."""
    project = make_project(slug, public=True)
    for workload, values in figures.items():
        make_series([value * scale for value in values], project=project, metric=metric, workload=workload)
    Project.objects.filter(pk=project.pk).update(is_relative_only=True)
    return project


@pytest.fixture
def measured():
    return make_measured("garnet", {workload: printed(workload) for workload in DIGITS})


@pytest.fixture
def stranger():
    return Client()


@pytest.fixture
def member(measured):
    client = Client()
    client.force_login(make_user("alice", member_of=measured, role=Role.READER))
    return client


def version_ids(project):
    return dict(ServerVersion.objects.filter(project=project).values_list("version", "pk"))


def compared(client, project, base="10.6.1", **more):
    """The ratios of each workload by version, the base's among them."""
    query = {"project": project.slug, "metric": "latency_p95", "base": version_ids(project)[base], **more}
    answer = client.get("/api/v1/compare/", query)
    assert answer.status_code == 200, answer.content
    found, table = {}, answer.json()
    for row in table["rows"]:
        names = [table["base"]["version"], *(column["version"] for column in table["columns"])]
        values = [row["base"]["value"], *(cell and cell["ratio"] for cell in row["cells"])]
        found[row["workload"]] = dict(zip(names, values, strict=True))
    return found


def from_fractions(ratios, *, within):
    """Find the smallest base in whole numbers that gives all ratios, as continued fractions do."""
    for base in range(100, 10_000):
        if all(abs(ratio - round(ratio * base) / base) <= within for ratio in ratios):
            return base
    return None


def test_continued_fractions_find_the_base_of_full_digits_and_none_in_the_answers(measured, stranger):
    answer = compared(stranger, measured)
    for workload in ("point", "range"):
        figures = printed(workload)[: EIGHT + 1]
        exact = [figure / figures[0] for figure in figures[1:]]
        told = [answer[workload][f"10.6.{number}"] for number in range(2, EIGHT + 2)]
        assert from_fractions(exact, within=1e-12) == figures[0]
        assert all(abs(one - two) <= 0.0101 for one, two in zip(exact, told, strict=True))
        # Any base fits, so that the search tells nothing.
        assert from_fractions(told, within=0.005 + 1e-9) == 100


@pytest.mark.parametrize("base", [124, 137, 452, 999])
def test_figures_of_any_other_size_give_every_stranger_the_same_answers(measured, stranger, base):
    told = compared(stranger, measured)["point"]
    other = [round(ratio * base) for ratio in told.values()]
    assert other != printed("point")
    twin = make_measured("beryl", {"point": other})
    for version in told:
        ours = compared(stranger, measured, version, workload="point")
        assert ours == compared(stranger, twin, version, workload="point")
    cells = []
    for project in (measured, twin):
        workload = Workload.objects.get(project=project, name="point")
        page = f"/p/{project.slug}/compare/matrix/?values=both&workload={workload.pk}"
        cells.append(re.findall(r"\d+\.\d\d", text_of(stranger.get(page))))
    assert cells[0] == cells[1] != []


def numbers_of(answer):
    """Every number of an answer in JSON."""
    if isinstance(answer, dict):
        return [one for value in answer.values() for one in numbers_of(value)]
    if isinstance(answer, list):
        return [one for value in answer for one in numbers_of(value)]
    return [answer] if isinstance(answer, float) else []


ADDRESSES = [
    "/api/v1/compare/?project=garnet&metric=latency_p95&base={first}",
    "/api/v1/compare/?project=garnet&metric=latency_p95&base={last}&relative_to=previous",
    "/api/v1/matrix/?project=garnet&metric=latency_p95",
    "/api/v1/matrix/?project=garnet&metric=latency_p95&relative_to=previous",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_numbers_of_answers_have_two_decimals_and_no_interval(measured, stranger, member, address):
    ids = list(version_ids(measured).values())
    asked = address.format(first=ids[0], last=ids[-1])
    answer = stranger.get(asked).json()
    assert answer["rows"]
    assert [one for one in numbers_of(answer) if one != round(one, 2)] == []
    cells = [cell for row in answer["rows"] for cell in (row["base"], *row["cells"]) if cell]
    assert {(cell["low"], cell["high"], cell.get("p")) for cell in cells} == {(None, None, None)}
    csv = stranger.get(f"{asked}&format=csv").content.decode()
    assert re.findall(r"\d\.\d{3,}", csv) == []
    exact = member.get(asked).json()
    assert [one for one in numbers_of(exact) if one != round(one, 2)]


PAGES = [
    "compare/matrix/?values=both",
    "compare/matrix/?open=each",
    "compare/matrix/?open=each&drawn=relative&charts=percentiles",
    "compare/matrix/?open=all",
    "compare/matrix/?open=all&threads=8",
]


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_two_decimals_and_whole_per_cents(measured, stranger, page):
    for threads in (8, 32):
        values = [value * threads * 0.013 for value in printed("point")]
        make_series(values, project=measured, metric="latency_p95", workload="point", threads=threads)
    answer = stranger.get(f"/p/garnet/{page}")
    assert answer.status_code == 200
    body = answer.content.decode()
    assert "publishes relative figures only" in body
    assert re.findall(r"\d[.]\d+[\s\u00a0]*%", body) == []
    for script in re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', body, re.DOTALL):
        figure = json.loads(script)
        drawn = [{name: trace.get(name) for name in ("x", "y")} for trace in figure.get("data", ())]
        assert [one for one in numbers_of(drawn) if one != round(one, 2)] == []
        assert all(not any(trace.get("error_y", {}).get("array", ())) for trace in figure.get("data", ()))
    said = set(re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", re.sub(r"<[^>]*>", " ", body)))
    stored = {f"{figure / 100:.2f}" for workload in DIGITS for figure in printed(workload)}
    assert not {one for one in said & stored if float(one) > 1.5}


def test_rows_whose_base_has_fewer_than_three_digits_are_left_out(stranger):
    figures = {"two": [87, 120], "tens": [120, 99], "three": [100, 87], "one": [5, 420]}
    project = make_measured("opal", figures)
    assert compared(stranger, project).keys() == {"tens", "three"}
    assert compared(stranger, project, "10.6.2").keys() == {"two", "one"}


def test_how_few_digits_others_have_does_not_tell_how_large_a_version_is(stranger):
    project = make_measured("opal", {"edge": [106, 101, 100, 99, 112]})
    answered = {version: compared(stranger, project, version) for version in version_ids(project)}
    assert [version for version, rows in answered.items() if rows] == ["10.6.1"]


def test_whole_numbers_and_other_units_are_counted_by_their_digits(stranger):
    project = make_project("opal", public=True)
    for workload, values in {"whole": [412, 380], "coarse": [42, 38], "zeros": [120, 100]}.items():
        make_series(values, project=project, metric="latency_p95", workload=workload)
    Project.objects.update(is_relative_only=True)
    found = compared(stranger, project)
    assert found == {"whole": {"10.6.1": 1, "10.6.2": 0.92}, "zeros": {"10.6.1": 1, "10.6.2": 0.83}}


def test_the_margin_of_a_verdict_is_no_search_for_its_interval(measured, stranger, member):
    query = {"project": "garnet", "metric": "latency_p95", "base": version_ids(measured)["10.6.1"]}
    answer = stranger.get("/api/v1/compare/", {**query, "margin": "0.0123"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "margin"
    assert member.get("/api/v1/compare/", {**query, "margin": "0.0123"}).status_code == 200


def test_a_margin_said_in_the_unit_of_the_metric_is_told_in_whole_per_cent(measured, stranger):
    ProjectMetric.objects.create(project=measured, name="latency_p95", smallest_change_absolute=0.5)
    query = {"project": "garnet", "metric": "latency_p95", "base": version_ids(measured)["10.6.1"]}
    margin = stranger.get("/api/v1/compare/", query).json()["margin"]
    assert margin == round(margin, 2) > 0


@pytest.mark.parametrize(("first", "then"), list(product(("stranger", "member"), repeat=2)))
def test_no_kept_answer_of_one_is_given_to_the_other(measured, stranger, member, first, then):
    clients = {"stranger": stranger, "member": member}
    ids = list(version_ids(measured).values())
    for address in ADDRESSES:
        asked = address.format(first=ids[0], last=ids[-1])
        before = clients[first].get(asked)
        after = clients[then].get(asked, headers={"if-none-match": before["ETag"]})
        assert after.status_code == (304 if first == then else 200)
        assert "no-store" in after["Cache-Control"] or "private" in after["Cache-Control"]
    body = clients[then].get("/p/garnet/compare/matrix/?values=both").content.decode()
    assert ("3.17" in body) == (then == "member")


@pytest.fixture
def swept():
    """A project of relative figures whose runs differ in a setting; one took no three digits."""
    project = make_project("amber", public=True)
    records = [
        make_record(value, settings={"pool": size}, duration_s=61.37, workload=workload)
        for workload, values in {"point": (412.0, 517.0, 633.0), "small": (41.0, 52.0, 63.0)}.items()
        for size, value in zip(("8M", "64M", "1G"), values, strict=True)
    ]
    make_runs(records, project=project)
    Project.objects.filter(pk=project.pk).update(is_relative_only=True)
    return project


@pytest.mark.parametrize("base", ["8M", "1G"])
def test_settings_are_open_as_ratios(swept, stranger, base):
    answer = stranger.get(f"/api/v1/sweep/?project=amber&metric=tps&setting=pool&base={base}").json()
    [row] = answer["rows"]
    assert (row["workload"], row["unit"], row["base"]["value"]) == ("point", "ratio", 1)
    expected = {"8M": [1.25, 1.54], "1G": [0.65, 0.81]}[base]
    assert [cell["ratio"] for cell in row["cells"]] == expected == answer["geomean"]
    assert {one["seconds"] for one in (answer["base"], *answer["columns"])} == {None}
    for values in ("", "relative", "hidden"):
        page = stranger.get(f"/p/amber/compare/settings/?setting=pool&base={base}&values={values}")
        body = page.content.decode()
        assert page.status_code == 200
        assert not re.search(r"\b(412|517|633|41|52|63|61\.4)\b", re.sub(r"<[^>]*>", " ", body))
        assert re.findall(r"\d[.]\d+[\s\u00a0]*%", body) == []


def test_articles_are_open_and_say_which_figures_are_for_members(measured, stranger, member):
    first, second, *_ = map(short_id, columns_of(measured, Selector()))
    series = Run.objects.filter(project=measured).first().measurements.first().series_id
    blocks = [
        NewBlock("matrix", f"v={first}&v={second}&metric=latency_p95", "In short", ""),
        NewBlock("history", f"series={series}", "How it came", "our own words"),
    ]
    alice = make_user("bob", member_of=measured, role=Role.ADMIN)
    article = create_article(measured, title="Garnets", prose="", blocks=blocks, by=Viewer(user=alice))
    body = stranger.get(f"/p/garnet/articles/{article.slug}/").content.decode()
    assert "The figures of History are for members of the project." in body
    assert "our own words" in body
    assert "3.17" not in body
    assert "3.17" in member.get(f"/p/garnet/articles/{article.slug}/").content.decode()
    found = stranger.get(f"/api/v1/articles/{article.pk}/").json()
    numbers = stranger.get(found["blocks"][0]["answers"][0]).json()
    assert numbers["unit"] == "ratio"


@pytest.mark.usefixtures("no_loop_of_the_browser")
def test_assistants_and_badges_say_whole_per_cents(measured, live_server):
    door = Door(make_token(make_project("own"), Scope.READ, name="assistant"))
    asked = {"project": "garnet", "metric": "latency_p95", "base": "10.6.1", "against": ["10.6.2"]}
    found = door.ask("compare", **asked)
    assert [one for one in numbers_of(found) if one != round(one, 2)] == []
    assert re.findall(r"\d[.]\d+[\s\u00a0]*%", door.words("compare", **asked)) == []
    badge = Client().get("/p/garnet/badge.svg?kind=geomean").content.decode()
    assert re.findall(r"\d[.]\d+[\s\u00a0]*%", badge) == []


def test_a_ratio_is_that_of_the_printed_figures(measured, stranger):
    for workload, ratios in compared(stranger, measured).items():
        figures = printed(workload)
        exact = [Fraction(figure, figures[0]) for figure in figures]
        assert list(ratios.values()) == pytest.approx([float(one) for one in exact], abs=0.0051)
