"""Badges and embedded charts as whoever embeds them gets them."""

from datetime import timedelta
from html import escape, unescape
from io import BytesIO
from xml.etree import ElementTree as ET

import pytest
from django.test import Client
from django.utils import timezone
from PIL import Image

from benchdash.accounts.models import Project, Role
from benchdash.regressions.services import analyse_touched
from benchdash.results.readings import Reading
from benchdash.throttling import PictureThrottle
from tests.builders import make_project, make_record, make_runs, make_series, make_user
from tests.clock import clock_at

pytestmark = pytest.mark.django_db

HOSTILE = '</title><script>alert("1")</script> & ]]> \x0b'
STEP = [1000.0, 1010.0, 990.0, 1005.0] * 5 + [800.0, 810.0, 795.0, 805.0] * 3
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def project():
    return make_project("demo", public=True)


def words_of(client, slug="demo", query=""):
    """What a badge says to who does not see it."""
    answer = client.get(f"/p/{slug}/badge.svg?{query}")
    assert answer["Content-Type"] == "image/svg+xml"
    return parsed(answer).get("aria-label").removeprefix("benchdash: ")


def parsed(answer):
    """A picture that is well-formed and holds nothing that acts."""
    root = ET.fromstring(answer.content)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == root.get("aria-label")
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "rect", "path", "g", "text", "polyline", "polygon", "circle"}
    assert not [
        name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name
    ]
    return root


# --- who sees it ------------------------------------------------------------------------------------------


def test_a_session_makes_no_difference_and_a_signed_link_does(client):
    project = make_project("quartz")
    series = make_series(STEP, project=project)
    client.force_login(make_user(member_of=project, role=Role.ADMIN))
    chart = f"series={series.pk}"
    for what in ("embed/history/", "embed/history.svg", "embed/history.png"):
        assert client.get(f"/p/quartz/{what}?{chart}").status_code == 404
    made = client.post(
        f"/p/quartz/share/?chart=history&{chart}", {"what": "history", "query": chart, "lasting": "30"}
    )
    assert made.status_code == 201
    query = made.context["signed"]
    for what in ("embed/history/", "embed/history.svg", "embed/history.png"):
        assert Client().get(f"/p/quartz/{what}?{query}&theme=dark").status_code == 200
        assert Client().get(f"/p/quartz/{what}?{query}&relative=1").status_code == 404
    assert f"/p/quartz/embed/history/?{escape(query)}" in unescape(made.content.decode())
    client.post("/p/quartz/share/end/")
    assert Client().get(f"/p/quartz/embed/history.svg?{query}").status_code == 404


def test_a_hidden_project_has_the_badge_of_one_that_never_was(client):
    make_project("quartz")
    hidden, absent = client.get("/p/quartz/badge.svg"), client.get("/p/nothing/badge.svg")
    assert (hidden.status_code, absent.status_code) == (404, 404)
    assert hidden.content == absent.content
    assert words_of(client, "quartz") == "not found"


def test_relative_figures_alone_have_a_badge_of_releases_and_no_chart(client, project):
    series = make_series([100.0, 101.0, 80.0], project=project)
    Project.objects.update(is_relative_only=True)
    assert words_of(client) == "relative figures only"
    assert "10.6.3 vs 10.6.2" in words_of(client, query="kind=geomean")
    answer = client.get(f"/p/demo/embed/history.svg?series={series.pk}")
    assert answer.status_code == 403
    assert "relative figures only" in parsed(answer).get("aria-label")


def test_series_of_another_project_are_not_there(client, project):
    make_series([100.0], project=project)
    other = make_series([31415.0], project=make_project("other", public=True))
    answer = client.get(f"/p/demo/embed/history/?series={other.pk}")
    assert answer.status_code == 404
    assert "31415" not in answer.content.decode()


# --- badges -----------------------------------------------------------------------------------------------


def test_a_badge_says_what_is_open_and_never_good_news_of_nothing(client, project):
    assert words_of(client) == "no results"
    start = timezone.now() - timedelta(days=len(STEP), hours=1)
    make_series(STEP, project=project, branch="main", start=start)
    make_series([100.0, 101.0] * 16, project=project, product="Calm", branch="main", start=start)
    analyse_touched()
    assert words_of(client) == "1 regression"
    assert words_of(client, query="product=MariaDB&branch=main&hardware=box&metric=tps") == "1 regression"
    assert words_of(client, query="product=Calm") == "nothing open"
    assert words_of(client, query="branch=none") == "no branch none"
    assert words_of(client, query="kind=speed") == "no kind speed"
    assert words_of(client, query="product=%3Cb%3E%00%0B") == "no product <b>"
    with clock_at(timezone.now() + timedelta(days=70)):
        assert words_of(client).startswith("1 regression, no data since ")


def test_a_badge_of_releases_says_only_what_the_comparison_proves(client, project):
    for version, values in (
        ("11.4.1", [100.0] * 3),
        ("11.4.2", [101.0, 99.0, 100.0]),
        ("11.4.3", [80.0] * 3),
    ):
        for number, value in enumerate(values):
            start = timezone.now() - timedelta(days=20 - number)
            make_series([value], project=project, version=version, started_at=start)
    assert words_of(client, query="kind=geomean") == "MariaDB: 11.4.3 vs 11.4.2: −20.0\xa0%, slower"
    assert (
        words_of(client, query="kind=geomean&base=11.4.1") == "MariaDB: 11.4.3 vs 11.4.1: −20.0\xa0%, slower"
    )
    assert words_of(client, query="kind=geomean&base=9.9") == "no release 9.9"
    assert words_of(client, query="kind=geomean&metric=qps") == "no metric qps"
    make_series([5.0], project=project, version="11.4.4", product="New")
    assert words_of(client, query="kind=geomean&product=New") == "one release only"


def test_a_badge_of_releases_that_share_no_metric_says_so(client, project):
    """Releases may have nothing but metrics of their own, or none at all."""

    def released(number, **readings):
        own = [Reading(name, value, "MB", "lower", is_own=True) for name, value in readings.items()]
        at = timezone.now() - timedelta(hours=9 - number)
        make_runs([make_record(readings=own, version=f"10.6.{number}", started_at=at)], project=project)
        return words_of(client, query="kind=geomean")

    assert released(1, aaa=1.0) == "one release only"
    assert released(2, zzz=1.0) == "no metric of both releases"
    assert words_of(client, query="kind=geomean&metric=zzz") == "no metric zzz"
    assert released(3, bbb=2.0, zzz=2.0).startswith("MariaDB: 10.6.3 vs 10.6.2: ")
    assert released(4) == "no metric of both releases"
    assert words_of(client) != ""


# --- charts -----------------------------------------------------------------------------------------------


def test_a_chart_is_a_picture_of_the_asked_size_with_hostile_names(client, project):
    series = make_series(STEP, project=project, workload=HOSTILE.replace("\x0b", ""))
    Project.objects.update(name=HOSTILE, notice="A notice")
    analyse_touched()
    address = f"/p/demo/embed/history.svg?series={series.pk}&width=640&height=320"
    root = parsed(client.get(address))
    assert (root.get("width"), root.get("height")) == ("640", "320")
    texts = " ".join(element.text or "" for element in root.iter(f"{SVG}text"))
    for said in ("tps, higher is better", "−20", "A notice", "10.6.21", "<script>"):
        assert said in texts
    assert len(list(root.iter(f"{SVG}circle"))) >= len(STEP)
    png = Image.open(BytesIO(client.get(address.replace(".svg", ".png")).content))
    assert png.size == (1280, 640)
    least = Image.open(
        BytesIO(client.get("/p/demo/embed/history.png?width=1&height=99999&theme=dark").content)
    )
    assert (least.size, least.convert("RGB").getpixel((1, 1))) == ((480, 1600), (0x15, 0x1B, 0x23))


def test_every_kind_of_chart_is_drawn(client, project):
    """Lines against threads, bars, logarithmic axes, times, percentages, intervals, and a single point."""
    for threads in (1, 8, 64):
        make_series([100.0 * threads, 90.0 * threads], project=project, threads=threads)
        make_series([0.3 * threads, 0.2 * threads], project=project, threads=threads, metric="latency_p95")
    for what, query in (
        ("compare", ""),
        ("compare", "threads=8"),
        ("compare", "threads=8&scale=log"),
        ("compare", "relative=1"),
        ("compare", "metric=latency_p95"),
        ("history", "x=time&relative=1"),
        ("history", "scale=log&charts=small"),
    ):
        for kind in ("svg", "png", "/"):
            address = f"/p/demo/embed/{what}{'' if kind == '/' else '.'}{kind}?{query}"
            answer = client.get(address)
            assert answer.status_code == 200, address
            if kind == "svg":
                assert list(parsed(answer).iter(f"{SVG}text")), address
    assert client.get("/p/demo/embed/matrix.svg").status_code == 404


def test_what_did_not_change_is_not_sent_or_drawn_again(client, project, monkeypatch):
    series = make_series(STEP, project=project)
    address = f"/p/demo/embed/history.png?series={series.pk}"
    first = client.get(address)
    assert first["Cache-Control"] == "max-age=300"
    monkeypatch.setattr(PictureThrottle, "allows", lambda self, asker: False)
    again = client.get(address, headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    refused = client.get(address)
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert client.get(address.replace(".png", ".svg")).status_code == 200


def test_only_the_frame_may_be_framed(client, project):
    series = make_series(STEP, project=project)
    frame = client.get(f"/p/demo/embed/history/?series={series.pk}")
    assert "frame-ancestors *" in frame["Content-Security-Policy"]
    assert "X-Frame-Options" not in frame
    assert not frame.cookies
    assert "_self" not in frame.content.decode()
    for other in (f"history/?series={series.pk}", "share/", "badge.svg", "embed/history.svg"):
        answer = client.get(f"/p/demo/{other}")
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"], other
        assert answer["X-Frame-Options"] == "DENY", other


def test_the_page_of_a_chart_leads_to_what_others_copy(client, project):
    series = make_series(STEP, project=project)
    page = client.get(f"/p/demo/history/?series={series.pk}").content.decode()
    address = f"/p/demo/share/?chart=history&amp;series={series.pk}"
    assert f'href="{address}"' in page
    handed_out = client.get(address.replace("&amp;", "&")).content.decode()
    for said in (
        "&lt;iframe src=",
        "embed/history.svg?series=",
        "embed/history.png?series=",
        ".. image::",
        "[![",
    ):
        assert said in handed_out
    assert "Make a signed link" not in handed_out
    assert 'width="800" height="400"' in handed_out
    assert "badge.svg?kind=geomean" in client.get("/p/demo/share/").content.decode()
    gone = client.get("/p/demo/share/?chart=history&series=999999").content.decode()
    assert "was not measured, or is not here any more. Choose a chart of" in gone
    assert "<iframe" not in unescape(gone)


@pytest.mark.parametrize(
    ("what", "statements", "kilobytes"),
    [("badge.svg", 12, 1), ("badge.svg?kind=geomean", 14, 1), ("embed/history.svg", 14, 23)],
)
def test_an_answer_takes_few_statements_and_bytes(
    client, project, django_assert_max_num_queries, what, statements, kilobytes
):
    for threads in range(1, 6):
        make_series(STEP, project=project, threads=threads)
    analyse_touched()
    with django_assert_max_num_queries(statements):
        answer = client.get(f"/p/demo/{what}")
    assert answer.status_code == 200
    assert len(answer.content) < kilobytes * 1000
