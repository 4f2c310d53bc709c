"""From nothing to a chart in a real browser: a project, a token, an upload with curl, and its chart."""

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchdash.accounts.models import Role
from tests.builders import make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)

REPORTS = Path(__file__).parents[4] / "ingest/samples/releases/sysbench/mariadb-10.11.19/oltp_read_only/rep1"


def sent_with(command, file):
    """What curl prints; the command is as the page shows it, in the folder of the file."""
    told = subprocess.run(command, shell=True, cwd=file.parent, capture_output=True, text=True, check=True)
    return told.stdout


def test_project_token_upload_and_the_chart_opens_by_itself(chromium_page, sign_in, live_server, settings):
    settings.SITE_URL = live_server.url
    sign_in(make_user("root", is_superuser=True))
    page = chromium_page
    page.goto("/")
    page.get_by_label("Name", exact=True).fill("Nightly runs")
    expect(page.get_by_label("Name in addresses")).to_have_value("nightly-runs")
    page.get_by_role("button", name="Make the project").click()
    expect(page.locator("#first-wait")).to_contain_text("Waiting for the first results")
    page.get_by_text("Or send from the machine that measures").click()
    page.get_by_role("button", name="Make a token").click()
    command = page.locator("#first-command code").first
    expect(command).to_contain_text("Bearer bd_")
    expect(page).to_have_url(re.compile("/p/nightly-runs/uploads/new/$"))
    client = page.locator("#first-command code").nth(1).text_content()
    assert re.search(r"BENCHDASH_TOKEN=bd_\S+\n", client)
    answer = sent_with(command.inner_text().replace("result.txt", "t04.txt"), REPORTS / "t04.txt")
    assert '"version":"10.11.7"' in answer
    assert "/p/nightly-runs/uploads/" in answer
    page.wait_for_url("**/p/nightly-runs/runs/*/#while-it-ran")
    page.locator("figure.chart[data-drawn] .main-svg").first.wait_for()
    expect(page.locator("main")).to_contain_text("bench-01")


def test_a_refused_file_is_told_and_a_better_one_opens(
    chromium_page, sign_in, live_server, settings, tmp_path
):
    settings.SITE_URL = live_server.url
    sign_in(make_user("root", member_of=make_project("bench"), role=Role.ADMIN))
    page = chromium_page
    page.goto("/p/bench/")
    page.get_by_text("Or send from the machine that measures").click()
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("#first-command code").first).to_contain_text("Bearer bd_")
    shown = page.locator("#first-command code").first.inner_text().split("\n")
    command = "\n".join(line for line in shown if not re.search("product|version|workload", line))
    table = tmp_path / "result.txt"
    table.write_text("nothing that anybody knows\n")
    assert '"status":422' in sent_with(command, table)
    expect(page.locator("#first-wait")).to_contain_text("result.txt came in and was refused")
    table.write_text(
        "query\tMariaDB-JDBC-2.7.9\tMariaDB-JDBC-3.5.1\nDO 1\t12026\t12900\nSELECT 1\t9012\t9100\n"
    )
    sent_with(command, table)
    page.wait_for_url("**/p/bench/compare/matrix/?**")


@pytest.mark.parametrize("width", [390, 1280])
def test_an_empty_project_fits_its_window(chromium_page, sign_in, width):
    sign_in(make_user("root", member_of=make_project("bench"), role=Role.ADMIN))
    chromium_page.set_viewport_size({"width": width, "height": 844})
    chromium_page.goto("/p/bench/")
    assert chromium_page.evaluate("document.documentElement.scrollWidth <= innerWidth")
