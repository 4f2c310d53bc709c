"""A page answers one question in its first screen and shows few controls there."""

import sys

import pytest

from tests.builders import make_user
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
# These have more than they may: each goes from here when it keeps to it.
TOO_MANY = frozenset({"two sides", "incident"})


def test_pages_keep_to_few_controls_and_a_bounded_height(addresses, chromium_page, sign_in):  # noqa: F811
    sign_in(make_user(is_superuser=True))
    page, counted = chromium_page, {}
    page.set_viewport_size(DESK)
    shown = {**PAGES, "run": addresses["run"], "incident": addresses["incident"]}
    for name, address in shown.items():
        page.goto(address)
        counted[name] = page.evaluate(CONTROLS)
    sys.stdout.write("".join(f"{name}: {figures}\n" for name, figures in counted.items()))
    beyond = {
        name: figures
        for name, figures in counted.items()
        if figures[0] > FIRST_SCREEN or figures[1] > WHOLE_PAGE or figures[2] > HEIGHT
    }
    assert beyond.keys() <= TOO_MANY
