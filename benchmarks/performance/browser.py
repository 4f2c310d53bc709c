"""How soon a page is there in a browser: ``python -m benchmarks.performance.browser --keep DIR``.

Chromium with an empty cache and a CPU slowed down four times, the server as production has it, the database
of an earlier run of the suite. Prints a Markdown table.
"""

import argparse
import random
import sys
from pathlib import Path
from typing import Any

from benchmarks.performance.stack import databases

_SLOWDOWN = 4
_CHROMIUM = "/usr/bin/chromium"
_WAIT_MS = 90_000

# Before any script of the page: when it was painted, when a chart was drawn, how much moved.
_WATCH = """
window.seen = { paint: null, chart: null, shift: 0 };
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (one.name === "first-contentful-paint") seen.paint = one.startTime;
}).observe({ type: "paint", buffered: true });
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) seen.shift += one.value;
}).observe({ type: "layout-shift", buffered: true });
new MutationObserver(() => {
  if (seen.chart === null && document.querySelector(".chart-plot .main-svg")) seen.chart = performance.now();
}).observe(document, { childList: true, subtree: true });
"""
_ZOOM = """
async () => {
  const plot = document.querySelector(".js-plotly-plot");
  const [from, to] = plot._fullLayout.xaxis.range.map((end) => plot._fullLayout.xaxis.r2l(end));
  const start = performance.now();
  await Plotly.relayout(plot, { "xaxis.range": [from + (to - from) / 4, to - (to - from) / 4] });
  await new Promise((resolve) => requestAnimationFrame(resolve));
  return performance.now() - start;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, choices=[0, 1, 2], default=0)
    parser.add_argument("--keep", type=Path, required=True, help="the folder of the suite's filled databases")
    options = parser.parse_args()
    var = (options.keep / f"size-{options.size}").resolve()
    with databases(var):
        import django  # noqa: PLC0415 - the environment says now where everything is

        django.setup()
        sys.stdout.write(_table(_measured(options.size, var)))


def _measured(size: int, var: Path) -> list[tuple[str, dict[str, Any]]]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - nobody else needs it

    from benchdash.launcher import static_files  # noqa: PLC0415 - Django is set up by now
    from benchmarks.performance.filling import filled  # noqa: PLC0415
    from benchmarks.performance.requests import PAGES  # noqa: PLC0415
    from benchmarks.performance.stack import stack  # noqa: PLC0415

    loaded = filled(size, var)
    rng = random.Random(5)  # noqa: S311 - nothing is secret
    addresses = {kind.name.removeprefix("page: "): kind.address(loaded, rng) for kind in PAGES}
    addresses["history of 5,000 points"] = f"/p/{loaded.slug}/history/?series={loaded.long[5000]}"
    static_files.collect()
    with stack(var) as started, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=_CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        return [
            (name, _visit(chromium, started.url, address, loaded.session))
            for name, address in addresses.items()
        ]


def _visit(chromium: Any, url: str, address: str, session: str) -> dict[str, Any]:
    """In a profile of its own, whose cache is empty."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True)
    context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
    context.add_init_script(_WATCH)
    page = context.new_page()
    protocol = context.new_cdp_session(page)
    protocol.send("Network.enable")
    protocol.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWDOWN})
    weights: dict[str, list[float]] = {"bytes": [], "elsewhere": []}
    protocol.on("Network.loadingFinished", lambda sent: weights["bytes"].append(sent["encodedDataLength"]))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((url, "data:")) else weights["elsewhere"].append(1),
    )
    page.goto(f"{url}{address}", timeout=_WAIT_MS)
    page.wait_for_load_state("networkidle", timeout=_WAIT_MS)
    page.wait_for_timeout(500)
    server_ms = page.evaluate("performance.getEntriesByType('navigation')[0].responseEnd")
    cold = sum(weights["bytes"])
    has_chart = page.evaluate("Boolean(document.querySelector('.js-plotly-plot'))")
    zoom_ms = page.evaluate(_ZOOM) if has_chart else None
    seen = page.evaluate("seen")
    weights["bytes"].clear()
    page.reload(timeout=_WAIT_MS)
    page.wait_for_load_state("networkidle", timeout=_WAIT_MS)
    context_figures = {
        **seen,
        "server": server_ms,
        "zoom": zoom_ms,
        "cold": cold,
        "warm": sum(weights["bytes"]),
        "elsewhere": len(weights["elsewhere"]),
    }
    context.close()
    return context_figures


def _table(rows: list[tuple[str, dict[str, Any]]]) -> str:
    head = (
        "| page | answer there, ms | first paint, ms | first chart, ms | layout shift | zoom, ms"
        " | kB cold | kB warm | requests elsewhere |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
    )
    return head + "".join(
        f"| {name} | {row['server']:.0f} | {_ms(row['paint'])} | {_ms(row['chart'])} | {row['shift']:.3f}"
        f" | {_ms(row['zoom'])} | {row['cold'] / 1000:.0f} | {row['warm'] / 1000:.0f}"
        f" | {row['elsewhere']} |\n"
        for name, row in rows
    )


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


if __name__ == "__main__":
    main()
