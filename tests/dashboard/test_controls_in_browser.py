"""A page answers one question in its first screen with few controls, and axe-core finds nothing on it."""

import sys

import pytest

from tests.builders import make_user
from tests.dashboard.axe import findings
from tests.dashboard.test_views_in_browser import DESK, addresses  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = {
    "overview": "/p/bench/",
    "matrix": "/p/bench/compare/matrix/",
    "two sides": "/p/bench/compare/pair/",
    "sweep": "/p/bench/compare/settings/",
    "history": "/p/bench/history/",
    "incidents": "/p/bench/incidents/",
    "upload": "/p/bench/uploads/new/",
    "uploads": "/p/bench/uploads/",
    "rule": "/p/bench/how-changes-are-found/",
    "project settings": "/p/bench/settings/",
    "metrics": "/p/bench/metrics/",
    "search": "/p/bench/search/?q=oltp",
    "projects": "/",
    "notifications": "/p/bench/notifications/",
    "runs": "/p/bench/runs/",
    "catalogue": "/p/bench/versions/",
    "articles": "/p/bench/articles/",
}
FIRST_SCREEN, WHOLE_PAGE, HEIGHT = 25, 60, 3500
# A control is a tab stop outside the bodies of tables; a table with arrow keys between its cells is one.
CONTROLS = """() => {
  const focusable = "a[href], button, input, select, textarea, summary, [tabindex]";
  const stops = [...document.querySelectorAll(focusable)]
    .filter((one) => one.tabIndex >= 0 && !one.disabled && one.type !== "hidden")
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("tbody"));
  const all = [...stops, ...document.querySelectorAll("table.matrix")];
  const seen = all.filter((one) => one.getBoundingClientRect().top < innerHeight);
  return [seen.length, all.length, document.documentElement.scrollHeight];
}"""


def test_pages_keep_to_few_controls_and_everybody_can_use_them(addresses, chromium_page, sign_in):  # noqa: F811
    sign_in(make_user(is_superuser=True))
    page, counted, wrong = chromium_page, {}, {}
    page.set_viewport_size(DESK)
    for name, address in {**addresses, **PAGES}.items():
        page.goto(address)
        page.wait_for_load_state("networkidle")
        counted[name] = page.evaluate(CONTROLS)
        if found := findings(page):
            wrong[name] = found
    sys.stdout.write("".join(f"{name}: {found}\n" for name, found in wrong.items()))
    assert wrong == {}
    sys.stdout.write("".join(f"{name}: {figures}\n" for name, figures in counted.items()))
    beyond = {
        name: figures
        for name, figures in counted.items()
        if name in {*PAGES, "run", "incident"}
        and (figures[0] > FIRST_SCREEN or figures[1] > WHOLE_PAGE or figures[2] > HEIGHT)
    }
    assert beyond == {}
