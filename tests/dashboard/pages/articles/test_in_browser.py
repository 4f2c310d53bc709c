"""What published articles concluded stands on the pages of articles, computed by the pages themselves."""

import json
import re

import pytest

from benchdash.accounts.models import Project, Scope
from benchdash.articles.models import Article
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from ingest.samples.projects import SAMPLES, load
from tests.api.conftest import client_of
from tests.builders import make_project, make_token, make_user
from tests.dashboard.pages.articles.test_views import ARTICLES
from tests.dashboard.pages.runs.test_samples import send

pytestmark = pytest.mark.django_db(transaction=True)

printed = pytest.mark.skipif(not ARTICLES.is_dir(), reason="the figures of the articles are not here")


@pytest.fixture
def project():
    return make_project("articles", public=True)


@pytest.fixture
def api(project):
    return client_of(make_token(project, Scope.UPLOAD, Scope.READ, Scope.TRIAGE))


def upload(api, name, **fields):
    with (ARTICLES / name).open("rb") as file:
        answer = api.post("/api/v1/uploads/", {"file": file, **fields}, format="multipart")
    assert answer.status_code == 201, answer.content


def versions(project, *places):
    """The beginning of an address that compares these, the first being the reference."""
    ids = [short_id(column) for place in places for column in columns_of(project, Selector(**place))]
    assert len(ids) == len(places)
    return f"base={ids[0]}&{'&'.join(f'v={one}' for one in ids)}"


def publish(api, title, *queries, page="compare"):
    blocks = [{"page": page, "query": query, "heading": f"View {n}"} for n, query in enumerate(queries, 1)]
    answer = api.post("/api/v1/articles/", {"title": title, "blocks": blocks})
    assert answer.status_code == 201, answer.content
    return answer.json()


def address_of(article):
    return f"/p/articles/articles/{article['slug']}/"


def views(page, address):
    """The words of each view of an article, after its charts are drawn."""
    page.goto(address)
    charts = page.locator("figure.chart")
    for index in range(charts.count()):
        charts.nth(index).scroll_into_view_if_needed()
        charts.nth(index).locator(".main-svg").first.wait_for()
    return [" ".join(text.split()) for text in page.locator("article.view").all_inner_texts()]


def axes(page, number):
    """Of the first chart of a view: the types of its axes."""
    figures = page.locator("article.view").nth(number).locator("figure.chart > script").all_text_contents()
    layout = json.loads(figures[0])["layout"]
    return layout["xaxis"].get("type"), layout["yaxis"].get("type")


def answers(api, article):
    """What the API gives of its views, metric by metric."""
    found = []
    for address in (one for block in article["blocks"] for one in block["answers"]):
        answer = api.get(re.sub(r"^https?://[^/]+", "", address))
        assert answer.status_code == 200, answer.content
        found.append(answer.json())
    return found


# --- from the figures that articles printed --------------------------------------------------------------


@printed
def test_drivers_at_queries_per_second(project, api, chromium_page):
    upload(api, "jdbc-drivers-qps/unprepared.txt", hardware="a desktop", threads=1)
    upload(api, "jdbc-drivers-qps/all-variants.csv", hardware="another desktop", threads=1)
    first = {"hardware": "a desktop"}
    mariadb, connector, drizzle = (
        {"product": product, **first} for product in ("MariaDB-JDBC", "ConnectorJ", "Drizzle-JDBC")
    )
    second = {"hardware": "another desktop", "configuration": "tcp, unprepared"}
    fixed = {"build": "hexdump logging fixed"}
    drizzles = [{"product": "Drizzle-JDBC", **second, **build} for build in ({"build": ""}, fixed)]
    prepared = {"hardware": "another desktop", "configuration": "tcp, prepared"}
    ways = [
        ({"product": product, **second}, {"product": product, **prepared})
        for product in ("MariaDB-JDBC", "ConnectorJ")
    ]
    chosen = [(connector, mariadb, drizzle), (drizzle, mariadb, connector), drizzles, *ways]
    article = publish(
        api,
        "Drivers",
        *(f"{versions(project, *places)}&metric=qps&values=relative" for places in chosen),
    )
    found = views(chromium_page, address_of(article))
    gains = ["22,104 1 +13.1 %", "22,104 1 +44.6 %", "19,968 1 +30.6 %", "1 +0.4 %", "1 +2.8 %"]
    for text, said in zip(found, gains, strict=True):
        assert said in text
    assert "16,824 1 +25.5 %" in found[2]
    # As they were printed: the bars of the drivers beside each other for each query.
    assert chromium_page.locator("article.view").first.locator("figure.chart").count() == 1
    ratio = answers(api, article)[0]["rows"][0]["cells"]
    assert sorted(round(cell["ratio"], 3) for cell in ratio) == [0.782, 1.131]


@printed
def test_two_servers_on_windows_up_to_4096_clients(project, api, chromium_page):
    for name in ("readonly-tps-at-4096.csv", "readonly-p95-ms.txt"):
        said = {"hardware": "Windows", "workload": "oltp_read_only", "version": "5.5"}
        upload(api, f"windows-threadpool/{name}", **said)
    servers = versions(project, {"product": "MySQL"}, {"product": "MariaDB"})
    article = publish(
        api,
        "Many clients",
        *(f"{servers}&metric={metric}&axis=log" for metric in ("latency_p95", "tps")),
    )
    times, throughput = views(chromium_page, address_of(article))
    assert axes(chromium_page, 0) == ("log", "log")
    assert "2,382 1 +476.8 %" in throughput
    rows = chromium_page.locator("article.view").first.locator("table tbody tr")
    assert rows.count() == 11
    assert "4,096 1,966 −92.2 % not enough to tell" in times
    of_times, of_throughput = answers(api, article)
    assert of_times["unit"] == "ms"
    assert round(of_throughput["rows"][0]["cells"][0]["ratio"] - 1, 3) == 4.768


@printed
def test_drivers_in_jmh_as_a_share_of_the_first(project, api, chromium_page):
    pattern = {
        f"*.{name}": {"product": product, "version": "unknown"}
        for name, product in (("mariadb", "MariaDB"), ("mysql", "MySQL"), ("drizzle", "Drizzle"))
    }
    workload = "SELECT 1, text protocol"
    said = {"hardware": "a desktop", "workload": workload, "map": json.dumps(pattern)}
    upload(api, "jmh-drivers/select1-text-protocol.txt", **said)
    drivers = versions(project, *({"product": product} for product in ("MariaDB", "MySQL", "Drizzle")))
    article = publish(api, "JMH", f"{drivers}&metric=score&values=relative")
    [text] = views(chromium_page, address_of(article))
    assert "62.72 ± 2.4 1 100 % reference" in text
    assert re.search(r"Drizzle 78\.\d+ ± [\d.]+ 1 \S* ?\+25\.4 % not enough to tell", text)
    assert re.search(r"MySQL 88\.67 ± [\d.]+ 1 \S* ?\+41\.4 % not enough to tell", text)
    assert chromium_page.locator("article.view .errorbar").count() == 3
    [answer] = answers(api, article)
    assert (answer["direction"], round(answer["rows"][0]["base"]["low"])) == ("lower", 60313)


# --- from measured files ---------------------------------------------------------------------------------


def test_stalls_within_a_run_are_counted_in_an_article(project, api, chromium_page):
    """No measured file of ours stalls: the intervals of one are written anew."""
    send(project, [1500.0] * 60, version="5.6.9")
    send(project, ([1500.0] * 12 + [90.0, 0.0, 40.0]) * 4, version="5.6.10")
    both = versions(project, {"version": "5.6.9"}, {"version": "5.6.10"})
    article = publish(api, "Stalls", f"{both}&metric=stalls_per_min")
    [text] = views(chromium_page, address_of(article))
    assert "5.6.10 4.000 1" in text


CONCLUSIONS = {
    "three-drivers-and-a-loop-of-one-query": (
        [
            "ConnectorJ 5.1.24 24,746",
            "MariaDB-JDBC 1.1.7 30,241",
            "+22.2 % not enough to tell",
            "100 % reference",
        ],
    ),
    "a-pool-of-threads-against-a-thread-for-each-connection": (
        [
            "64 524.2 ± 71 100 % 735.8 ± 123 ▲ +40.4 % faster",
            "512 416.8 ± 108 100 % 551.2 ± 91 ▲ +32.3 % faster",
        ],
    ),
    "drivers-in-jmh-with-the-errors-of-their-scores": (
        ["31.20 ± 15 1 100 % reference", "△ +136.3 %", "more sessions of each would settle it"],
    ),
    "a-regression-at-many-clients-only": (
        [
            "1 1,075 ± 182 +22.9 % not enough to tell",
            "8 798.5 ± 190 −6.4 % not enough to tell",
            "64 524.2 ± 71 ▼ −28.8 % slower",
        ],
        ["5 significantly worse, none better"],
    ),
    "from-1-to-64-clients-and-what-each-transaction-costs": (
        ["1 to 64 threads", "+24.9 % 2.0 %", "2.27x 3.6 %"],
        ["32 to 64 threads", "−15.0 % 42.5 %"],
        ["CPU per operation", "context switches per operation", "CPU, user"],
    ),
    "where-throughput-peaks-and-what-is-left-after-the-peak": (
        ["1,075 1 (1 to 16 within the noise) 1 −61.2 %", "968.5 2 (1 to 32 within the noise) 1 −43.1 %"],
    ),
    "one-setting-at-a-time": (
        ["8M −49.8 % not enough to tell", "512M 100 % 100 % 100 % 100 %"],
        ["threads 0 1 2 4 8 16", "1 100 % −14.0 % not enough to tell"],
        ["+67.6 % not enough to tell", "mean −15.2 % +25.2 %"],
    ),
    "six-releases-of-postgresql-measured-in-the-same-sessions": (
        ["oltp_update_index ▲1.27 ▲1.26 0.94 1.00 0.96 14,902"],
        ["18.4 is faster than 16.15", "slower in none"],
    ),
    "how-response-times-are-spread": (
        ["22,411", "9.646 to 9.822", "25.05 to 25.51"],
        ["382,060 0.5125 to 0.5218", "−20.9 % not enough to tell"],
    ),
}


@pytest.mark.slow
def test_the_articles_of_the_sample_say_by_themselves_what_was_concluded(chromium_page, sign_in):
    sample = SAMPLES[1]
    assert load(sample, progress=lambda *_: None) == 0
    chromium_page.goto("/p/releases/articles/")
    assert chromium_page.locator(".article-list > li").count() == len(CONCLUSIONS)
    missing = []
    for slug, said in CONCLUSIONS.items():
        found = views(chromium_page, f"/p/releases/articles/{slug}/")
        for number, (text, sentences) in enumerate(zip(found, said, strict=True)):
            missing += [(slug, number, one, text) for one in sentences if one not in text]
        assert "A noisy shared machine measured this" in chromium_page.locator(".notice-banner").inner_text()
    assert missing == []
    reader = client_of(make_token(Project.objects.get(slug="releases")))
    for article in Article.objects.all():
        numbers = answers(reader, reader.get(f"/api/v1/articles/{article.pk}/").json())
        assert len(numbers) >= len(CONCLUSIONS[article.slug])
    chromium_page.goto("/p/releases/articles/one-setting-at-a-time/")
    assert "668" not in chromium_page.locator("article.view").first.inner_text()
    chromium_page.goto("/p/releases/articles/a-pool-of-threads-against-a-thread-for-each-connection/")
    assert axes(chromium_page, 0) == ("log", "log")


# --- writing ---------------------------------------------------------------------------------------------


def test_a_member_saves_a_view_and_deletes_the_article(project, api, chromium_page, sign_in):
    send(project, [1500.0] * 60, version="5.6.9")
    send(project, [1400.0] * 60, version="5.6.10")
    sign_in(make_user("bob", member_of=project))
    page = chromium_page
    page.goto("/p/articles/compare/matrix/")
    page.get_by_role("link", name="Add to an article").click()
    page.get_by_label("Title of a new article").fill("Slower by a tenth")
    page.get_by_label("Heading").fill("Both versions")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Both versions").wait_for()
    assert page.url.endswith("/p/articles/articles/slower-by-a-tenth/")
    page.get_by_role("link", name="Edit").click()
    page.get_by_role("button", name="Delete").click()
    page.locator("#confirm").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Put back").click()
    page.get_by_role("heading", name="Both versions").wait_for()
