"""What one goes with from one page to the next."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from benchdash.accounts.access import NOBODY
from benchdash.addresses import QUERIES
from benchdash.dashboard.shell.navigation import navigation, tabs
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.results.models import Series, Workload
from tests.builders import make_project, make_record, make_runs


def going(address, here, there):
    return str(QUERIES[here].of(address).of_page(QUERIES[there]))


@pytest.mark.parametrize("there", ["matrix", "overview", "history", "sweep"])
def test_pages_of_several_versions_share_all_that_is_selected(there):
    address = "v=4.1.1&v=5.1.1&base=5.1.1&workload=7&threads=8&threads=none&metric=tps&metric=latency_avg"
    assert going(address, "matrix", there) == address


def test_the_reference_stands_against_the_newest_of_the_others_side_by_side():
    assert going("v=4&v=5&base=5", "matrix", "pair") == "base=5&against=4"
    assert going("v=4&v=5", "matrix", "pair") == "base=4&against=5"
    assert going("base=4", "matrix", "pair") == "base=4"


def test_versions_beside_the_two_sides_are_there_again_on_the_way_back():
    beside = going("v=4&v=5&v=6&base=5", "matrix", "pair")
    assert beside == "v=4&v=5&v=6&base=5&against=6"
    assert going(beside, "pair", "matrix") == "v=4&v=5&v=6&base=5"
    assert going("v=4&v=5&v=6&base=5&against=9", "pair", "matrix") == "v=5&v=9&base=5"


def test_the_two_sides_are_the_versions_of_the_other_pages():
    assert going("base=5&against=4&workload=7", "pair", "matrix") == "v=5&v=4&base=5&workload=7"
    assert going("against=4", "pair", "matrix") == "v=4&base=4"
    assert going("run=1&run=2&threads=8", "pair", "matrix") == "threads=8"


def test_the_place_goes_along_in_the_words_of_overview_and_history():
    place = "product=MariaDB&branch=main&hardware=bench-03&configuration=tuned"
    assert going(f"{place}&show=16", "overview", "matrix") == place
    assert going(f"{place}&x=time", "history", "overview") == place


def test_a_reference_that_is_no_version_is_left_behind():
    # The reference of nights may be a night or what is set for their branch, that of settings is a value.
    assert going("over=nights&base=2026-11-20&v=4", "matrix", "history") == "v=4"
    assert going("base=set&branch=main", "overview", "history") == "branch=main"
    assert going("v=12&base=8M&threads=8", "sweep", "matrix") == "threads=8"
    assert going("v=12&base=8&threads=8", "sweep", "matrix") == "threads=8"


@pytest.mark.django_db
def test_tabs_carry_the_choice_and_nothing_without_one():
    project = make_project("nightly")
    shown = tabs(project, NOBODY, "pair", QUERIES["pair"].of("v=4&base=4&page=2"))
    assert [link.label for link in shown] == ["Matrix", "Two sides", "Sweep"]
    assert shown[0].url == "/p/nightly/compare/matrix/?v=4&base=4"
    assert tabs(project, NOBODY, "pair", QUERIES["pair"]())[0].url == "/p/nightly/compare/matrix/"
    assert tabs(project, NOBODY, "history", QUERIES["history"].of("v=4")) == []


@pytest.mark.django_db
def test_the_bar_carries_the_choice_to_pages_that_share_it():
    project = make_project("nightly")
    bar = navigation(project, NOBODY, "matrix", QUERIES["matrix"].of("v=4&base=4"))
    assert [link.url.partition("?")[2] for link in bar.main] == [
        "v=4&base=4",
        "v=4&base=4",
        "v=4&base=4",
        "",
        "",
    ]
    bar = navigation(project, NOBODY, "runs")
    assert not any("?" in link.url for link in bar.main)


# --- a walk through all pages -------------------------------------------------------------------------------


@pytest.fixture
def project(db):
    """Three versions at two places, by two workloads at two thread counts."""
    project = make_project("walk", public=True)
    make_runs(
        [
            make_record(version=version, hardware=hardware, workload=workload, threads=threads)
            for version in ("10.6.1", "10.6.2", "10.6.3")
            for hardware in ("bench-03", "bench-04")
            for workload in ("oltp_read_only", "oltp_write_only")
            for threads in (8, 16)
        ],
        project=project,
    )
    return project


def links(answer):
    """By name of the page: the query of each link in the bar and among the tabs."""
    assert answer.status_code == 200
    html = answer.content.decode()
    parts = re.findall(r'<nav class="(?:sections|tabs)".*?</nav>', html, re.DOTALL)
    found = {}
    for url in re.findall(r'href="([^"]*)"', "".join(parts)):
        split = urlsplit(url.replace("&amp;", "&"))
        name = {"": "overview", "settings": "sweep"}
        last = split.path.removeprefix("/p/walk/").strip("/").rpartition("/")[2]
        found[name.get(last, last)] = split
    return {name: found[name] for name in QUERIES if name in found}


def test_a_selection_is_kept_on_every_page_and_in_every_link(client, project):
    columns = columns_of(project, Selector(hardware="bench-04"))
    old, _, new = map(short_id, columns)
    workload = Workload.objects.get(project=project, name="oltp_write_only")
    metric = Series.objects.filter(project=project).values_list("metric", flat=True)[0]
    selection = {
        "v": [old, new],
        "base": [new],
        "workload": [str(workload.pk)],
        "threads": ["16"],
        "metric": [metric],
    }
    query = "&".join(f"{name}={value}" for name, values in selection.items() for value in values)
    to_visit = links(client.get(f"/p/walk/compare/matrix/?{query}"))
    assert to_visit.keys() == QUERIES.keys()
    for name, url in to_visit.items():
        page = client.get(f"{url.path}?{url.query}")
        for there, link in links(page).items():
            said = parse_qs(link.query)
            if there == "pair":
                said["v"] = [said["base"][0], *said.pop("against")]
            assert {part: sorted(values) for part, values in said.items()} == {
                part: sorted(values) for part, values in selection.items()
            }, (name, there)


@pytest.mark.parametrize("here", ["overview", "history"])
def test_a_place_is_where_the_versions_are_compared(client, project, here):
    path = {"overview": "/p/walk/", "history": "/p/walk/history/"}[here]
    page = client.get(path, {"hardware": "bench-04", "metric": "tps"})
    for name, url in links(page).items():
        assert parse_qs(url.query) == {"hardware": ["bench-04"], "metric": ["tps"]}, name
    compared = client.get(f"{links(page)['matrix'].path}?{links(page)['matrix'].query}")
    assert {one.hardware for one in compared.context["shown"].chosen.columns.chosen} == {"bench-04"}


def test_what_ids_of_series_mean_goes_along(client, project):
    series = Series.objects.filter(project=project, hardware__name="bench-04", threads=8).first()
    url = links(client.get("/p/walk/history/", {"series": series.pk}))["matrix"]
    said = parse_qs(url.query)
    assert (said["hardware"], said["threads"], said["metric"]) == (["bench-04"], ["8"], [series.metric])
    compared = client.get(f"{url.path}?{url.query}")
    assert "workload=oltp_read_only&threads=8" in compared.context["fixed_url"]


def test_versions_lead_to_their_histories_and_to_their_place(client, project):
    columns = columns_of(project, Selector(hardware="bench-04"))
    query = {"v": [short_id(column) for column in columns[:2]], "base": short_id(columns[0])}
    history = client.get("/p/walk/history/", query)
    assert {one.hardware.name for one in history.context["choice"].series} == {"bench-04"}
    overview = client.get("/p/walk/", query)
    assert overview.context["shown"].place.hardware == "bench-04"
    assert "10.6.1" in overview.context["shown"].base.name


def test_every_page_has_the_same_reference_where_nobody_chose(client, db):
    project = make_project("many", public=True)
    versions = [f"10.6.{patch}" for patch in range(1, 15)]
    make_runs([make_record(version=version) for version in versions], project=project)
    shown = {
        name: client.get(f"/p/many/{path}").context
        for name, path in {"overview": "", "matrix": "compare/matrix/"}.items()
    }
    pair = client.get("/p/many/compare/pair/").context["choice"]
    assert pair.base.version.version == "10.6.3"
    assert pair.against.version.version == "10.6.14"
    assert shown["overview"]["shown"].base.name == "10.6.3"
    assert shown["matrix"]["shown"].chosen.source.base.name == "10.6.3"


@pytest.mark.parametrize("there", ["matrix", "pair"])
def test_a_version_of_settings_that_is_meant_everywhere_stays_there(there):
    assert going("v=12&metric=tps&setting=pool", "sweep", there) == "metric=tps"
    assert going("v=12&v=13.1.1&metric=tps", "sweep", "matrix") == "v=13.1.1&metric=tps"
    assert going("v=12&metric=tps", "sweep", "sweep") == "v=12&metric=tps"
