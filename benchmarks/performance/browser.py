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
_FILTER_WITHIN_MS = 20_000

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
# From a choice in the filter line until the page that it asks for is there, with a chart if it has one.
_FILTER = """
async (timeout) => {
  const inputs = [...document.querySelectorAll("#filters input")];
  const free = (name) => inputs.find((one) => one.name === name && one.value && !one.checked);
  const input = free("metric") ?? free("workload") ?? free("threads") ?? free("base") ?? free("hardware");
  if (!input) return null;
  const before = document.querySelector("#page");
  const start = performance.now();
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  while (performance.now() - start < timeout) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const page = document.querySelector("#page");
    const isDrawn = !page.querySelector(".chart-plot") || page.querySelector(".chart-plot .main-svg");
    if (page !== before && isDrawn) return performance.now() - start;
  }
  return null;
}
"""
# The most that a page may take, in kB and ms.
_MAX_PAGE_KB, _MAX_PAGE_WITH_CHARTS_KB, _MAX_WARM_KB = 60, 450, 40
_MAX_MS = {"paint": 1000, "chart": 2500, "filter": 300, "zoom": 1000}
_MAX_SHIFT = 0.001


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, choices=[0, 1, 2], default=0)
    parser.add_argument("--keep", type=Path, required=True, help="the folder of the suite's filled databases")
    parser.add_argument("--only", default="", help="a part of the names of pages")
    options = parser.parse_args()
    var = (options.keep / f"size-{options.size}").resolve()
    with databases(var):
        import django  # noqa: PLC0415 - the environment says now where everything is

        django.setup()
        sys.stdout.write(_table(_measured(options.size, var, options.only)))


def _measured(size: int, var: Path, only: str) -> list[tuple[str, dict[str, Any]]]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - nobody else needs it

    from benchdash.launcher import static_files  # noqa: PLC0415 - Django is set up by now
    from benchmarks.performance.filling import filled  # noqa: PLC0415
    from benchmarks.performance.requests import PAGES  # noqa: PLC0415
    from benchmarks.performance.stack import stack  # noqa: PLC0415

    loaded = filled(size, var)
    rng = random.Random(5)  # noqa: S311 - nothing is secret
    addresses = {
        kind.name.removeprefix("page: "): kind.address(loaded, rng) for kind in PAGES if only in kind.name
    }
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
    warm = sum(weights["bytes"])
    filter_ms = page.evaluate(_FILTER, _FILTER_WITHIN_MS)
    context_figures = {
        **seen,
        "server": server_ms,
        "zoom": zoom_ms,
        "filter": filter_ms,
        "cold": cold,
        "warm": warm,
        "elsewhere": len(weights["elsewhere"]),
    }
    context.close()
    return context_figures


def _table(rows: list[tuple[str, dict[str, Any]]]) -> str:
    head = (
        "| page | answer there, ms | first paint, ms | first chart, ms | layout shift | filter change, ms"
        " | zoom, ms | kB cold | kB warm | requests elsewhere | reached |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
    )
    return head + "".join(
        f"| {name} | {row['server']:.0f} | {_ms(row['paint'])} | {_ms(row['chart'])} | {row['shift']:.3f}"
        f" | {_ms(row['filter'])} | {_ms(row['zoom'])} | {row['cold'] / 1000:.0f} | {row['warm'] / 1000:.0f}"
        f" | {row['elsewhere']} | {_reached(row)} |\n"
        for name, row in rows
    )


def _reached(row: dict[str, Any]) -> str:
    """``met``, or what is missed by how much."""
    cold = _MAX_PAGE_KB if row["chart"] is None else _MAX_PAGE_WITH_CHARTS_KB
    shares = {name: row[name] / most for name, most in _MAX_MS.items() if row[name] is not None}
    shares |= {"kB cold": row["cold"] / 1000 / cold, "kB warm": row["warm"] / 1000 / _MAX_WARM_KB}
    missed = [f"{name} {share:.1f} x" for name, share in shares.items() if share > 1]
    if row["shift"] > _MAX_SHIFT:
        missed.append(f"shift {row['shift']:.3f}")
    if row["elsewhere"]:
        missed.append("another host")
    return f"missed: {', '.join(missed)}" if missed else "met"


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


if __name__ == "__main__":
    main()
