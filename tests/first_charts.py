"""Measure how far it is from signing in to the first chart of a new project: ``make first-charts``.

A person in Chromium makes a project on the front page, sends results in one of three ways and opens their
chart. Printed are clicks and filled fields in the empty project, and the seconds that the machine took. It
asks the benchdash of ``BENCHDASH_VAR`` (``var``), which must be running.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.chromium import running_chromium

CHECKOUT = Path(__file__).parents[1]
REPORTS = CHECKOUT / "ingest/samples/releases/sysbench/mariadb-10.11.5/oltp_read_only/rep1"
JMH_REPORT = CHECKOUT / "tests/ingest/fixtures/jmh_json/four-modes.json"
TABLE = "threads  tps  latency_p95\n16  4713.8  12.08\n32  5120.4  20.1\n64  5033.9  41.7\n"
THREADS = (1, 2, 4, 8, 16, 32, 64)
_PATIENCE_MS = 120_000


def reports() -> dict[int, str]:
    """Return reports of sysbench that name neither product nor version nor workload, by threads."""
    return {threads: (REPORTS / f"t{threads:02}.txt").read_text() for threads in THREADS}


class Person:
    """Somebody in a browser, whose clicks and keys are counted; a drop or a paste is one."""

    def __init__(self, page):
        self.page, self.clicks, self.keys, self.drops, self.fields = page, 0, 0, 0, 0

    def drop_folder(self, files, name="results"):
        """Drop a folder; the browser of a test has no folders to drop, so its entries are made."""
        self.drops += 1
        self.page.evaluate(
            """([name, files]) => {
                const made = (path, content) => {
                    const names = path.split("/");
                    if (typeof content === "string")
                        return { name: names.at(-1), fullPath: `/${path}`, isFile: true, isDirectory: false,
                                 file: (take) => take(new File([content], names.at(-1))) };
                    const inner = Object.entries(content).map(([one, own]) => made(`${path}/${one}`, own));
                    const readers = () => ({ readEntries: (take) => take(inner.splice(0, 3)) });
                    return { name: names.at(-1), fullPath: `/${path}`, isFile: false, isDirectory: true,
                             createReader: readers };
                };
                const tree = {};
                for (const [path, text] of Object.entries(files)) {
                    const names = path.split("/"), file = names.pop();
                    let at = tree;
                    for (const one of names) at = at[one] ??= {};
                    at[file] = text;
                }
                const entry = made(name, tree);
                const event = new Event("drop", { bubbles: true, cancelable: true });
                event.dataTransfer = { types: ["Files"],
                                       items: [{ kind: "file", webkitGetAsEntry: () => entry }] };
                document.querySelector(".drop-zone").dispatchEvent(event);
            }""",
            [name, files],
        )

    def paste(self, text):
        self.drops += 1
        self.page.evaluate(
            """text => {
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/plain", text);
                document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
            }""",
            text,
        )

    def choose(self, path):
        self.drops += 1
        self.page.locator("input[name=file]").set_input_files(path)

    def type(self, **said):
        for label, text in said.items():
            self.fields += 1
            self.keys += len(text)
            self.page.get_by_label(label.capitalize(), exact=True).fill(text)

    def click(self, name, role="button"):
        self.clicks += 1
        self.page.get_by_role(role, name=name, exact=True).first.click()

    def upload(self):
        self.click("Upload")

    def counts(self):
        """Return drops, clicks with those into fields, and keys."""
        return self.drops, self.clicks + self.fields, self.keys


WAYS: dict[str, Callable[[Person], None]] = {
    "a folder of seven sysbench logs named `sysbench_10.11.5_64thr.log`": lambda person: (
        person.drop_folder({f"sysbench_10.11.5_{n}thr.log": text for n, text in reports().items()}),
        person.type(product="MariaDB", hardware="box"),
    ),
    "a table of threads, tps and p95": lambda person: (
        person.paste(TABLE),
        person.type(product="MySQL", version="8.0.45", hardware="box"),
    ),
    "a report of JMH, `-rf json`": lambda person: (
        person.choose(JMH_REPORT),
        person.type(product="MariaDB Connector/J", version="3.5.6", hardware="box"),
    ),
}


def first_chart(person: Person, name: str, send: Callable[[Person], None]) -> None:
    """Go from the front page to the chart of a new project."""
    page = person.page
    if page.locator(".new-project:not([open])").count():
        person.clicks += 1
        page.locator(".new-project > summary").click()
    person.type(name=name)
    person.click("Make the project")
    page.locator(".drop-zone").wait_for()
    person.clicks = person.fields = 0
    send(person)
    page.locator("[data-summary].is-complete").wait_for(timeout=_PATIENCE_MS)
    person.upload()
    person.clicks += 1
    page.locator(".upload-done").get_by_role("link").click(timeout=_PATIENCE_MS)
    page.locator("figure.chart[data-drawn] .main-svg").first.wait_for(timeout=_PATIENCE_MS)


def main() -> None:
    run = json.loads((Path(os.environ.get("BENCHDASH_VAR", CHECKOUT / "var")) / "run.json").read_text())
    write = sys.stdout.write
    write("| with | clicks | fields | seconds |\n|---|---:|---:|---:|\n")
    with running_chromium() as chromium:
        page = chromium.new_page()
        page.goto(f"{run['url']}/sign-in/")
        page.locator("[name=username]").fill(run["admin"]["user"])
        page.locator("[name=password]").fill(run["admin"]["password"])
        page.locator("[name=password]").press("Enter")
        page.wait_for_url(f"{run['url']}/")
        for way, send in WAYS.items():
            page.goto(run["url"])
            person, began = Person(page), time.monotonic()
            first_chart(person, f"First {time.time_ns()}", send)
            seconds = time.monotonic() - began
            write(f"| {way} | {person.clicks} | {person.fields} | {seconds:.1f} |\n")


if __name__ == "__main__":
    main()
