"""A chart within a page of another origin, and the pages that no other may frame, in a real browser."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_series

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

STEP = [1000.0, 1010.0, 990.0, 1005.0] * 5 + [800.0, 810.0, 795.0, 805.0] * 3


@pytest.fixture
def foreign_page():
    """``foreign_page(address)`` returns that of a page on a server of its own with the address in a frame."""
    framed = []

    class Wiki(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            if self.path == "/":
                frame = f'<iframe width="600" height="400" style="border: 0" src="{framed[-1]}"></iframe>'
                self.wfile.write(f"<!doctype html><title>Wiki</title>{frame}".encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Wiki)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def page_with(address):
        framed.append(address)
        return f"http://127.0.0.1:{server.server_port}/"

    yield page_with
    server.shutdown()
    server.server_close()


def test_a_foreign_page_shows_the_chart_and_no_other_page(
    chromium_page, live_server, foreign_page, page_errors
):
    project = make_project("demo", public=True)
    series = make_series(STEP, project=project)
    analyse_touched()
    address = f"{live_server.url}/p/demo/embed/history/?series={series.pk}"
    chromium_page.goto(foreign_page(address))
    frame = chromium_page.frame_locator("iframe")
    frame.locator("figure[data-drawn]").wait_for()
    assert frame.locator(".chart-title").inner_text().startswith("oltp_read_only, 4 threads")
    assert frame.locator(".chart-plot .scatterlayer .point").count() == len(STEP)
    plot, title = (frame.locator(part).bounding_box() for part in (".chart-plot", ".chart-title"))
    assert plot["height"] > 300
    assert plot["width"] > 550
    assert title["y"] < plot["y"]
    assert frame.locator(".chart-plot a").count() == 0
    # The page itself and its server are foreign to each other, as they should be.
    page_errors[:] = [one for one in page_errors if not one.startswith("a request left for http://127.0.0.1")]
    assert page_errors == []
    chromium_page.goto(foreign_page(f"{live_server.url}/p/demo/history/?series={series.pk}"))
    chromium_page.wait_for_timeout(300)
    assert any("frame-ancestors 'none'" in one for one in page_errors)
    assert frame.locator("#page-head").count() == 0
    page_errors.clear()


def test_a_small_frame_keeps_the_legend_off_the_axis_and_draws_at_any_height(
    chromium_page, live_server, page_errors
):
    project = make_project("demo", public=True, notice="Measured on a shared machine. " * 12)
    several = [
        make_series(STEP, project=project, workload=f"oltp_{name}") for name in ("read", "write", "all")
    ]
    analyse_touched()
    query = "&".join(f"series={one.pk}" for one in several)
    drawn = chromium_page.locator("figure[data-drawn]")
    for height in (300, 160):
        chromium_page.set_viewport_size({"width": 360, "height": height})
        chromium_page.goto(f"{live_server.url}/p/demo/embed/history/?{query}")
        drawn.wait_for()
        assert drawn.locator(".chart-failed").count() == 0
        if height == 300:
            legend = drawn.locator(".legend").bounding_box()
            ticks = [one.bounding_box() for one in drawn.locator(".xtick text").all()]
            assert ticks
            assert max(one["y"] + one["height"] for one in ticks) <= legend["y"]
    assert page_errors == []
